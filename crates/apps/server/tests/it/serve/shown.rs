//! A person who decides sees every letter of what will run, by whichever way they are asked.

use serde_json::{Value, json};

use super::support::{Serving, eventually, head, state};
use crate::process::{Folder, run_in};

const ASKS: &str = "ask = [\"*\"]\n[[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n";

/// One letter of each sort: nobody sees them, or they turn the line around, look like a blank, or
/// hang on what stands before.
const HIDDEN: [char; 16] = [
    '\u{202e}',
    '\u{200b}',
    '\u{2066}',
    '\u{ad}',
    '\u{feff}',
    '\u{fe0f}',
    '\u{e0041}',
    '\u{e0100}',
    '\u{3164}',
    '\u{115f}',
    '\u{2800}',
    '\u{2028}',
    '\u{85}',
    '\u{1b}',
    '\u{34f}',
    '\u{61c}',
];

/// As JSON writes them out.
fn written_out(text: &str) -> String {
    text.encode_utf16()
        .map(|unit| match u8::try_from(unit).map(char::from) {
            Ok(letter @ ' '..='~') => letter.to_string(),
            _ => format!("\\u{unit:04x}"),
        })
        .collect()
}

#[test]
fn every_list_of_tickets_shows_every_letter() {
    let folder = Folder::new();
    folder.write("crib.toml", ASKS);
    let serving = Serving::start_in(folder, &[]);
    let text: String = HIDDEN.iter().flat_map(|letter| ['a', *letter]).chain(['z']).collect();
    let call = json!({ "calls": [{ "name": "text_count", "arguments": { "text": text } }] });
    let answer = serving.call(&call);
    let ticket = answer["responses"][0]["ticket"].as_str().map(str::to_owned);
    let listed = serving.ask("GET", "/v1/tickets", "");
    let ticket = ticket
        .unwrap_or_else(|| listed.json()["tickets"][0]["ticket"].as_str().unwrap().to_owned());
    let shown = serving.ask("GET", &format!("/v1/tickets/{ticket}"), "");
    for reply in [&listed, &shown] {
        assert!(reply.body.is_ascii(), "{}", reply.body);
        assert!(reply.body.contains(&written_out(&text)), "{}", reply.body);
    }
    // It is the same JSON.
    assert_eq!(shown.json()["arguments"], json!({ "text": text }));
    let state = state(&serving.folder);
    let told = run_in(&serving.folder, &["tickets"], &[("XDG_STATE_HOME", &state)]);
    assert!(told.out.contains(&written_out(&text)), "{told:?}");
    // Of arguments that are cut the beginning is a text, in which the same holds.
    let long = json!({ "calls": [{ "name": "text_count", "arguments": { "text": text.clone() + &"x".repeat(9_000) } }] });
    serving.call(&long);
    let cut = |row: &&Value| row["arguments_begin"].is_string();
    let listed = serving.ask("GET", "/v1/tickets", "").json();
    let begin =
        listed["tickets"].as_array().unwrap().iter().find(cut).unwrap()["arguments_begin"].clone();
    assert!(begin.as_str().unwrap().contains(&written_out(&text)), "{begin}");
    let told = run_in(&serving.folder, &["tickets"], &[("XDG_STATE_HOME", &state)]);
    assert!(!told.out.contains(HIDDEN), "{told:?}");
}

#[test]
fn a_client_that_asks_its_person_shows_every_letter() {
    let folder = Folder::new();
    folder.write("crib.toml", ASKS);
    let serving = Serving::start_in(folder, &[]);
    for letter in HIDDEN {
        let text = format!("e{letter}z");
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
        });
        let params = json!({ "name": "text_count", "arguments": { "text": text }, "_meta": meta });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let lines = [
            format!("Authorization: Bearer {}", serving.token),
            "Content-Type: application/json".to_owned(),
            "Accept: application/json, text/event-stream".to_owned(),
            "Mcp-Method: tools/call".to_owned(),
            "Mcp-Name: text_count".to_owned(),
            "MCP-Protocol-Version: 2026-07-28".to_owned(),
        ];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let mut message = String::new();
        assert!(
            eventually(|| {
                let answer =
                    serving.send(&head("POST", "/mcp", &serving, &lines), &body.to_string());
                let answer = answer.body.lines().rev().find_map(|line| {
                    serde_json::from_str::<Value>(line.trim_start_matches("data: ")).ok()
                });
                let answer = answer.unwrap_or_default();
                let asked = answer.pointer("/result/inputRequests/approval/params/message");
                message = asked
                    .map_or_else(|| answer.to_string(), |asked| asked.as_str().unwrap().to_owned());
                asked.is_some()
            }),
            "{message}"
        );
        let expected = format!("{{\"text\":\"{}\"}}", written_out(&text));
        assert!(message.contains(&expected), "{letter:?}: {message}");
        assert!(!message.contains(letter), "{letter:?}: {message}");
    }
}
