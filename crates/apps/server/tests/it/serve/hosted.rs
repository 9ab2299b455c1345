//! Tools that the provider of a model runs: what each API is sent, what is told of their work, and
//! what doors without a model have of them.

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::audit::{records, verify};
use super::mcp::ask_able;
use super::support::{Serving, eventually, state};
use crate::keep::killed;
use crate::process::{Folder, run_in};

const SOURCES: &str = r#"
[[source]]
id = "basics"
prefix = ""
basics = ["text_count"]

[[source]]
id = "provider"
builtin = [
    "web_search",
    { name = "code_interpreter", settings = { container = { type = "auto" } } },
    { name = "file_search", settings = { vector_store_ids = ["vs_1"] }, local = "text_count", on_demand = true },
]
"#;

/// A server whose model is of this kind and name. `rules`: what stands at the top of the file.
fn serving(model: &ScriptedModel, (kind, name): (&str, &str), rules: &str) -> Serving {
    let folder = Folder::new();
    let url = model.url();
    let text = format!(
        "{rules}\n[model]\nkind = \"{kind}\"\nurl = \"{url}\"\nname = \"{name}\"\n{SOURCES}"
    );
    folder.write("crib.toml", &text);
    Serving::start_in(folder, &[])
}

const ALL: &str = "allow = [\"*\"]";

fn respond(serving: &Serving, body: Value) -> Value {
    let mut body = body;
    body["model"] = "assistant".into();
    let answer = serving.ask("POST", "/v1/responses", &body.to_string());
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

/// The tools of a request: functions by their names, all others whole.
fn tools(body: &Value) -> Value {
    let tools = body["tools"].as_array().cloned().unwrap_or_default();
    let told = tools.into_iter().map(|tool| {
        if let Some(functions) = tool["functionDeclarations"].as_array() {
            let names = functions.iter().map(|function| function["name"].clone());
            return Value::Array(names.collect());
        }
        let function = tool.pointer("/function/name").or_else(|| {
            let is_function = tool["type"] == "function" || tool.get("input_schema").is_some();
            tool.get("name").filter(|_| is_function)
        });
        function.cloned().unwrap_or(tool.clone())
    });
    told.collect()
}

#[test]
fn each_api_is_sent_what_its_provider_runs_in_its_own_words() {
    let python = json!({ "type": "code_interpreter", "container": { "type": "auto" } });
    for (kind, name, sent, config) in [
        (
            "openai-responses",
            "m",
            json!([{ "type": "web_search" }, python, "provider__file_search"]),
            Value::Null,
        ),
        (
            "anthropic",
            "m",
            json!([
                "text_count",
                { "type": "web_search_20250305", "name": "web_search" },
                { "type": "code_execution_20250825", "name": "code_execution" },
            ]),
            Value::Null,
        ),
        (
            "gemini",
            "gemini-3-pro",
            json!([["text_count"], { "googleSearch": {} }, { "codeExecution": {} }]),
            json!({ "includeServerSideToolInvocations": true }),
        ),
        // What is not known to be older takes both.
        (
            "gemini",
            "gemini-flash-latest",
            json!([["text_count"], { "googleSearch": {} }, { "codeExecution": {} }]),
            json!({ "includeServerSideToolInvocations": true }),
        ),
        // It takes its own tools or functions, and functions go first.
        ("gemini", "gemini-2.5-flash", json!([["text_count"]]), Value::Null),
        ("openai-chat", "m", json!(["text_count"]), Value::Null),
    ] {
        let model = ScriptedModel::of([ScriptedTurn::says("Yes.")]).unwrap();
        let serving = serving(&model, (kind, name), ALL);
        respond(&serving, json!({ "input": "Hello." }));
        let asked = model.asked().pop().unwrap().body;
        assert_eq!((tools(&asked), asked["toolConfig"].clone()), (sent, config), "{kind} {name}");
        assert_eq!(asked.get("web_search_options"), None, "{kind}");
        let include = [
            "reasoning.encrypted_content",
            "web_search_call.action.sources",
            "code_interpreter_call.outputs",
        ];
        let include = (kind == "openai-responses").then(|| json!(include));
        assert_eq!(asked.get("include"), include.as_ref(), "{kind}");
    }
}

#[test]
fn a_model_that_calls_in_words_has_none_of_them() {
    let model = ScriptedModel::of([ScriptedTurn::says("Yes.")]).unwrap();
    let rules = "allow = [\"*\"]";
    let serving = {
        let folder = Folder::new();
        let text = format!(
            "{rules}\n[model]\nkind = \"openai-responses\"\nurl = \"{}\"\nname = \"m\"\ncalls = \
             \"hermes\"\n{SOURCES}",
            model.url()
        );
        folder.write("crib.toml", &text);
        Serving::start_in(folder, &[])
    };
    respond(&serving, json!({ "input": "Hello." }));
    let asked = model.asked().pop().unwrap().body;
    assert_eq!(asked.get("tools"), None);
    let told = asked["instructions"].as_str().unwrap();
    assert!(told.contains("text_count") && !told.contains("provider__"), "{told}");
}

fn searched() -> Value {
    json!([
        { "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed" },
        { "type": "web_search_call", "id": "ws_1", "status": "completed", "action": {
            "type": "search", "query": "rust 2026",
            "sources": [{ "type": "url", "url": "https://a.example/1" }],
        } },
        { "type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{
            "type": "output_text", "text": "It is out.", "logprobs": [], "annotations": [{
                "type": "url_citation", "url": "https://a.example/1", "title": "One",
                "start_index": 0, "end_index": 5,
            }],
        }] },
    ])
}

