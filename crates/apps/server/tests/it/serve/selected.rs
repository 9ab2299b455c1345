//! Tools for a task, and tools for each of several agents, over REST.

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::keys::make;
use super::script;
use super::support::{Serving, eventually};
use super::wire::{message, modern};
use crate::process::Folder;

const FILE: &str = "allow = [\"*\"]\ndeny = [\"uuid_new\"]\n\n\
                    [[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n\n\
                    [profile.clock]\nallow = [\"time_*\"]\n\n\
                    [assign]\nscribe = [\"hash_text\", \"uuid_new\", \"text_cuont\"]\n\
                    \"night clerk\" = []\n";

fn serving() -> Serving {
    let folder = Folder::new();
    folder.write("crib.toml", FILE);
    Serving::start_in(folder, &[])
}

fn ask(serving: &Serving, path: &str, body: &Value) -> Value {
    let answer = serving.ask("POST", path, &body.to_string());
    let Ok(mut told) = serde_json::from_str::<Value>(&answer.body) else {
        unreachable!("no JSON: {answer:?}")
    };
    for field in ["instance", "title"] {
        told.as_object_mut().unwrap().remove(field);
    }
    told
}

/// The agents with the names of their tools.
fn shares(found: &Value) -> Vec<(String, Vec<String>)> {
    let name = |of: &Value| of["name"].as_str().unwrap().to_owned();
    let tools = |agent: &Value| agent["tools"].as_array().unwrap().iter().map(name).collect();
    let agents = found["agents"].as_array().unwrap_or_else(|| unreachable!("{found}")).iter();
    agents.map(|agent| (name(agent), tools(agent))).collect()
}

const TASK: &str = "count the words of a text, then hash it";

