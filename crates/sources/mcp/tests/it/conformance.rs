//! The protocol's own suite against a crib with one MCP server.

use std::io::Write as _;

use toolcrib_testkit::ConformanceSuite;

use crate::support::example;

#[test]
fn the_suite_of_2026_07_28_passes() {
    run("2026-07-28", 32);
}

#[test]
fn the_suite_of_2025_11_25_passes() {
    run("2025-11-25", 18);
}

/// `count`: the scenarios that count for this revision; each must pass without a warning.
fn run(revision: &str, count: usize) {
    let Some(suite) = ConformanceSuite::installed() else { return };
    let client = example(&format!("conformance_client{}", std::env::consts::EXE_SUFFIX));
    let verdict = suite.run("client", revision, &["--command".as_ref(), client.as_os_str()]);
    assert_eq!(verdict.scored.len(), count, "the suite is another one");
    let total = verdict.said.lines().find(|line| line.starts_with("Total:")).unwrap_or_default();
    print(&format!("{revision}: {}; {total}", verdict.line()));
    assert_eq!(verdict.missing(), Vec::<&str>::new(), "{}", verdict.said);
    assert!(verdict.is_content, "{}", verdict.said);
}

pub(crate) fn print(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}
