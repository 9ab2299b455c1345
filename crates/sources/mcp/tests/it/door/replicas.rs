//! Several processes of one server, as each other's doors: here each is a door of its own over what
//! all of them share.

mod record;
mod rows;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;
use toolcrib_core::{BoxFuture, Effect, LedgerError, Secret, SessionLedger as _, Toolset};
use toolcrib_engine::Crib;
use toolcrib_mcp::{McpHomes, McpPersistence, McpServer, McpServerSettings};
use toolcrib_testkit::Oracle;

use super::cribs::FixtureCribs;
use super::fixtures;
use super::older_calls::{call, message, send_only};
use super::sessions::Ear;
use super::support::serve;
use super::wire::{Reply, begin, greet, modern, old, send};
use crate::support::{crib, settings, source, until};
use record::SharedRecord;

const REVISIONS: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];
const OLD: &str = "2025-11-25";

/// One of them, as the others know it.
struct ReplicaHome {
    name: String,
    record: Arc<SharedRecord>,
}

impl McpHomes for ReplicaHome {
    fn own(&self) -> String {
        self.name.clone()
    }

    fn is_alive<'a>(&'a self, home: &'a str) -> BoxFuture<'a, Result<bool, LedgerError>> {
        let lives = self.record.living.lock().unwrap().contains(home);
        Box::pin(std::future::ready(self.record.is_there().map(|()| lives)))
    }
}

struct Replica {
    door: McpServer,
    url: String,
}

/// A replica over a crib. Without a secret it is the next process of a server that has one at a time.
async fn replica(
    record: &Arc<SharedRecord>,
    crib: &Crib,
    (name, secret): (&str, Option<&str>),
    settings: McpServerSettings,
) -> Replica {
    record.living.lock().unwrap().insert(name.to_owned());
    let home = ReplicaHome { name: name.to_owned(), record: Arc::clone(record) };
    let persistence = McpPersistence {
        sessions: Some(Arc::clone(record) as _),
        secret: secret.map(Secret::new),
        homes: secret.map(|_| Arc::new(home) as _),
    };
    let cribs = Arc::new(FixtureCribs::leaving_out(crib.clone(), Vec::new()));
    let door = McpServer::with_persistence(cribs, Arc::new(()), settings, persistence);
    let url = serve(&door).await;
    Replica { door, url }
}

/// Two replicas of one server, and what they share.
async fn pair(crib: &Crib, settings: McpServerSettings) -> (Arc<SharedRecord>, Replica, Replica) {
    let record = Arc::new(SharedRecord::default());
    let one = replica(&record, crib, ("one", Some("ours")), settings.clone()).await;
    let two = replica(&record, crib, ("two", Some("ours")), settings).await;
    (record, one, two)
}

fn echoes(oracle: &Oracle) -> Crib {
    let tools = [oracle.echo("alpha", Effect::Read), oracle.echo("wipe", Effect::Destroy)];
    Crib::builder().build_fixed(Toolset::of(tools).unwrap())
}

fn told(reply: &Reply) -> (u16, bool) {
    let tells_when = reply.header("retry-after").is_some();
    (reply.status, tells_when)
}

async fn end(url: &str, session: &str) -> Reply {
    send("DELETE", url, &[("x-caller", "ann"), ("mcp-session-id", session)], "").await
}

