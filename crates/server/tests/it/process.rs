//! Runs the binary in a folder of its own.

use std::io::{Read as _, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

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
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("toolcrib-test-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }

    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        self.run_with(words, "")
    }

    pub(crate) fn run_with(&self, words: &[&str], input: &str) -> Ran {
        let mut command = binary();
        command.args(words).current_dir(&self.0);
        finish(command, input)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left is the system's to clear away.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn run(words: &[&str]) -> Ran {
    Folder::new().run(words)
}

/// The same with variables of the environment.
pub(crate) fn run_in(folder: &Folder, words: &[&str], variables: &[(&str, &str)]) -> Ran {
    let mut command = binary();
    command.args(words).current_dir(folder.path()).envs(variables.iter().copied());
    finish(command, "")
}

#[expect(clippy::disallowed_methods, reason = "the test is about the process")]
fn binary() -> Command {
    Command::new(env!("CARGO_BIN_EXE_toolcrib"))
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
    while screen.read(&mut byte).is_ok_and(|read| read > 0) {
        shown.extend(byte);
        if (shown.ends_with(b": ") || shown.ends_with(b"] ")) && is_silent(&screen) {
            // Without a further line the person is gone.
            let _ = keys.write_all(lines.next().unwrap_or("\u{4}").as_bytes());
        }
    }
    let code = child.wait().unwrap().code().unwrap_or(-1);
    let out = String::from_utf8(shown).unwrap().replace("\r\n", "\n");
    Ran { code, out, err: String::new() }
}

/// Whether nothing more is shown for a moment: then somebody is asked.
#[cfg(target_os = "linux")]
fn is_silent(screen: &std::process::ChildStdout) -> bool {
    let mut waiting = [rustix::event::PollFd::new(screen, rustix::event::PollFlags::IN)];
    let moment = rustix::event::Timespec { tv_sec: 0, tv_nsec: 300_000_000 };
    rustix::event::poll(&mut waiting, Some(&moment)).is_ok_and(|ready| ready == 0)
}

#[expect(clippy::disallowed_methods, reason = "examples are written for a shell")]
fn with_path(program: &str, folder: &Folder) -> Command {
    let bin = Path::new(env!("CARGO_BIN_EXE_toolcrib")).parent().unwrap();
    let mut command = Command::new(program);
    let peers = crate::peers::programs().map(|bin| format!("{}:", bin.display()));
    let peers = peers.unwrap_or_default();
    let path = format!("{}:{peers}/usr/local/bin:/usr/bin:/bin", bin.display());
    command.env("PATH", path).current_dir(folder.path());
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