#[test]
fn the_tools_for_a_task_are_among_those_that_the_caller_sees() {
    let serving = serving();
    let found = ask(&serving, "/v1/select", &json!({ "task": TASK, "limit": 2 }));
    let expected = json!({
        "tools": [
            {
                "name": "hash_text",
                "summary": "Computes the SHA-256 or SHA-512 of a text.",
                "effect": "read",
                "because": found["tools"][0]["because"],
                "tokens": 114,
            },
            {
                "name": "text_count",
                "summary": "Counts the characters, words and lines of a text.",
                "effect": "read",
                "because": found["tools"][1]["because"],
                "tokens": 77,
            },
        ],
        "tokens": 191,
        "confidence": found["confidence"],
    });
    assert_eq!(found, expected);
    assert_eq!(found["tools"][0]["because"]["task"]["words"], "hash (name), text (name)");
    let found = ask(&serving, "/v1/select", &json!({ "task": TASK, "limit": 9, "tokens": 120 }));
    let tools: Vec<_> =
        found["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(tools, ["hash_text"]);
    assert_eq!(found["too_large"][0], "text_count", "{found}");
    // What a profile does not show is not selected under it.
    let narrow = json!({ "task": "hash a text", "profile": "clock", "always": ["time_now"] });
    let found = ask(&serving, "/v1/select", &narrow);
    let tools = found["tools"].as_array().unwrap();
    assert!(
        tools.iter().all(|tool| tool["name"].as_str().unwrap().starts_with("time_")),
        "{found}"
    );
    assert_eq!(tools[0]["because"], "always");
}

#[test]
fn a_task_that_nothing_serves_is_told_with_what_was_done() {
    let serving = serving();
    let foreign = "天气预报";
    let found = ask(&serving, "/v1/select", &json!({ "task": foreign }));
    let nothing = json!({ "tools": [], "tokens": 0, "confidence": 0.0, "fallback": "nothing" });
    assert_eq!(found, nothing);
    let all = json!({ "task": foreign, "fallback": "all", "limit": 20 });
    let found = ask(&serving, "/v1/select", &all);
    assert_eq!((found["tools"].as_array().unwrap().len(), &found["fallback"]), (10, &json!("all")));
    let body = json!({ "task": foreign, "agents": { "a": {}, "b": { "role": "Times" } } });
    let expected = json!({
        "agents": [{ "name": "a", "tools": [] }, { "name": "b", "tools": [] }],
        "cohesion": 1.0,
        "fallback": "nothing",
        "warnings": [
            "`a` has no tool: there are fewer tools than agents",
            "`b` has no tool: there are fewer tools than agents",
        ],
    });
    assert_eq!(ask(&serving, "/v1/partition", &body), expected);
}

#[test]
fn tools_are_shared_out_as_the_file_assigns_them_and_the_rest_by_what_belongs_together() {
    let serving = serving();
    let agents = json!({ "scribe": {}, "night clerk": {}, "clock": { "role": "times and zones" }, "other": {} });
    let found = ask(&serving, "/v1/partition", &json!({ "agents": agents }));
    let times = ["time_between", "time_convert", "time_now"].map(str::to_owned);
    let rest = ["calculate", "json_query", "text_case", "text_count", "text_lines", "text_replace"];
    let expected = [
        ("clock".to_owned(), times.to_vec()),
        ("night clerk".to_owned(), vec![]),
        ("other".to_owned(), rest.map(str::to_owned).to_vec()),
        ("scribe".to_owned(), vec!["hash_text".to_owned()]),
    ];
    assert_eq!(shares(&found), expected, "{found:#}");
    assert_eq!(found["warnings"], json!(["`night clerk` has no tool: none is assigned to it"]));
    assert_eq!(found["agents"][3]["tools"][0]["because"], "fixed");
    // With a task, and with nobody who could take the rest.
    let body = json!({ "agents": { "scribe": {}, "other": {} }, "task": TASK, "limit": 1 });
    let found = ask(&serving, "/v1/partition", &body);
    let other = vec!["text_count".to_owned()];
    assert_eq!(
        shares(&found),
        [("other".to_owned(), other), ("scribe".to_owned(), vec!["hash_text".to_owned()])]
    );
    let found = ask(&serving, "/v1/partition", &json!({ "agents": { "scribe": {} } }));
    assert_eq!(shares(&found), expected[3..]);
    assert_eq!(found["unplaced"].as_array().unwrap().len(), 9, "{found}");
    // So many, of whom the file knows some.
    let found = ask(&serving, "/v1/partition", &json!({ "agents": 4 }));
    let names: Vec<_> = shares(&found).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["agent_1", "agent_2", "night clerk", "scribe"]);
    // A name that is no tool is told to whoever runs the server, and to nobody else.
    let told = "crib.toml:13:36: assign.scribe[2]: there is no tool `text_cuont` now; did you mean \
                `text_count`?";
    assert!(eventually(|| serving.told.lock().unwrap().contains(told)), "{:?}", serving.told);
}

/// A path, a request, and what is said of it.
type RefusedCase = (&'static str, Value, u16, &'static str);

fn refused_selections() -> Vec<RefusedCase> {
    vec![
        ("select", json!({ "task": "x", "limit": 0 }), 422, "`limit` must be 1 to 1000, and is 0"),
        (
            "select",
            json!({ "task": "x", "min_confidence": 2 }),
            422,
            "`min_confidence` must be 0 to 1, and is 2",
        ),
        (
            "select",
            json!({ "task": "x", "min_confidence": -1e-46 }),
            422,
            "`min_confidence` must be 0 to 1, and is -0.0000000000000000000000000000000000000000000001",
        ),
        (
            "select",
            json!({ "task": "x", "fallback": "search" }),
            422,
            "unknown word `search`, expected `nothing` or `all`",
        ),
        ("select", json!({ "limit": 1 }), 422, "missing field `task`"),
        (
            "select",
            json!({ "task": "x", "always": ["uuid_new"] }),
            404,
            "there is no tool `uuid_new`",
        ),
        (
            "select",
            json!({ "task": "x", "profile": "clok" }),
            404,
            "the configuration does not name `clok`",
        ),
        (
            "select",
            json!({ "task": "x", "always": vec!["hash_text"; 1001] }),
            422,
            "`always` are 1000 at the most, and are 1001",
        ),
    ]
}

