//! What nobody sees does not get through: what a person reads, approves and finds in a log is
//! what the model was given.

use serde_json::{Value, json};
use toolcrib_testkit::hostile::{HIDDEN, HostileServer};

use super::support::Serving;
use super::wire::{message, modern};
use crate::process::Folder;

fn serving() -> (Serving, HostileServer) {
    let upstream = HostileServer::start(&["texts", "names"]).unwrap();
    let folder = Folder::new();
    folder.write(
        "crib.toml",
        &format!(
            "allow = [\"*\"]\nask = [\"up__veiled\"]\n\n[[source]]\nid = \"up\"\n\
             mcp = {{ url = \"{}\" }}\n",
            upstream.url()
        ),
    );
    let serving = Serving::start_in(folder, &[]);
    serving.hears("`up`: ");
    (serving, upstream)
}

/// Of what hides, as it is or as JSON writes it.
fn finds_hidden(text: &str) -> bool {
    let escaped = json!(HIDDEN).to_string();
    let escaped = escaped.trim_matches('"').to_owned();
    let controls = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
    let of_hidden = |c: char| !c.is_ascii() && HIDDEN.contains(c);
    text.contains(|c| controls(c) || of_hidden(c))
        || ["\\u001b", "\\u009b"].iter().any(|code| text.contains(code))
        || text.contains(&escaped)
}

#[test]
fn a_tool_says_to_people_what_it_says_to_models() {
    let (serving, _upstream) = serving();
    let get = |path: &str| serving.ask("GET", path, "");
    let shown = get("/v1/tools/up__veiled").json();
    let words = "Says what[2J it was told.";
    assert_eq!(shown["description"], words);
    let plan = |dialect: &str| {
        let body = json!({ "dialect": dialect, "why": true }).to_string();
        serving.ask("POST", "/v1/plan", &body).body
    };
    let listed = message(&modern(&serving, &serving.token, "/mcp", ("tools/list", json!({}))));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let veiled = tools.iter().find(|tool| tool["name"] == "up__veiled").unwrap();
    assert_eq!((&veiled["description"], &veiled["title"]), (&json!(words), &json!(words)));
    assert_eq!(veiled["inputSchema"]["properties"]["text"]["description"], words);
    let answers = [
        get("/v1/tools").body,
        shown.to_string(),
        get("/v1/sources").body,
        listed.to_string(),
        plan("openai-chat"),
        plan("openai-responses"),
        plan("anthropic"),
        plan("gemini"),
    ];
    for answer in answers {
        assert!(!finds_hidden(&answer), "{answer}");
    }
    // The operator is told which tool hid something, and which is kept out for it.
    let sources = get("/v1/sources").json();
    assert_eq!(sources["sources"][0]["unhidden"], json!(["up__veiled"]));
    let kept_out = sources["quarantined"].as_array().unwrap();
    let kept_out: Vec<_> = kept_out.iter().map(|tool| tool["tool"].clone()).collect();
    // The other has no name that could be told.
    assert_eq!(kept_out, ["up__veiled_value", "number_5"]);
    serving.hears("hides characters that nobody sees in the texts of `up__veiled`");
    assert!(get("/v1/tools/up__veiled_value").status == 404);
}

#[test]
fn what_is_approved_is_what_is_shown_and_what_runs() {
    let (serving, upstream) = serving();
    let fingerprint = serving.ask("GET", "/v1/tools/up__veiled", "").json()["fingerprint"].clone();
    let call = json!({ "name": "up__veiled", "arguments": { "text": "a" } });
    let asking = ("tools/call", call.clone());
    let question = modern(&serving, &serving.token, "/mcp", asking).body;
    assert!(question.contains("May `up__veiled` run?") && !finds_hidden(&question), "{question}");
    let waiting = serving.call(&json!({ "calls": [call] }));
    let tickets = serving.ask("GET", "/v1/tickets", "").json();
    let tickets = tickets["tickets"].as_array().unwrap().clone();
    let ticket = waiting["tickets"][0]["ticket"].clone();
    let ticket = tickets.iter().find(|open| open["ticket"] == ticket).unwrap();
    // The tool that a person approves is, byte for byte, the one that the model was shown.
    assert_eq!(ticket["fingerprint"], fingerprint);
    assert_eq!(ticket["arguments"], json!({ "text": "a" }));
    let path = format!("/v1/tickets/{}", ticket["ticket"].as_str().unwrap());
    let done = serving.ask("POST", &path, r#"{"decision": "approve"}"#).json();
    assert_eq!(done["response"]["outcome"], "done", "{done}");
    let sent = upstream.received();
    let sent: Vec<_> = sent.iter().filter(|(_, body)| body.contains("tools/call")).collect();
    assert_eq!(sent.len(), 1);
    let sent: Value = serde_json::from_str(&sent[0].1).unwrap();
    assert_eq!(sent["params"]["arguments"], json!({ "text": "a" }));
}

#[test]
fn no_name_and_no_line_of_a_log_hides_anything() {
    let (serving, _upstream) = serving();
    let tools = serving.ask("GET", "/v1/tools?limit=1000", "").json();
    let letters = |c: char| c.is_ascii_alphanumeric() || "_.:/-".contains(c);
    for tool in tools["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        assert!(name.len() <= 128 && name.chars().all(letters), "{name:?}");
    }
    // What a stranger puts into a request is told in one line, without its commands.
    for path in ["/v1/tools/%1b%5b2J%0aerror:%20x", "/v1/why/%e2%80%ae", "/v1/calls/%c2%9b2J"] {
        let answer = serving.ask("GET", path, "");
        assert!(answer.status >= 400 && !finds_hidden(&answer.body), "{answer:?}");
    }
    let hidden = json!({ "calls": [{ "id": HIDDEN, "name": HIDDEN, "arguments": {} }] });
    let answer = serving.call(&hidden);
    assert_eq!(answer["responses"][0]["error"], true);
    let text = answer["responses"][0]["text"].as_str().unwrap();
    assert!(!finds_hidden(text), "{text:?}");
    let told = serving.told.lock().unwrap().clone();
    assert!(!finds_hidden(&told), "{told:?}");
}
