//! The tests of A2A, asked of an agent and of a client that others wrote.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use toolcrib_testkit::acts::{ActsBinding, ActsLevel, ActsReport, judge};

#[expect(clippy::disallowed_methods, reason = "the test run says where it installed its peers")]
fn python() -> Option<PathBuf> {
    let found = std::env::var_os("TOOLCRIB_PYTHON_A2A").map(PathBuf::from);
    if found.is_none() {
        let out = &mut std::io::stdout();
        writeln!(out, "[skipped] no agent in Python: `cargo xtask peers` installs it").unwrap();
    }
    found
}

fn script(name: &str) -> String {
    format!("{}/tests/it/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// It ends with its test.
struct PeerAgent(Child);

impl Drop for PeerAgent {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn failed(report: &ActsReport, binding: Option<ActsBinding>) -> Vec<&str> {
    let levels = ActsLevel::ALL.into_iter();
    let marks = levels.flat_map(|level| report.failed(binding, level));
    marks.map(|mark| mark.id.as_str()).collect()
}

#[test]
fn an_agent_of_the_sdk_in_python_is_judged_as_it_was() {
    let Some(python) = python() else { return };
    // Nobody else takes a port that was free a moment ago, in all likelihood.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    #[expect(clippy::disallowed_methods, reason = "the agent is a program of others")]
    let mut agent = Command::new(python);
    agent.args(["-W", "ignore", &script("acts_agent.py"), &port.to_string()]);
    // Its log tells of what the suite does wrong on purpose.
    let _agent = PeerAgent(agent.stderr(Stdio::null()).spawn().unwrap());
    for _ in 0..600 {
        if TcpStream::connect(("127.0.0.1", port)).is_ok() {
            break;
        }
        sleep(Duration::from_millis(50));
    }
    let report = judge(&[&format!("127.0.0.1:{port}")]).unwrap();
    let text = report.text();
    let out = &mut std::io::stdout();
    writeln!(out, "{text}").unwrap();
    assert!(!report.conforms());
    // Messages that the suite writes byte by byte have no `messageId`, which the SDK demands.
    let rpc = [
        "CARD-DISC-002",
        "CORE-SEND-004",
        "DM-FMT-001",
        "JSONRPC-ENV-001",
        "JSONRPC-CT-001",
        "JSONRPC-SSE-001",
        "CORE-HIST-005",
        "CORE-ERR-007",
        "VER-NEG-002",
        "DM-ART-003",
        "DM-EXTRA-001",
        "DM-ART-004",
    ];
    assert_eq!(failed(&report, Some(ActsBinding::JsonRpc)), rpc, "{text}");
    let rest = [
        "CARD-DISC-002",
        "CORE-SEND-004",
        "CORE-HIST-005",
        "CORE-ERR-007",
        "DM-ART-003",
        "REST-PD-001",
        "DM-ART-004",
    ];
    assert_eq!(failed(&report, Some(ActsBinding::Rest)), rest, "{text}");
}

#[test]
fn a_client_of_the_sdk_in_python_is_judged_by_what_it_reads() {
    let Some(python) = python() else { return };
    let client = script("acts_client.py");
    let python = python.to_str().unwrap();
    let report = judge(&["--client", python, "-W", "ignore", &client]).unwrap();
    assert_eq!(failed(&report, None), Vec::<&str>::new(), "{}", report.text());
    let passed = ActsLevel::ALL.map(|level| report.count(None, level).passed);
    assert_eq!(passed, [5, 3, 0]);
}

#[test]
fn a_client_that_reads_nothing_fails_every_test_of_clients() {
    let report = judge(&["--only", "CLIENT", "--client", "echo", "{}"]).unwrap();
    assert_eq!(failed(&report, None).len(), 8, "{}", report.text());
    let missing = judge(&["--only", "CLIENT-PARSE-001", "--client", "./no-such-client"]).unwrap();
    assert!(!missing.conforms() && missing.text().contains("`./no-such-client` does not start"));
}

#[test]
fn what_is_no_agent_and_no_suite_is_told_with_what_to_do() {
    let told = |words: &[&str]| judge(words).unwrap_err();
    assert!(told(&["127.0.0.1:1"]).starts_with("http://127.0.0.1:1/.well-known/agent-card.json: "));
    let told = told(&["127.0.0.1:1", "--suite", "/nowhere"]);
    assert!(told.ends_with("name the folder of the suite with `--suite`"), "{told}");
}
