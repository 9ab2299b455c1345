//! Every operation has one decision and one end in the record, before its effect, whichever door it
//! came through; and nothing of that can be changed without a trace.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::audit::{folder, records, verify};
use super::support::{Serving, state};
use super::wire::{message, meta, modern};
use crate::chance::Chance;
use crate::process::{Folder, Piped, run_in};

const SECRET: &str = "an argument that is nobody's business";

/// A tool of another source that nobody may see.
const HIDDEN: &str = "allow = [\"*\"]\nask = [\"o__wipe\"]\ndeny = [\"hash_text\"]\n";
const BASICS: &str = "[[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n";

/// A server or a `toolcrib mcp`, and the door that its calls come through.
enum Door {
    Rest(Serving),
    Mcp(Serving),
    Pipes(Piped, Folder),
}

impl Door {
    fn servings() -> [fn() -> Self; 3] {
        fn furnished() -> Folder {
            let folder = folder();
            let file = std::fs::read_to_string(folder.path().join("crib.toml")).unwrap();
            folder.write("crib.toml", &format!("{HIDDEN}{file}{BASICS}"));
            folder
        }
        fn serving() -> Serving {
            let serving = Serving::start_in(furnished(), &[]);
            serving.hears("`o`: 3 tools");
            serving
        }
        [
            || Self::Rest(serving()),
            || Self::Mcp(serving()),
            || {
                let folder = furnished();
                Self::Pipes(Piped::open(&folder, &["mcp", "crib.toml"]), folder)
            },
        ]
    }

    /// Makes a call.
    fn call(&mut self, name: &str, arguments: &Value) -> Value {
        match self {
            Self::Rest(serving) => {
                let calls = json!([{ "name": name, "arguments": arguments }]);
                serving.call(&json!({ "calls": calls }))
            }
            Self::Mcp(_) | Self::Pipes(..) => {
                self.asks(json!({ "name": name, "arguments": arguments }))
            }
        }
    }

    /// Says something to a call that waits.
    fn decide(&mut self, arguments: &Value, waiting: &Value, word: &str) {
        if let Self::Rest(serving) = self {
            let ticket = waiting["tickets"][0]["ticket"].as_str();
            let ticket = ticket.unwrap_or_else(|| unreachable!("{waiting}"));
            let body = json!({ "decision": word }).to_string();
            assert_eq!(serving.ask("POST", &format!("/v1/tickets/{ticket}"), &body).status, 200);
            return;
        }
        let content = json!({ "approve": true });
        let said = match word {
            "approve" => json!({ "action": "accept", "content": content }),
            _ => json!({ "action": "decline" }),
        };
        let answer = self.asks(json!({
            "name": "o__wipe", "arguments": arguments,
            "requestState": waiting["result"]["requestState"],
            "inputResponses": { "approval": said },
        }));
        assert_eq!(answer["result"]["isError"], word != "approve", "{answer}");
    }

    /// A `tools/call` of the stateless revision.
    fn asks(&mut self, params: Value) -> Value {
        match self {
            Self::Mcp(serving) => {
                message(&modern(serving, &serving.token, "/mcp", ("tools/call", params)))
            }
            Self::Pipes(pipe, _) => {
                let mut asked = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call" });
                asked["params"] = params;
                asked["params"]["_meta"] = meta();
                serde_json::from_str(&pipe.ask(&asked.to_string())).unwrap()
            }
            Self::Rest(_) => unreachable!("it knows no such messages"),
        }
    }

    /// Ends it in order, and gives what it leaves.
    fn ended(self) -> Folder {
        match self {
            Self::Rest(mut serving) | Self::Mcp(mut serving) => {
                serving.signal("TERM");
                assert_eq!(serving.child.wait().unwrap().code(), Some(0));
                std::mem::replace(&mut serving.folder, Folder::new())
            }
            Self::Pipes(pipe, folder) => {
                assert_eq!(pipe.hang_up(), (Some(0), vec![]));
                folder
            }
        }
    }
}

/// Does one of the things that callers do; tells the outcomes that the record must have.
fn act(door: &mut Door, chance: &mut Chance) -> Vec<&'static str> {
    let arguments = json!({ "note": SECRET, "n": chance.below(1000) });
    let fails = json!({ "note": SECRET, "fail": true, "n": chance.below(1000) });
    let (name, arguments, outcome) = match chance.below(7) {
        0 => ("o__look", arguments, "done"),
        1 => ("o__write", arguments, "done"),
        2 => ("o__write", fails, "failed"),
        3 => ("no_such_tool", arguments, "failed"),
        // Where policy hides it, it does not exist.
        4 => ("hash_text", arguments, "failed"),
        kind => {
            let waiting = door.call("o__wipe", &arguments);
            let (word, outcome) = if kind == 5 { ("approve", "done") } else { ("deny", "denied") };
            door.decide(&arguments, &waiting, word);
            return vec!["pending", outcome];
        }
    };
    door.call(name, &arguments);
    vec![outcome]
}

