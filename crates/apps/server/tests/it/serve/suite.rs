//! The protocol's own suite against the binary, in front of a server that has all it asks for.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use toolcrib_testkit::ConformanceSuite;

use super::support::Serving;
use crate::process::Folder;

#[test]
fn through_the_binary_no_scenario_of_2025_11_25_is_lost() {
    through("2025-11-25");
}

#[test]
fn through_the_binary_no_scenario_of_2026_07_28_is_lost() {
    through("2026-07-28");
}

/// The binary passes one server on under its own names, and forbids nothing of it.
fn through(revision: &str) {
    let Some(suite) = ConformanceSuite::installed() else { return };
    let fixture = Fixture::start();
    let folder = Folder::new();
    let server = format!("mcp = {{ url = \"{}\", revision = \"{revision}\" }}", fixture.url);
    let rules = "allow = [\"*\"]\n";
    let source = format!("[[source]]\nid = \"far\"\nprefix = \"\"\n{server}\n");
    folder.write("crib.toml", &(rules.to_owned() + &source));
    let serving = Serving::start_in(folder, &["--insecure-local"]);
    serving.hears("`far`: 32 tools");
    let url = format!("http://{}/mcp", serving.address);
    let verdict = suite.run("server", revision, &["--url", &url]);
    let missing = verdict.missing();
    assert!(missing.is_empty(), "{missing:?}\n{}\n{}", verdict.said, verdict.faults.join("\n"));
    assert_ne!(verdict.scored, Vec::<String>::new());
}

#[test]
fn in_front_of_a_program_one_address_loses_no_scenario_of_either_revision() {
    let Some(suite) = ConformanceSuite::installed() else { return };
    let folder = Folder::new();
    let command = serde_json::json!([program(), "stdio"]);
    let source =
        format!("[[source]]\nid = \"far\"\nprefix = \"\"\nmcp = {{ command = {command} }}\n");
    folder.write("crib.toml", &format!("allow = [\"*\"]\n{source}"));
    let serving = Serving::start_in(folder, &["--insecure-local"]);
    serving.hears("`far`: 32 tools");
    let url = format!("http://{}/mcp", serving.address);
    // One after the other and back, since what was learned of the one must not harm the other.
    for revision in ["2026-07-28", "2025-11-25", "2026-07-28"] {
        let verdict = suite.run("server", revision, &["--url", &url]);
        let missing = verdict.missing();
        let faults = verdict.faults.join("\n");
        assert!(missing.is_empty(), "{revision}: {missing:?}\n{}\n{faults}", verdict.said);
        assert_ne!(verdict.scored, Vec::<String>::new());
    }
}

/// An example of the crate that speaks MCP, as cargo has built it beside the tests.
fn program() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    let name = format!("conformance_server{}", std::env::consts::EXE_SUFFIX);
    let program = own.parent().unwrap().parent().unwrap().join("examples").join(name);
    assert!(program.exists(), "build it: cargo build -p toolcrib-mcp --examples");
    program
}

/// That program at a port.
struct Fixture {
    child: Child,
    url: String,
}

impl Fixture {
    #[expect(clippy::disallowed_methods, reason = "the server is a program")]
    fn start() -> Self {
        let mut command = Command::new(program());
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().to_owned() }
    }
}

impl Drop for Fixture {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