#[test]
fn what_a_provider_ran_for_a_response_is_told_and_goes_back_as_it_came() {
    let reply = json!({ "id": "resp_1", "status": "completed", "output": searched() });
    let turns = [ScriptedTurn::Gives(reply), ScriptedTurn::says("Sure.")];
    let model = ScriptedModel::of(turns).unwrap();
    let serving = serving(&model, ("openai-responses", "m"), ALL);
    let first = respond(&serving, json!({ "input": "Is it out?" }));
    let output = first["output"].as_array().unwrap();
    let kinds: Vec<_> = output.iter().map(|item| &item["type"]).collect();
    assert_eq!(kinds, ["mcp_call", "message"], "{first}");
    let call = &output[0];
    assert_eq!(
        [&call["server_label"], &call["name"], &call["status"], &call["output"]],
        ["provider", "provider__web_search", "completed", "https://a.example/1"]
    );
    assert_eq!(call["arguments"], "{\"type\":\"search\",\"query\":\"rust 2026\"}");
    assert_eq!(output[1]["content"][0]["text"], "It is out.");

    let more = json!({ "input": "Sure?", "previous_response_id": first["id"] });
    respond(&serving, more);
    let input = model.asked().pop().unwrap().body["input"].clone();
    let input = input.as_array().unwrap();
    assert_eq!(Value::from(input[1..4].to_vec()), searched());

    // The record of the run has it too, before the words, and what these are founded on.
    let id = first["id"].as_str().unwrap().trim_start_matches("resp_").to_owned();
    let run = serving.ask("GET", &format!("/v1/runs/{id}"), "").json();
    let reference = json!({
        "number": 1, "id": "https://a.example/1", "title": "One", "url": "https://a.example/1",
        "cited": true,
    });
    assert_eq!(run["references"], json!([reference]), "{run}");
    let told = serving.ask("GET", &format!("/v1/runs/{id}/events"), "").body;
    let kinds: Vec<String> = told
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .map(|event| serde_json::from_str::<Value>(event).unwrap()["type"].to_string())
        .collect();
    assert_eq!(
        kinds,
        ["turn.started", "calls", "call.done", "text.delta", "usage", "ended"]
            .map(|kind| format!("\"{kind}\""))
    );
}

