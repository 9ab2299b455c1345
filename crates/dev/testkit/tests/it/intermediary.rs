//! What the suite for gateways tells where there is nothing to judge, and its relay.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Command, Stdio};

use toolcrib_testkit::intermediary::{IntermediaryRevision, IntermediarySuite};

#[test]
fn what_is_no_gateway_is_told_with_what_came_of_it() {
    let suite = IntermediarySuite::listen("127.0.0.1:0").unwrap();
    assert!(suite.upstream().starts_with("127.0.0.1:"));
    let told = suite.judge(&["127.0.0.1:1/mcp", "--patience", "1"]).unwrap_err();
    let start =
        "the gateway does not serve the fixture in 2025-11-25: the gateway does not greet: ";
    assert!(told.starts_with(start), "{told}");
    let suite = IntermediarySuite::listen("127.0.0.1:0").unwrap();
    assert_eq!(suite.judge(&["--json"]).unwrap_err(), "name the address of a gateway");
    let taken = IntermediarySuite::listen("127.0.0.1:0").unwrap();
    let told = IntermediarySuite::listen(&taken.upstream()).err().unwrap();
    assert!(told.starts_with("cannot listen at `127.0.0.1:"), "{told}");
    assert_eq!(
        IntermediaryRevision::ALL.map(IntermediaryRevision::word),
        ["2025-11-25", "2026-07-28"]
    );
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test is about the program")]
fn the_relay_passes_lines_both_ways_and_ends_with_the_suite() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let mut relay = Command::new(env!("CARGO_BIN_EXE_mcp-intermediary-suite"))
        .args(["relay", &address])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut suite, _) = listener.accept().unwrap();
    relay.stdin.as_mut().unwrap().write_all(b"asked\n").unwrap();
    let mut came = BufReader::new(suite.try_clone().unwrap()).lines();
    let lines: Vec<_> = came.by_ref().take(3).map(Result::unwrap).collect();
    assert_eq!(lines, ["PIPE / HTTP/1.1", "", "asked"]);
    suite.write_all(b"answered\n").unwrap();
    drop((suite, came));
    let mut told = String::new();
    relay.stdout.take().unwrap().read_to_string(&mut told).unwrap();
    assert_eq!((told.as_str(), relay.wait().unwrap().code()), ("answered\n", Some(1)));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the test is about the program")]
fn the_list_names_each_check_with_what_it_rests_on() {
    let program = env!("CARGO_BIN_EXE_mcp-intermediary-suite");
    let list = Command::new(program).arg("--list").output().unwrap();
    let list = String::from_utf8(list.stdout).unwrap();
    let lines: Vec<_> = list.lines().collect();
    assert_eq!(lines.len() % 3, 0);
    let mut known = Vec::new();
    for check in lines.chunks(3) {
        let id = check[0].split("  ").next().unwrap();
        assert!(!known.contains(&id), "{id} stands there twice");
        known.push(id);
        assert!(check[2].starts_with("  it rests on: ") && check[2].len() > 20, "{check:?}");
    }
    assert!(known.len() > 90, "{}", known.len());
}
