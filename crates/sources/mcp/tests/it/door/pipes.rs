//! The door over a pair of pipes.

use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines, ReadHalf, WriteHalf};
use tokio::io::{DuplexStream, duplex, split};
use tokio::task::JoinHandle;
use toolcrib_core::{
    CallContext, Caller, Content, Decision, Effect, Progress, Run, TicketId, ToolOutcome, Toolset,
    raw_tool,
};
use toolcrib_engine::Crib;
use toolcrib_mcp::{McpServer, McpServerSettings, StdioServerError};
use toolcrib_testkit::{Behaviour, Oracle, spec};

use super::cribs::FixtureCribs;
use super::wire::NO_MESSAGES;

pub(super) struct Pipe {
    writer: WriteHalf<DuplexStream>,
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    served: JoinHandle<Result<(), StdioServerError>>,
}

impl Pipe {
    pub(super) fn to(oracle: &Oracle) -> Self {
        Self::within(oracle, McpServerSettings::default())
    }

    fn within(oracle: &Oracle, settings: McpServerSettings) -> Self {
        let hang = oracle.tool(spec("hang", Effect::Read), Behaviour::Hang);
        let tools = [oracle.echo("echo", Effect::Read), hang];
        Self::of(Toolset::of(tools).unwrap(), settings)
    }

    fn of(tools: Toolset, settings: McpServerSettings) -> Self {
        Self::at(FixtureCribs::of(Crib::of(tools)), settings)
    }

    pub(super) fn at(cribs: FixtureCribs, settings: McpServerSettings) -> Self {
        let door = McpServer::new(Arc::new(cribs), settings);
        let (near, far) = duplex(64 * 1024);
        let (reader, writer) = split(far);
        let served =
            tokio::spawn(
                async move { door.serve_stdio(reader, writer, Caller::local(), None).await },
            );
        let (reader, writer) = split(near);
        Self { writer, lines: BufReader::new(reader).lines(), served }
    }

    pub(super) async fn say(&mut self, message: Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    pub(super) async fn hear(&mut self) -> Value {
        serde_json::from_str(&self.lines.next_line().await.unwrap().unwrap()).unwrap()
    }

    pub(super) async fn hang_up(mut self) {
        self.writer.shutdown().await.unwrap();
        drop((self.writer, self.lines));
        self.served.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn an_older_client_greets_calls_cancels_and_hangs_up() {
    let oracle = Oracle::default();
    let mut pipe = Pipe::to(&oracle);
    pipe.say(json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "t", "version": "1" },
        },
    }))
    .await;
    assert_eq!(pipe.hear().await["result"]["protocolVersion"], "2025-06-18");
    pipe.say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    let call = |id: u32, name: &str| {
        json!({
            "jsonrpc": "2.0", "id": id, "method": "tools/call",
            "params": { "name": name, "arguments": { "n": id } },
        })
    };
    pipe.say(call(1, "hang")).await;
    let cancelled = json!({ "requestId": 1 });
    pipe.say(json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled,
    }))
    .await;
    pipe.say(call(2, "echo")).await;
    // What was cancelled is answered by nothing.
    let answer = pipe.hear().await;
    assert_eq!(
        (&answer["id"], &answer["result"]["structuredContent"]["n"]),
        (&json!(2), &json!(2))
    );
    pipe.hang_up().await;
}

#[tokio::test]
async fn a_request_under_the_id_of_another_one_is_refused_until_that_is_answered() {
    let go = Arc::new(tokio::sync::Notify::new());
    let ready = Arc::clone(&go);
    let wait = raw_tool(spec("wait", Effect::Read), move |_, _| {
        let ready = Arc::clone(&ready);
        async move {
            ready.notified().await;
            ToolOutcome::Done(Content::text("waited"))
        }
    });
    let oracle = Oracle::default();
    let hang = oracle.tool(spec("hang", Effect::Read), Behaviour::Hang);
    let tools = Toolset::of([wait, hang, oracle.echo("echo", Effect::Write)]).unwrap();
    let mut pipe = Pipe::of(tools, McpServerSettings::default());
    pipe.say(json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-03-26", "capabilities": {},
            "clientInfo": { "name": "t", "version": "1" },
        },
    }))
    .await;
    pipe.hear().await;
    pipe.say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    let call = |id: Value, name: &str| {
        let params = json!({ "name": name, "arguments": { "n": 1 } });
        json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
    };
    pipe.say(call(json!(1), "wait")).await;
    // Alone, and within a batch, whose other piece has an id of its own.
    for again in [call(json!(1), "echo"), json!([call(json!(1), "echo"), call(json!("1"), "hang")])]
    {
        pipe.say(again).await;
        let refused = pipe.hear().await;
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(1), &json!(-32600)));
        let told = refused["error"]["message"].as_str().unwrap();
        assert!(told.contains("has no answer yet"), "{told}");
    }
    assert_eq!(oracle.count("echo"), 0);
    go.notify_one();
    let answer = pipe.hear().await;
    assert_eq!(
        (&answer["id"], &answer["result"]["content"][0]["text"]),
        (&json!(1), &json!("waited"))
    );
    // What was answered is over, and what was cancelled may still end.
    pipe.say(call(json!(1), "echo")).await;
    assert_eq!(pipe.hear().await["result"]["content"][0]["text"], "{\"n\":1}");
    let cancelled = json!({ "requestId": "1" });
    pipe.say(json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancelled,
    }))
    .await;
    pipe.say(call(json!("1"), "echo")).await;
    assert_eq!(pipe.hear().await["error"]["code"], -32600);
    assert_eq!(oracle.count("echo"), 1);
    pipe.hang_up().await;
}

