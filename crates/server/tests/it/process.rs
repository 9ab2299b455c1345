//! Runs the binary in a folder of its own.

use std::io::Write;
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
#[cfg(target_os = "linux")]
pub(crate) fn at_terminal(folder: &Folder, line: &str, typed: &str) -> Ran {
    let mut command = with_path("script", folder);
    command.args(["-q", "-e", "-E", "never", "-c", line, "/dev/null"]);
    let ran = finish(command, typed);
    Ran { out: ran.out.replace("\r\n", "\n"), ..ran }
}

#[expect(clippy::disallowed_methods, reason = "examples are written for a shell")]
fn with_path(program: &str, folder: &Folder) -> Command {
    let bin = Path::new(env!("CARGO_BIN_EXE_toolcrib")).parent().unwrap();
    let mut command = Command::new(program);
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display());
    command.env("PATH", path).current_dir(folder.path());
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
