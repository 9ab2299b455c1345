//! Starts the binary as a server, and asks it in bytes.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::process::{Folder, run_in};

/// A server in a folder of its own; ends with the test.
pub(crate) struct Serving {
    pub(crate) folder: Folder,
    pub(crate) address: String,
    pub(crate) token: String,
    pub(crate) child: Child,
    /// What it said beside its answers.
    pub(crate) told: Arc<Mutex<String>>,
    _out: BufReader<ChildStdout>,
}

/// An answer, in pieces.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| unreachable!("no JSON: {self:?}"))
    }

    /// The name of the problem, or the status where it is none.
    pub(crate) fn problem(&self) -> String {
        let value: Value = serde_json::from_str(&self.body).unwrap_or_default();
        let kind =
            value["type"].as_str().and_then(|kind| kind.strip_prefix("urn:toolcrib:problem:"));
        kind.map_or_else(|| self.status.to_string(), |kind| format!("{} {kind}", self.status))
    }
}

pub(crate) fn state(folder: &Folder) -> String {
    folder.path().join("state").display().to_string()
}

/// The binary, with its state in the folder.
fn command(folder: &Folder, program: &str) -> Command {
    let mut command = unnamed(folder, program);
    if program == env!("CARGO_BIN_EXE_toolcrib") {
        command.args(folder.naming());
    }
    command
}

/// The same without the name of the configuration in the folder.
#[expect(clippy::disallowed_methods, reason = "the test is about the process")]
fn unnamed(folder: &Folder, program: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder.path()).env("XDG_STATE_HOME", state(folder));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

impl Serving {
    pub(crate) fn start(words: &[&str]) -> Self {
        Self::start_in(Folder::new(), words)
    }

    /// A server of the configuration in the folder, whose sources had their chance.
    pub(crate) fn start_in(folder: Folder, words: &[&str]) -> Self {
        let serving = Self::starting_in(folder, words);
        let ready = || serving.send(&head("GET", "/readyz", &serving, &[]), "").status == 200;
        assert!(eventually(ready));
        serving
    }

    /// The same from the moment it listens.
    pub(crate) fn starting_in(folder: Folder, words: &[&str]) -> Self {
        let mut command = command(&folder, env!("CARGO_BIN_EXE_toolcrib"));
        command.args(["serve", "--listen", "127.0.0.1:0"]).args(words);
        Self::follow(folder, command)
    }

    /// The same, of a configuration that it finds.
    pub(crate) fn starting_found(folder: Folder) -> Self {
        let mut command = unnamed(&folder, env!("CARGO_BIN_EXE_toolcrib"));
        command.args(["serve", "--listen", "127.0.0.1:0"]);
        Self::follow(folder, command)
    }

    /// The same at an address of its own.
    pub(crate) fn starting_at(folder: Folder, words: &[&str]) -> Self {
        let mut command = command(&folder, env!("CARGO_BIN_EXE_toolcrib"));
        command.arg("serve").args(words);
        Self::follow(folder, command)
    }

    /// The same, of which a test says when it dies: see `config::dies_at`. `Err`: that was before
    /// it listened.
    pub(crate) fn start_dying(folder: Folder, moment: &str) -> Result<Self, Folder> {
        let mut command = command(&folder, env!("CARGO_BIN_EXE_toolcrib"));
        command.args(["serve", "--listen", "127.0.0.1:0"]).env("TOOLCRIB_TEST_DIES_AT", moment);
        Self::try_follow(folder, command).map_err(|(folder, _)| folder)
    }

    /// A server that may refuse to start, from the moment it listens; else what it said.
    pub(crate) fn try_start(folder: Folder) -> Result<Self, (Folder, String)> {
        let mut command = command(&folder, env!("CARGO_BIN_EXE_toolcrib"));
        command.args(["serve", "--listen", "127.0.0.1:0"]);
        Self::try_follow(folder, command)
    }

    /// The same at the address that its file or these words say, else only the words of its error.
    pub(crate) fn starting_or_refused(
        folder: Folder,
        words: &[&str],
    ) -> Result<Self, (Folder, String)> {
        let mut command = command(&folder, env!("CARGO_BIN_EXE_toolcrib"));
        let is_placed =
            std::fs::read_to_string(folder.path().join("crib.toml")).unwrap().contains("listen");
        let place: &[&str] = if is_placed { &[] } else { &["--listen", "127.0.0.1:0"] };
        command.arg("serve").args(place).args(words);
        let told = |(folder, told): (Folder, String)| {
            let told = told.split_once(" and ").map_or("", |(_, told)| told).to_owned();
            (folder, told)
        };
        Self::try_follow(folder, command).map_err(told)
    }

    /// The same with this many files open at the most.
    pub(crate) fn start_with_files(files: usize) -> Self {
        let folder = Folder::new();
        let mut command = command(&folder, "sh");
        let binary = env!("CARGO_BIN_EXE_toolcrib");
        let line = format!("ulimit -n {files}; exec {binary} serve --listen 127.0.0.1:0");
        command.args(["-c", &line]);
        Self::follow(folder, command)
    }

    /// A server that another program starts.
    pub(crate) fn starting_by(folder: Folder, program: &str, words: &[&str]) -> Self {
        let mut command = unnamed(&folder, program);
        command.args(words);
        Self::follow(folder, command)
    }

