//! What runs take that wait for a person, and how soon they are back after the server was killed.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::endpoint::{EndpointClient, configuration};
use super::model::LoadModel;
use crate::LoadError;
use crate::figures::{count, precise, round};
use crate::test_bed::{MeasuredPrograms, STORE, TestBed};

/// All calls are asked about.
const ASKS: &str = "allow = [\"*\"]\nask = [\"text_count\"]\n\n\
                    [limits]\nticket_lifetime = \"1h\"\ntickets_per_tenant = 5000\n\n";
/// How long a server is left alone before its memory is read.
const REST: Duration = Duration::from_secs(1);
/// How long the last of them may take to end.
const PATIENCE: Duration = Duration::from_mins(1);

/// Begins so many runs, kills the server, and decides about each of them after the next start.
pub(super) async fn waiting(
    programs: &MeasuredPrograms,
    below: &Path,
    runs: usize,
) -> Result<Value, LoadError> {
    let model = LoadModel::start()?;
    let file = format!("{ASKS}{STORE}{}", configuration(&model));
    let place = TestBed::new(programs, below)?;
    let (server, target) = place.serve(&file)?;
    let mut client = EndpointClient::open_agent(&target).await?;
    // Some before, so that what happens once has happened.
    let before = runs.div_ceil(5);
    begin(&mut client, before).await?;
    tokio::time::sleep(REST).await;
    let few = server.rss();
    begin(&mut client, runs).await?;
    tokio::time::sleep(REST).await;
    let more = server.rss().saturating_sub(few);
    // Killed, and not stopped.
    drop(server);
    let all = before + runs;
    let (server, target) = place.serve_with(&file, target.token)?;
    let mut client = EndpointClient::open_agent(&target).await?;
    let tickets = tickets(&mut client).await?;
    let listed = server.started.elapsed();
    if tickets.len() != all {
        return Err(format!("{} calls wait and not {all}", tickets.len()).into());
    }
    let begun = Instant::now();
    for ticket in &tickets {
        client.ask("POST", &format!("/v1/tickets/{ticket}"), r#"{"decision":"approve"}"#).await?;
    }
    until_ended(&mut client, all).await?;
    let decided = begun.elapsed();
    Ok(json!({
        "runs": runs,
        "kib_each": round(precise(more) / 1024.0 / count(runs.max(1))),
        "listed_after_kill_ms": round(listed.as_secs_f64() * 1e3),
        "decided_and_ended_ms_each": round(decided.as_secs_f64() * 1e3 / count(all.max(1))),
    }))
}

async fn begin(client: &mut EndpointClient, runs: usize) -> Result<(), LoadError> {
    for _ in 0..runs {
        let run = client.ask("POST", "/v1/runs", r#"{"input":"steps:1","wait":true}"#).await?;
        if state(&run) != Some("waiting") {
            return Err(format!("a run does not wait for a person: {run}").into());
        }
    }
    Ok(())
}

fn state(run: &Value) -> Option<&str> {
    run.get("state").and_then(Value::as_str)
}

/// The ids of all calls that wait.
pub(crate) async fn tickets(client: &mut EndpointClient) -> Result<Vec<String>, LoadError> {
    let entries = pages(client, "/v1/tickets?limit=500", "tickets").await?;
    let id = |entry: &Value| entry.get("ticket").and_then(Value::as_str).map(str::to_owned);
    Ok(entries.iter().filter_map(id).collect())
}

async fn until_ended(client: &mut EndpointClient, all: usize) -> Result<(), LoadError> {
    let last = Instant::now() + PATIENCE;
    loop {
        let runs = pages(client, "/v1/runs?limit=100", "runs").await?;
        let ended = runs.iter().filter(|run| state(run) == Some("ended")).count();
        if ended == all {
            return Ok(());
        }
        if Instant::now() > last {
            return Err(format!("of {all} runs that were decided about, {ended} ended").into());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// The entries of all pages.
async fn pages(
    client: &mut EndpointClient,
    path: &str,
    name: &str,
) -> Result<Vec<Value>, LoadError> {
    let mut entries = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = client.ask("GET", &format!("{path}{cursor}"), "").await?;
        entries.extend(page.get(name).and_then(Value::as_array).into_iter().flatten().cloned());
        match page.get("cursor").and_then(Value::as_str) {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return Ok(entries),
        }
    }
}
