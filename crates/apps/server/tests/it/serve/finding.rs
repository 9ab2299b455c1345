//! More tools than a model can be shown: two clients find, read and call the right ones by the
//! tools that are there for it, and by nothing else.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, Instant};

use flate2::read::GzDecoder;
use serde_json::{Value, json};

use super::oracle::Oracle;
use super::script;
use super::support::Serving;
use super::wire::{message, modern};
use crate::process::Folder;

/// As the operations of GitHub are counted: `data/openapi/README.md`.
const OPERATIONS: u64 = 1_223;

/// The tools that a lazy list ends with, behind the one that the configuration pins.
const LISTED: [&str; 4] = ["clock__time_now", "discover_tools", "get_tool_schema", "invoke_tool"];

fn github() -> String {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../../shared/data/openapi/github-api.github.com.json.gz"
    );
    let mut text = String::new();
    GzDecoder::new(File::open(Path::new(path)).unwrap()).read_to_string(&mut text).unwrap();
    text
}

/// A tool of a server of ours, as an expression.
fn tool(name: &str, text: &str, field: &str, annotation: &str) -> String {
    format!(
        "{{\"name\": \"{name}\", \"description\": \"{text}\", \"annotations\": {{{annotation}}}, \
         \"inputSchema\": {{\"type\": \"object\", \"properties\": {{\"{field}\": {{\"type\": \
         \"string\"}}}}, \"required\": [\"{field}\"]}}}}"
    )
}

/// A server with its tools, which says what it was told.
fn server(tools: &[String]) -> String {
    let says = script::says(
        "asked[\"params\"][\"name\"] + \" \" + json.dumps(asked[\"params\"].get(\"arguments\", {}))",
    );
    script::server("", &format!("[{}]", tools.join(", ")), &says)
}

struct Shop {
    api: Oracle,
    serving: Serving,
}

impl Shop {
    fn open() -> Self {
        let api = Oracle::start();
        let folder = Folder::new();
        folder.write("github.json", &github());
        let harmless = "\"readOnlyHint\": False, \"destructiveHint\": False";
        folder.write(
            "garden.py",
            &server(&[
                tool("water_plants", "Waters the plants of a greenhouse.", "greenhouse", harmless),
                tool(
                    "uproot_plants",
                    "Uproots all plants of a greenhouse, for good.",
                    "greenhouse",
                    "",
                ),
            ]),
        );
        folder.write(
            "post.py",
            &server(&[
                tool("send_fax", "Sends a fax to an office.", "office", harmless),
                tool(
                    "list_stamps",
                    "Lists the stamps of a drawer.",
                    "drawer",
                    "\"readOnlyHint\": True",
                ),
            ]),
        );
        folder.write("crib.toml", &format!(
            "discovery = \"lazy\"\neager = [\"clock__time_now\"]\n\
             allow = [\"*\"]\nask = [\"effect:destroy\"]\ndeny = [\"post__list_stamps\"]\n\
             [[source]]\nid = \"github\"\ntimeout = \"2m\"\nopenapi = {{ document = \"github.json\", base_url = \"{}\" }}\n\
             [[source]]\nid = \"garden\"\nmcp = {{ command = [\"python3\", \"garden.py\"], cwd = \".\" }}\n\
             [[source]]\nid = \"post\"\nmcp = {{ command = [\"python3\", \"post.py\"], cwd = \".\" }}\n\
             [[source]]\nid = \"clock\"\nbasics = true\n",
            api.url
        ));
        let serving = Serving::starting_in(folder, &[]);
        // A busy machine needs a minute for twelve hundred operations that nothing has optimised.
        let until = Instant::now() + Duration::from_mins(3);
        while !is_loaded(&serving) {
            assert!(Instant::now() < until, "{}", serving.ask("GET", "/v1/sources", "").body);
            std::thread::sleep(Duration::from_millis(200));
        }
        Self { api, serving }
    }

    /// What the upstream was asked for by this path.
    fn asked(&self, line: &str) -> usize {
        self.api.asked().iter().filter(|asked| asked.starts_with(line)).count()
    }
}