    /// The same with something that whoever starts it hands over, `count` times as far as it is
    /// told; else what it said.
    #[cfg(unix)]
    pub(crate) fn try_handed(
        folder: Folder,
        handed: std::os::fd::OwnedFd,
        (count, words): (usize, &[&str]),
    ) -> Result<Self, (Folder, String)> {
        let mut command = unnamed(&folder, "sh");
        let own =
            "exec 3<&0 0</dev/null; LISTEN_FDS=$1 LISTEN_PID=$$; export LISTEN_FDS LISTEN_PID";
        let line = format!("{own}; shift; exec \"$0\" \"$@\"");
        command.args(["-c", &line, env!("CARGO_BIN_EXE_toolcrib"), &count.to_string()]);
        command.args(folder.naming()).arg("serve").args(words).stdin(handed);
        Self::try_follow(folder, command)
    }

    fn follow(folder: Folder, command: Command) -> Self {
        Self::try_follow(folder, command).unwrap_or_else(|(_, told)| unreachable!("{told}"))
    }

    fn try_follow(folder: Folder, mut command: Command) -> Result<Self, (Folder, String)> {
        let mut child = command.spawn().unwrap();
        let told: Arc<Mutex<String>> = Arc::default();
        let listening = listen(child.stderr.take().unwrap(), Arc::clone(&told));
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ");
        let address = address.and_then(|url| Some(url.split_once("://")?.1.to_owned()));
        let Some(address) = address else {
            let _ = (child.wait(), listening.join());
            let told = told.lock().unwrap().clone();
            return Err((folder, format!("`{line}` and {told}")));
        };
        let token = run_in(&folder, &["token"], &[("XDG_STATE_HOME", &state(&folder))]).out;
        let token = token.trim().to_owned();
        Ok(Self { folder, address, token, child, told, _out: out })
    }

    /// A token of another caller, which the server takes within a second.
    pub(crate) fn token_of(&self, name: &str) -> String {
        let state = state(&self.folder);
        let token = run_in(&self.folder, &["token", name], &[("XDG_STATE_HOME", &state)]).out;
        let token = token.trim().to_owned();
        eventually(|| {
            self.send(&head("GET", "/v1/tools", self, &[&bearer(&token)]), "").status == 200
        });
        token
    }

    /// Sends a request with the token.
    pub(crate) fn ask(&self, method: &str, path: &str, body: &str) -> Answer {
        self.ask_as(&self.token, method, path, body)
    }

    pub(crate) fn ask_as(&self, token: &str, method: &str, path: &str, body: &str) -> Answer {
        let head = head(method, path, self, &[&bearer(token), "Content-Type: application/json"]);
        self.send(&head, body)
    }

    pub(crate) fn call(&self, body: &Value) -> Value {
        let answer = self.ask("POST", "/v1/calls", &body.to_string());
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    }

    /// Sends a head, with the length of the body added, and the body.
    pub(crate) fn send(&self, head: &str, body: &str) -> Answer {
        let mut bytes = head.to_owned();
        if !body.is_empty() {
            write!(bytes, "Content-Length: {}\r\n", body.len()).unwrap();
        }
        bytes += "Connection: close\r\n\r\n";
        bytes += body;
        self.raw(bytes.as_bytes())
    }

    /// Sends bytes and reads until the server has done.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        // The server may refuse before it has read everything.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        read(&String::from_utf8_lossy(&answer))
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        stream
    }

    /// Waits until the server has said this.
    pub(crate) fn hears(&self, words: &str) {
        let told = || self.told.lock().unwrap().clone();
        let said = eventually(|| told().contains(words));
        assert!(said, "no `{words}` in\n{}", told());
    }

    /// Sends it a signal.
    #[expect(clippy::disallowed_methods, reason = "the test is about the process")]
    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &id]).status().unwrap();
        assert!(sent.success());
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Takes whole lines alone: whoever reads them as JSON never meets half of one.
fn listen(from: ChildStderr, told: Arc<Mutex<String>>) -> std::thread::JoinHandle<()> {
    std::thread::spawn(move || {
        let (mut from, mut line) = (BufReader::new(from), Vec::new());
        while let Ok(1..) = from.read_until(b'\n', &mut line) {
            told.lock().unwrap().push_str(&String::from_utf8_lossy(&line));
            line.clear();
        }
    })
}

pub(crate) fn bearer(token: &str) -> String {
    format!("Authorization: Bearer {token}")
}

pub(crate) fn head(method: &str, path: &str, serving: &Serving, headers: &[&str]) -> String {
    let headers = headers.iter().fold(String::new(), |all, header| all + header + "\r\n");
    format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n{headers}", serving.address)
}

/// Reads an answer, also one in chunks.
pub(crate) fn read(text: &str) -> Answer {
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    let chunked = head.to_lowercase().contains("transfer-encoding: chunked");
    let body = if chunked { unchunked(body) } else { body.to_owned() };
    Answer { status, head: head.to_owned(), body }
}

fn unchunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size, 16).unwrap_or(0);
        whole += &rest[..size.min(rest.len())];
        body = rest.get(size + 2..).unwrap_or_default();
    }
    whole
}

/// Whether it comes true within half a minute.
pub(crate) fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + Duration::from_secs(30);
    while Instant::now() < end {
        if holds() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    false
}
