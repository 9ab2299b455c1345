//! The checks of a gateway of MCP, asked of the binary before a server over HTTP and over a pipe.

use std::io::Write as _;

use toolcrib_testkit::intermediary::{
    IntermediaryLevel, IntermediaryReport, IntermediaryRevision, IntermediarySuite,
    IntermediaryVerdict,
};

use super::support::Serving;
use crate::process::Folder;

/// What the program of the suite does with the word `relay`.
const RELAY: &str = r#"
import os, socket, sys, threading

suite = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
suite.sendall(b"PIPE / HTTP/1.1\r\n\r\n")

def forward():
    while data := os.read(0, 65536):
        suite.sendall(data)
    suite.shutdown(socket.SHUT_WR)

threading.Thread(target=forward, daemon=True).start()
while data := suite.recv(65536):
    while data:
        data = data[os.write(1, data):]
os._exit(1)
"#;

/// Judges a server of its own: what breaks off often is left alone for a while.
fn judged(revision: IntermediaryRevision, is_piped: bool) -> IntermediaryReport {
    let suite = IntermediarySuite::listen("127.0.0.1:0").unwrap();
    let upstream = suite.upstream();
    let folder = Folder::new();
    let server = if is_piped {
        folder.write("relay.py", RELAY);
        let port = upstream.rsplit(':').next().unwrap();
        format!("command = [\"python3\", \"relay.py\", \"{port}\"], cwd = \".\"")
    } else {
        format!("url = \"http://{upstream}/mcp\"")
    };
    let source = format!("[[source]]\nid = \"far\"\nprefix = \"\"\nmcp = {{ {server} }}\n");
    folder.write("crib.toml", &format!("allow = [\"*\"]\n\n{source}"));
    // The server behind answers once it judges, and the gateway may wait for it.
    let serving = Serving::starting_in(folder, &[]);
    let (own, other) = (serving.token.clone(), serving.token_of("other"));
    let header = |token: &str| format!("Authorization: Bearer {token}");
    let report = suite.judge(&[
        &format!("http://{}/mcp", serving.address),
        "--revision",
        revision.word(),
        "--header",
        &header(&own),
        "--other",
        &header(&other),
    ]);
    let report = report.unwrap();
    let out = &mut std::io::stdout();
    writeln!(out, "{}", report.text()).unwrap();
    report
}

fn holds(revision: IntermediaryRevision, is_piped: bool, passed: usize, shoulds: &[&str]) {
    let report = judged(revision, is_piped);
    let [ours, failed, _] = report.count(revision, IntermediaryLevel::Must);
    assert_eq!((ours, failed), (passed, 0), "{}", report.text());
    let failed = report.marks.iter().filter(|mark| {
        matches!(mark.verdict, IntermediaryVerdict::Failed(_))
            && mark.level == IntermediaryLevel::Should
    });
    let failed: Vec<_> = failed.map(|mark| mark.id).collect();
    assert_eq!(failed, shoulds, "{}", report.text());
}

/// `_meta` of a client may hold what is meant for toolcrib alone; the trace goes on where traces
/// are sent; and an answer to somebody else on the stream of a call ends that call.
const OVER_HTTP: [&str; 3] = ["CALL-META-UP", "CALL-TRACE", "FAULT-STRAY-ANSWER"];

#[test]
fn a_server_over_http_is_whole_for_clients_of_2025() {
    holds(IntermediaryRevision::Older, false, 91, &OVER_HTTP);
}

#[test]
fn a_server_over_http_is_whole_for_clients_of_2026() {
    holds(IntermediaryRevision::Newer, false, 82, &OVER_HTTP);
}

#[test]
fn a_server_with_a_pipe_is_whole_for_clients_of_2025() {
    // Lines do not say whose they are there: all clients of their caller hear them.
    let shoulds = ["CALL-META-UP", "CALL-TRACE", "LOG-OWN"];
    holds(IntermediaryRevision::Older, true, 85, &shoulds);
}

#[test]
fn a_server_with_a_pipe_is_whole_for_clients_of_2026() {
    holds(IntermediaryRevision::Newer, true, 77, &["CALL-META-UP", "CALL-TRACE"]);
}
