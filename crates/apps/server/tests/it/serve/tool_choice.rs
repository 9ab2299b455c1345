//! `tool_choice` of a request: what the model is made to call, and what it may.

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::support::{Answer, Serving, eventually};
use crate::keep::killed;
use crate::process::Folder;

const SOURCES: &str = r#"
[[source]]
id = "words"
prefix = ""
basics = ["text_count", "text_case"]

[[source]]
id = "sums"
prefix = ""
basics = ["calculate"]
"#;

const APIS: [&str; 4] = ["openai-chat", "openai-responses", "anthropic", "gemini"];

fn serving(model: &ScriptedModel, kind: &str, more: &str) -> Serving {
    let folder = Folder::new();
    let url = model.url();
    let model = format!("[model]\nkind = \"{kind}\"\nurl = \"{url}\"\nname = \"m\"\n{more}\n");
    folder.write("crib.toml", &format!("allow = [\"*\"]\n{model}{SOURCES}"));
    Serving::start_in(folder, &[])
}

fn counts() -> ScriptedTurn {
    ScriptedTurn::call("text_count", json!({ "text": "a b" }))
}

/// What the model was told in each of its turns: what it has to call, and the names of its tools.
fn told(model: &ScriptedModel) -> Vec<(Value, Vec<String>)> {
    let name = |tool: &Value| {
        let inner = tool.get("function").unwrap_or(tool);
        inner["name"].as_str().unwrap().to_owned()
    };
    let one = |body: &Value| {
        let choice = body.get("tool_choice").or_else(|| body.pointer("/toolConfig"));
        let tools = body.pointer("/tools/0/functionDeclarations").unwrap_or(&body["tools"]);
        let tools = tools.as_array().into_iter().flatten().map(name).collect();
        (choice.cloned().unwrap_or_default(), tools)
    };
    model.asked().iter().map(|asked| one(&asked.body)).collect()
}

/// The caller's own tool.
fn own(path: &str) -> Value {
    let function = json!({ "name": "mine", "parameters": { "type": "object" } });
    if path.ends_with("completions") {
        return json!({ "type": "function", "function": function });
    }
    json!({ "type": "function", "name": "mine", "parameters": { "type": "object" } })
}

fn ask(serving: &Serving, path: &str, choice: &Value) -> Answer {
    let mut body = json!({ "model": "assistant", "tools": [own(path)], "tool_choice": choice });
    if path.ends_with("completions") {
        body["messages"] = json!([{ "role": "user", "content": "Go." }]);
    } else {
        body["input"] = "Go.".into();
    }
    serving.ask("POST", path, &body.to_string())
}

