//! A client of an older revision whose stream broke gets what it missed, and nothing twice.

use std::time::Duration;

use serde_json::json;
use tokio::time::timeout;
use toolcrib_core::{Effect, Toolset};
use toolcrib_engine::Crib;
use toolcrib_mcp::McpServerSettings;
use toolcrib_testkit::{Oracle, ScriptedSource};

use super::sessions::Ear;
use super::support::{door, serve};
use super::wire::begin;

const CHANGED: &str = "notifications/tools/list_changed";

#[tokio::test]
async fn a_client_that_resumes_gets_the_events_behind_the_one_that_it_names() {
    let oracle = Oracle::default();
    let tools = |count: usize| {
        let names = ["alpha", "beta", "gamma", "delta"].into_iter().take(count);
        Toolset::of(names.map(|name| oracle.echo(name, Effect::Read))).unwrap()
    };
    let source = (1..=4).fold(ScriptedSource::default(), |source, count| {
        source.then(Duration::ZERO, Ok(tools(count)))
    });
    let crib = Crib::builder().source("far", source.clone()).build().await;
    let url = serve(&door(crib.clone(), &[], McpServerSettings::default())).await;
    let session = begin(&url, "ann", "2025-11-25", json!({})).await;
    let change = async || {
        let changed = crib.changed();
        source.change();
        timeout(Duration::from_secs(20), changed).await.unwrap();
    };
    // Before the first event there is nothing to be behind.
    let mut ear = Ear::open_behind(&url, &session, "0").await;
    for id in ["1", "2"] {
        change().await;
        ear.hear(&format!("id: {id}\n")).await;
        ear.hear(CHANGED).await;
    }
    drop(ear);
    let mut ear = Ear::open_behind(&url, &session, "1").await;
    ear.hear("id: 2\n").await;
    assert_eq!(ear.1.matches("id: ").count(), 0);
    drop(ear);
    // With nothing missed, the next thing heard is the next thing that happens.
    let mut ear = Ear::open_behind(&url, &session, "2").await;
    change().await;
    ear.hear("id: ").await;
    ear.hear("\n").await;
    drop(ear);
    let mut ear = Ear::open_behind(&url, &session, "0").await;
    for id in ["1", "2", "3"] {
        ear.hear(&format!("id: {id}\n")).await;
        ear.hear(CHANGED).await;
    }
}
