//! Tools that providers run, as each API is given them and tells of them.

use serde_json::{Map, Value, json};
use toolcrib_core::{HostedTool, PlanRequest, ToolSpec};
use toolcrib_dialect::{Dialect, HostedKind, NAMES, dialect};

use crate::fixture;

fn definitions(name: &str, settings: &Value) -> Map<String, Value> {
    HostedKind::find(name).unwrap().definitions(settings.as_object().unwrap()).unwrap()
}

fn faults(name: &str, settings: &Value) -> Vec<(String, String, String)> {
    let kind = HostedKind::find(name).unwrap();
    let faults = kind.definitions(settings.as_object().unwrap()).unwrap_err();
    faults.into_iter().map(|fault| (fault.path.join("."), fault.message, fault.cure)).collect()
}

fn spec(name: &str, settings: &Value) -> ToolSpec {
    let hosted = HostedTool::default();
    HostedKind::find(name).unwrap().spec(definitions(name, settings), hosted).unwrap()
}

#[test]
fn every_tool_is_named_in_the_words_of_each_api() {
    let none = json!({});
    assert_eq!(
        Value::from(definitions("web_search", &none)),
        json!({
            "openai-responses": { "type": "web_search" },
            "anthropic": { "type": "web_search_20250305", "name": "web_search" },
            "gemini": { "googleSearch": {} },
        })
    );
    assert_eq!(
        Value::from(definitions("web_fetch", &none)),
        json!({
            "anthropic": { "type": "web_fetch_20250910", "name": "web_fetch" },
            "gemini": { "urlContext": {} },
        })
    );
    assert_eq!(
        Value::from(definitions("code_interpreter", &none)),
        json!({
            "openai-responses": { "type": "code_interpreter", "container": { "type": "auto" } },
            "anthropic": { "type": "code_execution_20250825", "name": "code_execution" },
            "gemini": { "codeExecution": {} },
        })
    );
    let stores = json!({ "vector_store_ids": ["vs_1"] });
    assert_eq!(
        Value::from(definitions("file_search", &stores)),
        json!({
            "openai-responses": { "type": "file_search", "vector_store_ids": ["vs_1"] },
        })
    );
    assert_eq!(
        Value::from(definitions("image_generation", &none)),
        json!({
            "openai-responses": { "type": "image_generation" },
        })
    );
    assert_eq!(
        Value::from(definitions("google_maps", &none)),
        json!({
            "gemini": { "googleMaps": {} },
        })
    );
}

#[test]
fn a_setting_goes_where_it_is_known_and_a_bound_is_never_lost() {
    let told = definitions("web_search", &json!({ "max_uses": 3, "search_context_size": "low" }));
    assert_eq!(
        told["openai-responses"],
        json!({ "type": "web_search", "search_context_size": "low" })
    );
    assert_eq!(told["anthropic"]["max_uses"], 3);
    assert_eq!(told["gemini"], json!({ "googleSearch": {} }));

    // An API without the bound is not given the tool, unless the file names the API.
    let bound = json!({ "allowed_domains": ["a.example"] });
    let told = definitions("web_search", &bound);
    assert_eq!(told.keys().collect::<Vec<_>>(), ["openai-responses", "anthropic"]);
    assert_eq!(told["openai-responses"]["filters"], json!({ "allowed_domains": ["a.example"] }));
    assert_eq!(told["anthropic"]["allowed_domains"], json!(["a.example"]));
    let named = json!({ "allowed_domains": ["a.example"], "gemini": {}, "openai-chat": {
        "search_context_size": "low",
    } });
    let told = definitions("web_search", &named);
    assert_eq!(told["gemini"], json!({ "googleSearch": {} }));
    assert_eq!(
        told["openai-chat"],
        json!({ "web_search_options": { "search_context_size": "low" } })
    );
    // What an API gets by name it gets as it stands, with another version too.
    let version = json!({ "anthropic": { "type": "web_search_20260209", "new": true } });
    assert_eq!(
        definitions("web_search", &version)["anthropic"],
        json!({
            "type": "web_search_20260209", "name": "web_search", "new": true,
        })
    );
}

#[test]
fn a_setting_that_cannot_be_is_told_with_its_place_and_its_cure() {
    assert_eq!(
        faults("web_fetch", &json!({ "max_use": 1, "openai-chat": {}, "gemini": 3 })),
        [
            (
                "max_use".to_owned(),
                "no API is known to have this setting of `web_fetch`".to_owned(),
                "it has `max_uses`, `allowed_domains`, `blocked_domains`, `citations`, \
             `max_content_tokens`; what only one API knows is written under its name, as in \
             `anthropic = { max_use = .. }`"
                    .to_owned(),
            ),
            (
                "openai-chat".to_owned(),
                "the API `openai-chat` has no `web_fetch`".to_owned(),
                "remove it: `anthropic`, `gemini` have it".to_owned(),
            ),
            (
                "gemini".to_owned(),
                "no table".to_owned(),
                "write a table of what `gemini` is told: `gemini = { .. }`".to_owned(),
            ),
        ]
    );
    assert_eq!(faults("file_search", &json!({})), [(
        String::new(),
        "no API can have `file_search` with these settings".to_owned(),
        "add to `settings` `vector_store_ids` for `openai-responses`, or `fileSearchStoreNames` \
         for `gemini`"
            .to_owned(),
    )]);
}

