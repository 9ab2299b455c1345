//! The protocol's own tests (ACTS), asked of an agent here over both bindings.

use std::io::Write as _;
use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_testkit::acts::{ActsBinding, ActsLevel, ActsReport, judge};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::agents::{ALL, BASICS};
use super::keys::make;
use super::support::Serving;
use crate::process::Folder;

/// Asks what comes next, each time it is called.
const ASKS: &str = r#"
import json, sys

def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

def tell(id, result):
    say({"id": id, "result": {"resultType": "complete", **result}})

question = {"message": "What next?", "requestedSchema": {
    "type": "object", "properties": {"next": {"type": "string"}}, "required": ["next"]}}
for line in sys.stdin:
    asked = json.loads(line)
    id, method, params = asked.get("id"), asked.get("method"), asked.get("params", {})
    if method == "server/discover":
        tell(id, {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, "ttlMs": 0,
                  "cacheScope": "private",
                  "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "asks", "version": "1"}}})
    elif method == "tools/list":
        tell(id, {"tools": [{"name": "next", "inputSchema": {"type": "object"}}],
                  "ttlMs": 0, "cacheScope": "private"})
    elif method == "tools/call" and "inputResponses" in params:
        said = params["inputResponses"]["it"]["content"]["next"]
        tell(id, {"content": [{"type": "text", "text": said}]})
    elif method == "tools/call":
        say({"id": id, "result": {"resultType": "input_required", "requestState": "s",
             "inputRequests": {"it": {"method": "elicitation/create", "params": question}}}})
    elif id is not None:
        say({"id": id, "error": {"code": -32601, "message": "no"}})
"#;

/// What an agent here does not do: its answers are texts in tasks.
const LACKS: [&str; 5] = [
    "tck-message-response",
    "tck-auth-required",
    "tck-artifact-data",
    "tck-artifact-file",
    "tck-artifact-file-url",
];

/// The last text of a role.
fn last<'v>(body: &'v Value, role: &str) -> Option<&'v Value> {
    let messages = body["messages"].as_array().into_iter().flatten();
    let mut own = messages.filter(|message| message["role"] == role);
    own.next_back().map(|message| &message["content"])
}

/// Does as the messages of the suite want.
fn turn(_: usize, body: &Value) -> ScriptedTurn {
    let asked = last(body, "user").map(Value::to_string).unwrap_or_default();
    let done = ScriptedTurn::says("It is done.");
    if asked.contains("tck-task-failure") {
        return ScriptedTurn::Refuses(400, Vec::new(), "{}".to_owned());
    }
    if asked.contains("tck-long-running") || asked.contains("tck-cancel") {
        return ScriptedTurn::Waits(Duration::from_millis(1_500), Box::new(done));
    }
    let heard = last(body, "tool").map(Value::to_string).unwrap_or_default();
    if asked.contains("tck-multi-turn") && !heard.contains("done") {
        return ScriptedTurn::call("next", json!({}));
    }
    done
}

fn judged(binding: ActsBinding) -> ActsReport {
    let model = ScriptedModel::by(turn).unwrap();
    let folder = Folder::new();
    folder.write("asks.py", ASKS);
    let (weak, key) = make(&folder, &["weak", "--tenant", "acme", "--scope", "profile:none"]);
    let asks = "[[source]]\nid = \"asks\"\nprefix = \"\"\n\
                mcp = { command = [\"python3\", \"./asks.py\"], cwd = \".\" }\n";
    let url = model.url();
    let file = format!("{ALL}\n[model]\nurl = \"{url}\"\nname = \"m\"\n{BASICS}{asks}{key}");
    folder.write("crib.toml", &file);
    let serving = Serving::start_in(folder, &[]);
    let own = format!("Authorization: Bearer {}", serving.token);
    let other = format!("Authorization: Bearer {}", serving.token_of("other"));
    let address = format!("http://{}", serving.address);
    let mut words = vec![address.as_str(), "--transport", binding.word()];
    words.extend(["--header", &own, "--other", &other, "--weak", &weak]);
    words.extend(LACKS.iter().flat_map(|lacking| ["--lacks", lacking]));
    judge(&words).unwrap()
}

/// Where the suite contradicts the specification or itself, or where we know that we do less.
const KNOWN: [(&str, &str); 9] = [
    ("CARD-DISC-002", "it calls `REST` what 5.8 of the specification calls `HTTP+JSON`"),
    ("CORE-CAP-001", "it wants -32004 where 3.3.4 and 5.4 want -32003"),
    ("PUSH-CFG-004", "the same"),
    ("CORE-ERR-007", "it wants an object where CORE-ERR-008, a must, wants a list"),
    ("CORE-HIST-005", "it counts the messages of the user alone, and what was asked is there too"),
    ("VER-NEG-002", "by 3.6.2 no version is 0.3, and 0.3 has no `SendMessage`"),
    ("SEC-AUTH-006", "it wants a card that is for anybody refused, or not to be a card"),
    ("REST-PD-001", "11.6 wants the body of `google.rpc.Status`, and no problem details"),
    ("PUSH-ERR-001", "it wants no configuration called no task"),
];

/// What fails and is not known, as text, with the number of the musts that pass.
fn unknown(binding: ActsBinding) -> (Vec<String>, usize, String) {
    let report = judged(binding);
    // What came of each test, for whoever wants the marks.
    let out = &mut std::io::stdout();
    writeln!(out, "{}", report.text()).unwrap();
    let mut unknown = Vec::new();
    for level in ActsLevel::ALL {
        let failed = report.failed(Some(binding), level).into_iter();
        let new = failed.filter(|mark| KNOWN.iter().all(|(id, _)| *id != mark.id));
        unknown.extend(new.map(|mark| mark.id.clone()));
    }
    (unknown, report.count(Some(binding), ActsLevel::Must).passed, report.text())
}

#[test]
fn the_tests_of_the_protocol_pass_over_json_rpc_but_for_those_that_contradict_it() {
    let (unknown, musts, text) = unknown(ActsBinding::JsonRpc);
    assert_eq!((unknown, musts), (Vec::new(), 45), "{text}");
}

#[test]
fn the_tests_of_the_protocol_pass_over_http_but_for_those_that_contradict_it() {
    let (unknown, musts, text) = unknown(ActsBinding::Rest);
    assert_eq!((unknown, musts), (Vec::new(), 36), "{text}");
}
