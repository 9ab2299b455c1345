//! The same of secrets in the other places that take one, and of what is said as events and at a
//! pipe.

use serde_json::{Value, json};

use super::canaries::{assert_none, echo};
use super::listener::Listener;
use super::support::{Serving, bearer, head};
use crate::process::{Folder, Piped};

/// One for each place: headers of MCP, a bearer token, a user, a password and a key of APIs, and
/// the key of an embedder.
const PLACES: [&str; 6] = ["http", "bearer", "user", "password", "key", "embedder"];

fn secret(place: &str) -> String {
    format!("canary/{place}+\"\\&=%41-7f6c0d4e5b3a29188f6c")
}

fn folder(upstream: &Listener) -> Folder {
    let folder = Folder::new();
    for place in PLACES {
        folder.write(&format!("{place}.txt"), &secret(place));
    }
    let document = json!({
        "openapi": "3.1.0", "info": { "title": "a", "version": "1" },
        "components": { "securitySchemes": {
            "k": { "type": "apiKey", "in": "header", "name": "X-K" } } },
        "security": [{ "k": [] }],
        "paths": { "/look": { "get": { "operationId": "look", "responses": {} } } },
    });
    folder.write("api.json", &document.to_string());
    let mut plain = document;
    plain.as_object_mut().unwrap().remove("components");
    plain.as_object_mut().unwrap().remove("security");
    folder.write("plain.json", &plain.to_string());
    let url = &upstream.url;
    let api = |id: &str, document: &str, auth: &str| {
        format!(
            "[[source]]\nid = \"{id}\"\n[source.openapi]\ndocument = \"{document}\"\n\
             base_url = \"{url}\"\nprivate = [\"127.0.0.1\"]\nauth = {auth}\n\n"
        )
    };
    let sources = [
        api("one", "plain.json", "{ bearer = \"${file:bearer.txt}\" }"),
        api(
            "two",
            "plain.json",
            "{ basic = { user = \"${file:user.txt}\", password = \"${file:password.txt}\" } }",
        ),
        api("three", "api.json", "{ key = \"${file:key.txt}\" }"),
    ];
    let first = format!(
        "allow = [\"*\"]\n[log]\nlevel = \"trace\"\nformat = \"json\"\n\n[embedder]\n\
         endpoint = \"{url}/embed\"\nmodel = \"m\"\nkey = \"${{file:embedder.txt}}\"\n\n\
         [[source]]\nid = \"http\"\nmcp = {{ url = \"{url}/mcp\", headers = {{ X-Own = \
         \"${{file:http.txt}}\" }} }}\n\n"
    );
    folder.write("crib.toml", &(first + &sources.concat()));
    folder
}

#[test]
fn a_secret_of_any_place_stands_in_no_answer_no_event_and_no_log() {
    let upstream = Listener::start(echo);
    let serving = Serving::start_in(folder(&upstream), &[]);
    let own = bearer(&serving.token);
    let mut said = Vec::new();
    let tools = ["one__look", "two__look", "three__look"];
    for tool in tools {
        let body = json!({ "calls": [{ "name": tool, "arguments": {} }] }).to_string();
        for accept in ["Accept: application/json", "Accept: text/event-stream"] {
            let lines = [own.as_str(), "Content-Type: application/json", accept];
            let answer = serving.send(&head("POST", "/v1/calls", &serving, &lines), &body);
            assert!(answer.body.contains("500"), "{answer:?}");
            said.push((format!("{tool}, {accept}"), format!("{answer:?}")));
        }
    }
    for path in ["/v1/sources", "/v1/tools", "/v1/calls", "/v1/record", "/metrics"] {
        said.push((path.to_owned(), format!("{:?}", serving.ask("GET", path, ""))));
    }
    let sought = serving.ask("POST", "/v1/plan", r#"{"query": "look", "why": true}"#);
    said.push(("a search".to_owned(), format!("{sought:?}")));
    let mut piped = Piped::open(&serving.folder, &["mcp", "--config", "crib.toml"]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    for (id, tool) in (1..).zip(tools) {
        let params = json!({ "name": tool, "arguments": {}, "_meta": meta });
        let call = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
        let answer = piped.ask(&call.to_string());
        let told: Value = serde_json::from_str(&answer).unwrap();
        assert_eq!((&told["id"], &told["result"]["isError"]), (&json!(id), &json!(true)), "{told}");
        said.push((format!("{tool} at a pipe"), answer));
    }
    piped.hang_up();
    said.push(("standard error".to_owned(), serving.told.lock().unwrap().clone()));
    let secrets = PLACES.map(secret);
    assert_none(&said, &secrets.each_ref().map(String::as_str));
    // They were there to be told.
    assert!(said.iter().any(|(_, text)| text.contains("[secret]")), "{said:?}");
    let heard = upstream.heard();
    for place in ["http", "bearer", "key"] {
        assert!(
            heard.iter().any(|heard| heard.head.contains(&secret(place))),
            "{place}: {heard:?}"
        );
    }
}