#[test]
fn a_function_stands_in_the_place_of_what_is_there_on_demand() {
    let mut own = spec("web_search", &json!({}));
    own.hosted = Some(std::sync::Arc::new(HostedTool { local: None, on_demand: true }));
    for name in ["openai-responses", "anthropic", "gemini"] {
        let plan = fixture::plan_of([own.clone()], PlanRequest::default().told_in(name));
        let tools = dialect(name).unwrap().tools(&plan);
        let told = tools.to_string();
        assert!(told.contains("Searches the web. The provider of this model runs it."), "{told}");
        assert!(!told.contains("googleSearch") && !told.contains("_20250305"), "{told}");
    }
}

#[test]
fn the_search_of_a_chat_is_no_tool_of_its_list() {
    let own = spec("web_search", &json!({ "openai-chat": { "search_context_size": "low" } }));
    let chat = dialect("openai-chat").unwrap();
    let plan = fixture::plan_of([own], PlanRequest::default().told_in("openai-chat"));
    let search = json!({ "web_search_options": { "search_context_size": "low" } });
    assert_eq!(Value::from(chat.request(&plan)), search);
}

/// What a reply tells: the calls as (id, name, arguments, text, whether it failed), the citations.
fn told(name: &str, kinds: &[&str], reply: &Value) -> Value {
    let stores = json!({ "vector_store_ids": ["v"], "fileSearchStoreNames": ["s"] });
    let specs = kinds.iter().map(|kind| {
        let settings = if *kind == "file_search" { stores.clone() } else { json!({}) };
        spec(kind, &settings)
    });
    let plan = fixture::plan_of(specs, PlanRequest::default().told_in(name));
    let work = dialect(name).unwrap().hosted(Some(&plan), reply);
    let calls: Vec<_> = work
        .calls
        .iter()
        .map(|call| json!([call.id, call.name, call.arguments, call.text, call.is_failed]))
        .collect();
    let cited: Vec<_> = work.citations.iter().map(|cited| json!([cited.id, cited.title])).collect();
    json!({ "calls": calls, "cited": cited })
}

#[test]
fn a_response_tells_what_ran() {
    let reply = json!({ "status": "completed", "output": [
        { "type": "reasoning", "id": "rs_1", "summary": [] },
        { "type": "web_search_call", "id": "ws_1", "status": "completed",
          "action": { "type": "search", "query": "rust", "sources": [
              { "type": "url", "url": "https://a.example/1" },
          ] } },
        { "type": "code_interpreter_call", "id": "ci_1", "status": "failed", "code": "1/0",
          "container_id": "c", "outputs": [{ "type": "logs", "logs": "ZeroDivisionError" }] },
        { "type": "file_search_call", "id": "fs_1", "status": "completed", "queries": ["q"],
          "results": [{ "file_id": "f", "filename": "a.md", "text": "t" }] },
        { "type": "image_generation_call", "id": "ig_1", "status": "in_progress" },
        { "type": "message", "role": "assistant", "content": [{
            "type": "output_text", "text": "See.", "annotations": [
                { "type": "url_citation", "url": "https://a.example/1", "title": "One" },
                { "type": "url_citation", "url": "https://a.example/1", "title": "Again" },
                { "type": "file_citation", "file_id": "f", "filename": "a.md" },
            ],
        }] },
    ] });
    let kinds = ["web_search", "code_interpreter", "file_search", "image_generation"];
    assert_eq!(
        told("openai-responses", &kinds, &reply),
        json!({
            "calls": [
                ["ws_1", "web_search", "{\"type\":\"search\",\"query\":\"rust\"}",
                 "https://a.example/1", false],
                ["ci_1", "code_interpreter", "{\"code\":\"1/0\",\"container_id\":\"c\"}",
                 "ZeroDivisionError", true],
                ["fs_1", "file_search", "{\"queries\":[\"q\"]}", "a.md", false],
            ],
            "cited": [["https://a.example/1", "One"], ["a.md", "a.md"]],
        })
    );
}