#[test]
fn the_audit_has_what_a_provider_ran_as_the_word_of_the_provider() {
    let failed = json!({
        "type": "code_interpreter_call", "id": "ci_1", "status": "failed", "code": "1/0",
        "outputs": [],
    });
    let found = searched();
    let output = json!([found[1], failed, found[2]]);
    let reply = json!({ "id": "resp_1", "status": "completed", "output": output });
    let model = ScriptedModel::of([ScriptedTurn::Gives(reply)]).unwrap();
    let rules = "allow = [\"*\"]\n[audit]\nfile = \"audit.jsonl\"\n";
    let serving = serving(&model, ("openai-responses", "m"), rules);
    let answer = respond(&serving, json!({ "input": "Is it out?" }));
    let run = answer["id"].as_str().unwrap().trim_start_matches("resp_");
    let provided = || {
        let all = records(&serving.folder).into_iter();
        all.filter(|record| record["record"] == "provided").collect::<Vec<_>>()
    };
    assert!(eventually(|| provided().len() == 2));
    for (record, (tool, outcome)) in provided()
        .iter()
        .zip([("provider__web_search", "done"), ("provider__code_interpreter", "failed")])
    {
        let told = ["tool", "source", "outcome", "agent", "run"].map(|key| &record[key]);
        assert_eq!(told, [tool, "provider", outcome, "assistant", run], "{record}");
        assert!(record["subject"].is_string() && record["arguments"].is_string(), "{record}");
        assert!(!record.to_string().contains("rust 2026"), "{record}");
    }
    // It was not decided or run here.
    let ours = ["decision", "outcome"];
    let all = records(&serving.folder);
    assert!(!all.iter().any(|record| ours.iter().any(|kind| record["record"] == *kind)));
    let verified = verify(&serving.folder);
    assert_eq!(verified.code, 0, "{verified:?}");
}

#[test]
fn a_paused_turn_goes_on_with_what_the_provider_ran() {
    let search = json!({
        "type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": { "query": "q" },
    });
    let found = json!({ "type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [{
        "type": "web_search_result", "url": "https://a.example", "title": "A",
        "encrypted_content": "sealed",
    }] });
    let words = json!({ "type": "text", "text": "Found.", "citations": [{
        "type": "web_search_result_location", "url": "https://a.example", "title": "A",
        "cited_text": "t", "encrypted_index": "x",
    }] });
    let whole = |content: Value, reason: &str| {
        ScriptedTurn::Gives(json!({
            "id": "m", "type": "message", "role": "assistant", "content": content,
            "stop_reason": reason, "usage": { "input_tokens": 10, "output_tokens": 1 },
        }))
    };
    let turns = [
        whole(json!([search]), "pause_turn"),
        whole(json!([found, words]), "end_turn"),
        ScriptedTurn::says("Sure."),
    ];
    let model = ScriptedModel::of(turns).unwrap();
    let serving = serving(&model, ("anthropic", "m"), ALL);
    let first = respond(&serving, json!({ "input": "Search." }));
    let output = first["output"].as_array().unwrap();
    let kinds: Vec<_> = output.iter().map(|item| &item["type"]).collect();
    assert_eq!(kinds, ["mcp_call", "message"], "{first}");
    assert_eq!(
        [&output[0]["name"], &output[0]["output"]],
        ["provider__web_search", "https://a.example"]
    );
    let asked = model.asked();
    let said = json!({ "role": "user", "content": "Search." });
    let paused = json!({ "role": "assistant", "content": [search] });
    assert_eq!(asked[1].body["messages"], json!([said, paused]));

    respond(&serving, json!({ "input": "Sure?", "previous_response_id": first["id"] }));
    let asked = model.asked().pop().unwrap().body["messages"].clone();
    assert_eq!(
        asked,
        json!([
            said, paused, { "role": "assistant", "content": [found, words] },
            { "role": "user", "content": "Sure?" },
        ])
    );
}

