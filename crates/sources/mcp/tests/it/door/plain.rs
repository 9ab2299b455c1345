//! Calls and lists of 2026-07-28 are answered alike, with a field that nobody knows and without it.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use toolcrib_core::{Content, Effect, Tool, ToolOutcome, ToolSpec, Verdict, raw_tool};
use toolcrib_engine::Crib;
use toolcrib_mcp::McpServerSettings;
use toolcrib_testkit::{FixedPolicy, Oracle};

use super::fixtures;
use super::support::open;
use super::wire::{Reply, but, modern, send};

/// What a client sees of a reply, without what is another each time.
pub(super) fn seen(reply: &Reply) -> (u16, Option<&str>, Value) {
    let mut answer = reply.answer();
    for place in ["/result/requestState", "/result/_meta/toolcrib~1ticket"] {
        if let Some(name) = answer.pointer_mut(place) {
            *name = json!(name.as_str().map(|name| name.split(['_', '.']).count()));
        }
    }
    if let Some(text) = answer.pointer_mut("/result/content/0/text") {
        let said = text.as_str().unwrap_or_default();
        let words = said.split_whitespace().map(|word| {
            if word.trim_matches(['`', ':', '.', ',']).starts_with("t_") { "TICKET" } else { word }
        });
        *text = Value::from(words.collect::<Vec<_>>().join(" "));
    }
    (reply.status, reply.header("content-type"), answer)
}

