//! What a running server does, followed by its commands as it happens, one JSON value a line.

use serde_json::{Value, json};

use super::support::Serving;
use crate::process::{Folder, Piped};

const FILE: &str = "[[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n\
                    [profile.careful]\nask = [\"calculate\"]\n";

fn follow(serving: &Serving, what: &str) -> Piped {
    let url = format!("http://{}", serving.address);
    Piped::open(&serving.folder, &[what, "--follow", "--json", "--url", &url])
}

fn hear(follower: &mut Piped) -> Value {
    serde_json::from_str(&follower.hear()).unwrap()
}

#[test]
fn calls_tickets_and_sources_are_followed_while_they_change() {
    let folder = Folder::new();
    folder.write("crib.toml", FILE);
    let serving = Serving::start_in(folder, &[]);
    let [mut calls, mut tickets, mut sources] =
        ["calls", "tickets", "sources"].map(|what| follow(&serving, what));
    let known = hear(&mut sources);
    let basics = (&json!("basics"), &json!(11), &json!(null));
    assert_eq!((&known["id"], &known["tools"], &known["error"]), basics);
    // Three times: each is told while it is new, and none twice.
    for expression in ["6*7", "1+1", "2^3"] {
        let call = json!({ "name": "calculate", "arguments": { "expression": expression } });
        let waits = serving.call(&json!({ "profile": "careful", "calls": [call.clone()] }));
        let waiting = hear(&mut tickets);
        assert_eq!(waiting["ticket"], waits["tickets"][0]["ticket"], "{waiting}");
        assert_eq!(waiting["arguments"]["expression"], expression, "{waiting}");
        let parked = hear(&mut calls);
        assert_eq!((&parked["tool"], &parked["outcome"]), (&json!("calculate"), &json!("pending")));
        serving.call(&json!({ "calls": [call] }));
        let ran = hear(&mut calls);
        assert_eq!((&ran["tool"], &ran["outcome"]), (&json!("calculate"), &json!("done")));
    }
    let more = "[[source]]\nid = \"more\"\nbasics = true\n";
    serving.folder.write("crib.toml", &format!("{FILE}{more}"));
    let mut added = hear(&mut sources);
    while added["tools"] != 11 {
        added = hear(&mut sources);
    }
    assert_eq!((&added["id"], &added["error"]), (&json!("more"), &json!(null)));
    for follower in [calls, tickets, sources] {
        follower.kill();
    }
}