/// Whether every source has told its tools, and the tools of each are found.
fn is_loaded(serving: &Serving) -> bool {
    let found = |path: &str| serving.ask("GET", path, "").json()["total"].as_u64() > Some(0);
    let words = [("github", "branches"), ("garden", "greenhouse"), ("post", "fax")];
    words.iter().all(|(source, word)| {
        found(&format!("/v1/tools?source={source}&limit=1"))
            && found(&format!("/v1/tools?source={source}&limit=1&q={word}"))
    })
}

/// One that speaks a protocol with the crib.
trait Client {
    /// The tools that it is shown.
    fn list(&self) -> Vec<String>;
    /// What a call of one of them said, and whether it failed.
    fn call(&self, tool: &str, arguments: Value) -> (String, bool);
    /// The same of a call that has to be asked about: approves it, and gives what it said.
    fn call_and_approve(&self, tool: &str, arguments: Value, meanwhile: &dyn Fn()) -> String;
}

struct OverMcp<'a>(&'a Serving);

impl OverMcp<'_> {
    fn ask(&self, method: &str, params: Value) -> Value {
        let answer = message(&modern(self.0, &self.0.token, "/mcp", (method, params)));
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }
}

fn text(result: &Value) -> String {
    let parts = result["content"].as_array().unwrap_or_else(|| unreachable!("{result}"));
    parts.iter().map(|part| part["text"].as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

impl Client for OverMcp<'_> {
    fn list(&self) -> Vec<String> {
        let listed = self.ask("tools/list", json!({}));
        assert!(listed["nextCursor"].is_null());
        let tools = listed["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    fn call(&self, tool: &str, arguments: Value) -> (String, bool) {
        let result = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        (text(&result), result["isError"] == true)
    }

    fn call_and_approve(&self, tool: &str, arguments: Value, meanwhile: &dyn Fn()) -> String {
        let waiting = self.ask("tools/call", json!({ "name": tool, "arguments": arguments }));
        assert!(waiting["requestState"].is_string(), "{waiting}");
        let question = waiting["inputRequests"]["approval"].to_string();
        let name = arguments["name"].as_str().unwrap();
        assert!(question.contains(&format!("May `{name}` run?")), "{question}");
        meanwhile();
        let yes = json!({ "approval": { "action": "accept", "content": { "approve": true } } });
        text(&self.ask(
            "tools/call",
            json!({
                "name": tool, "arguments": arguments,
                "requestState": waiting["requestState"], "inputResponses": yes,
            }),
        ))
    }
}

struct OverRest<'a>(&'a Serving);

impl OverRest<'_> {
    fn response(&self, tool: &str, arguments: &Value) -> Value {
        let made = self.0.ask("POST", "/v1/plan", r#"{"dialect": "openai-chat"}"#).json();
        let call = json!({ "id": "c", "type": "function", "function": {
            "name": tool, "arguments": arguments.to_string() } });
        let body = json!({ "plan": made["plan"], "dialect": "openai-chat", "calls": [call] });
        let answer = self.0.call(&body);
        assert_eq!(answer["messages"][0]["tool_call_id"], "c", "{answer}");
        answer["responses"][0].clone()
    }
}

impl Client for OverRest<'_> {
    fn list(&self) -> Vec<String> {
        let made = self.0.ask("POST", "/v1/plan", r#"{"dialect": "openai-chat"}"#).json();
        assert_eq!(made["discovery"]["mode"], "lazy", "{made}");
        let tools = made["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
    }

    fn call(&self, tool: &str, arguments: Value) -> (String, bool) {
        let response = self.response(tool, &arguments);
        (response["text"].as_str().unwrap().to_owned(), response["error"] == true)
    }

    fn call_and_approve(&self, tool: &str, arguments: Value, meanwhile: &dyn Fn()) -> String {
        let response = self.response(tool, &arguments);
        assert_eq!(response["outcome"], "pending", "{response}");
        assert_eq!(response["name"], arguments["name"]);
        meanwhile();
        let path = format!("/v1/tickets/{}", response["ticket"].as_str().unwrap());
        let decided = self.0.ask("POST", &path, r#"{"decision": "approve"}"#);
        assert_eq!(decided.status, 200, "{decided:?}");
        decided.body
    }
}

/// A task, the tool that serves it, what that takes, and what comes of it.
fn tasks() -> Vec<(&'static str, &'static str, Value, &'static str)> {
    let repository = json!({ "owner": "o", "repo": "r" });
    let mut issue = repository.clone();
    issue["title"] = json!("broken");
    vec![
        ("list the branches of a repository", "github__repos_list_branches", repository, "ok"),
        ("create an issue in a repository", "github__issues_create", issue, "ok"),
        (
            "water the plants in the greenhouse",
            "garden__water_plants",
            json!({ "greenhouse": "b" }),
            "water_plants",
        ),
        ("send a fax to the office", "post__send_fax", json!({ "office": "x" }), "send_fax"),
        (
            "evaluate an arithmetic expression",
            "clock__calculate",
            json!({ "expression": "6*7" }),
            "42",
        ),
    ]
}

/// Finds, reads and calls; the names of tools are taken from what the crib says alone.
fn works_by_meta_tools(client: &dyn Client, shop: &Shop) {
    assert_eq!(client.list(), LISTED);
    for (task, expected, parameters, said) in tasks() {
        let (found, failed) = client.call("discover_tools", json!({ "query": task, "limit": 5 }));
        assert!(!failed, "{found}");
        let names = found.lines().filter_map(|line| line.strip_prefix("- ")?.split_once('('));
        let names: Vec<_> = names.map(|(name, _)| name.to_owned()).collect();
        assert!(names.iter().any(|name| name == expected), "{task}: {names:?}");
        let (read, failed) = client.call("get_tool_schema", json!({ "name": expected }));
        assert!(!failed && read.contains("\"parameters\":{"), "{read}");
        let call = json!({ "name": expected, "parameters": parameters });
        let (answer, failed) = client.call("invoke_tool", call);
        assert!(!failed && answer.contains(said), "{expected}: {answer}");
    }
    // What a tool says of its failure stays a failure, and names are put right.
    let unfit = json!({ "name": "garden__water_plants", "parameters": {} });
    let (told, failed) = client.call("invoke_tool", unfit);
    assert!(failed && told.contains("greenhouse"), "{told}");
    let (told, failed) = client.call("invoke_tool", json!({ "name": "garden__water_plant" }));
    assert!(failed && told.contains("Did you mean `garden__water_plants`"), "{told}");
    let (told, failed) = client.call("garden__water_plants", json!({ "greenhouse": "b" }));
    assert!(failed && told.contains("call `invoke_tool`"), "{told}");
    // What is denied is not there, and what nothing serves is said plainly.
    let (told, _) =
        client.call("discover_tools", json!({ "query": "list the stamps of a drawer" }));
    assert!(!told.contains("post__list_stamps"), "{told}");
    let (told, failed) = client.call("invoke_tool", json!({ "name": "post__list_stamps" }));
    assert!(failed && told.contains("there is no tool `post__list_stamps`"), "{told}");
    // What destroys is asked about first.
    let before = shop.asked("DELETE /repos/o/r ");
    let call =
        json!({ "name": "github__repos_delete", "parameters": { "owner": "o", "repo": "r" } });
    let still = || assert_eq!(shop.asked("DELETE /repos/o/r "), before);
    let done = client.call_and_approve("invoke_tool", call, &still);
    assert!(done.contains("ok"), "{done}");
    assert_eq!(shop.asked("DELETE /repos/o/r "), before + 1);
}

#[test]
fn two_clients_find_read_and_call_what_they_are_not_shown() {
    // Once for all: a server of twelve hundred operations starts slowly where it is not optimised.
    let shop = Shop::open();
    works_by_meta_tools(&OverMcp(&shop.serving), &shop);
    works_by_meta_tools(&OverRest(&shop.serving), &shop);
    assert_eq!(shop.asked("POST /repos/o/r/issues "), 2);
    is_told_to_programs(&shop.serving);
}

/// The same search for programs, and why a tool is hidden.
fn is_told_to_programs(serving: &Serving) {
    let all = serving.ask("GET", "/v1/tools?limit=1", "").json();
    assert!(all["total"].as_u64().unwrap() > OPERATIONS, "{all}");
    let found = serving.ask("GET", "/v1/tools?q=water%20the%20plants&limit=3", "").json();
    assert_eq!(found["tools"][0]["name"], "garden__water_plants");
    assert!(found["tools"][0]["why"].as_str().unwrap().contains("plants"), "{found}");
    let none = serving.ask("GET", "/v1/tools?q=water&source=github&category=nowhere", "").json();
    assert_eq!(none["tools"], json!([]));

    let why = serving.ask("GET", "/v1/why/garden__water_plants", "").json();
    assert_eq!((&why["visible"], &why["exposure"]), (&json!(true), &json!("hidden")));
    let because = why["because"].as_str().unwrap();
    assert!(because.contains("a model finds it by `discover_tools`"), "{because}");
    let shown = serving.ask("GET", "/v1/why/garden__water_plants?discovery=direct", "").json();
    assert_eq!(shown["exposure"], "listed");
    assert_eq!(serving.ask("GET", "/v1/why/clock__time_now", "").json()["exposure"], "listed");

    // Where the model API holds definitions back, it does so and nothing is added.
    let made = serving.ask("POST", "/v1/plan", r#"{"dialect": "anthropic"}"#).json();
    assert_eq!(made["discovery"]["rest"], "deferred");
    let tools = made["tools"].as_array().unwrap();
    let deferred =
        tools.iter().filter(|tool| tool["defer_loading"] == true).map(|_| 1_u64).sum::<u64>();
    assert!(deferred > OPERATIONS && !made["tools"].to_string().contains("\"invoke_tool\""));
    let made = serving.ask("POST", "/v1/plan", r#"{"dialect": "openai-responses"}"#).json();
    let tools = made["tools"].as_array().unwrap();
    assert!(tools.iter().any(|tool| tool["type"] == "namespace" && tool["name"] == "garden"));
    assert!(tools.iter().any(|tool| tool["type"] == "tool_search"));
    let call = json!({ "type": "function_call", "call_id": "c", "namespace": "garden",
        "name": "garden__water_plants", "arguments": "{\"greenhouse\": \"b\"}" });
    let body = json!({ "plan": made["plan"], "dialect": "openai-responses", "calls": [call] });
    let answer = serving.call(&body);
    assert_eq!(answer["responses"][0]["outcome"], "done", "{answer}");
    let made = serving.ask("POST", "/v1/plan", r#"{"discovery": "auto", "dialect": "gemini"}"#);
    let shown = &made.json()["discovery"];
    assert_eq!(shown["mode"], "lazy");
    assert!(shown["because"].as_str().unwrap().contains("tokens"), "{shown}");
}

#[test]
fn a_client_says_in_a_header_how_it_wants_the_tools() {
    let folder = Folder::new();
    folder.write("crib.toml", "[[source]]\nid = \"clock\"\nprefix = \"\"\nbasics = true\n");
    let serving = Serving::start_in(folder, &[]);
    let list = |line: &str| {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list",
            "params": { "_meta": super::wire::meta() } });
        let bearer = super::support::bearer(&serving.token);
        let lines = [
            bearer.as_str(),
            "Accept: application/json, text/event-stream",
            "Content-Type: application/json",
            "MCP-Protocol-Version: 2026-07-28",
            "Mcp-Method: tools/list",
            line,
        ];
        let head = super::support::head("POST", "/mcp", &serving, &lines);
        serving.send(&head, &body.to_string())
    };
    let names = |line: &str| {
        let answer = message(&list(line));
        let tools = answer["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names("Toolcrib-Discovery: lazy"), LISTED[1..]);
    assert!(names("Toolcrib-Discovery: direct").contains(&"time_now".to_owned()));
    assert_eq!(list("Toolcrib-Discovery: some").status, 400);
}
