//! The protocol's own suite against a door with the fixture tools.
//!
//! It runs where `TOOLCRIB_NODE` names a Node of version 22 or newer, and `TOOLCRIB_NODE_PEERS`
//! a `node_modules` with `@modelcontextprotocol/conformance`.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use toolcrib_mcp::DoorSettings;

use super::{shelves, support};
use crate::conformance::{alone, installed, passed, print, scored};

#[tokio::test(flavor = "multi_thread")]
async fn every_scenario_of_2025_11_25_passes() {
    run("2025-11-25", &open().await, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_scenario_of_2026_07_28_passes() {
    let Some((passed, faults)) = run("2026-07-28", &open().await, &[]).await else { return };
    let lost: Vec<_> = TASKS.iter().filter(|name| !passed.contains(**name)).collect();
    print(&format!("tasks: {} of {} scenarios", TASKS.len() - lost.len(), TASKS.len()));
    assert!(lost.is_empty(), "{lost:?}\n{}", faults.join("\n"));
}

/// Scenarios of the extension for tasks: none of them counts for a revision, and those that check
/// anything must pass at our own door.
const TASKS: [&str; 9] = [
    "tasks-lifecycle",
    "tasks-capability-negotiation",
    "tasks-wire-fields",
    "tasks-request-state-removal",
    "tasks-mrtr-input",
    "tasks-request-headers",
    "tasks-dispatch-and-envelope",
    "tasks-required-task-error",
    "tasks-mrtr-composition",
];

async fn open() -> String {
    let task_after = super::long::TASK_AFTER;
    let settings = DoorSettings { task_after, ..DoorSettings::default() };
    support::open(shelves::crib(super::long::LONG).await, &[], settings).await
}

/// Every scenario that counts must pass at this address, but for those that may be `lost`; gives
/// all that passed, and the faults of others. `None`: there is no suite.
pub(crate) async fn run(
    revision: &str,
    url: &str,
    lost: &[&str],
) -> Option<(BTreeSet<String>, Vec<String>)> {
    let (node, suite) = installed()?;
    let scored = scored(&suite, revision, "server");
    let folder = std::env::temp_dir().join(format!("toolcrib-suite-{}", uuid::Uuid::new_v4()));
    #[expect(clippy::disallowed_methods, reason = "the suite is no child of ours")]
    let mut command = Command::new(node);
    command.arg(suite.join("dist/index.js"));
    command.args(["server", "--requirements", revision, "--url", url, "-o"]).arg(&folder);
    let output = tokio::task::spawn_blocking(move || alone(&mut command)).await.unwrap();
    let faults = faults(&folder);
    let _ = std::fs::remove_dir_all(&folder);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let passed: BTreeSet<String> = said.lines().filter_map(passed).collect();
    let missing: Vec<&String> = scored.iter().filter(|name| !passed.contains(*name)).collect();
    let count = scored.len();
    print(&format!("{revision}: {} of {count} scenarios that count", count - missing.len()));
    let all_may = missing.iter().all(|name| lost.contains(&name.as_str()));
    assert!(all_may, "{missing:?}\n{said}\n{}", faults.join("\n"));
    Some((passed, faults))
}

/// What the suite wrote of each check that failed.
fn faults(folder: &Path) -> Vec<String> {
    let Ok(runs) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut faults = Vec::new();
    for run in runs.map(|run| run.unwrap().path()) {
        let Ok(text) = std::fs::read_to_string(run.join("checks.json")) else { continue };
        let checks: Vec<Value> = serde_json::from_str(&text).unwrap();
        let failed = checks.iter().filter(|check| check["status"] == "FAILURE");
        let name = run.file_name().unwrap().to_string_lossy().into_owned();
        faults.extend(
            failed.map(|check| format!("{name}: {} {}", check["id"], check["errorMessage"])),
        );
    }
    faults
}