#[test]
fn a_message_tells_what_ran() {
    let reply = json!({ "role": "assistant", "stop_reason": "end_turn", "content": [
        // Of the message before, which was paused.
        { "type": "web_search_tool_result", "tool_use_id": "s0", "content": {
            "type": "web_search_tool_result_error", "error_code": "max_uses_exceeded",
        } },
        { "type": "server_tool_use", "id": "s1", "name": "web_search", "input": { "query": "q" } },
        { "type": "web_search_tool_result", "tool_use_id": "s1", "content": [
            { "type": "web_search_result", "url": "https://a.example", "title": "A" },
        ] },
        { "type": "server_tool_use", "id": "s2", "name": "bash_code_execution",
          "input": { "command": "ls" } },
        { "type": "bash_code_execution_tool_result", "tool_use_id": "s2", "content": {
            "type": "bash_code_execution_result", "stdout": "a.txt", "stderr": "",
        } },
        { "type": "server_tool_use", "id": "s3", "name": "tool_search_tool_bm25", "input": {} },
        { "type": "tool_search_tool_result", "tool_use_id": "s3", "content": {} },
        { "type": "server_tool_use", "id": "s4", "name": "web_search", "input": {} },
        { "type": "text", "text": "x", "citations": [
            { "type": "web_search_result_location", "url": "https://a.example", "title": "A",
              "cited_text": "t" },
        ] },
    ] });
    assert_eq!(
        told("anthropic", &["web_search", "code_interpreter"], &reply),
        json!({
            "calls": [
                ["s0", "web_search", "{}", "max_uses_exceeded", true],
                ["s1", "web_search", "{\"query\":\"q\"}", "https://a.example", false],
                ["s2", "code_interpreter", "{\"command\":\"ls\"}", "a.txt", false],
            ],
            "cited": [["https://a.example", "A"]],
        })
    );
}

#[test]
fn a_reply_of_gemini_tells_what_ran_once() {
    let grounding = json!({
        "webSearchQueries": ["q"],
        "groundingChunks": [{ "web": { "uri": "https://a.example", "title": "A" } }],
    });
    let kinds = ["web_search", "web_fetch", "code_interpreter"];
    let alone = json!({ "candidates": [{
        "content": { "role": "model", "parts": [
            { "executableCode": { "language": "PYTHON", "code": "1/0" } },
            { "codeExecutionResult": { "outcome": "OUTCOME_FAILED", "output": "no" } },
            { "text": "x" },
        ] },
        "finishReason": "STOP", "groundingMetadata": grounding,
        "urlContextMetadata": { "urlMetadata": [{ "retrievedUrl": "https://b.example" }] },
    }] });
    assert_eq!(
        told("gemini", &kinds, &alone),
        json!({
            "calls": [
                ["", "code_interpreter", "{\"language\":\"PYTHON\",\"code\":\"1/0\"}", "no", true],
                ["", "web_search", "{\"queries\":[\"q\"]}", "https://a.example", false],
                ["", "web_fetch", "{\"urls\":[\"https://b.example\"]}", "https://b.example", false],
            ],
            "cited": [["https://a.example", "A"]],
        })
    );
    let beside = json!({ "candidates": [{
        "content": { "role": "model", "parts": [
            { "toolCall": { "toolType": "GOOGLE_SEARCH_WEB", "id": "g1", "args": { "queries": ["q"] } },
              "thoughtSignature": "s" },
            { "toolResponse": { "toolType": "GOOGLE_SEARCH_WEB", "id": "g1", "response": {} } },
            { "text": "x" },
        ] },
        "finishReason": "STOP", "groundingMetadata": grounding,
    }] });
    assert_eq!(
        told("gemini", &kinds, &beside),
        json!({
            "calls": [["g1", "web_search", "{\"queries\":[\"q\"]}", "", false]],
            "cited": [["https://a.example", "A"]],
        })
    );
}

#[test]
fn a_chat_tells_of_its_search_by_its_citations() {
    let cited = json!({ "type": "url_citation", "url_citation": {
        "url": "https://a.example", "title": "A",
    } });
    let reply = json!({ "choices": [{ "index": 0, "finish_reason": "stop", "message": {
        "role": "assistant", "content": "x", "annotations": [cited],
    } }] });
    let chat = dialect("openai-chat").unwrap();
    let work = chat.hosted(None, &reply);
    assert_eq!((work.calls.len(), work.citations.len()), (1, 1));
    let mut stream = chat.stream();
    let chunk = |delta: Value, reason: Value| json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": reason }] });
    stream.push(&chunk(json!({ "content": "x", "annotations": [cited] }), Value::Null));
    stream.push(&chunk(json!({}), "stop".into()));
    assert_eq!(chat.hosted(None, &stream.reply()), work);
}

#[test]
fn what_is_no_reply_tells_of_nothing() {
    for name in NAMES {
        let dialect = dialect(name).unwrap();
        for odd in [json!(null), json!([]), json!({ "content": 3, "output": "x" }), json!("x")] {
            let work = dialect.hosted(Some(&fixture::plan()), &odd);
            assert_eq!((work.calls.len(), work.citations.len()), (0, 0), "{name} {odd}");
        }
    }
}

#[test]
fn what_a_hostile_server_tells_is_bounded() {
    let item = json!({ "type": "web_search_call", "status": "completed", "action": {
        "type": "search", "query": "é".repeat(100_000),
    } });
    let reply = json!({ "status": "completed", "output": vec![item; 1_000] });
    let responses: Box<dyn Dialect> = dialect("openai-responses").unwrap();
    let work = responses.hosted(None, &reply);
    assert_eq!(work.calls.len(), 256);
    assert!(work.calls.iter().all(|call| call.arguments.len() < 9_000));
}
