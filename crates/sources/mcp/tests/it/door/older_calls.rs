//! Calls of older clients: those that end at once, and those that take their time.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};
use toolcrib_core::{
    CallContext, Content, Decision, Effect, Progress, Run, TicketId, Tool, ToolOutcome, Toolset,
    Verdict, raw_tool,
};
use toolcrib_engine::Crib;
use toolcrib_mcp::McpServerSettings;
use toolcrib_testkit::{FixedPolicy, Oracle, spec};

use super::fixtures;
use super::plain::seen;
use super::support::open;
use super::wire::{Reply, begin, but, greet, old, send};

const REVISIONS: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];
pub(super) const LONG: Duration = Duration::from_secs(20);

pub(super) fn message(id: u32, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

pub(super) fn call(id: u32, name: &str) -> Value {
    message(id, "tools/call", &json!({ "name": name, "arguments": {} }))
}

/// The same request with a field that is unknown, which no rule forbids.
pub(super) fn odd(mut message: Value) -> Value {
    message["params"]["x-unknown"] = json!(true);
    message
}

fn kind(reply: &Reply) -> Option<&str> {
    reply.header("content-type")
}

/// Begins a session.
pub(super) async fn ready(url: &str, revision: &str) -> String {
    begin(url, "ann", revision, json!({})).await
}

#[tokio::test]
async fn a_client_of_every_older_revision_gets_the_same_answer_with_a_field_that_nobody_knows() {
    let oracle = Oracle::default();
    let mut tools = fixtures::all();
    tools.push(oracle.echo("asked_about", Effect::Write));
    tools.push(oracle.echo("secret", Effect::Read));
    let mut names: Vec<String> = tools.iter().map(|tool| tool.spec().name.to_string()).collect();
    names.push("absent".to_owned());
    let policy = FixedPolicy::default()
        .with("secret", Verdict::Deny("no".to_owned()))
        .with("asked_about", Verdict::Ask("it writes".to_owned()));
    let crib = Crib::builder().policy(policy).build_fixed(Toolset::of(tools).unwrap());
    let url =
        &open(crib.clone(), &[], McpServerSettings { page: 7, ..McpServerSettings::default() })
            .await;
    let (mut at_once, mut pages) = (0, 0);
    // One by one: so many questions may wait at once, and no more.
    for revision in REVISIONS {
        let found = compare((url, &crib), revision, &names).await;
        (at_once, pages) = (at_once + found.0, pages + found.1);
    }
    // Those that log, tell of progress or take their time go over.
    assert!(at_once > 3 * 60, "{at_once} of {} calls", 9 * names.len());
    assert_eq!(pages, 3 * (names.len() - 2).div_ceil(7));
}

/// Says no to all that a call asks under tickets.
async fn decline(crib: &Crib, reply: &Reply) {
    let answer = reply.answer();
    let ticket = answer["result"]["_meta"]["toolcrib/ticket"].as_str();
    let mut next = ticket.map(TicketId::claimed);
    while let Some(ticket) = next {
        let owner = crib.owner(&ticket).await.unwrap().unwrap();
        let no = Decision::Deny { reason: "no".to_owned() };
        let decided = crib.decide(&owner, &Run::default(), &ticket, no).await.unwrap();
        next = match decided.outcome {
            ToolOutcome::Pending(pending) => Some(pending.ticket),
            ToolOutcome::Done(_) | ToolOutcome::Failed(_) | ToolOutcome::Denied { .. } => None,
        };
    }
}

/// Holds one against the other: how many calls were answered without a stream, and how many pages
/// of tools there are.
async fn compare((url, crib): (&str, &Crib), revision: &str, names: &[String]) -> (usize, usize) {
    let (mut at_once, mut pages) = (0, 0);
    let session = &ready(url, revision).await;
    let said = async |message: Value| old(url, "ann", Some(session), message).await;
    for arguments in [json!({}), json!({ "n": 1, "a": 2, "b": 3 }), json!(null)] {
        let calls = (1..).zip(names).map(async |(id, name)| {
            let params = json!({ "name": name, "arguments": arguments });
            let wanted = message(id, "tools/call", &params);
            let plain = said(wanted.clone()).await;
            decline(crib, &plain).await;
            let other = said(odd(wanted)).await;
            decline(crib, &other).await;
            let ((status, found, answer), wanted) = (seen(&plain), seen(&other));
            assert_eq!((status, &answer), (wanted.0, &wanted.2), "{revision} {name}");
            usize::from(found == Some("application/json"))
        });
        at_once += join_all(calls).await.into_iter().sum::<usize>();
    }
    let mut cursors = vec![json!(null), json!("!"), json!("bm9uZQ")];
    while let Some(cursor) = cursors.pop() {
        let wanted = message(0, "tools/list", &json!({ "cursor": cursor }));
        let (plain, other) = (said(wanted.clone()).await, said(odd(wanted)).await);
        assert_eq!(kind(&plain), Some("application/json"));
        assert_eq!(seen(&plain).2, seen(&other).2, "{revision} {cursor}");
        let result = &plain.answer()["result"];
        pages += usize::from(result["tools"].is_array());
        cursors.extend(result.get("nextCursor").cloned());
    }
    (at_once, pages)
}

#[tokio::test]
async fn what_is_said_in_a_session_is_held_to_the_rules_of_every_request() {
    let oracle = Oracle::default();
    let url = door([oracle.echo("alpha", Effect::Read)]).await;
    let session = ready(&url, "2025-11-25").await;
    let right = [
        ("x-caller", "ann"),
        ("mcp-session-id", session.as_str()),
        ("mcp-protocol-version", "2025-11-25"),
    ];
    let body = call(1, "alpha").to_string();
    assert_eq!(send("POST", &url, &right, &body).await.status, 200);
    for (header, value, status) in [
        ("mcp-protocol-version", "2099-01-01", 400),
        ("accept", "application/json", 406),
        ("accept", "text/event-stream", 406),
        ("content-type", "text/plain", 415),
        ("host", "evil.example", 403),
        ("origin", "http://evil.example", 403),
        ("mcp-session-id", "made-up", 404),
        ("x-caller", "bob", 404),
        ("x-caller", "nobody", 401),
    ] {
        let reply = send("POST", &url, &but(&right, (header, value)), &body).await;
        assert_eq!(reply.status, status, "{header}: {value}: {}", reply.body);
    }
    assert_eq!(oracle.count("alpha"), 1);
}

#[tokio::test]
async fn a_client_that_has_not_said_that_it_is_ready_is_answered_as_ever() {
    let url = door(fixtures::all()).await;
    let reply = greet(&url, "ann", "2025-11-25", json!({})).await;
    let session = reply.header("mcp-session-id").unwrap();
    for wanted in [call(1, "test_simple_text"), odd(call(2, "test_simple_text"))] {
        let reply = old(&url, "ann", Some(session), wanted).await;
        assert_eq!(kind(&reply), Some("application/json"));
        assert_eq!(reply.answer()["result"]["content"][0]["text"], "A text.", "{}", reply.body);
    }
}

#[tokio::test]
async fn a_key_stands_for_one_call_whichever_way_it_comes() {
    let oracle = Oracle::default();
    let url = door([oracle.echo("alpha", Effect::Write)]).await;
    let session = ready(&url, "2025-11-25").await;
    let mut keyed = call(1, "alpha");
    keyed["params"]["_meta"] = json!({ "toolcrib/idempotencyKey": "one" });
    let first = old(&url, "ann", Some(&session), keyed.clone()).await;
    assert_eq!(kind(&first), Some("application/json"), "{}", first.body);
    for again in [keyed.clone(), odd(keyed)] {
        assert_eq!(old(&url, "ann", Some(&session), again).await.answer(), first.answer());
    }
    assert_eq!(oracle.count("alpha"), 1);
}

/// What was seen of a tool from the inside.
#[derive(Default)]
pub(super) struct Inside(Arc<Seen>);

#[derive(Default)]
struct Seen {
    begun: AtomicUsize,
    ended: AtomicUsize,
    dropped: AtomicUsize,
}

impl Drop for Inside {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

impl Inside {
    /// A tool that tells so often how far it is, and takes so long.
    pub(super) fn tool(&self, name: &str, tells: u32, takes: Duration) -> Arc<dyn Tool> {
        let seen = Arc::clone(&self.0);
        raw_tool(spec(name, Effect::Read), move |_, context: CallContext| {
            let inside = Self(Arc::clone(&seen));
            async move {
                inside.0.begun.fetch_add(1, Ordering::SeqCst);
                for done in 1..=tells {
                    context.progress(Progress { done: done.into(), total: None, message: None });
                }
                sleep(takes).await;
                inside.0.ended.fetch_add(1, Ordering::SeqCst);
                ToolOutcome::Done(Content::text("Done."))
            }
        })
    }

    /// How often it began, came to its end, and was let go of.
    pub(super) fn counts(&self) -> [usize; 3] {
        let Seen { begun, ended, dropped } = &*self.0;
        [begun, ended, dropped].map(|count| count.load(Ordering::SeqCst))
    }

    pub(super) async fn until(&self, counts: [usize; 3]) {
        let reached = async {
            while self.counts() != counts {
                sleep(Duration::from_millis(2)).await;
            }
        };
        let late = timeout(LONG, reached).await;
        late.unwrap_or_else(|_| panic!("{:?} is not {counts:?}", self.counts()));
    }
}

async fn door(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> String {
    let crib = Crib::builder().build_fixed(Toolset::of(tools).unwrap());
    open(crib, &[], McpServerSettings::default()).await
}

#[tokio::test]
async fn a_call_that_takes_its_time_or_tells_of_itself_runs_once_and_loses_nothing() {
    let inside = Inside::default();
    let slow = inside.tool("slow", 0, Duration::from_millis(300));
    let tells = inside.tool("tells", 20, Duration::ZERO);
    let url = door([slow, tells]).await;
    let session = ready(&url, "2025-11-25").await;
    let reply = old(&url, "ann", Some(&session), call(7, "slow")).await;
    assert_eq!(kind(&reply), Some("text/event-stream"));
    let answer = reply.answer();
    assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(7), &json!(false)));
    assert_eq!(inside.counts(), [1, 1, 1]);
    let mut followed = call(8, "tells");
    followed["params"]["_meta"] = json!({ "progressToken": "p" });
    let reply = old(&url, "ann", Some(&session), followed).await;
    let mut messages = reply.messages();
    assert_eq!(messages.pop().unwrap()["id"], 8);
    let told: Vec<_> = messages.iter().map(|message| message["params"].clone()).collect();
    let wanted: Vec<_> =
        (1..=20).map(|done| json!({ "progressToken": "p", "progress": f64::from(done) })).collect();
    assert_eq!(told, wanted);
    // Nobody asked how far it is: the end is the first that there is to say.
    let reply = old(&url, "ann", Some(&session), call(9, "tells")).await;
    assert_eq!(reply.messages().len(), 1, "{}", reply.body);
    assert_eq!(inside.counts(), [3, 3, 3]);
}

#[tokio::test]
async fn what_a_call_says_at_its_very_end_is_there_beside_its_result() {
    let large = raw_tool(spec("large", Effect::Read), |_, context: CallContext| async move {
        context.progress(Progress { done: 1.0, total: None, message: None });
        ToolOutcome::Done(Content::text("x".repeat(1 << 21)))
    });
    let url = door([large]).await;
    let session = ready(&url, "2025-11-25").await;
    let mut followed = call(7, "large");
    followed["params"]["_meta"] = json!({ "progressToken": "p" });
    let messages = old(&url, "ann", Some(&session), followed).await.messages();
    let [progress, answer] = &messages[..] else { panic!("{} messages", messages.len()) };
    assert_eq!((&progress["params"]["progress"], &answer["id"]), (&json!(1.0), &json!(7)));
    assert_eq!(answer["result"]["isError"], false);
}

/// Sends a request, and waits for no answer.
pub(super) async fn send_only(url: &str, session: &str, message: &Value) -> TcpStream {
    let (address, path) = url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let body = message.to_string();
    let head = format!(
        "POST /{path} HTTP/1.1\r\nhost: {address}\r\nx-caller: ann\r\nmcp-session-id: {session}\r\n\
         accept: application/json, text/event-stream\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

#[tokio::test]
async fn a_connection_that_breaks_ends_no_call_of_an_older_client() {
    let inside = Inside::default();
    let url = door([inside.tool("slow", 0, Duration::from_millis(400))]).await;
    let session = ready(&url, "2025-11-25").await;
    let stream = send_only(&url, &session, &call(1, "slow")).await;
    inside.until([1, 0, 0]).await;
    drop(stream);
    inside.until([1, 1, 1]).await;
}

#[tokio::test]
async fn a_call_that_is_cancelled_or_whose_session_is_ended_is_let_go_of() {
    let inside = Inside::default();
    let url = door([inside.tool("slow", 0, 10 * LONG)]).await;
    // At once, and when the call has gone over.
    for (round, pause) in [0, 300].into_iter().enumerate() {
        let before = 2 * round;
        let session = ready(&url, "2025-11-25").await;
        let calling = old(&url, "ann", Some(&session), call(5, "slow"));
        let cancelling = async {
            inside.until([before + 1, 0, before]).await;
            sleep(Duration::from_millis(pause)).await;
            let mut cancel = message(0, "notifications/cancelled", &json!({ "requestId": 5 }));
            cancel.as_object_mut().unwrap().remove("id");
            // Another one's request of the same name is not meant.
            let other = begin(&url, "ann", "2025-11-25", json!({})).await;
            assert_eq!(old(&url, "ann", Some(&other), cancel.clone()).await.status, 202);
            assert_eq!(inside.counts(), [before + 1, 0, before]);
            assert_eq!(old(&url, "ann", Some(&session), cancel).await.status, 202);
        };
        let (reply, ()) = timeout(LONG, async { tokio::join!(calling, cancelling) }).await.unwrap();
        assert!(!reply.body.contains("result"), "{}", reply.body);
        inside.until([before + 1, 0, before + 1]).await;
        let stream = send_only(&url, &session, &call(6, "slow")).await;
        inside.until([before + 2, 0, before + 1]).await;
        sleep(Duration::from_millis(pause)).await;
        let named = [("x-caller", "ann"), ("mcp-session-id", session.as_str())];
        assert_eq!(send("DELETE", &url, &named, "").await.status, 204);
        inside.until([before + 2, 0, before + 2]).await;
        drop(stream);
    }
}
