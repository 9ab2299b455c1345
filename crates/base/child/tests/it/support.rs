//! What the tests share: programs to start, and what `/proc` says of them.

#![expect(clippy::expect_used, reason = "helpers of tests")]

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{ChildStdin, ChildStdout};
use toolcrib_child::{Child, Program};

/// A shell script; the shell is asked for by name, as an operator could.
pub(crate) fn shell(script: &str) -> Program {
    Program::new("/bin/sh", ["-c", script])
}

/// A Python script.
pub(crate) fn python(script: &str) -> Program {
    let mut program = Program::new("python3", ["-u", "-c", script]);
    // The usual places come first: a version manager's wrapper would add processes of its own.
    let own = std::env::vars().find(|(name, _)| name == "PATH").map(|(_, value)| value);
    let path = format!("/usr/bin:/usr/local/bin:/bin:{}", own.unwrap_or_default());
    program.inherited = vec![("PATH".to_owned(), path)];
    program
}

/// A running program with its pipes, the output as lines.
pub(crate) struct Talk {
    pub(crate) child: Child,
    pub(crate) stdin: ChildStdin,
    pub(crate) lines: Lines<BufReader<ChildStdout>>,
}

impl Talk {
    pub(crate) async fn with(program: &Program) -> Self {
        let mut child = Child::spawn(program).await.expect("the program starts");
        let (stdin, stdout) = child.take_pipes().expect("the pipes are there");
        Self { child, stdin, lines: BufReader::new(stdout).lines() }
    }

    /// The next line; a test that waits for one that never comes fails.
    pub(crate) async fn line(&mut self) -> String {
        let line = tokio::time::timeout(Duration::from_secs(20), self.lines.next_line()).await;
        line.expect("a line comes in time").expect("it can be read").expect("the output is open")
    }

    /// The next line as a process id.
    pub(crate) async fn id(&mut self) -> u32 {
        self.line().await.trim().parse().expect("a process id")
    }
}

/// Whether a process is there and no zombie.
pub(crate) fn is_alive(id: u32) -> bool {
    state(id).is_some_and(|state| state != 'Z')
}

/// The state of a process as `/proc` writes it, `Z` for a zombie; `None` if it is not there.
pub(crate) fn state(id: u32) -> Option<char> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

/// Waits until something is so, for at most 20 s.
pub(crate) async fn until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..2_000 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(is_so(), "{what}");
}

/// This test binary again, to run one test in a process of its own, where it has this [`role`].
#[expect(clippy::disallowed_methods, reason = "a test plays the host of another process")]
pub(crate) fn alone(test: &str, role: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("we run from a file"));
    command.args([test, "--exact", "--nocapture"]).env(ROLE, role);
    command
}

/// What [`alone`] started this process for.
pub(crate) fn role() -> Option<String> {
    std::env::vars().find(|(name, _)| name == ROLE).map(|(_, role)| role)
}

const ROLE: &str = "TOOLCRIB_TEST_ROLE";

/// A folder that is removed with all it holds.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        let name = format!("toolcrib-test-{}", uuid::Uuid::new_v4().simple());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).expect("the temporary folder is writable");
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file with these permissions, and tells where it is.
    pub(crate) fn write(&self, name: &str, text: &str, mode: u32) -> PathBuf {
        let file = self.0.join(name);
        fs::write(&file, text).expect("the folder is writable");
        fs::set_permissions(&file, Permissions::from_mode(mode)).expect("the file is ours");
        file
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