#[tokio::test]
async fn what_a_call_says_last_is_heard_before_its_end() {
    let steps = raw_tool(spec("steps", Effect::Read), |_, context: CallContext| async move {
        for done in [1.0, 2.0, 3.0] {
            context.progress(Progress { done, total: None, message: None });
        }
        ToolOutcome::Done(Content::text("there"))
    });
    let mut pipe = Pipe::of(Toolset::of([steps]).unwrap(), McpServerSettings::default());
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "progressToken": 7,
    });
    pipe.say(json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "steps", "arguments": {}, "_meta": meta },
    }))
    .await;
    for done in [1.0, 2.0, 3.0] {
        let told = pipe.hear().await;
        assert_eq!(
            (&told["params"]["progress"], &told["method"]),
            (&json!(done), &json!("notifications/progress"))
        );
    }
    assert_eq!(pipe.hear().await["result"]["content"][0]["text"], "there");
    pipe.hang_up().await;
}

#[tokio::test]
async fn what_cannot_be_read_is_answered_and_costs_itself_alone() {
    let mut settings = McpServerSettings::default();
    settings.request.bytes = 100_000;
    let mut pipe = Pipe::within(&Oracle::default(), settings);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
    });
    let list = json!({
        "jsonrpc": "2.0", "id": 9, "method": "tools/list", "params": { "_meta": meta },
    });
    let list = list.to_string();
    let deep = format!(r#"{{"id":4,"x":{}{}}}"#, "[".repeat(100), "]".repeat(100));
    let long = format!(r#"{{"id":5,"x":"{}"}}"#, "a".repeat(100_000));
    for (line, code, id, told) in [
        (r#"{"id":1,"x":NaN}"#, -32700, json!(1), "not valid JSON"),
        ("garbage", -32700, Value::Null, "not valid JSON"),
        (r#"{"id":2,"method":"ping","method":"tools/list"}"#, -32600, json!(2), "`method`"),
        ("7", -32600, Value::Null, "one JSON object"),
        (&deep, -32600, json!(4), "deep"),
        (&long, -32600, json!(5), "larger than 100000 bytes"),
    ] {
        pipe.writer.write_all(format!("{line}\n{list}\n").as_bytes()).await.unwrap();
        let refused = pipe.hear().await;
        assert_eq!((&refused["error"]["code"], &refused["id"]), (&json!(code), &id), "{refused}");
        let words = refused["error"]["message"].as_str().unwrap();
        assert!(words.contains(told), "{words}");
        assert_eq!(pipe.hear().await["id"], 9, "{line:.80}");
    }
    pipe.hang_up().await;
}

#[tokio::test]
async fn an_object_that_is_no_message_is_told_so() {
    let mut pipe = Pipe::to(&Oracle::default());
    let greeting = json!({
        "protocolVersion": "2025-03-26", "capabilities": {},
        "clientInfo": { "name": "t", "version": "1" },
    });
    pipe.say(json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": greeting }))
        .await;
    assert_eq!(pipe.hear().await["id"], 0);
    pipe.say(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
    for body in NO_MESSAGES {
        // By itself, and in a batch of the revision that has them.
        for line in [body.to_owned(), format!("[{body}]")] {
            let ping = r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#;
            pipe.writer.write_all(format!("{line}\n{ping}\n").as_bytes()).await.unwrap();
            let refused = pipe.hear().await;
            assert_eq!(refused["error"]["code"], -32600, "{line}: {refused}");
            let id = if body.contains("\"id\":1,") { json!(1) } else { Value::Null };
            assert_eq!(refused["id"], id, "{line}: {refused}");
            assert_eq!(pipe.hear().await["id"], 9, "{line}");
        }
    }
    pipe.hang_up().await;
}

#[tokio::test]
async fn a_modern_client_needs_no_greeting() {
    let oracle = Oracle::default();
    let mut pipe = Pipe::to(&oracle);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
    });
    for (id, method, params) in [
        (1, "server/discover", json!({ "_meta": meta })),
        (2, "tools/list", json!({ "_meta": meta })),
        (3, "tools/call", json!({ "_meta": meta, "name": "echo", "arguments": { "n": 5 } })),
    ] {
        pipe.say(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        let answer = pipe.hear().await;
        assert_eq!(answer["id"], id);
        assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    }
    pipe.hang_up().await;
    assert_eq!(oracle.count("echo"), 1);
}

#[tokio::test]
async fn a_call_over_pipes_becomes_a_task_too() {
    let oracle = Oracle::default();
    let task_after = Duration::from_millis(100);
    let mut pipe =
        Pipe::within(&oracle, McpServerSettings { task_after, ..McpServerSettings::default() });
    let extensions = json!({ "io.modelcontextprotocol/tasks": {} });
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "extensions": extensions },
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
    });
    let mut id = 0;
    let mut ask = async |method: &str, mut params: Value| {
        id += 1;
        params["_meta"] = meta.clone();
        pipe.say(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })).await;
        pipe.hear().await["result"].clone()
    };
    let begun = ask("tools/call", json!({ "name": "hang", "arguments": {} })).await;
    assert_eq!(begun["resultType"], "task", "{begun}");
    let task = json!({ "taskId": begun["taskId"] });
    assert_eq!(ask("tasks/get", task.clone()).await["status"], "working");
    assert_eq!(ask("tasks/cancel", task.clone()).await, json!({ "resultType": "complete" }));
    let mut status = Value::Null;
    while status != "cancelled" {
        status = ask("tasks/get", task.clone()).await["status"].clone();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    pipe.hang_up().await;
}