#[tokio::test]
async fn a_session_goes_on_at_another_replica_for_its_caller_and_profile_alone() {
    let oracle = Oracle::default();
    let crib = echoes(&oracle);
    let (record, one, two) = pair(&crib, McpServerSettings::default()).await;
    let stranger =
        replica(&record, &crib, ("three", Some("theirs")), McpServerSettings::default()).await;
    for revision in REVISIONS {
        let session = begin(&one.url, "ann", revision, json!({})).await;
        for url in [&two.url, &one.url, &two.url] {
            let list = old(url, "ann", Some(&session), message(1, "tools/list", &json!({}))).await;
            let tools = list.answer()["result"]["tools"].as_array().map(Vec::len);
            assert_eq!(tools, Some(2), "{}", list.body);
            let called = old(url, "ann", Some(&session), call(2, "alpha")).await;
            assert_eq!(called.answer()["result"]["isError"], false, "{}", called.body);
            let has_data = called.answer()["result"].get("structuredContent").is_some();
            assert_eq!(has_data, revision != "2025-03-26", "{}", called.body);
            let both = json!([call(3, "alpha"), call(4, "alpha")]);
            let batch = old(url, "ann", Some(&session), both).await;
            assert_eq!(batch.status == 200, revision == "2025-03-26", "{}", batch.body);
        }
        let runs = oracle.count("alpha");
        let small = format!("{}/small", two.url);
        for (url, caller) in [(&two.url, "bob"), (&small, "ann"), (&stranger.url, "ann")] {
            let refused = old(url, caller, Some(&session), call(5, "alpha")).await;
            assert_eq!(refused.status, 404, "{url} {caller}: {}", refused.body);
        }
        let (name, mark) = session.rsplit_once('.').unwrap();
        let other = begin(&one.url, "ann", revision, json!({})).await;
        let theirs = begin(&stranger.url, "ann", revision, json!({})).await;
        let of_other = other.rsplit_once('.').unwrap().1;
        for forged in [
            format!("{name}.{of_other}"),
            format!("{name}.B{}", &mark[1..]),
            format!("{name}."),
            name.to_owned(),
            theirs,
        ] {
            let refused = old(&two.url, "ann", Some(&forged), call(6, "alpha")).await;
            assert_eq!(refused.status, 404, "{forged}: {}", refused.body);
        }
        assert_eq!(oracle.count("alpha"), runs);
    }
}

