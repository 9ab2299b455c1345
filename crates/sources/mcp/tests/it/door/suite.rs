//! The protocol's own suite against a door with the fixture tools.

use toolcrib_mcp::McpServerSettings;
use toolcrib_testkit::{ConformanceSuite, ConformanceVerdict};

use super::{shelves, support};
use crate::conformance::print;

#[tokio::test(flavor = "multi_thread")]
async fn every_scenario_of_2025_11_25_passes() {
    run("2025-11-25", &open().await, &[]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_scenario_of_2026_07_28_passes() {
    let Some(verdict) = run("2026-07-28", &open().await, &[]).await else { return };
    let lost: Vec<_> = TASKS.iter().filter(|name| !verdict.passed.contains(**name)).collect();
    print(&format!("tasks: {} of {} scenarios", TASKS.len() - lost.len(), TASKS.len()));
    assert!(lost.is_empty(), "{lost:?}\n{}", verdict.faults.join("\n"));
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
    let settings = McpServerSettings { task_after, ..McpServerSettings::default() };
    support::open(shelves::crib(super::long::LONG).await, &[], settings).await
}

/// Every scenario that counts must pass at this address, but for those that may be `lost`; gives
/// what came of all. `None`: there is no suite.
pub(crate) async fn run(
    revision: &'static str,
    url: &str,
    lost: &[&str],
) -> Option<ConformanceVerdict> {
    let suite = ConformanceSuite::installed()?;
    let at = ["--url".to_owned(), url.to_owned()];
    let running = tokio::task::spawn_blocking(move || suite.run("server", revision, &at));
    let verdict = running.await.unwrap();
    print(&format!("{revision}: {}", verdict.line()));
    let missing = verdict.missing();
    let all_may = missing.iter().all(|name| lost.contains(name));
    assert!(all_may, "{missing:?}\n{}\n{}", verdict.said, verdict.faults.join("\n"));
    Some(verdict)
}