/// Calls `wipe` and gives the result.
async fn wipe(pipe: &mut Pipe, n: u32) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
    });
    pipe.say(json!({
        "jsonrpc": "2.0", "id": n, "method": "tools/call",
        "params": { "name": "wipe", "arguments": { "n": n }, "_meta": meta },
    }))
    .await;
    pipe.hear().await["result"].clone()
}

#[tokio::test]
async fn a_call_that_its_client_can_ask_nobody_about_is_made_again_after_a_decision() {
    let oracle = Oracle::default();
    let crib = Crib::of(Toolset::of([oracle.echo("wipe", Effect::Destroy)]).unwrap());
    let cribs = FixtureCribs::of(crib.clone());
    let settings = McpServerSettings { decides: Some("decide"), ..McpServerSettings::default() };
    let mut pipe = Pipe::at(cribs, settings);
    let text = |result: &Value| result["content"][0]["text"].as_str().unwrap().to_owned();
    let deny = || Decision::Deny { reason: "not now".to_owned() };
    for (decision, n) in [(Decision::Approve, 1), (deny(), 2)] {
        let waiting = wipe(&mut pipe, n).await;
        let ticket = waiting["_meta"]["toolcrib/ticket"].as_str().unwrap().to_owned();
        let told = text(&waiting);
        assert!(told.contains(&format!("`decide approve {ticket}` or `decide deny")), "{told}");
        // Made again, it waits as before, and is no second one.
        assert_eq!(wipe(&mut pipe, n).await, waiting);
        assert_eq!(crib.tickets(&Caller::local()).await.unwrap().len(), 1);
        let ticket = TicketId::claimed(ticket);
        let approves = decision == Decision::Approve;
        crib.decide(&Caller::local(), &Run::default(), &ticket, decision).await.unwrap();
        let decided = wipe(&mut pipe, n).await;
        if approves {
            assert_eq!(decided["structuredContent"], json!({ "n": n }), "{decided}");
        } else {
            assert!(text(&decided).contains("not now"), "{decided}");
        }
        assert_eq!(oracle.count("wipe"), 1);
    }
    // What came of it was told, and the next one is asked about anew.
    let waiting = wipe(&mut pipe, 1).await;
    assert!(text(&waiting).starts_with("Waiting for approval"), "{waiting}");
    assert_eq!(oracle.count("wipe"), 1);
    pipe.hang_up().await;
}

#[tokio::test]
async fn a_client_that_says_nothing_may_hang_up() {
    Pipe::to(&Oracle::default()).hang_up().await;
}

#[tokio::test(start_paused = true)]
async fn a_client_that_reads_nothing_and_hangs_up_is_let_go_of() {
    let oracle = Oracle::default();
    let crib = Crib::of(Toolset::of([oracle.echo("echo", Effect::Read)]).unwrap());
    let door = McpServer::new(Arc::new(FixtureCribs::of(crib)), McpServerSettings::default());
    // So little room that most answers find none.
    let (near, far) = duplex(256);
    let (reader, writer) = split(far);
    let served =
        tokio::spawn(async move { door.serve_stdio(reader, writer, Caller::local(), None).await });
    let (_unread, mut writer) = split(near);
    for id in 0..100 {
        let ping = json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
        writer.write_all(format!("{ping}\n").as_bytes()).await.unwrap();
    }
    writer.shutdown().await.unwrap();
    tokio::time::timeout(Duration::from_mins(1), served).await.unwrap().unwrap().unwrap();
}