#[test]
fn what_an_answer_of_gemini_is_founded_on_is_told_behind_it_once() {
    let parts = json!([{ "text": "It " }, { "text": "is.", "thoughtSignature": "s" }]);
    let reply = json!({ "candidates": [{
        "content": { "role": "model", "parts": parts }, "finishReason": "STOP",
        "groundingMetadata": {
            "webSearchQueries": ["is it"],
            "groundingChunks": [{ "web": { "uri": "https://a.example", "title": "A" } }],
        },
    }] });
    let model =
        ScriptedModel::of([ScriptedTurn::Gives(reply), ScriptedTurn::says("Sure.")]).unwrap();
    let serving = serving(&model, ("gemini", "gemini-3-pro"), ALL);
    let first = respond(&serving, json!({ "input": "Is it?" }));
    let output = first["output"].as_array().unwrap();
    let told: Vec<_> = output.iter().map(|item| (&item["type"], &item["name"])).collect();
    assert_eq!(
        told,
        [(&json!("message"), &Value::Null), (&json!("mcp_call"), &json!("provider__web_search"))]
    );
    respond(&serving, json!({ "input": "Sure?", "previous_response_id": first["id"] }));
    let asked = model.asked().pop().unwrap().body["contents"].clone();
    assert_eq!(asked[1], json!({ "role": "model", "parts": parts }));
}

#[test]
fn what_is_there_on_demand_takes_the_place_of_its_function_once_that_was_called() {
    let turns =
        [ScriptedTurn::call("provider__file_search", json!({})), ScriptedTurn::says("Found.")];
    let model = ScriptedModel::of(turns).unwrap();
    let serving = serving(&model, ("openai-responses", "m"), ALL);
    let answer = respond(&serving, json!({ "input": "Search." }));
    assert_eq!(answer["status"], "completed");
    let asked = model.asked();
    let first = asked[0].body["tools"].as_array().unwrap().clone();
    let function = first.iter().find(|tool| tool["name"] == "provider__file_search").unwrap();
    assert_eq!(function["type"], "function");
    assert_eq!(
        asked[1].body["tools"],
        json!([first[0], first[1], { "type": "file_search", "vector_store_ids": ["vs_1"] }])
    );
    let told = asked[1].body["input"].to_string();
    assert!(told.contains("`file_search` is at hand"), "{told}");
    // Another run asks for it again.
    respond(&serving, json!({ "input": "Again.", "previous_response_id": answer["id"] }));
    assert_eq!(model.asked()[2].body["tools"], Value::from(first));
}

#[test]
fn a_replay_with_live_tools_has_what_the_provider_runs_and_what_stands_for_it() {
    // A model of before takes functions or what its provider runs.
    for (kind, name, tool) in [
        ("openai-responses", "m", "provider__file_search"),
        ("gemini", "gemini-2.5-flash", "text_count"),
    ] {
        let call = ScriptedTurn::call(tool, json!({ "text": "a b" }));
        let model = ScriptedModel::of([call, ScriptedTurn::says("Found.")]).unwrap();
        let serving = serving(&model, (kind, name), ALL);
        let begun = json!({ "input": "Search.", "wait": true }).to_string();
        let run = serving.ask("POST", "/v1/runs", &begun).json();
        let replay = ["runs", "replay", run["id"].as_str().unwrap(), "--live-tools", "--json"];
        let home = state(&serving.folder);
        let replayed = run_in(&serving.folder, &replay, &[("XDG_STATE_HOME", &home)]);
        let calls = replayed.json()["calls"].clone();
        assert_eq!(
            (&calls[0]["tool"], &calls[0]["now"]),
            (&json!(tool), &json!("same")),
            "{calls}"
        );
        assert_eq!(replayed.code, 0, "{replayed:?}");
    }
}