#[test]
fn every_operation_through_every_door_has_one_decision_and_one_end_before_its_effect() {
    let mut chance = Chance::of("audited");
    for serving in Door::servings() {
        let mut door = serving();
        let mut expected: HashMap<&str, usize> = HashMap::new();
        for _ in 0..60 {
            for outcome in act(&mut door, &mut chance) {
                *expected.entry(outcome).or_default() += 1;
            }
        }
        let folder = door.ended();
        let records = records(&folder);
        each_has_both(&records, expected);
        what_ran_was_permitted_before(&folder, &records);
        let text = serde_json::to_string(&records).unwrap();
        assert!(!text.contains(SECRET), "{text}");
        the_changes_are_found(&folder, records.len());
    }
}

fn each_has_both(records: &[Value], expected: HashMap<&str, usize>) {
    let of = |kind: &str| -> Vec<&Value> {
        records.iter().filter(|record| record["record"] == kind).collect()
    };
    let (decisions, outcomes) = (of("decision"), of("outcome"));
    let total: usize = expected.values().sum();
    assert_eq!((decisions.len(), outcomes.len()), (total, total));
    for (outcome, count) in expected {
        let found = outcomes.iter().filter(|record| record["outcome"] == outcome).count();
        assert_eq!(found, count, "{outcome}");
    }
    let versions: HashSet<_> = decisions.iter().filter_map(|it| it["policy"].as_str()).collect();
    assert_eq!(versions.len(), 1, "{versions:?}");
    for (place, decision) in decisions.iter().enumerate() {
        let call = &decision["call"];
        let again = decisions.iter().filter(|other| &other["call"] == call).count();
        let ends = outcomes.iter().filter(|other| &other["call"] == call).count();
        assert_eq!((again, ends), (1, 1), "{place}: {decision}");
        assert_eq!((&decision["tenant"], &decision["subject"]), (&json!("local"), &json!("local")));
        let is_refused = decision["ruling"] == "refuse";
        // No rule was asked about what is refused.
        for field in ["fingerprint", "arguments", "policy"] {
            assert_eq!(decision[field].is_string(), !is_refused, "{decision}");
        }
        let has_ticket = decision["tool"] == "o__wipe";
        assert_eq!(decision["ticket"].is_string(), has_ticket, "{decision}");
    }
}

/// What ran is what was permitted, and the permission was written before.
fn what_ran_was_permitted_before(folder: &Folder, records: &[Value]) {
    let oracle = std::fs::read_to_string(folder.path().join("oracle.jsonl")).unwrap();
    let ran: Vec<Value> = oracle.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let allowed = records.iter().filter(|record| record["ruling"] == "allow").count();
    assert_eq!(ran.len(), allowed);
    for (place, run) in ran.iter().enumerate() {
        if run["tool"] != "look" {
            assert!(run["allowed"].as_u64().unwrap() > place as u64, "{place}: {run}");
        }
    }
}

/// A record that was changed, taken out or put elsewhere is named, wherever it stands.
fn the_changes_are_found(folder: &Folder, count: usize) {
    let ran = verify(folder);
    assert_eq!((ran.code, ran.json()["records"].clone()), (0, json!(count)), "{ran:?}");
    let path = folder.path().join("audit.jsonl");
    let whole = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<_> = whole.lines().collect();
    for at in [0, 1, count / 2, count - 2, count - 1] {
        let mut changed: Vec<String> = lines.iter().map(ToString::to_string).collect();
        changed[at] = changed[at].replacen("\"time\":\"2", "\"time\":\"3", 1);
        folder.write("audit.jsonl", &(changed.join("\n") + "\n"));
        let ran = verify(folder);
        assert_eq!((ran.code, ran.json()["record"].clone()), (1, json!(at + 1)), "{ran:?}");
        let mut fewer = lines.clone();
        fewer.remove(at);
        folder.write("audit.jsonl", &(fewer.join("\n") + "\n"));
        let ran = verify(folder);
        assert_eq!((ran.code, ran.json()["record"].clone()), (1, json!(at + 1)), "{ran:?}");
    }
    // A server goes on after what is whole alone.
    let mut fewer = lines.clone();
    fewer.pop();
    folder.write("audit.jsonl", &(fewer.join("\n") + "\n"));
    let environment = [("XDG_STATE_HOME", state(folder))];
    let environment = [(environment[0].0, environment[0].1.as_str())];
    let ran = run_in(folder, &["serve", "--listen", "127.0.0.1:0"], &environment);
    assert_eq!(ran.code, 2, "{ran:?}");
    assert!(ran.err.contains("ends before the record that was written last"), "{ran:?}");
    // Without the name of the last record nobody can tell that this one was.
    let named = folder.path().join("audit.jsonl.head");
    let head = std::fs::read_to_string(&named).unwrap();
    for left in ["", "{"] {
        std::fs::remove_file(&named).unwrap();
        if !left.is_empty() {
            std::fs::write(&named, left).unwrap();
        }
        let ran = verify(folder);
        assert_eq!((ran.code, ran.json()["whole"].clone()), (1, json!(false)), "{ran:?}");
        assert!(ran.out.contains("whether records were taken out of the end, nobody can tell"));
        std::fs::write(&named, &head).unwrap();
    }
    folder.write("audit.jsonl", &whole);
    assert_eq!(verify(folder).code, 0);
}