fn names(of: &[&str]) -> Vec<String> {
    of.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn the_first_turn_calls_what_the_request_wants_and_the_next_is_free_in_every_api() {
    let words = [
        (
            "none",
            [
                json!("none"),
                json!("none"),
                json!({ "type": "none" }),
                json!({
                    "functionCallingConfig": { "mode": "NONE" },
                }),
            ],
        ),
        (
            "required",
            [
                json!("required"),
                json!("required"),
                json!({ "type": "any" }),
                json!({
                    "functionCallingConfig": { "mode": "ANY" },
                }),
            ],
        ),
        ("auto", [Value::Null, Value::Null, Value::Null, Value::Null]),
    ];
    let all = names(&["text_count", "text_case", "calculate", "mine"]);
    for (word, wanted) in words {
        for (kind, wanted) in APIS.into_iter().zip(wanted) {
            let turns = [counts(), ScriptedTurn::says("Two.")];
            let turns = turns.into_iter().skip(usize::from(word == "none"));
            let model = ScriptedModel::of(turns).unwrap();
            let serving = serving(&model, kind, "");
            let answer = ask(&serving, "/v1/responses", &json!(word)).json();
            assert_eq!(answer["status"], "completed", "{word} {kind}: {answer}");
            assert_eq!(answer["tool_choice"], word);
            let mut expected = vec![(wanted, all.clone())];
            if word != "none" {
                expected.push((Value::Null, all.clone()));
            }
            assert_eq!(told(&model), expected, "{word} {kind}");
        }
    }
}

#[test]
fn a_tool_is_named_in_the_words_of_either_api() {
    let function = |name: &str| json!({ "type": "function", "function": { "name": name } });
    let all = names(&["text_count", "text_case", "calculate", "mine"]);
    let (responses, chat) = ("/v1/responses", "/v1/chat/completions");
    let of_words = json!({ "type": "allowed_tools", "allowed_tools": {
        "mode": "required", "tools": [function("text_count"), function("text_case")],
    } });
    for (path, choice, wanted, shown) in [
        (
            responses,
            json!({ "type": "function", "name": "text_count" }),
            function("text_count"),
            names(&["text_count", "mine"]),
        ),
        (chat, function("text_count"), function("text_count"), names(&["text_count", "mine"])),
        (
            responses,
            json!({ "type": "mcp", "server_label": "words", "name": "text_count" }),
            function("text_count"),
            names(&["text_count", "mine"]),
        ),
        // Any of a server.
        (
            responses,
            json!({ "type": "mcp", "server_label": "words" }),
            of_words,
            names(&["text_count", "text_case", "mine"]),
        ),
    ] {
        let model = ScriptedModel::of([counts(), ScriptedTurn::says("Two.")]).unwrap();
        let serving = serving(&model, "openai-chat", "");
        let answer = ask(&serving, path, &choice);
        assert_eq!(answer.status, 200, "{choice} {answer:?}");
        assert_eq!(told(&model), [(wanted, shown), (Value::Null, all.clone())], "{choice}");
    }
}

#[test]
fn the_callers_own_tool_is_forced_in_every_api() {
    let forced = [
        json!({ "type": "function", "function": { "name": "mine" } }),
        json!({ "type": "function", "name": "mine" }),
        json!({ "type": "tool", "name": "mine" }),
        json!({ "functionCallingConfig": { "mode": "ANY", "allowedFunctionNames": ["mine"] } }),
    ];
    for (kind, wanted) in APIS.into_iter().zip(forced) {
        let model = ScriptedModel::of([ScriptedTurn::call("mine", json!({}))]).unwrap();
        // What the author of the agent would have called first gives way.
        let force = "[agent.assistant]\nforce = [\"calculate\"]";
        let serving = serving(&model, kind, force);
        let choice = json!({ "type": "function", "name": "mine" });
        let answer = ask(&serving, "/v1/responses", &choice).json();
        assert_eq!(answer["output"][0]["type"], "function_call", "{kind}: {answer}");
        let all = names(&["text_count", "text_case", "calculate", "mine"]);
        assert_eq!(told(&model), [(wanted, all)], "{kind}");
    }
}

#[test]
fn only_allowed_tools_are_offered_in_all_turns() {
    let function = |name: &str| json!({ "type": "function", "name": name });
    let in_chat = |name: &str| json!({ "type": "function", "function": { "name": name } });
    let (responses, chat) = ("/v1/responses", "/v1/chat/completions");
    let deeper = json!({ "type": "allowed_tools", "allowed_tools": {
        "mode": "required", "tools": [in_chat("text_count"), in_chat("mine")],
    } });
    for (path, choice, wanted, left) in [
        (
            responses,
            json!({ "type": "allowed_tools", "mode": "auto", "tools": [function("text_count")] }),
            Value::Null,
            names(&["text_count"]),
        ),
        (
            responses,
            json!({ "type": "allowed_tools", "mode": "required", "tools": [
                function("mine"), { "type": "mcp", "server_label": "words" },
            ] }),
            json!("required"),
            names(&["text_count", "text_case", "mine"]),
        ),
        (chat, deeper, json!("required"), names(&["text_count", "mine"])),
    ] {
        let model = ScriptedModel::of([counts(), ScriptedTurn::says("Two.")]).unwrap();
        let serving = serving(&model, "openai-chat", "");
        let answer = ask(&serving, path, &choice);
        assert_eq!(answer.status, 200, "{choice} {answer:?}");
        let expected = [(wanted, left.clone()), (Value::Null, left)];
        assert_eq!(told(&model), expected, "{choice}");
    }
}

#[test]
fn what_is_called_all_the_same_does_not_run() {
    let allowed = json!({ "type": "allowed_tools", "mode": "auto", "tools": [
        { "type": "function", "name": "text_count" },
    ] });
    // Where nothing may be called, the first turn is the last.
    for (choice, turns) in [(json!("none"), 1), (allowed, 2)] {
        let sums = ScriptedTurn::call("calculate", json!({ "expression": "1 + 1" }));
        let model = ScriptedModel::of([sums, ScriptedTurn::says("Two.")]).unwrap();
        let serving = serving(&model, "openai-chat", "");
        let answer = ask(&serving, "/v1/responses", &choice).json();
        let call = &answer["output"][0];
        assert_eq!((&call["status"], &call["output"]), (&json!("failed"), &Value::Null), "{call}");
        assert_eq!((&answer["status"], model.asked().len()), (&json!("completed"), turns));
        let calls = serving.ask("GET", "/v1/calls", "").json();
        assert!(!calls.to_string().contains("succeeded"), "{calls}");
    }
}

#[test]
fn a_run_that_goes_on_in_another_process_has_the_same_choice() {
    let model = ScriptedModel::by(|_, body| {
        let is_last = body["messages"].to_string().contains("tool_call_id");
        if is_last { ScriptedTurn::says("Two.") } else { counts() }
    })
    .unwrap();
    let folder = Folder::new();
    let text = format!(
        "ask = [\"text_count\"]\nallow = [\"*\"]\n[store]\nurl = \"sqlite://crib.db\"\n[model]\n\
         url = \"{}\"\nname = \"m\"\n{SOURCES}",
        model.url()
    );
    folder.write("crib.toml", &text);
    let serving = Serving::start_in(folder, &[]);
    let choice = json!({ "type": "allowed_tools", "mode": "required", "tools": [
        { "type": "function", "name": "text_count" },
    ] });
    let body = json!({
        "model": "assistant", "input": "Go.", "background": true, "tool_choice": choice,
    });
    let begun = serving.ask("POST", "/v1/responses", &body.to_string()).json();
    let path = format!("/v1/responses/{}", begun["id"].as_str().unwrap());
    let waiting = || {
        let listed = serving.ask("GET", "/v1/tickets", "").json();
        listed["tickets"][0]["ticket"].as_str().map(str::to_owned)
    };
    assert!(eventually(|| waiting().is_some()));
    let ticket = waiting().unwrap();
    let serving = killed(serving);
    let yes = json!({ "decision": "approve" }).to_string();
    assert_eq!(serving.ask("POST", &format!("/v1/tickets/{ticket}"), &yes).status, 200);
    assert!(eventually(|| serving.ask("GET", &path, "").json()["status"] == "completed"));
    let one = names(&["text_count"]);
    assert_eq!(told(&model), [(json!("required"), one.clone()), (Value::Null, one)]);
}

#[test]
fn what_names_nothing_is_refused_with_what_there_is() {
    let model = ScriptedModel::of([]).unwrap();
    let serving = serving(&model, "openai-chat", "");
    let known = "there is `mine`, `text_count`, `text_case`, `calculate`";
    let unknown =
        |at: &str, name: &str| format!("`{at}` names `{name}`, which is no tool here: {known}");
    let (responses, chat) = ("/v1/responses", "/v1/chat/completions");
    for (path, choice, told) in [
        (
            responses,
            json!({ "type": "function", "name": "text_coutn" }),
            unknown("tool_choice", "text_coutn"),
        ),
        (
            chat,
            json!({ "type": "function", "function": { "name": "other" } }),
            unknown("tool_choice", "other"),
        ),
        (
            responses,
            json!({ "type": "mcp", "server_label": "elsewhere" }),
            unknown("tool_choice", "elsewhere"),
        ),
        (
            responses,
            json!({ "type": "mcp", "server_label": "sums", "name": "text_count" }),
            unknown("tool_choice", "text_count"),
        ),
        (responses, json!({ "type": "web_search" }), unknown("tool_choice", "web_search")),
        (
            responses,
            json!({ "type": "allowed_tools", "mode": "auto", "tools": [
                { "type": "function", "name": "mine" }, { "type": "function", "name": "x" },
            ] }),
            unknown("tool_choice.tools[1]", "x"),
        ),
    ] {
        let refused = ask(&serving, path, &choice);
        assert_eq!(refused.status, 400, "{choice} {refused:?}");
        let error = refused.json()["error"].clone();
        assert_eq!((&error["param"], &error["message"]), (&json!("tool_choice"), &json!(told)));
    }
    assert_eq!(model.asked(), []);
}

#[test]
fn what_has_no_shape_that_is_known_is_refused_with_those_that_are() {
    let model = ScriptedModel::of([]).unwrap();
    let serving = serving(&model, "openai-chat", "");
    let (responses, chat) = ("/v1/responses", "/v1/chat/completions");
    for (path, choice, told) in [
        (
            responses,
            json!({ "type": "allowed_tools", "mode": "auto", "tools": [] }),
            "`tool_choice.tools` must be a list of 1 to 1024 tools",
        ),
        (
            responses,
            json!({ "type": "allowed_tools", "mode": "any", "tools": [own(responses)] }),
            "`tool_choice.mode` must be \"auto\" or \"required\"",
        ),
        (responses, json!({ "type": "function" }), "`tool_choice` has no `name`"),
        (responses, json!({ "type": "mcp" }), "`tool_choice` has no `server_label`"),
        (
            chat,
            json!("any"),
            "`tool_choice` must be \"none\", \"auto\", \"required\", or an object that names a \
             function, an `mcp` tool or `allowed_tools`",
        ),
    ] {
        let refused = ask(&serving, path, &choice);
        assert_eq!(refused.status, 400, "{choice} {refused:?}");
        let error = refused.json()["error"].clone();
        assert_eq!((&error["param"], &error["message"]), (&json!("tool_choice"), &json!(told)));
    }
    assert_eq!(model.asked(), []);
}
