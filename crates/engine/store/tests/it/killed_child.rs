//! This very program as a child that works until it is killed.

use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use toolcrib_testkit::SeededRandom;

/// Says to a process that it was started to be killed.
const TO_BE_KILLED: &str = "TOOLCRIB_TEST_TO_BE_KILLED";

/// What the process was told, in lines; `None`: nobody started it to be killed.
pub(crate) fn told() -> Option<Vec<String>> {
    #[expect(clippy::disallowed_methods, reason = "the process is told what it is for")]
    std::env::var_os(TO_BE_KILLED)?;
    let mut told = String::new();
    std::io::stdin().read_to_string(&mut told).unwrap();
    Some(told.lines().map(str::to_owned).collect())
}

/// Starts a test of this program as a process of its own, and tells it these lines.
#[expect(clippy::disallowed_methods, reason = "this very program, to be killed")]
pub(crate) fn spawn(test: &str, lines: &[String]) -> Child {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--quiet"])
        .env(TO_BE_KILLED, "yes")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(lines.join("\n").as_bytes()).unwrap();
    child
}

/// The same, and kills it at some moment after it has begun; some die before they have done
/// anything.
pub(crate) fn kill(
    test: &str,
    lines: &[String],
    has_begun: impl Fn() -> bool,
    random: &mut SeededRandom,
) {
    let mut child = spawn(test, lines);
    let patience = Instant::now() + Duration::from_secs(20);
    let at_once = random.below(8) == 0;
    while !at_once && !has_begun() {
        assert!(Instant::now() < patience, "the child does nothing");
        assert_eq!(child.try_wait().unwrap(), None, "the child ended by itself");
        std::thread::sleep(Duration::from_millis(2));
    }
    std::thread::sleep(Duration::from_micros(random.below(120_000)));
    child.kill().unwrap();
    child.wait().unwrap();
}
