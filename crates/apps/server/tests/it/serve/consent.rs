//! Prompts and resources that a rule asks about, from the client to the record of decisions.

use serde_json::{Value, json};

use super::mcp::ask_able;
use super::support::{Serving, eventually, state};
use super::traces::SHELF;
use crate::process::{Folder, run_in};

const FILE: &str = "allow = [\"*\"]\nask = [\"category:prompt\", \"category:resource\"]\n\
                    [audit]\nfile = \"audit.jsonl\"\n\
                    [[source]]\nid = \"s\"\nmcp = { command = [\"python3\", \"./shelf.py\"], cwd = \".\" }\n";

#[test]
fn a_reading_that_a_person_approved_is_on_record_as_a_call_is() {
    let folder = Folder::new();
    folder.write("shelf.py", SHELF);
    folder.write("crib.toml", FILE);
    let mut serving = Serving::start_in(folder, &[]);
    let asks = json!({ "elicitation": { "form": {} } });
    let ask = |method: &str, params: Value, can: &Value| {
        let said = ask_able(&serving, ("/mcp", method), params, can).body;
        let line = said.lines().find_map(|line| line.strip_prefix("data: ")).unwrap_or(&said);
        serde_json::from_str::<Value>(line).unwrap_or_else(|_| json!(said))
    };
    let listed = || ask("prompts/list", json!({}), &asks).to_string();
    assert!(eventually(|| listed().contains("s__p")));
    let prompt = json!({ "name": "s__p", "arguments": { "to": "nobody's business" } });
    let asked = ask("prompts/get", prompt.clone(), &asks);
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let mut back = prompt;
    back["requestState"] = asked["result"]["requestState"].clone();
    let yes = json!({ "action": "accept", "content": { "approve": true } });
    back["inputResponses"] = json!({ "approve": yes });
    let read = ask("prompts/get", back, &asks);
    assert!(read["result"]["messages"].is_array(), "{read}");
    let refused = ask("resources/read", json!({ "uri": "test://r" }), &json!({}));
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
    // Nothing waits: who reads it is who asked for it.
    let waiting = serving.ask("GET", "/v1/tickets", "").body;
    assert!(!waiting.contains("s__p"), "{waiting}");
    serving.signal("TERM");
    assert_eq!(serving.child.wait().unwrap().code(), Some(0));
    let text = std::fs::read_to_string(serving.folder.path().join("audit.jsonl")).unwrap();
    assert!(!text.contains("business"), "{text}");
    let records: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str, field: &str| -> Vec<&str> {
        let of_kind = records.iter().filter(|record| record["record"] == kind);
        of_kind.map(|record| record[field].as_str().unwrap()).collect()
    };
    assert_eq!(of("decision", "tool"), ["s__p", "s__p", "s__test://r", "s__test://r"]);
    assert_eq!(of("decision", "ruling"), ["ask", "allow", "ask", "deny"]);
    assert_eq!(of("outcome", "outcome"), ["pending", "done", "pending", "denied"]);
    let tickets = of("decision", "ticket");
    assert_eq!((tickets[0], tickets[2]), (tickets[1], tickets[3]));
    let environment = state(&serving.folder);
    let environment = [("XDG_STATE_HOME", environment.as_str())];
    let ran = run_in(&serving.folder, &["audit", "verify"], &environment);
    assert_eq!(ran.code, 0, "{ran:?}");
}
