//! Answers that judges stand before.

use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::agents::{BASICS, events};
use super::support::{Serving, eventually};
use crate::keep::killed;
use crate::process::Folder;

const ANSWER: &str = "There are nine words.";

fn is_judge(body: &Value) -> bool {
    body.to_string().contains("Answer with one JSON object and nothing else")
}

/// Counts, answers, and judges by what was asked.
fn model() -> ScriptedModel {
    ScriptedModel::by(|_, body| {
        let all = body["messages"].to_string();
        if is_judge(body) {
            let word = if all.contains("wrong") { "failed" } else { "passed" };
            let said = json!({ "verdict": word, "reason": "So it is." }).to_string();
            let slow = all.contains("slowly");
            let pause = Duration::from_millis(if slow { 2_000 } else { 0 });
            return ScriptedTurn::Waits(pause, Box::new(ScriptedTurn::says(&said)));
        }
        let last = body["messages"].as_array().and_then(|all| all.last()).cloned();
        if last.unwrap_or_default()["role"] == "tool" {
            ScriptedTurn::says(ANSWER)
        } else {
            let call = ("text_count".to_owned(), json!({ "text": "a b" }));
            ScriptedTurn::Calls("I count.".to_owned(), vec![call])
        }
    })
    .unwrap()
}

fn folder(model: &ScriptedModel, agent: &str) -> Folder {
    let folder = Folder::new();
    let text = format!(
        "allow = [\"*\"]\n[store]\nurl = \"sqlite://crib.db\"\n\
         [model]\nurl = \"{}\"\nname = \"m\"\n[agent.assistant]\n{agent}\n{BASICS}",
        model.url()
    );
    folder.write("crib.toml", &text);
    folder
}

const GATE: &str = "checks = [\"hallucination\"]\ngate = true";

fn verdict(name: &str, outcome: &str) -> Value {
    json!({ "name": name, "outcome": outcome, "reason": "So it is." })
}

fn verdicts(told: &Value) -> Value {
    let mut told = told.clone();
    for one in told.as_array_mut().unwrap() {
        one.as_object_mut().unwrap().remove("usage");
    }
    told
}

#[test]
fn an_answer_that_fails_is_shown_in_no_api_and_one_that_passes_in_all() {
    let model = model();
    let serving = Serving::start_in(folder(&model, GATE), &[]);
    for (asked, passes) in [("Count what is wrong.", false), ("Count.", true)] {
        let messages = json!([{ "id": "1", "role": "user", "content": asked }]);
        let bodies = [
            ("/v1/chat/completions", json!({ "model": "assistant", "messages": messages })),
            ("/v1/responses", json!({ "model": "assistant", "input": asked })),
            ("/v1/runs", json!({ "input": asked, "wait": true })),
            ("/v1/runs", json!({ "input": asked, "stream": true })),
            (
                "/v1/agui",
                json!({
                    "threadId": format!("t{passes}"), "runId": "r", "messages": messages,
                    "tools": [], "context": [], "state": null,
                    "forwardedProps": { "agent": "assistant" },
                }),
            ),
        ];
        for (path, body) in &bodies {
            let mut ways = vec![body.clone()];
            if path.ends_with("completions") || path.ends_with("responses") {
                let mut streamed = body.clone();
                streamed["stream"] = true.into();
                ways.push(streamed);
            }
            for body in ways {
                let answer = serving.ask("POST", path, &body.to_string());
                assert_eq!(answer.status / 100, 2, "{path}: {answer:?}");
                // What it says before its calls nobody judges.
                assert!(!answer.body.contains("I count."), "{path}: {answer:?}");
                let said = answer.body.contains("nine words") || answer.body.contains("\"nine ");
                assert_eq!(said, passes, "{path} {body}: {answer:?}");
                let told = answer.body.contains("`hallucination` failed");
                assert_eq!(told, !passes, "{path}: {answer:?}");
            }
        }
    }
}

