//! The protocol's own suite against a crib with one MCP server.
//!
//! It runs where `TOOLCRIB_NODE` names a Node of version 22 or newer, and `TOOLCRIB_NODE_PEERS`
//! a `node_modules` with `@modelcontextprotocol/conformance`.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

const PACKAGE: &str = "@modelcontextprotocol/conformance";

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
    let Some((node, suite)) = installed() else { return };
    let scored = scored(&suite, revision, "client");
    assert_eq!(scored.len(), count, "the suite is another one");
    let client = client();
    let cure = "`cargo test` without a filter on targets builds it";
    assert!(client.exists(), "there is no `{}`: {cure}", client.display());
    let folder = std::env::temp_dir().join(format!("toolcrib-suite-{}", uuid::Uuid::new_v4()));
    #[expect(clippy::disallowed_methods, reason = "the suite is no child of ours")]
    let mut command = Command::new(node);
    command.arg(suite.join("dist/index.js"));
    command.args(["client", "--requirements", revision, "--command"]).arg(&client);
    let output = alone(command.arg("-o").arg(&folder));
    let _ = std::fs::remove_dir_all(&folder);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let passed: BTreeSet<String> = said.lines().filter_map(passed).collect();
    let missing: Vec<&String> = scored.iter().filter(|name| !passed.contains(*name)).collect();
    let total = said.lines().find(|line| line.starts_with("Total:")).unwrap_or_default();
    print(&format!(
        "{revision}: {} of {count} scenarios that count; {total}",
        count - missing.len()
    ));
    assert_eq!(missing, Vec::<&String>::new(), "{said}");
    assert!(output.status.success(), "{said}");
}

/// Runs the suite while no other test does: it starts all of its scenarios at once, and has little
/// patience.
pub(crate) fn alone(suite: &mut Command) -> Output {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    suite.output().unwrap()
}

/// The name in a line such as `✓ auth/basic-cimd: 12 passed, 0 failed`.
pub(crate) fn passed(line: &str) -> Option<String> {
    let (name, marks) = line.strip_prefix("✓ ")?.split_once(": ")?;
    let ran = !marks.starts_with("0 passed");
    ran.then(|| name.to_owned())
}

/// The scenarios that count for one side, as the package lists them.
pub(crate) fn scored(suite: &Path, revision: &str, side: &str) -> Vec<String> {
    let file = suite.join("requirements").join(format!("{revision}.yaml"));
    let text = std::fs::read_to_string(file).unwrap();
    let own = text.split(&format!("\n{side}:\n")).nth(1).unwrap();
    let listed = own.lines().map_while(|line| line.strip_prefix("  - "));
    listed.map(str::to_owned).collect()
}

#[expect(clippy::disallowed_methods, reason = "the peers of tests are named by variables")]
pub(crate) fn installed() -> Option<(PathBuf, PathBuf)> {
    let named = |name| std::env::var_os(name).map(PathBuf::from);
    let found = named("TOOLCRIB_NODE").zip(named("TOOLCRIB_NODE_PEERS"));
    let suite = found.map(|(node, peers)| (node, peers.join(PACKAGE)));
    let suite = suite.filter(|(_, suite)| suite.join("dist/index.js").exists());
    if suite.is_none() {
        print("[skipped] TOOLCRIB_NODE and TOOLCRIB_NODE_PEERS name no conformance suite");
    }
    suite
}

/// Where cargo puts the example beside this test.
fn client() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let built = test.parent().and_then(Path::parent).unwrap();
    built.join("examples").join(format!("conformance_client{}", std::env::consts::EXE_SUFFIX))
}

pub(crate) fn print(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}
