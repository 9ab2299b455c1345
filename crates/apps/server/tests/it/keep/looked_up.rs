//! How a call stands of which nobody knew how it ended: its caller asks by a tool.

use serde_json::{Value, json};

use super::doors::{DOORS, Door, Told, Wanted, act};
use super::upstream::Upstream;
use crate::serve::support::{Serving, eventually};

const FILE: &str = "allow = [\"*\"]\n\
                    [profile.shut]\nallow = [\"*\"]\ndeny = [\"get_call\"]\n\
                    [tool.web__act]\ntimeout = \"1s\"\n\
                    [store]\nurl = \"sqlite://crib.db\"\n";

fn has_tool(serving: &Serving, token: &str, query: &str) -> bool {
    serving.ask_as(token, "GET", &format!("/v1/tools{query}"), "").body.contains("\"get_call\"")
}

/// What the answer of a call says beside its words.
fn data(door: Door, told: &Told) -> Value {
    match door {
        Door::Rest => told.whole["structured"].clone(),
        Door::Mcp if told.error => told.whole["_meta"]["toolcrib/call"].clone(),
        Door::Mcp => told.whole["structuredContent"].clone(),
    }
}

fn look_up(serving: &Serving, (door, token): (Door, &str), call: &Value) -> Told {
    let arguments = json!({ "call_id": call });
    let wanted = Wanted { tool: "get_call", arguments, key: None, profile: None };
    door.call_as(serving, token, &wanted)
}

#[test]
fn whoever_had_such_a_call_has_a_tool_that_tells_how_it_stands_and_nobody_else_has() {
    let upstream = Upstream::start();
    let serving = Serving::start_in(upstream.furnish_web(FILE), &[]);
    serving.hears("`web`: ");
    let tokens = ["rest", "mcp", "other"].map(|name| serving.token_of(name));
    let other = &tokens[2];
    for ((door, name), token) in DOORS.into_iter().zip(["rest", "mcp"]).zip(&tokens) {
        assert!(!has_tool(&serving, token, ""), "{name}");
        assert!(look_up(&serving, (door, token), &json!("x")).error);
        let wanted = act("web__act", "late", name);
        let told = door.call_as(&serving, token, &wanted);
        assert_eq!(told.status, "outcome_unknown", "{told:?}");
        let call = data(door, &told)["call_id"].clone();
        let by_tool = json!({ "tool": "get_call", "arguments": { "call_id": call } });
        assert_eq!(data(door, &told)["next"][0], by_tool, "{told:?}");
        let words = format!("`get_call` with the `call_id` `{}` tells", call.as_str().unwrap());
        assert!(told.text.contains(&words), "{told:?}");
        assert!(has_tool(&serving, token, "") && !has_tool(&serving, other, ""));
        assert!(!has_tool(&serving, token, "?profile=shut"));
        let stands = look_up(&serving, (door, token), &call);
        let found = data(door, &stands);
        assert_eq!(
            (&found["call_id"], &found["tool"], &found["state"], &found["safe_to_retry"]),
            (&call, &json!("web__act"), &json!("outcome_unknown"), &json!(false)),
            "{stands:?}"
        );
        // Who holds the same call back says where to look as well, but in a profile without it.
        let again = door.call_as(&serving, token, &wanted);
        assert_eq!(data(door, &again)["next"][0], by_tool, "{again:?}");
        let shut = Wanted { profile: Some("shut"), ..act("web__act", "late", name) };
        let again = door.call_as(&serving, token, &shut);
        assert_eq!(again.status, "duplicate_of_unknown", "{again:?}");
        assert!(!format!("{:?}", again.whole).contains("get_call"), "{again:?}");
        upstream.oracle.let_go(name);
        let ended = || look_up(&serving, (door, token), &call);
        assert!(eventually(|| data(door, &ended())["state"] == "succeeded"), "{:?}", ended());
        assert!(ended().text.contains("took effect: do not repeat it"), "{:?}", ended());
        assert_eq!(upstream.oracle.count(name), 1);
    }
    // Another one who has the tool too finds calls of their own alone.
    let own = Door::Rest.call_as(&serving, other, &act("web__act", "late", "other"));
    let own = data(Door::Rest, &own)["call_id"].clone();
    assert!(has_tool(&serving, other, ""));
    let calls = serving.ask_as(&tokens[0], "GET", "/v1/calls?tool=web__act", "").json();
    for door in DOORS {
        assert!(!look_up(&serving, (door, other), &own).error);
        let told = look_up(&serving, (door, other), &calls["calls"][0]["key"]);
        assert!(told.error && told.text.contains("there is no such call of yours"), "{told:?}");
    }
}

#[test]
fn whoever_approves_a_call_that_ends_so_has_the_tool_as_well() {
    let upstream = Upstream::start();
    let file = FILE
        .replace("allow = [\"*\"]\n[profile", "allow = [\"*\"]\nask = [\"web__act\"]\n[profile");
    let serving = Serving::start_in(upstream.furnish_web(&file), &[]);
    serving.hears("`web`: ");
    let waits = Door::Rest.call(&serving, &act("web__act", "reset", "approved"));
    assert!(!has_tool(&serving, &serving.token, ""), "{waits:?}");
    let tickets = serving.ask("GET", "/v1/tickets", "").json();
    let path = format!("/v1/tickets/{}", tickets["tickets"][0]["ticket"].as_str().unwrap());
    let approved = serving.ask("POST", &path, r#"{"decision": "approve"}"#).json();
    let next = &approved["response"]["structured"]["next"][0]["tool"];
    assert_eq!(next, "get_call", "{approved}");
    assert!(has_tool(&serving, &serving.token, ""));
    assert_eq!(upstream.oracle.count("approved"), 1);
}
