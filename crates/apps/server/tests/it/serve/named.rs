//! Names that collide or hide: whoever comes up first, a name leads to one tool and stays with it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use toolcrib_testkit::hostile::HostileServer;

use super::support::{Serving, eventually};
use super::wire::{message, modern};
use crate::process::Folder;

const SOURCES: [&str; 3] = ["one", "two", "three"];

/// Three sources under one prefix, whose servers come up after these pauses.
fn serving(words: &[&str], pauses: [u32; 3]) -> (Serving, Vec<HostileServer>) {
    let servers = pauses.map(|pause| {
        let slow = format!("slow@list={pause}");
        HostileServer::start(&[words, &[slow.as_str()]].concat()).unwrap()
    });
    let source = |(id, server): (&&str, &HostileServer)| {
        let url = server.url();
        format!("[[source]]\nid = \"{id}\"\nprefix = \"x\"\nmcp = {{ url = \"{url}\" }}\n\n")
    };
    let sources: String = SOURCES.iter().zip(&servers).map(source).collect();
    let folder = Folder::new();
    folder.write("crib.toml", &format!("allow = [\"*\"]\n\n{sources}"));
    let serving = Serving::start_in(folder, &[]);
    let loaded = |serving: &Serving| {
        let sources = serving.ask("GET", "/v1/sources", "").json();
        let sources = sources["sources"].as_array().unwrap().clone();
        sources.iter().all(|source| source["tools"].as_u64() > Some(0))
    };
    assert!(eventually(|| loaded(&serving)));
    (serving, servers.into())
}

/// Which source each name leads to.
fn owners(serving: &Serving) -> BTreeMap<String, String> {
    let tools = serving.ask("GET", "/v1/tools?limit=1000", "").json();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let tools = tools["tools"].as_array().unwrap().clone();
    let owners: BTreeMap<_, _> =
        tools.iter().map(|tool| (text(&tool["name"]), text(&tool["source"]))).collect();
    assert_eq!(owners.len(), tools.len(), "a name came twice: {tools:?}");
    owners
}

#[test]
fn a_name_leads_to_the_same_tool_whoever_comes_up_first() {
    let mut before = None;
    for pauses in [[0, 200, 400], [400, 200, 0], [200, 0, 400], [400, 0, 200]] {
        let (serving, servers) = serving(&[], pauses);
        let owners = owners(&serving);
        assert!(owners.values().all(|owner| owner == "one"), "{owners:?}");
        assert_eq!(*before.get_or_insert_with(|| owners.clone()), owners);
        // The others are kept out, and the operator is told by whose tool.
        let sources = serving.ask("GET", "/v1/sources", "").json();
        let kept_out = sources["quarantined"].as_array().unwrap();
        assert_eq!(kept_out.len(), 2 * owners.len());
        let reasons: BTreeSet<_> =
            kept_out.iter().map(|tool| &tool["reason"]).map(Value::to_string).collect();
        assert!(
            reasons.iter().all(|reason| reason.contains("taken by a tool of `one")),
            "{reasons:?}"
        );
        serving.call(&json!({ "calls": [{ "name": "x__echo", "arguments": { "text": "a" } }] }));
        let ran = |server: &HostileServer| {
            let all = server.received();
            all.iter().filter(|(_, body)| body.contains("tools/call")).count()
        };
        assert_eq!(servers.iter().map(ran).collect::<Vec<_>>(), [1, 0, 0]);
    }
}

#[test]
fn odd_names_are_legal_apart_and_the_same_through_every_door() {
    let (serving, servers) = serving(&["names"], [0, 0, 0]);
    let owners = owners(&serving);
    let listed = modern(&serving, &serving.token, "/mcp", ("tools/list", json!({})));
    let listed = message(&listed)["result"]["tools"].as_array().unwrap().clone();
    let listed: BTreeSet<_> = listed.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(listed, owners.keys().map(String::as_str).collect());
    let plan = serving.ask("POST", "/v1/plan", "{}").json();
    let planned = plan["visible"].as_array().unwrap().iter().map(|name| name.as_str().unwrap());
    assert_eq!(planned.collect::<BTreeSet<_>>(), listed);
    let legal = |c: char| c.is_ascii_alphanumeric() || "_.:/-".contains(c);
    for name in &listed {
        assert!(name.len() <= 128 && name.chars().all(legal), "{name:?}");
        serving.call(&json!({ "calls": [{ "name": name, "arguments": { "text": "a" } }] }));
    }
    // Each leads to a tool of its own at the server, under the name that the server knows.
    let asked = servers[0].received();
    let asked = asked.iter().filter(|(_, body)| body.contains("tools/call"));
    let asked: Vec<Value> = asked.map(|(_, body)| serde_json::from_str(body).unwrap()).collect();
    let names: BTreeSet<_> = asked.iter().map(|call| call["params"]["name"].to_string()).collect();
    assert_eq!(names.len(), listed.len(), "{names:?}");
}