#[tokio::test]
async fn a_plain_call_is_answered_as_every_other_one() {
    let oracle = Oracle::default();
    let mut tools = fixtures::all();
    tools.push(oracle.echo("asked_about", Effect::Write));
    tools.push(oracle.echo("secret", Effect::Read));
    let names: Vec<String> = tools.iter().map(|tool| tool.spec().name.to_string()).collect();
    let policy = FixedPolicy::default()
        .with("secret", Verdict::Deny("no".to_owned()))
        .with("asked_about", Verdict::Ask("it writes".to_owned()));
    let tools = toolcrib_core::Toolset::of(tools).unwrap();
    let crib = Crib::builder().policy(policy).build_fixed(tools);
    let url = open(crib, &[], McpServerSettings::default()).await;
    let absent = "absent".to_owned();
    let mut compared = 0;
    for name in names.iter().chain([&absent]) {
        for can in [json!({}), json!({ "elicitation": { "form": {} }, "sampling": {} })] {
            for arguments in [json!({}), json!({ "n": 1, "a": 2, "b": 3 }), json!(null)] {
                let plain = json!({ "name": name, "arguments": arguments });
                let mut other = plain.clone();
                // A field that nobody knows, which no rule of the protocol forbids.
                other["x-unknown"] = json!(true);
                let plain = modern(&url, "ann", "tools/call", plain, can.clone()).await;
                let other = modern(&url, "ann", "tools/call", other, can.clone()).await;
                let told_on_the_way = other.header("content-type") != Some("application/json");
                if !told_on_the_way {
                    assert_eq!(seen(&plain), seen(&other), "{name} {can} {arguments}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 100, "{compared} of {}", names.len());
}

/// A call that is plain in every respect.
fn right() -> Value {
    json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {
            "name": "alpha", "arguments": {},
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            },
        },
    })
}

#[tokio::test]
async fn a_plain_list_is_answered_as_every_other_one() {
    let all: Vec<_> = fixtures::all().into_iter().chain(odd()).collect();
    let many = all.len();
    let tools = toolcrib_core::Toolset::of(all).unwrap();
    let crib = Crib::builder().build_fixed(tools);
    let url = open(crib, &[], McpServerSettings { page: 7, ..McpServerSettings::default() }).await;
    let list =
        async |params: &Value| modern(&url, "ann", "tools/list", params.clone(), json!({})).await;
    let (mut cursors, mut pages) = (vec![json!(null), json!("!"), json!("bm9uZQ")], 0);
    while let Some(cursor) = cursors.pop() {
        let plain = list(&json!({ "cursor": cursor })).await;
        let other = list(&json!({ "cursor": cursor, "x-unknown": true })).await;
        assert_eq!(seen(&plain), seen(&other), "{cursor}");
        let answer = plain.answer();
        pages += usize::from(answer["result"]["tools"].is_array());
        cursors.extend(answer["result"].get("nextCursor").cloned());
    }
    assert_eq!(pages, many.div_ceil(7));
}

/// Tools whose specs are odd in one respect each.
fn odd() -> Vec<Arc<dyn Tool>> {
    let text = json!({ "type": "string" });
    let header = json!({ "type": "string", "x-mcp-header": "Region" });
    let object = |of: &Value| json!({ "type": "object", "properties": { "a": of } });
    let deep = (0..200).fold(text.clone(), |inner, _| json!({ "items": inner }));
    let without_type = json!({ "properties": { "type": text } });
    let last = json!({ "properties": { "a": text }, "type": "object" });
    let many: Map<_, _> = (0..30).map(|number| (format!("x{number}"), json!([number]))).collect();
    let many = Value::Object(many);
    let shapes = [
        (json!({}), Some(object(&text)), json!({})),
        (without_type, None, json!({ "annotations": { "title": "A" }, "title": "B" })),
        (object(&header), Some(object(&header)), json!({ "icons": [{ "src": "a" }] })),
        (object(&json!({ "default": header })), Some(json!({ "type": "array" })), json!({})),
        (object(&deep), Some(object(&deep)), json!({ "outputSchema": 1, "name": "other" })),
        (object(&text), None, json!({ "outputSchema": {}, "execution": 1, "annotations": 3 })),
        (json!({ "not": { "a": 1, "type": "object" } }), None, json!({ "a\"b": 1, "icons": [] })),
        (last, None, json!({ "annotations": { "x": "y", "idempotentHint": 1, "title": "A" } })),
        (object(&text), None, json!({ "annotations": many })),
        (object(&text), None, many),
    ];
    let tools = shapes.into_iter().enumerate().map(|(place, (input, output, extra))| {
        let mut spec =
            ToolSpec::new(format!("odd_{place}"), "A \"quoted\"\nline.", Effect::Write).unwrap();
        (spec.input, spec.output) = (input.into(), output.map(Into::into));
        spec.extra = extra.as_object().unwrap().clone().into();
        spec.title = (place == 1).then(|| "Odd \u{1f600}".to_owned());
        raw_tool(spec, |_, _| async { ToolOutcome::Done(Content::default()) })
    });
    tools.collect()
}

#[tokio::test]
async fn what_is_not_plain_in_one_respect_is_refused_as_ever() {
    let oracle = Oracle::default();
    let tools = [oracle.echo("alpha", Effect::Read)];
    let crib = Crib::builder().build_fixed(toolcrib_core::Toolset::of(tools).unwrap());
    let url = open(crib, &[], McpServerSettings::default()).await;
    let right = right();
    let headers = [
        ("x-caller", "ann"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "alpha"),
    ];
    let post = async |headers: &[(&str, &str)], body: &Value| {
        let reply = send("POST", &url, headers, &body.to_string()).await;
        (reply.status, reply.body)
    };
    assert_eq!(post(&headers, &right).await.0, 200);
    assert_eq!(oracle.count("alpha"), 1);
    for (header, value, status) in [
        ("mcp-protocol-version", "2025-11-25", 400),
        ("mcp-protocol-version", "2099-01-01", 400),
        ("mcp-method", "tools/list", 400),
        ("mcp-name", "beta", 400),
        ("accept", "application/json", 406),
        ("accept", "text/event-stream", 406),
        ("accept", "application/json, text/event-stream;q=0", 406),
        ("content-type", "text/plain", 415),
        ("host", "evil.example", 403),
        ("origin", "http://evil.example", 403),
        ("mcp-session-id", "made-up", 404),
        ("x-caller", "nobody", 401),
    ] {
        let (found, body) = post(&but(&headers, (header, value)), &right).await;
        assert_eq!(found, status, "{header}: {value}: {body}");
    }
    for left_out in ["mcp-protocol-version", "mcp-method", "mcp-name"] {
        let others = headers.iter().copied().filter(|(name, _)| *name != left_out);
        let (found, body) = post(&others.collect::<Vec<_>>(), &right).await;
        assert!((400..500).contains(&found), "without {left_out}: {found} {body}");
    }
    for (place, wrong) in [
        ("/jsonrpc", json!("1.0")),
        ("/id", json!(null)),
        ("/id", json!(1.5)),
        ("/id", json!({})),
        ("/method", json!("tools/list")),
        ("/params/name", json!(7)),
        ("/params/arguments", json!([])),
        ("/params/_meta", json!({})),
        ("/params/_meta/io.modelcontextprotocol~1protocolVersion", json!("2025-11-25")),
        ("/params/_meta/io.modelcontextprotocol~1clientCapabilities", json!(1)),
    ] {
        let mut body = right.clone();
        *body.pointer_mut(place).unwrap() = wrong;
        let (found, told) = post(&headers, &body).await;
        let refused = (400..500).contains(&found) || told.contains(r#""error":"#);
        assert!(refused, "{place}: {found} {told}");
    }
    assert_eq!(oracle.count("alpha"), 1);
}