#[test]
fn a_tool_of_the_provider_that_is_asked_about_is_had_after_a_yes_over_a_restart_too() {
    let turns =
        [ScriptedTurn::call("provider__web_search", json!({})), ScriptedTurn::says("Searched.")];
    let model = ScriptedModel::of(turns).unwrap();
    let rules = "allow = [\"*\"]\nask = [\"provider__web_search\"]\n[store]\nurl = \
                 \"sqlite://crib.db\"\n";
    let serving = serving(&model, ("anthropic", "m"), rules);
    let begun = json!({ "input": "Search.", "wait": true }).to_string();
    let begun = serving.ask("POST", "/v1/runs", &begun).json();
    assert_eq!(begun["state"], "waiting", "{begun}");
    let sent = tools(&model.asked()[0].body);
    assert_eq!(sent[1], "provider__web_search", "{sent}");

    let serving = killed(serving);
    let ticket = begun["tickets"][0].as_str().unwrap();
    let decision = json!({ "decision": "approve" }).to_string();
    let decided = serving.ask("POST", &format!("/v1/tickets/{ticket}"), &decision);
    assert_eq!(decided.status, 200, "{decided:?}");
    let path = format!("/v1/runs/{}", begun["id"].as_str().unwrap());
    assert!(eventually(|| serving.ask("GET", &path, "").json()["state"] == "ended"));
    assert_eq!(serving.ask("GET", &path, "").json()["text"], "Searched.");
    let sent = tools(&model.asked()[1].body);
    assert_eq!(sent[1], json!({ "type": "web_search_20250305", "name": "web_search" }));
}

#[test]
fn calls_of_the_provider_count_for_the_budget() {
    let reply = json!({ "id": "resp_1", "status": "completed", "output": [
        searched()[1],
        { "type": "function_call", "id": "fc_1", "call_id": "c1", "name": "provider__file_search",
          "arguments": "{}", "status": "completed" },
    ] });
    let model =
        ScriptedModel::of([ScriptedTurn::Gives(reply), ScriptedTurn::says("Enough.")]).unwrap();
    let rules = "allow = [\"*\"]\n[agent.assistant.budget]\ncalls = 1\n";
    let serving = serving(&model, ("openai-responses", "m"), rules);
    let answer = respond(&serving, json!({ "input": "Search." }));
    assert_eq!(answer["incomplete_details"]["reason"], "calls", "{answer}");
    let asked = model.asked();
    let told = asked[1].body["input"].to_string();
    assert!(told.contains("the budget of this run has no further call"), "{told}");
}

#[test]
fn doors_without_a_model_have_none_of_them_and_say_why() {
    let model = ScriptedModel::of([]).unwrap();
    let serving = serving(&model, ("anthropic", "m"), ALL);
    let listed = ask_able(&serving, ("/mcp", "tools/list"), json!({}), &json!({}));
    assert!(listed.body.contains("text_count"), "{listed:?}");
    assert!(!listed.body.contains("provider__"), "{listed:?}");
    let call = json!({ "name": "provider__web_search", "arguments": {} });
    let called = ask_able(&serving, ("/mcp", "tools/call"), call, &json!({}));
    assert!(called.body.contains("error"), "{called:?}");

    let listed = serving.ask("GET", "/v1/tools", "");
    assert!(!listed.body.contains("provider__"), "{listed:?}");
    assert_eq!(serving.ask("GET", "/v1/tools/provider__web_search", "").status, 404);
    let why = serving.ask("GET", "/v1/why/provider__web_search", "").json();
    assert_eq!((&why["visible"], &why["rule"]), (&json!(false), &json!("no_model")));
    let call = json!({ "calls": [{ "name": "provider__web_search", "arguments": {} }] });
    assert_eq!(serving.call(&call)["responses"][0]["kind"], "unknown_tool");

    // A host that asks its model itself names the API.
    let plan = json!({ "dialect": "anthropic", "why": true }).to_string();
    let plan = serving.ask("POST", "/v1/plan", &plan).json();
    assert_eq!(tools(&plan)[1], json!({ "type": "web_search_20250305", "name": "web_search" }));
    let rules: Vec<_> =
        plan["why"].as_array().unwrap().iter().map(|why| why["rule"].as_str().unwrap()).collect();
    assert_eq!(rules, ["counterpart", "capability", "capability", "not_of_api"]);
}

