//! An agent that others wrote the SDK of, as a program.

use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toolcrib_child::{Child, Program};

/// Each way with each version.
pub(crate) const WAYS: [&str; 4] = ["JSONRPC/1.0", "HTTP+JSON/1.0", "JSONRPC/0.3", "HTTP+JSON/0.3"];

/// An agent that goes away with its test.
pub(crate) struct OtherAgent {
    pub(crate) base: String,
    _child: Child,
}

impl OtherAgent {
    /// Starts a program with these words and a port behind them.
    pub(crate) async fn start(program: &Path, words: &[&str]) -> Self {
        // Nobody else takes a port that was free a moment ago, in all likelihood.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let port_text = port.to_string();
        let words = words.iter().copied().chain([port_text.as_str()]);
        let mut program = Program::new(program, words);
        program.inherited = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
        let child = Child::spawn(&program).await.unwrap();
        for _ in 0..600 {
            if tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
                return Self { base: format!("http://127.0.0.1:{port}"), _child: child };
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the agent does not listen");
    }
}

/// Where the run of the tests installed a peer.
#[expect(clippy::disallowed_methods, reason = "the test run says where it installed its peers")]
pub(crate) fn peer(variable: &str) -> Option<PathBuf> {
    let found = std::env::var_os(variable).map(PathBuf::from);
    if found.is_none() {
        let out = &mut std::io::stdout();
        writeln!(out, "[skipped] no `{variable}`: `cargo xtask peers` installs it").unwrap();
    }
    found
}
