//! Many tasks that are open and followed at once: what each takes, and whether one loses an event.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::task::JoinSet;

use crate::agents::endpoint::{EndpointClient, configuration};
use crate::agents::model::{DONE, LoadModel};
use crate::agents::waiting::tickets;
use crate::figures::{count, precise, round};
use crate::test_bed::{MeasuredPrograms, STORE, TestBed};
use crate::{LoadError, LoadTarget};

/// All calls are asked about, and one caller has all the places.
const LIMITS: &str = "allow = [\"*\"]\nask = [\"text_count\"]\n\n\
                      [server.limits]\nconnections = 8192\nconnections_per_peer = 8192\n\
                      requests = 8192\nper_caller = 8192\n\n\
                      [limits]\nticket_lifetime = \"1h\"\ntickets_per_tenant = 5000\n\n";
/// How long a server is left alone before its memory is read.
const REST: Duration = Duration::from_secs(1);

/// Begins so many tasks that wait for a person, follows each of them, reads the memory, decides
/// about all, and reads each stream to its end.
pub(super) async fn open_tasks(
    programs: &MeasuredPrograms,
    below: &Path,
    tasks: usize,
) -> Result<Value, LoadError> {
    let model = LoadModel::start()?;
    let place = TestBed::new(programs, below)?;
    let (server, target) = place.serve(&format!("{LIMITS}{STORE}{}", configuration(&model)))?;
    let mut client = EndpointClient::open_agent(&target).await?;
    // Some before, so that what happens once has happened.
    let few = tasks.div_ceil(5);
    for number in 0..few {
        begin(&mut client, number).await?;
    }
    tokio::time::sleep(REST).await;
    let before = server.rss();
    let begun = Instant::now();
    let mut ids = Vec::new();
    for number in few..few + tasks {
        ids.push(begin(&mut client, number).await?);
    }
    let opened = begun.elapsed();
    tokio::time::sleep(REST).await;
    let open = server.rss();
    let mut streams = Vec::new();
    for id in &ids {
        streams.push(follow(&target, id).await?);
    }
    tokio::time::sleep(REST).await;
    let followed = server.rss();
    let mut ends = JoinSet::new();
    for stream in streams {
        ends.spawn(is_whole(stream));
    }
    let begun = Instant::now();
    for ticket in tickets(&mut client).await? {
        client.ask("POST", &format!("/v1/tickets/{ticket}"), r#"{"decision":"approve"}"#).await?;
    }
    let mut lost = 0_usize;
    while let Some(is_whole) = ends.join_next().await {
        lost += usize::from(!is_whole?);
    }
    let ended = begun.elapsed();
    let kib = |more: u64| round(precise(more) / 1024.0 / count(tasks.max(1)));
    let each = |took: Duration| round(took.as_secs_f64() * 1e3 / count(tasks.max(1)));
    Ok(json!({
        "tasks": tasks,
        "kib_each": kib(open.saturating_sub(before)),
        "kib_each_stream": kib(followed.saturating_sub(open)),
        "opened_ms_each": each(opened),
        "decided_and_ended_ms_each": each(ended),
        "lost": lost,
    }))
}

/// The id of a new task, which waits for a person.
async fn begin(client: &mut EndpointClient, number: usize) -> Result<String, LoadError> {
    let id = format!("m-{number}");
    let message = json!({ "messageId": id, "role": "ROLE_USER", "parts": [{ "text": "steps:1" }] });
    let body = json!({ "message": message }).to_string();
    let told = client.ask("POST", "/a2a/assistant/message:send", &body).await?;
    let state = told.pointer("/task/status/state").and_then(Value::as_str);
    let id = told.pointer("/task/id").and_then(Value::as_str);
    match (state, id) {
        (Some("TASK_STATE_INPUT_REQUIRED"), Some(id)) => Ok(id.to_owned()),
        _ => Err(format!("a task does not wait for a person: {told}").into()),
    }
}

/// The stream of a task, read up to where it waits.
async fn follow(target: &LoadTarget, id: &str) -> Result<EndpointClient, LoadError> {
    let mut client = EndpointClient::open(target).await?;
    let path = format!("/a2a/assistant/tasks/{id}:subscribe");
    client.begin(&path, "", "TASK_STATE_INPUT_REQUIRED").await?;
    Ok(client)
}

/// Whether the rest of a stream has all words in their order, and the end.
async fn is_whole(mut stream: EndpointClient) -> bool {
    let Ok(rest) = stream.rest().await else { return false };
    let mut said = String::new();
    for event in rest.split("data: ").skip(1) {
        let event = event.lines().next().unwrap_or_default();
        let Ok(event) = serde_json::from_str::<Value>(event) else { return false };
        let Some(update) = event.get("artifactUpdate") else { continue };
        if update.get("append") != Some(&Value::Bool(true)) {
            said.clear();
        }
        let text = update.pointer("/artifact/parts/0/text").and_then(Value::as_str);
        said.push_str(text.unwrap_or_default());
    }
    said == DONE && rest.contains("TASK_STATE_COMPLETED")
}