#[test]
fn a_model_of_another_api_is_told_the_words_alone_and_has_its_own_tools() {
    let reply = json!({ "id": "resp_1", "status": "completed", "output": searched() });
    let down = ScriptedTurn::Refuses(503, Vec::new(), "{}".to_owned());
    let first = ScriptedModel::of([ScriptedTurn::Gives(reply), down]).unwrap();
    let second = ScriptedModel::of([ScriptedTurn::says("Sure.")]).unwrap();
    let folder = Folder::new();
    let (one, two) = (first.url(), second.url());
    let text = format!(
        "{ALL}\n[[model]]\nid = \"one\"\nkind = \"openai-responses\"\nurl = \"{one}\"\nname = \
         \"m\"\nretries = 0\n[[model]]\nid = \"two\"\nkind = \"anthropic\"\nurl = \"{two}\"\nname \
         = \"m\"\n[agent.assistant]\nmodel = \"one\"\nfallback = [\"two\"]\n{SOURCES}"
    );
    folder.write("crib.toml", &text);
    let serving = Serving::start_in(folder, &[]);
    let told = respond(&serving, json!({ "input": "Is it out?" }));
    respond(&serving, json!({ "input": "Sure?", "previous_response_id": told["id"] }));
    let asked = second.asked().pop().unwrap().body;
    assert_eq!(
        asked["messages"],
        json!([
            { "role": "user", "content": "Is it out?" },
            { "role": "assistant", "content": [{ "type": "text", "text": "It is out." }] },
            { "role": "user", "content": "Sure?" },
        ])
    );
    let search = json!({ "type": "web_search_20250305", "name": "web_search" });
    assert_eq!(tools(&asked)[0], search);
}

#[test]
fn a_call_of_the_provider_that_was_cut_off_does_not_stand_in_the_thread() {
    let words = json!({ "type": "text", "text": "I search." });
    let search = json!({
        "type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": { "query": "q" },
    });
    let reply = ScriptedTurn::Gives(json!({
        "id": "m", "type": "message", "role": "assistant", "content": [words, search],
        "stop_reason": "max_tokens", "usage": { "input_tokens": 10, "output_tokens": 1 },
    }));
    let model = ScriptedModel::of([reply, ScriptedTurn::says("Sure.")]).unwrap();
    let serving = serving(&model, ("anthropic", "m"), ALL);
    let told = respond(&serving, json!({ "input": "Search." }));
    assert_eq!(told["status"], "incomplete");
    respond(&serving, json!({ "input": "Go on.", "previous_response_id": told["id"] }));
    let asked = model.asked().pop().unwrap().body["messages"].clone();
    assert_eq!(
        asked,
        json!([
            { "role": "user", "content": "Search." },
            { "role": "assistant", "content": [words] },
            { "role": "user", "content": "Go on." },
        ])
    );
}

#[test]
fn a_request_that_chooses_the_source_of_a_provider_has_its_tools_and_no_others() {
    let model = ScriptedModel::of([ScriptedTurn::says("Yes.")]).unwrap();
    let serving = serving(&model, ("openai-responses", "m"), ALL);
    let chosen = json!([{
        "type": "mcp", "server_label": "provider", "allowed_tools": ["web_search"],
        "require_approval": "never",
    }]);
    respond(&serving, json!({ "input": "Hello.", "tools": chosen }));
    let asked = model.asked().pop().unwrap().body;
    assert_eq!(tools(&asked), json!([{ "type": "web_search" }]));
}