#[test]
fn each_api_says_in_its_words_why_there_is_no_answer() {
    let model = model();
    let serving = Serving::start_in(folder(&model, GATE), &[]);
    let asked = "Count what is wrong.";
    let messages = json!([{ "role": "user", "content": asked }]);
    let mut body = json!({ "model": "assistant", "messages": messages });
    let chat = serving.ask("POST", "/v1/chat/completions", &body.to_string()).json();
    assert_eq!(chat["choices"][0]["finish_reason"], "content_filter", "{chat}");
    body["stream"] = true.into();
    let chunks = events(&serving.ask("POST", "/v1/chat/completions", &body.to_string()));
    let reason = chunks.last().unwrap()["choices"][0]["finish_reason"].clone();
    assert_eq!(reason, "content_filter", "{chunks:?}");
    let body = json!({ "model": "assistant", "input": asked });
    let response = serving.ask("POST", "/v1/responses", &body.to_string()).json();
    let why = json!({ "reason": "content_filter" });
    assert_eq!(
        (&response["status"], &response["incomplete_details"]),
        (&json!("incomplete"), &why)
    );
    let run = serving.ask("POST", "/v1/runs", &json!({ "input": asked, "wait": true }).to_string());
    let run = run.json();
    assert_eq!(run["stop"], "withheld", "{run}");
    assert_eq!(verdicts(&run["checks"]), json!([verdict("hallucination", "failed")]));
    let thread = format!("/v1/threads/{}", run["thread"].as_str().unwrap());
    let items = serving.ask("GET", &thread, "").body;
    assert!(!items.contains("nine words") && items.contains("`hallucination` failed"), "{items}");

    let said = folder(&model, GATE).run(&["chat", asked]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(!said.out.contains("nine words"), "{said:?}");
    assert!(said.out.contains("`hallucination` failed"), "{said:?}");
    assert!(said.err.contains("the check `hallucination`: failed. So it is."), "{said:?}");
}

#[test]
fn without_a_gate_verdicts_stand_beside_the_answer_and_tools_ask_for_theirs() {
    let model = model();
    let more = "checks = [\"hallucination\"]\n[tool.text_count]\nchecks = [\"relevancy\"]";
    let serving = Serving::start_in(folder(&model, more), &[]);
    let body = json!({ "input": "Count what is wrong.", "wait": true }).to_string();
    let run = serving.ask("POST", "/v1/runs", &body).json();
    assert_eq!((&run["stop"], &run["text"]), (&json!("done"), &json!(ANSWER)), "{run}");
    let wanted = json!([verdict("hallucination", "failed"), verdict("relevancy", "failed")]);
    assert_eq!(verdicts(&run["checks"]), wanted);
    let told = format!("/v1/runs/{}/events", run["id"].as_str().unwrap());
    let told = serving.ask("GET", &told, "").body;
    assert_eq!(told.matches("event: answer.checked").count(), 2, "{told}");
    // Two turns and two judges.
    assert_eq!(run["usage"]["input_tokens"], 400);
}

#[test]
fn a_run_that_is_killed_while_it_is_judged_is_judged_again_and_not_answered_again() {
    let model = model();
    let serving = Serving::start_in(folder(&model, GATE), &[]);
    let begun = serving.ask("POST", "/v1/runs", &json!({ "input": "Count slowly." }).to_string());
    let begun = begun.json();
    assert!(eventually(|| model.asked().iter().any(|asked| is_judge(&asked.body))));
    let thread = format!("/v1/threads/{}", begun["thread"].as_str().unwrap());
    let before = serving.ask("GET", &thread, "").body;
    assert!(!before.contains("nine words"), "{before}");

    let serving = killed(serving);
    let path = format!("/v1/runs/{}", begun["id"].as_str().unwrap());
    let shown = || serving.ask("GET", &path, "").json();
    assert!(eventually(|| shown()["state"] == "ended"), "{}", shown());
    let run = shown();
    assert_eq!((&run["stop"], &run["text"]), (&json!("done"), &json!(ANSWER)), "{run}");
    let turns = model.asked().into_iter().filter(|asked| !is_judge(&asked.body)).count();
    assert_eq!(turns, 2, "{run}");
    assert!(serving.ask("GET", &thread, "").body.contains("nine words"));
}
