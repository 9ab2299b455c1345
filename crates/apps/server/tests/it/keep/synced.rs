//! What is on the disk before an upstream hears of a call: seen from outside, by the calls of the
//! server to the system.

use std::io::Write as _;
use std::process::Command;

use super::doors::{DOORS, act};
use super::upstream::Upstream;
use crate::serve::support::{Serving, eventually};

/// Places of the lines that tell of this.
fn places(trace: &str, is_it: impl Fn(&str) -> bool) -> Vec<usize> {
    trace.lines().enumerate().filter(|(_, line)| is_it(line)).map(|(place, _)| place).collect()
}

fn is_sent(line: &str, nonce: &str) -> bool {
    ["write(", "writev(", "sendto(", "sendmsg("].iter().any(|call| line.contains(call))
        && line.contains(nonce)
        && line.contains("POST /do/")
}

#[expect(clippy::disallowed_methods, reason = "the test looks at the process from outside")]
#[test]
fn a_call_that_may_change_something_is_on_the_disk_before_its_upstream_hears_of_it() {
    if Command::new("strace").arg("--version").output().is_err() {
        let _ = writeln!(std::io::stdout(), "[skipped] no `strace` looks at the server");
        return;
    }
    let upstream = Upstream::start();
    let folder = upstream.furnish_web("allow = [\"*\"]\n\n[store]\nurl = \"sqlite://crib.db\"\n");
    let calls = "trace=fdatasync,fsync,read,recvfrom,write,writev,sendto,sendmsg";
    let watch = ["-D", "-f", "-qq", "-s", "4000", "-o", "trace", "-e", calls];
    let serve = [env!("CARGO_BIN_EXE_toolcrib"), "serve", "crib.toml", "--listen", "127.0.0.1:0"];
    let serving = Serving::starting_by(folder, "strace", &[&watch[..], &serve].concat());
    serving.hears("`web`: ");
    let trace = || std::fs::read_to_string(serving.folder.path().join("trace")).unwrap();
    for (number, door) in DOORS.into_iter().cycle().take(6).enumerate() {
        let nonce = format!("synced-{number}");
        let told = door.call(&serving, &act("web__act", "ok", &nonce));
        assert!(!told.error, "{told:?}");
        assert!(
            eventually(|| !places(&trace(), |line| is_sent(line, &nonce)).is_empty()),
            "{}",
            trace()
        );
        let trace = trace();
        let heard = places(&trace, |line| line.contains(&nonce))[0];
        let sent = places(&trace, |line| is_sent(line, &nonce))[0];
        let synced = places(&trace, |line| line.contains("sync") && line.ends_with("= 0"));
        assert!(heard < sent, "{trace}");
        let is_between = synced.iter().any(|synced| (heard..sent).contains(synced));
        assert!(is_between, "{heard} {synced:?} {sent}");
        assert_eq!(upstream.oracle.count(&nonce), 1);
    }
}
