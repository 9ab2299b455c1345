//! Sixty-four callers of two tenants at once, who all use the same words: none of them meets
//! another.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;

use serde_json::{Value, json};
use toolcrib_testkit::hostile;

use super::keys::make;
use super::support::{Answer, Serving, bearer, head};
use super::wire::{message, modern, taking};
use crate::process::Folder;

const CALLERS: usize = 64;
/// Rounds of calls of each caller.
const ROUNDS: usize = 10;

/// The keys of all callers, and their lines for the file: neighbours have one name in two tenants.
fn keys(folder: &Folder) -> (Vec<String>, String) {
    let made = (0..CALLERS).map(|number| {
        let (name, subject) = (format!("key-{number}"), format!("caller-{}", number / 2));
        let tenant = ["even", "odd"][number % 2];
        make(folder, &[&name, "--tenant", tenant, "--subject", &subject])
    });
    let (keys, entries): (Vec<_>, Vec<_>) = made.unzip();
    (keys, entries.concat())
}

fn serving() -> (Serving, hostile::HostileServer, Vec<String>) {
    let upstream = hostile::HostileServer::start(&["progress=2"]).unwrap();
    let folder = Folder::new();
    let (tokens, entries) = keys(&folder);
    folder.write(
        "crib.toml",
        &format!(
            "allow = [\"*\"]\nask = [\"time_now\"]\n\n[limits]\nmax_result = \"1KiB\"\n\n\
             [store]\nurl = \"sqlite://crib.db\"\n\n[[source]]\nid = \"basics\"\n\
             prefix = \"\"\nbasics = true\n\n[[source]]\nid = \"up\"\nmcp = {{ url = \"{}\" }}\n\n{entries}",
            upstream.url()
        ),
    );
    let serving = Serving::start_in(folder, &[]);
    serving.hears("`up`: ");
    (serving, upstream, tokens)
}

/// A call over REST under the key that all callers use.
fn keyed(serving: &Serving, token: &str, body: &Value) -> Answer {
    let lines = [&bearer(token), "Content-Type: application/json", "Idempotency-Key: same"];
    serving.send(&head("POST", "/v1/calls", serving, &lines), &body.to_string())
}

/// What one caller does, and what shows whose answers it got: the identifier that its key stands
/// for. Every other answer must hold the caller's own words.
fn rounds(serving: &Serving, (number, token): (usize, &str)) -> String {
    let unique = json!({ "calls": [{ "id": "1", "name": "uuid_new", "arguments": {} }] });
    let mut own = BTreeSet::new();
    for _ in 0..ROUNDS {
        let keyed = keyed(serving, token, &unique);
        // A first request that still runs is told as such.
        if keyed.status == 200 {
            own.insert(keyed.json()["responses"][0]["text"].as_str().unwrap().to_owned());
        }
        let words = format!("caller-{number}-{number}");
        let call = json!({ "name": "up__echo", "arguments": { "text": words },
            "_meta": { "progressToken": "same" } });
        let echoed = modern(serving, token, "/mcp", ("tools/call", call));
        let said = message(&echoed);
        assert_eq!(
            (&said["id"], &said["result"]["content"][0]["text"]),
            (&json!(1), &json!(words))
        );
        let mut others = (0..CALLERS).filter(|other| *other != number);
        let crossed = others.find(|other| echoed.body.contains(&format!("caller-{other}-")));
        assert_eq!(crossed, None, "{echoed:?}");
        let call = json!({ "calls": [{ "id": "1", "name": "calculate",
            "arguments": { "expression": format!("{number}+0") } }] });
        let done = serving.ask_as(token, "POST", "/v1/calls", &call.to_string()).json();
        assert_eq!(done["responses"][0]["structured"]["result"], number.to_string());
    }
    assert_eq!(own.len(), 1, "{own:?}");
    own.into_iter().next().unwrap()
}

#[test]
fn callers_with_the_same_words_get_their_own_answers() {
    let (serving, _upstream, tokens) = serving();
    let own: Vec<_> = std::thread::scope(|scope| {
        let callers = tokens.iter().enumerate();
        let callers: Vec<_> = callers
            .map(|(number, token)| {
                scope.spawn({
                    let serving = &serving;
                    move || rounds(serving, (number, token))
                })
            })
            .collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).collect()
    });
    let different: BTreeSet<_> = own.iter().collect();
    assert_eq!(different.len(), CALLERS);
    let line = format!("apart: {CALLERS} callers, {} calls, 0 crossings", CALLERS * ROUNDS * 3);
    writeln!(std::io::stdout(), "{line}").unwrap();
}

/// The name of something that a caller has, and how others would ask for it.
struct Thing {
    kind: &'static str,
    name: String,
}

