//! Threads that are longer than what the model of their agent reads at a time.

use std::sync::Mutex;
use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::agents::BASICS;
use super::support::{Serving, eventually};
use crate::keep::killed;
use crate::process::Folder;

/// Bytes of a request that such a model reads: four a token, without those of its answer.
const ROOM: usize = (4_000 - 500) * 4;

fn serving(model: &ScriptedModel) -> Serving {
    let folder = Folder::new();
    let text = format!(
        "allow = [\"text_count\"]\n[store]\nurl = \"sqlite://crib.db\"\n\
         [model]\nurl = \"{}\"\nname = \"m\"\ncontext = 4000\nmax_tokens = 500\n{BASICS}",
        model.url()
    );
    folder.write("crib.toml", &text);
    Serving::start_in(folder, &[])
}

fn is_summary(body: &Value) -> bool {
    body.to_string().contains("Sum this conversation up")
}

/// One that counts ten long texts, slowly at the ninth, and sums up when it is asked to.
fn counter() -> ScriptedModel {
    let turns = Mutex::new(0);
    ScriptedModel::by(move |_, body| {
        if is_summary(body) {
            return ScriptedTurn::says("In short: it was counted.");
        }
        let mut turn = turns.lock().unwrap();
        *turn += 1;
        let text = format!("{turn} {}", "word ".repeat(300));
        let call = ScriptedTurn::call("text_count", json!({ "text": text }));
        match *turn {
            9 => ScriptedTurn::Waits(Duration::from_secs(2), Box::new(call)),
            ..=11 => call,
            _ => ScriptedTurn::says("All is counted."),
        }
    })
    .unwrap()
}

#[test]
fn a_run_outgrows_its_model_and_goes_on_after_a_kill_with_what_was_summed_up() {
    let model = counter();
    let serving = serving(&model);
    let begun = serving.ask("POST", "/v1/runs", &json!({ "input": "Count all." }).to_string());
    let id = begun.json()["id"].as_str().unwrap().to_owned();
    let turns = || model.asked().iter().filter(|asked| !is_summary(&asked.body)).count();
    assert!(eventually(|| turns() == 9));
    let sums = model.asked().len() - 9;
    assert!(sums > 0, "nothing was summed up before the kill");

    let serving = killed(serving);
    let shown = || serving.ask("GET", &format!("/v1/runs/{id}"), "").json();
    assert!(eventually(|| shown()["state"] == "ended"), "{}", shown());
    let run = shown();
    assert_eq!((&run["stop"], &run["text"]), (&json!("done"), &json!("All is counted.")));
    let asked = model.asked();
    for asked in &asked {
        assert!(asked.body.to_string().len() <= ROOM, "{}", asked.body.to_string().len());
    }
    for asked in asked.iter().filter(|asked| !is_summary(&asked.body)) {
        assert!(asked.body.to_string().contains("Count all."), "{:?}", asked.body);
    }
    // The turn that was lost is asked for again, with the summary that was written.
    let lost = asked.iter().filter(|asked| !is_summary(&asked.body)).nth(9).unwrap();
    assert!(lost.body.to_string().contains("In short: it was counted."), "{:?}", lost.body);
    let events = serving.ask("GET", &format!("/v1/runs/{id}/events"), "").body;
    assert!(events.matches("event: thread.compacted").count() >= sums, "{events}");
    let thread = format!("/v1/threads/{}", run["thread"].as_str().unwrap());
    let items = serving.ask("GET", &thread, "").json()["items"].clone();
    // The call of the ninth turn went with the process.
    let kinds: Vec<_> = items.as_array().unwrap().iter().map(|item| &item["kind"]).collect();
    let results = kinds.iter().filter(|kind| **kind == "results").count();
    assert!(kinds.contains(&&json!("summary")) && results == 10, "{kinds:?}");

    // The next run of the thread does not sum up anew what is summed up.
    let before = model.asked().len();
    let more = json!({ "input": "Thanks.", "wait": true }).to_string();
    let more = serving.ask("POST", &format!("/v1/runs/{id}/input"), &more).json();
    assert_eq!(more["text"], "All is counted.", "{more}");
    assert_eq!(model.asked().len(), before + 1);
}

#[test]
fn a_long_thread_that_its_client_keeps_is_answered_in_every_api() {
    let model = ScriptedModel::by(|_, body| {
        ScriptedTurn::says(if is_summary(body) { "It was about numbers." } else { "Yes." })
    })
    .unwrap();
    let serving = serving(&model);
    let mut messages = Vec::new();
    for number in 0..12 {
        let said = format!("Number {number} {}", "n".repeat(1_000));
        messages.push(json!({ "id": format!("u{number}"), "role": "user", "content": said }));
        let said = format!("Noted {number} {}", "m".repeat(1_000));
        messages.push(json!({ "id": format!("a{number}"), "role": "assistant", "content": said }));
    }
    messages.push(json!({ "id": "last", "role": "user", "content": "Do you remember?" }));
    let cases = [
        ("/v1/chat/completions", json!({ "model": "assistant", "messages": messages })),
        ("/v1/responses", json!({ "model": "assistant", "input": messages })),
        (
            "/v1/agui",
            json!({
                "threadId": "t", "runId": "r", "messages": messages, "tools": [], "context": [],
                "state": null, "forwardedProps": { "agent": "assistant" },
            }),
        ),
    ];
    for (path, body) in cases {
        let before = model.asked().len();
        let answer = serving.ask("POST", path, &body.to_string());
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        assert!(answer.body.contains("Yes."), "{path}: {answer:?}");
        let told = answer.body.contains("toolcrib.compacted");
        assert_eq!(told, path == "/v1/agui", "{path}: {answer:?}");
        let asked = model.asked()[before..].to_vec();
        let last = asked.last().unwrap().body.to_string();
        assert!(asked.len() > 1 && last.len() <= ROOM, "{path}: {last}");
        for word in ["It was about numbers.", "Do you remember?", "Noted 11"] {
            assert!(last.contains(word), "{path}: {word} in {last}");
        }
        assert!(!last.contains("Number 0 "), "{path}: {last}");
    }
    // A thread in short is made by as many requests as it needs, and goes on as the caller's word.
    let before = model.asked().len();
    let thread = json!({ "model": "assistant", "input": messages });
    let short = serving.ask("POST", "/v1/responses/compact", &thread.to_string()).json();
    assert!(model.asked().len() > before + 1);
    let asked = json!({ "role": "user", "content": "And now?" });
    let next = json!({ "model": "assistant", "input": [short["output"][0], asked] });
    serving.ask("POST", "/v1/responses", &next.to_string());
    let last = model.asked().pop().unwrap().body["messages"].clone();
    let told = last[0]["content"].as_str().unwrap().to_owned();
    assert_eq!(last[0]["role"], "user", "{last}");
    assert!(told.contains("It was about numbers."), "{last}");
}
