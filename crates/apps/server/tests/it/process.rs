//! Runs the binary in a folder of its own.

use std::io::{BufRead as _, BufReader, Lines, Read as _, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// What a run of the binary gave.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| unreachable!("no JSON ({error}): {self:?}"))
    }
}

/// A folder that goes away with the test.
pub(crate) struct Folder(toolcrib_testkit::TestFolder);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(toolcrib_testkit::TestFolder::new())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        self.0.write(name, text);
    }

    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        self.run_with(words, "")
    }

    /// Names the configuration that stands in the folder: one that is only found must be trusted.
    pub(crate) fn naming(&self) -> &[&str] {
        let is_there = self.path().join("crib.toml").exists();
        if is_there { &["--config", "crib.toml"] } else { &[] }
    }

    pub(crate) fn run_with(&self, words: &[&str], input: &str) -> Ran {
        let mut command = binary(self);
        command.args(naming(self, words)).args(words);
        finish(command, input)
    }
}

fn naming<'f>(folder: &'f Folder, words: &[&str]) -> &'f [&'f str] {
    if words.contains(&"--config") { &[] } else { folder.naming() }
}

pub(crate) fn run(words: &[&str]) -> Ran {
    Folder::new().run(words)
}

/// The same with variables of the environment.
pub(crate) fn run_in(folder: &Folder, words: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = binary(folder);
    let naming = naming(folder, words);
    command.args(naming).args(words).envs(variables.iter().copied());
    finish(command, "")
}

/// The binary, which keeps what it keeps in the folder too.
#[expect(clippy::disallowed_methods, reason = "the test is about the process")]
fn binary(folder: &Folder) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_toolcrib"));
    command.current_dir(folder.path()).env("XDG_STATE_HOME", folder.path().join("state"));
    command
}

/// The binary under way, which is asked nothing.
pub(crate) fn started(folder: &Folder, words: &[&str]) -> Child {
    let mut command = binary(folder);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// The binary with a program at its pipes, which speaks in lines.
pub(crate) struct Piped {
    child: Child,
    keys: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Piped {
    pub(crate) fn open(folder: &Folder, words: &[&str]) -> Self {
        let mut command = binary(folder);
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (keys, screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, keys, lines: BufReader::new(screen).lines() }
    }

    pub(crate) fn say(&mut self, line: &str) {
        self.say_bytes(line.as_bytes());
    }

    /// What may be no text.
    pub(crate) fn say_bytes(&mut self, line: &[u8]) {
        self.keys.write_all(&[line, b"\n"].concat()).unwrap();
    }

    /// The next line that comes back.
    pub(crate) fn hear(&mut self) -> String {
        self.lines.next().unwrap().unwrap()
    }

    /// Says a line, and gives the next one that comes back.
    pub(crate) fn ask(&mut self, line: &str) -> String {
        self.say(line);
        self.hear()
    }

    /// Ends it as nobody should: it can clean up nothing.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Hangs up; the code of its end, and what it still had to say.
    pub(crate) fn hang_up(mut self) -> (Option<i32>, Vec<String>) {
        drop(self.keys);
        let rest = self.lines.map_while(Result::ok).collect();
        (self.child.wait().unwrap().code(), rest)
    }
}

/// A line of a shell, with the binary first on its path.
pub(crate) fn shell(folder: &Folder, line: &str) -> Ran {
    let mut command = with_path("sh", folder);
    command.arg("-c").arg(line);
    finish(command, "")
}

/// The same at a terminal, which `script` (of util-linux) makes; what it shows is all in `out`.
/// Each line is typed when it is asked for, as a person does.
#[cfg(target_os = "linux")]
pub(crate) fn at_terminal(folder: &Folder, line: &str, typed: &str) -> Ran {
    let mut command = with_path("script", folder);
    command.args(["-q", "-e", "-E", "never", "-c", line, "/dev/null"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let (mut keys, mut screen) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut lines = typed.split_inclusive('\n');
    let (mut shown, mut byte) = (Vec::new(), [0]);
    let until = Instant::now() + LONGEST;
    loop {
        if is_silent(&screen, until.saturating_duration_since(Instant::now())) {
            let _ = child.kill();
            let shown = String::from_utf8_lossy(&shown);
            unreachable!("`{line}` did not end in {LONGEST:?}, and has shown: {shown}");
        }
        if !screen.read(&mut byte).is_ok_and(|read| read > 0) {
            break;
        }
        shown.extend(byte);
        if (shown.ends_with(b": ") || shown.ends_with(b"] ")) && is_silent(&screen, MOMENT) {
            // Without a further line the person is gone.
            let _ = keys.write_all(lines.next().unwrap_or("\u{4}").as_bytes());
        }
    }
    let code = child.wait().unwrap().code().unwrap_or(-1);
    let out = String::from_utf8(shown).unwrap().replace("\r\n", "\n");
    Ran { code, out, err: String::new() }
}

/// Longer than any command at a terminal takes.
const LONGEST: Duration = Duration::from_mins(1);
/// Who shows nothing more for so long waits for an answer.
const MOMENT: Duration = Duration::from_millis(300);

/// Whether nothing more is shown for so long.
#[cfg(target_os = "linux")]
fn is_silent(screen: &std::process::ChildStdout, time: Duration) -> bool {
    let mut waiting = [rustix::event::PollFd::new(screen, rustix::event::PollFlags::IN)];
    let time = time.try_into().unwrap();
    rustix::event::poll(&mut waiting, Some(&time)).is_ok_and(|ready| ready == 0)
}

#[expect(clippy::disallowed_methods, reason = "examples are written for a shell")]
fn with_path(program: &str, folder: &Folder) -> Command {
    let bin = Path::new(env!("CARGO_BIN_EXE_toolcrib")).parent().unwrap();
    let mut command = Command::new(program);
    let peers = crate::peers::programs().map(|bin| format!("{}:", bin.display()));
    let peers = peers.unwrap_or_default();
    let path = format!("{}:{peers}/usr/local/bin:/usr/bin:/bin", bin.display());
    // `script` asks for the shell of whoever runs the tests, and shells differ.
    command.env("PATH", path).env("SHELL", "/bin/sh").current_dir(folder.path());
    command.env("XDG_STATE_HOME", folder.path().join(".state"));
    command
}

fn finish(mut command: Command, input: &str) -> Ran {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that reads nothing may be gone already.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran {
        code: output.status.code().unwrap_or(-1),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}