fn refused_partitions() -> Vec<RefusedCase> {
    let many: serde_json::Map<String, Value> =
        (0..101).map(|at| (format!("a{at}"), json!({}))).collect();
    let names = vec!["hash_text"; 1001];
    vec![
        (
            "partition",
            json!({ "agents": {} }),
            422,
            "`agents` must name 1 to 100 agents, and names 0",
        ),
        (
            "partition",
            json!({ "agents": 101 }),
            422,
            "`agents` must name 1 to 100 agents, and names 101",
        ),
        (
            "partition",
            json!({ "agents": "ten" }),
            422,
            "`agents` must be agents by name, or a number of them",
        ),
        (
            "partition",
            json!({ "agents": many }),
            422,
            "`agents` must name 1 to 100 agents, and names 101",
        ),
        (
            "partition",
            json!({ "agents": { "a": {} }, "capacity": 0 }),
            422,
            "`capacity` must be 1 or more, and is 0",
        ),
        (
            "partition",
            json!({ "agents": { "a": {} }, "capacity": 3 }),
            409,
            "10 tools do not fit: there is room for 3, and for 3 at each agent: raise the capacity, or name more agents",
        ),
        (
            "partition",
            json!({ "agents": { "a": { "tools": names } } }),
            422,
            "`tools` of an agent are 1000 at the most, and are 1001",
        ),
        (
            "partition",
            json!({ "agents": { "scribe": { "tools": ["hash_text", "calculate"] } } }),
            422,
            "the configuration assigns no `calculate` to `scribe`: leave it out of `tools`",
        ),
        (
            "partition",
            json!({ "agents": { "a": { "tools": ["calculat"] } } }),
            404,
            "there is no tool `calculat`: did you mean `calculate`?",
        ),
    ]
}

#[test]
fn a_request_that_cannot_be_met_is_told_with_its_place_and_its_cure() {
    let serving = serving();
    let cases = refused_selections().into_iter().chain(refused_partitions());
    for (path, body, status, detail) in cases {
        let kind = match detail {
            _ if status == 422 => "invalid-body",
            _ if status == 409 => "no-room",
            _ if detail.contains("configuration") => "unknown-profile",
            _ => "unknown-tool",
        };
        let expected = json!({ "type": format!("urn:toolcrib:problem:{kind}"), "detail": detail, "status": status });
        assert_eq!(ask(&serving, &format!("/v1/{path}"), &body), expected);
    }
}

/// What the model was shown in each of its turns.
fn shown(model: &ScriptedModel) -> Vec<Vec<String>> {
    let name = |tool: &Value| tool["function"]["name"].as_str().unwrap().to_owned();
    let tools = |body: &Value| body["tools"].as_array().into_iter().flatten().map(name).collect();
    model.asked().iter().map(|asked| tools(&asked.body)).collect()
}

