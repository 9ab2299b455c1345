//! A program that has workflows of an engine in it, which is told what to do by lines.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;

/// An answer that takes longer does not come.
const PATIENCE: Duration = Duration::from_mins(3);

pub(super) struct Worker {
    child: Child,
    orders: ChildStdin,
    answers: Receiver<String>,
    /// What it says beside, once it has ended.
    beside: Option<JoinHandle<String>>,
}

impl Worker {
    /// One that is ready, and has its tools at `url` with this token.
    pub(super) fn start(
        python: &Path,
        program: &str,
        words: &[&str],
        (url, token): (&str, &str),
    ) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        #[expect(clippy::disallowed_methods, reason = "the worker is a program")]
        let mut command = Command::new(python);
        command.arg(root.join("tests/it/engines").join(program)).args(words);
        command.env("PYTHONPATH", root.join("../../../docs/reference/engines"));
        command.env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONFAULTHANDLER", "1");
        command.env("CRIB_URL", url).env("CRIB_TOKEN", token);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let orders = child.stdin.take().unwrap();
        let (out, mut beside) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let (says, answers) = mpsc::channel();
        std::thread::spawn(move || {
            let lines = BufReader::new(out).lines();
            lines.map_while(Result::ok).try_for_each(|line| says.send(line).ok())
        });
        let beside = std::thread::spawn(move || {
            let mut told = Vec::new();
            let _ = beside.read_to_end(&mut told);
            String::from_utf8_lossy(&told).into_owned()
        });
        let mut worker = Self { child, orders, answers, beside: Some(beside) };
        assert_eq!(worker.hear(), serde_json::json!({ "ready": true }));
        worker
    }

    /// Tells it something, and gives what it answers.
    pub(super) fn ask(&mut self, order: &Value) -> Value {
        writeln!(self.orders, "{order}").unwrap();
        self.hear()
    }

    fn hear(&mut self) -> Value {
        if let Ok(line) = self.answers.recv_timeout(PATIENCE) {
            return serde_json::from_str(&line).unwrap();
        }
        // By this signal it says where each of its threads is.
        let process = rustix::process::Pid::from_child(&self.child);
        let _ = rustix::process::kill_process(process, rustix::process::Signal::ABORT);
        let _ = self.child.wait();
        let told = self.beside.take().map(|beside| beside.join().unwrap());
        unreachable!("no answer: {}", told.unwrap_or_default())
    }

    /// Ends it as a power cut would.
    pub(super) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