#[tokio::test]
async fn a_client_is_asked_at_another_replica_what_it_said_that_it_can_answer() {
    let oracle = Oracle::default();
    let (_record, one, two) = pair(&echoes(&oracle), McpServerSettings::default()).await;
    let session = begin(&one.url, "ann", OLD, json!({ "elicitation": {} })).await;
    let mut ear = Ear::at(send_only(&two.url, &session, &call(7, "wipe")).await);
    let asked = ear.hear_message("elicitation/create").await;
    let answer = json!({ "action": "accept", "content": { "approve": true } });
    let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": answer });
    assert_eq!(old(&two.url, "ann", Some(&session), answer).await.status, 202);
    ear.hear(r#""isError":false"#).await;
    assert_eq!(oracle.count("wipe"), 1);
    // The first request of another replica had another number there.
    let behind = [("x-caller", "ann"), ("mcp-session-id", &session), ("last-event-id", "0/1")];
    let other = send("GET", &two.url, &behind, "").await;
    assert_eq!((other.status, other.messages().len()), (200, 0), "{}", other.body);
    // What one replica asked no answer to another one's question settles, and no client that was
    // heard by the wrong one is told that it was heard.
    let mut first = Ear::at(send_only(&one.url, &session, &call(8, "wipe")).await);
    let mut second = Ear::at(send_only(&two.url, &session, &call(9, "wipe")).await);
    let asked_first = first.hear_message("elicitation/create").await;
    let asked_second = second.hear_message("elicitation/create").await;
    assert_ne!(asked_first["id"], asked_second["id"]);
    let answer = |asked: &Value, action: &str| {
        let content = json!({ "action": action, "content": { "approve": true } });
        json!({ "jsonrpc": "2.0", "id": asked["id"], "result": content })
    };
    let wrong = old(&one.url, "ann", Some(&session), answer(&asked_second, "accept")).await;
    assert_eq!(told(&wrong), (503, true), "{}", wrong.body);
    for (url, asked, action) in
        [(&one.url, &asked_first, "decline"), (&two.url, &asked_second, "accept")]
    {
        // One that comes twice was heard.
        for _ in 0..2 {
            let heard = old(url, "ann", Some(&session), answer(asked, action)).await;
            assert_eq!(heard.status, 202, "{}", heard.body);
        }
    }
    first.hear(r#""isError":true"#).await;
    second.hear(r#""isError":false"#).await;
    assert_eq!(oracle.count("wipe"), 2);
    let silent = begin(&one.url, "ann", OLD, json!({})).await;
    let waits = old(&two.url, "ann", Some(&silent), call(10, "wipe")).await;
    assert!(waits.body.contains("Waiting for approval"), "{}", waits.body);
}

#[tokio::test]
async fn a_session_that_is_ended_at_one_replica_ends_at_all_of_them() {
    let oracle = Oracle::default();
    let (_record, one, two) = pair(&echoes(&oracle), McpServerSettings::default()).await;
    let session = begin(&one.url, "ann", OLD, json!({})).await;
    assert_eq!(old(&two.url, "ann", Some(&session), call(1, "alpha")).await.status, 200);
    let mut ear = Ear::open_behind(&one.url, &session, "0").await;
    assert_eq!((one.door.sessions(), two.door.sessions()), (1, 1));
    assert_eq!(end(&two.url, &session).await.status, 204);
    // That replica knows it at once, and the other one a moment later, whoever listens there.
    assert_eq!(old(&two.url, "ann", Some(&session), call(2, "alpha")).await.status, 404);
    until("it is over at the other one", || one.door.sessions() == 0).await;
    assert_eq!(old(&one.url, "ann", Some(&session), call(3, "alpha")).await.status, 404);
    // The last piece of the stream.
    ear.hear("\r\n0\r\n\r\n").await;
    // One that neither has in memory ends as well, and a second time it is not there to be ended.
    let session = begin(&one.url, "ann", OLD, json!({})).await;
    assert_eq!(end(&two.url, &session).await.status, 204);
    until("it is over where it began", || one.door.sessions() == 0).await;
    assert_eq!(old(&one.url, "ann", Some(&session), call(4, "alpha")).await.status, 404);
}

#[tokio::test]
async fn while_the_record_is_away_a_known_session_goes_on_and_an_unknown_one_is_told_to_wait() {
    let oracle = Oracle::default();
    let (record, one, two) = pair(&echoes(&oracle), McpServerSettings::default()).await;
    let known = begin(&one.url, "ann", OLD, json!({})).await;
    record.goes();
    assert_eq!(old(&one.url, "ann", Some(&known), call(1, "alpha")).await.status, 200);
    let unknown = old(&two.url, "ann", Some(&known), call(2, "alpha")).await;
    assert_eq!(told(&unknown), (503, true), "{}", unknown.body);
    // Whose name is none is told so by whoever is there.
    let forged = known.replace(known.rsplit_once('.').unwrap().1, "AAAA");
    assert_eq!(old(&two.url, "ann", Some(&forged), call(3, "alpha")).await.status, 404);
    let meanwhile = begin(&one.url, "ann", OLD, json!({})).await;
    assert_eq!(old(&one.url, "ann", Some(&meanwhile), call(4, "alpha")).await.status, 200);
    let ended = begin(&one.url, "ann", OLD, json!({})).await;
    assert_eq!(told(&end(&one.url, &ended).await), (503, true));
    record.returns();
    assert_eq!(old(&two.url, "ann", Some(&known), call(5, "alpha")).await.status, 200);
    // What began without the record is written once that is there.
    let written = async {
        while old(&two.url, "ann", Some(&meanwhile), call(6, "alpha")).await.status != 200 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(Duration::from_secs(20), written).await.unwrap();
    assert_eq!(end(&one.url, &ended).await.status, 204);
    assert_eq!(old(&two.url, "ann", Some(&ended), call(7, "alpha")).await.status, 404);
}

#[tokio::test]
async fn a_caller_has_no_more_sessions_at_all_replicas_than_one_may_have() {
    let oracle = Oracle::default();
    let settings = McpServerSettings { sessions_per_caller: 2, ..McpServerSettings::default() };
    let (_record, one, two) = pair(&echoes(&oracle), settings).await;
    let first = begin(&one.url, "ann", OLD, json!({})).await;
    begin(&two.url, "ann", OLD, json!({})).await;
    for url in [&one.url, &two.url] {
        let third = greet(url, "ann", OLD, json!({})).await;
        assert_eq!(told(&third), (429, true), "{}", third.body);
        assert_eq!(third.header("mcp-session-id"), None);
    }
    assert_eq!(greet(&two.url, "bob", OLD, json!({})).await.status, 200);
    assert_eq!(end(&two.url, &first).await.status, 204);
    assert_eq!(greet(&two.url, "ann", OLD, json!({})).await.status, 200);
}

#[tokio::test]
async fn a_restart_keeps_the_sessions_of_a_server_that_has_no_secret_with_others() {
    let oracle = Oracle::default();
    let (crib, record) = (echoes(&oracle), Arc::new(SharedRecord::default()));
    let before = replica(&record, &crib, ("one", None), McpServerSettings::default()).await;
    let small = format!("{}/small", before.url);
    let [whole, of_small] = [&before.url, &small].map(|url| begin(url, "ann", OLD, json!({})));
    let (whole, of_small) = tokio::join!(whole, of_small);
    drop(before);
    let after = replica(&record, &crib, ("one", None), McpServerSettings::default()).await;
    let small = format!("{}/small", after.url);
    for (url, caller, session, status) in [
        (&after.url, "bob", &whole, 404),
        (&small, "ann", &whole, 404),
        (&after.url, "ann", &of_small, 404),
        (&after.url, "ann", &whole, 200),
        (&small, "ann", &of_small, 200),
        // By now it is known whose they are.
        (&after.url, "bob", &whole, 404),
        (&after.url, "ann", &of_small, 404),
        (&after.url, "ann", &whole, 200),
    ] {
        let reply = old(url, caller, Some(session), call(1, "alpha")).await;
        assert_eq!(reply.status, status, "{url} {caller}: {}", reply.body);
    }
    let (name, mark) = whole.rsplit_once('.').unwrap();
    for forged in [format!("{name}.{}B", &mark[..mark.len() - 1]), format!("{name}.{name}")] {
        let reply = old(&after.url, "ann", Some(&forged), call(2, "alpha")).await;
        assert_eq!(reply.status, 404, "{forged}");
    }
    record.goes();
    let last = replica(&record, &crib, ("one", None), McpServerSettings::default()).await;
    let reply = old(&last.url, "ann", Some(&whole), call(3, "alpha")).await;
    assert_eq!(told(&reply), (503, true), "{}", reply.body);
}

#[tokio::test]
async fn a_session_that_goes_on_at_one_replica_is_not_ended_by_another_that_forgot_it() {
    let oracle = Oracle::default();
    let life = Duration::from_secs(2);
    let settings = McpServerSettings { session_life: life, ..McpServerSettings::default() };
    let (record, one, two) = pair(&echoes(&oracle), settings).await;
    let used = begin(&one.url, "ann", OLD, json!({})).await;
    begin(&one.url, "ann", OLD, json!({})).await;
    let used_elsewhere = async {
        loop {
            let reply = old(&two.url, "ann", Some(&used), call(1, "alpha")).await;
            assert_eq!(reply.status, 200, "{}", reply.body);
            tokio::time::sleep(life / 8).await;
        }
    };
    let forgotten = until("the first forgot both", || one.door.sessions() == 0);
    tokio::select! {
        () = forgotten => {}
        () = used_elsewhere => {}
    }
    let reply = old(&one.url, "ann", Some(&used), call(2, "alpha")).await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    // Of the one that nobody used nothing is left in the record, and it was never kept there.
    let [used, quiet] = [0, 1].map(|at| record.name(at));
    record.until_found(&quiet, false).await;
    assert!(record.sessions.find(&used).await.unwrap().is_some());
    let kept = record.kept.lock().unwrap().clone();
    assert!(kept.contains(&used) && !kept.contains(&quiet));
}

#[tokio::test]
async fn a_client_hears_after_a_restart_what_it_heard_before() {
    let (settings, record) = (settings(&["legacy", "prompts"]), Arc::new(SharedRecord::default()));
    let crib = crib(&source(settings)).await;
    until("it is known what the server is", || crib.sole().is_some()).await;
    let before = replica(&record, &crib, ("one", None), McpServerSettings::default()).await;
    let session = begin(&before.url, "ann", OLD, json!({})).await;
    let level = message(1, "logging/setLevel", &json!({ "level": "debug" }));
    old(&before.url, "ann", Some(&session), level).await.answer();
    let name = record.name(0);
    let is_written = async || {
        let found = record.sessions.find(&name).await.unwrap().unwrap();
        let greeting: Value = serde_json::from_str(&found.greeting).unwrap();
        greeting["logLevel"] == "debug" && greeting["hearsLines"] == true
    };
    let written = async {
        while !is_written().await {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(Duration::from_secs(20), written).await.unwrap();
    drop(before);
    let after = replica(&record, &crib, ("one", None), McpServerSettings::default()).await;
    // What it names was said by the process before.
    let mut ear = Ear::open_behind(&after.url, &session, "50").await;
    // What may have changed meanwhile is told.
    ear.hear("notifications/tools/list_changed").await;
    let heard = async {
        for nonce in 1.. {
            let arguments = json!({ "nonce": nonce, "late": true });
            let late = json!({ "name": "log", "arguments": arguments });
            let late = message(nonce, "tools/call", &late);
            old(&after.url, "ann", Some(&session), late).await.answer();
            let line = timeout(Duration::from_secs(1), ear.hear("notifications/message"));
            if line.await.is_ok() {
                return;
            }
        }
    };
    timeout(Duration::from_secs(20), heard).await.unwrap();
    // No other process ends what this one has.
    assert_eq!(record.looks.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_task_of_a_replica_that_lives_is_not_told_by_another_to_be_none() {
    let can = || json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let oracle = Oracle::default();
    let (record, one, two) = pair(&echoes(&oracle), McpServerSettings::default()).await;
    let wipe = json!({ "name": "wipe", "arguments": {} });
    let begun = modern(&one.url, "ann", "tools/call", wipe, can()).await.answer();
    let task = begun["result"]["taskId"].as_str().unwrap().to_owned();
    assert!(task.starts_with("task_one_"), "{begun}");
    let of = |url: &str, method: &'static str, task: &str| {
        let params = json!({ "taskId": task, "inputResponses": {} });
        let url = url.to_owned();
        async move { modern(&url, "ann", method, params, can()).await }
    };
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let elsewhere = of(&two.url, method, &task).await;
        assert_eq!(told(&elsewhere), (503, true), "{}", elsewhere.body);
    }
    let waits = of(&one.url, "tasks/get", &task).await.answer();
    assert_eq!(waits["result"]["status"], "working", "{waits}");
    record.dies("one");
    for gone in [&task, "task_two_0b6f6e3c3f5a4a7e9d2e6a4f3f1f2a10", "task_one_x", "x"] {
        let unknown = of(&two.url, "tasks/get", gone).await.answer();
        assert_eq!(unknown["error"]["code"], -32_602, "{gone}: {unknown}");
    }
    assert_eq!(oracle.count("wipe"), 0);
}

fn asks(state: &Value, answer: &Value) -> Value {
    let mut params = json!({ "name": "test_input_required_result_elicitation", "arguments": {} });
    if !state.is_null() {
        params["requestState"] = state.clone();
        params["inputResponses"] = json!({ "user_name": answer });
    }
    params
}

#[tokio::test]
async fn a_call_that_waits_at_a_replica_that_lives_is_never_taken_for_one_that_was_cut_off() {
    let form = || json!({ "elicitation": { "form": {} } });
    let crib = Crib::builder().build_fixed(fixtures::tools());
    let (record, one, two) = pair(&crib, McpServerSettings::default()).await;
    let ask =
        async |url: &str, params: Value| modern(url, "ann", "tools/call", params, form()).await;
    let first = ask(&one.url, asks(&Value::Null, &Value::Null)).await.answer();
    let state = first["result"]["requestState"].clone();
    assert!(state.as_str().is_some_and(|state| state.starts_with("w_one_")), "{first}");
    let answer = json!({ "action": "accept", "content": { "name": "Ann" } });
    let elsewhere = ask(&two.url, asks(&state, &answer)).await;
    assert_eq!(told(&elsewhere), (503, true), "{}", elsewhere.body);
    assert_eq!(elsewhere.answer()["error"]["code"], -32_050, "{}", elsewhere.body);
    // While nobody can say whether it lives, nobody takes it for dead.
    record.goes();
    assert_eq!(told(&ask(&two.url, asks(&state, &answer)).await), (503, true));
    record.returns();
    let done = ask(&one.url, asks(&state, &answer)).await.answer();
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
    // One whose replica died was cut off: it is made anew, and asks again.
    let first = ask(&one.url, asks(&Value::Null, &Value::Null)).await.answer();
    let state = first["result"]["requestState"].clone();
    record.dies("one");
    let anew = ask(&two.url, asks(&state, &answer)).await.answer();
    assert_eq!(anew["result"]["resultType"], "input_required", "{anew}");
    let state = anew["result"]["requestState"].clone();
    assert!(state.as_str().is_some_and(|state| state.starts_with("w_two_")), "{anew}");
    let done = ask(&two.url, asks(&state, &answer)).await.answer();
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
    // Names that no replica gives name nothing.
    for forged in ["w_one", "w__", "w_two_x", "w_one one_0b6f6e3c3f5a4a7e9d2e6a4f3f1f2a10"] {
        let refused = ask(&two.url, asks(&json!(forged), &answer)).await.answer();
        assert_eq!(refused["error"]["code"], -32_602, "{forged}: {refused}");
    }
}