#[test]
fn an_agent_has_what_is_assigned_to_it_at_every_door_and_no_more() {
    let folder = Folder::new();
    let turns =
        [ScriptedTurn::call("calculate", json!({ "expression": "1+1" })), ScriptedTurn::says("no")];
    let model = ScriptedModel::of(turns).unwrap();
    let agents = format!(
        "[model]\nkind = \"openai-chat\"\nurl = \"{}\"\nname = \"m\"\n[agent.scribe]\n[agent.free]\n",
        model.url()
    );
    let (key, entry) =
        make(&folder, &["ann", "--tenant", "acme", "--scope", "profile:agent%3Ascribe"]);
    folder.write("crib.toml", &format!("{FILE}\n{agents}{entry}"));
    let serving = Serving::start_in(folder, &[]);
    let profile = "agent:scribe";
    let plan = serving.ask_as(&key, "POST", "/v1/plan", &json!({ "profile": profile }).to_string());
    assert_eq!(plan.json()["visible"], json!(["hash_text"]), "{plan:?}");
    let whole = serving.ask_as(&key, "POST", "/v1/plan", "{}");
    assert_eq!(whole.problem(), "403 insufficient-scope");
    let outcome = |name: &str, arguments: Value| {
        let body =
            json!({ "profile": profile, "calls": [{ "name": name, "arguments": arguments }] });
        let answer = serving.ask_as(&key, "POST", "/v1/calls", &body.to_string()).json();
        answer["responses"][0]["outcome"].as_str().unwrap().to_owned()
    };
    assert_eq!(outcome("hash_text", json!({ "text": "a" })), "done");
    assert_ne!(outcome("calculate", json!({ "expression": "1+1" })), "done");
    let list = modern(&serving, &key, "/mcp/agent:scribe", ("tools/list", json!({})));
    let list = message(&list);
    let names: Vec<_> =
        list["result"]["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["hash_text"]);
    let call = json!({ "name": "calculate", "arguments": { "expression": "1+1" } });
    let call = message(&modern(&serving, &key, "/mcp/agent:scribe", ("tools/call", call)));
    assert!(call.get("error").is_some() || call["result"]["isError"] == true, "{call}");
    let other = ask(&serving, "/v1/select", &json!({ "task": TASK, "profile": "agent:other" }));
    assert_eq!(other["detail"], "the configuration does not name `agent:other`");
    // The agent of that name, whatever its model writes.
    let asked = json!({ "model": "scribe", "messages": [{ "role": "user", "content": "count" }] });
    let answer = serving.ask("POST", "/v1/chat/completions", &asked.to_string());
    assert_eq!(answer.status, 200, "{answer:?}");
    let turns = shown(&model);
    assert_eq!(turns[0], ["hash_text"], "{turns:?}");
    let told = model.asked()[1].body["messages"].to_string();
    assert!(told.contains("calculate") && !told.contains("\"content\":\"2\""), "{told}");
}

/// A file of MAS-Arena with two servers, of which each says what it was asked for.
fn mas_arena() -> Folder {
    let folder = Folder::new();
    let says = script::says(r#"asked["params"]["name"] + " was called""#);
    for (name, tools) in [("math", ["add", "solve_math"]), ("search", ["search", "lookup"])] {
        let tools = tools.map(|tool| script::tool(tool, r#""readOnlyHint": True"#)).join(", ");
        let text = script::server("", &format!("[{tools}]"), &says);
        folder.write(&format!("{name}_server.py"), &text);
    }
    folder.write(
        "mas.json",
        r#"{
  "math": { "command": "python3", "args": ["math_server.py"], "transport": "stdio" },
  "search": { "command": "python3", "args": ["search_server.py"], "transport": "stdio" },
  "tool_assignment": {
    "MathAgent": ["add", "solve_math", "substract"],
    "SearchAgent": ["search"]
  }
}"#,
    );
    folder
}

#[test]
fn a_file_of_mas_arena_is_served_as_it_is_over_the_servers_that_it_names() {
    let folder = mas_arena();
    let words = ["--config", "mas.json", "select", "--agents", "3", "--json"];
    let ran = folder.run(&words);
    assert_eq!(
        shares(&ran.json()),
        [
            ("MathAgent".to_owned(), vec!["add".to_owned(), "solve_math".to_owned()]),
            ("SearchAgent".to_owned(), vec!["search".to_owned()]),
            ("agent_1".to_owned(), vec![]),
        ]
    );
    let told = "mas.json:5:40: tool_assignment.MathAgent[2]: there is no tool `substract` now";
    assert!(ran.err.contains(told), "{ran:?}");
    let words = ["serve", "--listen", "127.0.0.1:0", "--config", "mas.json"];
    let serving = Serving::starting_by(folder, env!("CARGO_BIN_EXE_toolcrib"), &words);
    assert!(eventually(|| serving.ask("GET", "/readyz", "").status == 200));
    assert!(eventually(|| serving.told.lock().unwrap().contains(told)), "{:?}", serving.told);
    let call = |agent: &str, tool: &str| {
        let path = format!("/mcp/agent:{agent}");
        let call = json!({ "name": tool, "arguments": {} });
        message(&modern(&serving, &serving.token, &path, ("tools/call", call)))
    };
    assert_eq!(call("MathAgent", "add")["result"]["content"][0]["text"], "add was called");
    assert_eq!(call("SearchAgent", "search")["result"]["content"][0]["text"], "search was called");
    for (agent, tool) in [("MathAgent", "search"), ("SearchAgent", "lookup")] {
        let refused = call(agent, tool);
        assert!(!refused.to_string().contains("was called"), "{refused}");
    }
    assert_eq!(call("Reasoner", "add")["result"], Value::Null);
}