/// One of everything that the server hands out.
fn things(serving: &Serving, token: &str) -> Vec<Thing> {
    let ask =
        |path: &str, body: &Value| serving.ask_as(token, "POST", path, &body.to_string()).json();
    let call = |name: &str, arguments: Value| {
        ask("/v1/calls", &json!({ "calls": [{ "name": name, "arguments": arguments }] }))
    };
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let plan = text(&ask("/v1/plan", &json!({}))["plan"]);
    let large = call("text_case", json!({ "text": "word ".repeat(1_000), "case": "upper" }));
    let large = text(&large["responses"][0]["whole"]);
    let ticket = text(&call("time_now", json!({}))["tickets"][0]["ticket"]);
    let recorded = serving.ask_as(token, "GET", "/v1/calls", "").json();
    let recorded = text(&recorded["calls"][0]["key"]);
    let waiting = json!({ "name": "time_now", "arguments": {} });
    let waiting = modern(serving, token, "/mcp", ("tools/call", waiting));
    let state = text(&message(&waiting)["result"]["requestState"]);
    let task = json!({ "name": "time_now", "arguments": {}, "_meta": taking() });
    let task = message(&modern(serving, token, "/mcp", ("tools/call", task)));
    let task = text(&task["result"]["taskId"]);
    let kinds = ["plan", "result", "ticket", "call", "state", "task"];
    let names = [plan, large, ticket, recorded, state, task];
    kinds.into_iter().zip(names).map(|(kind, name)| Thing { kind, name }).collect()
}

/// Asks for a thing as if it were one's own, and gives what was said, without its name.
fn claim(serving: &Serving, token: &str, (kind, name): (&str, &str)) -> String {
    let ask = |method: &str, path: String, body: Value| {
        let body =
            if method == "GET" || method == "DELETE" { String::new() } else { body.to_string() };
        serving.ask_as(token, method, &path, &body)
    };
    let yes = json!({ "approval": { "action": "accept", "content": { "approve": true } } });
    let answers = match kind {
        "plan" => vec![ask("POST", "/v1/calls".into(), json!({ "plan": name, "calls": [] }))],
        "result" => vec![
            ask("GET", format!("/v1/results/{name}"), json!({})),
            ask("GET", format!("/v1/results/{name}?offset=1&limit=1"), json!({})),
        ],
        "ticket" => vec![
            ask("POST", format!("/v1/tickets/{name}"), json!({ "decision": "approve" })),
            ask("POST", format!("/v1/tickets/{name}"), json!({ "decision": "deny" })),
        ],
        "call" => vec![
            ask("GET", format!("/v1/calls/{name}"), json!({})),
            ask("DELETE", format!("/v1/calls/{name}"), json!({})),
        ],
        "task" => {
            let ask = |(method, more): (&str, Value)| {
                let mut params = json!({ "taskId": name, "_meta": taking() });
                params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                modern(serving, token, "/mcp", (method, params))
            };
            let answers = json!({ "inputResponses": yes });
            let none = json!({});
            vec![
                ask(("tasks/get", none.clone())),
                ask(("tasks/update", answers)),
                ask(("tasks/cancel", none)),
            ]
        }
        _ => {
            let again = json!({ "name": "time_now", "arguments": {}, "requestState": name,
                "inputResponses": yes });
            vec![modern(serving, token, "/mcp", ("tools/call", again))]
        }
    };
    answers.iter().fold(String::new(), |mut said, answer| {
        writeln!(said, "{} {}", answer.status, answer.body.replace(name, "NAME")).unwrap();
        said
    })
}

#[test]
fn what_one_caller_holds_is_to_others_as_if_it_were_made_up() {
    let (serving, _upstream, tokens) = serving();
    let held: Vec<_> = tokens.iter().take(16).map(|token| things(&serving, token)).collect();
    for (number, things) in held.iter().enumerate() {
        for Thing { kind, name } in things {
            let thief = &tokens[(number + 1) % tokens.len()];
            // What follows a dot is a digest of the call, which is no secret.
            let (own, digest) = name.split_once('.').unwrap_or((name, ""));
            let digits = |c: char| if c.is_ascii_digit() { '7' } else { c };
            let made_up = name.replace(own, &own.chars().map(digits).collect::<String>());
            assert!(made_up.ends_with(digest));
            let stolen = claim(&serving, thief, (kind, name));
            assert_eq!(stolen, claim(&serving, thief, (kind, &made_up)), "{kind} {name}");
            match *kind {
                "state" => {}
                "task" => assert_eq!(stolen.matches("-32602").count(), 3, "{stolen}"),
                _ => assert!(!stolen.contains("200 "), "{kind}: {stolen}"),
            }
            assert!(!stolen.contains("\"outcome\":\"done\""), "{kind}: {stolen}");
        }
    }
    // The owners still have all of it.
    for (things, token) in held.iter().zip(&tokens) {
        for Thing { kind, name } in things.iter().filter(|thing| thing.kind != "call") {
            let own = claim(&serving, token, (kind, name));
            assert!(own.starts_with("200 "), "{kind}: {own}");
            // Nobody has cancelled it before.
            assert!(*kind != "task" || own.contains("Waiting for approval"), "{own}");
        }
    }
}
