//! What the page asks for of tools: all of them in columns, one with all of it, and what would become
//! of a call.

use serde_json::{Value, json};

use super::support::{Serving, bearer, head};
use crate::process::Folder;

const FILE: &str = "ask = [\"uuid_new\"]\nallow = [\"*\"]\ndeny = [\"hash_text\"]\n\n\
    [[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n\n\
    [tool.text_case]\nenabled = false\n";

fn serving() -> Serving {
    let folder = Folder::new();
    folder.write("crib.toml", FILE);
    Serving::start_in(folder, &[])
}

/// The rows, each as name, state and effect.
fn rows(catalog: &Value) -> Vec<[String; 3]> {
    let columns = &catalog["columns"];
    let count = columns["name"].as_array().unwrap().len();
    let cell = |name: &str, at: usize| columns[name][at].as_str().unwrap().to_owned();
    (0..count).map(|at| ["name", "state", "effect"].map(|name| cell(name, at))).collect()
}

fn of(rows: &[[String; 3]], name: &str) -> Option<String> {
    rows.iter().find(|row| row[0] == name).map(|row| row[1].clone())
}

#[test]
fn all_tools_come_in_columns_and_nobody_is_told_of_what_is_hidden_from_them() {
    let serving = serving();
    let catalog = serving.ask("GET", "/v1/catalog?shape=columns", "").json();
    let all = rows(&catalog);
    let columns = catalog["columns"].as_object().unwrap();
    let total = catalog["total"].as_u64().unwrap();
    assert!(columns.values().all(|cells| cells.as_array().unwrap().len() as u64 == total));
    assert_eq!(total, all.len() as u64);
    let state = |name: &str| of(&all, name);
    assert_eq!(state("calculate").as_deref(), Some("on"));
    assert_eq!(state("hash_text").as_deref(), Some("denied"));
    assert_eq!(state("text_case").as_deref(), Some("disabled"));
    assert_eq!(catalog["sources"], json!(["basics"]));
    // Another caller of this machine is no operator.
    let other = serving.token_of("other");
    let theirs = rows(&serving.ask_as(&other, "GET", "/v1/catalog", "").json());
    assert!(theirs.len() < all.len() && of(&theirs, "calculate").is_some());
    assert_eq!((of(&theirs, "hash_text"), of(&theirs, "text_case")), (None, None));
    let hidden = serving.ask_as(&other, "GET", "/v1/catalog/basics/hash_text", "");
    assert_eq!(hidden.problem(), "404 unknown-tool");
}

#[test]
fn a_catalog_that_is_known_is_not_sent_again() {
    let serving = serving();
    let ask = |known: &str| {
        let headers = [bearer(&serving.token), format!("If-None-Match: {known}")];
        let headers: Vec<_> = headers.iter().map(String::as_str).collect();
        serving.send(&head("GET", "/v1/catalog", &serving, &headers), "")
    };
    let tag = |head: &str| {
        let line = head.lines().find_map(|line| line.strip_prefix("etag: "));
        line.map(ToOwned::to_owned)
    };
    // Tokens are counted meanwhile, which is another answer.
    let counted = || ask("\"x\"").json()["tokens_counted"] == true;
    assert!(super::support::eventually(counted));
    let first = ask("\"x\"");
    let known = tag(&first.head).unwrap();
    let again = ask(&format!("\"a\", {known}"));
    assert_eq!((first.status, again.status, again.body.as_str()), (200, 304, ""));
    assert_eq!(tag(&again.head), Some(known));
}

#[test]
fn one_tool_comes_with_its_schema_its_reason_and_its_cost() {
    let serving = serving();
    let one = |name: &str| serving.ask("GET", &format!("/v1/catalog/basics/{name}"), "");
    let tool = one("calculate").json();
    assert_eq!(tool["spec"]["name"], "calculate");
    assert!(tool["spec"]["input"]["properties"]["expression"].is_object());
    assert_eq!(
        (&tool["why"]["visible"], &tool["why"]["rule"]),
        (&json!(true), &json!("permitted"))
    );
    assert!(tool["tokens"].as_u64().is_some_and(|tokens| tokens > 10));
    assert_eq!(one("hash_text").json()["why"]["rule"], "denied");
    assert_eq!(one("none").problem(), "404 unknown-tool");
    let elsewhere = serving.ask("GET", "/v1/catalog/desk/calculate", "");
    assert_eq!(elsewhere.problem(), "404 unknown-tool");
}

/// A field of a tool, as `from`, what holds, and what its source gave.
fn origin(tool: &Value, field: &str) -> [Value; 3] {
    let all = tool["fields"].as_array().unwrap();
    let own = all.iter().find(|own| own["field"] == field).unwrap();
    ["from", "value", "given"].map(|key| own[key].clone())
}

fn field<'t>(tool: &'t Value, field: &str) -> &'t Value {
    tool["fields"].as_array().unwrap().iter().find(|own| own["field"] == field).unwrap()
}

const SAID: &str = "allow = [\"*\"]\n\n[[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n\
    validate = \"strict\"\n\n[tool.calculate]\ntitle = \"Sums\" # ours\ntimeout = \"90s\"\n\n\
    [tool.calculate.guidance]\nsystem = \"Count.\"\n";

#[test]
fn each_field_of_a_tool_says_whether_its_source_the_file_or_a_change_has_it() {
    let folder = Folder::new();
    folder.write("crib.toml", SAID);
    let serving = Serving::start_in(folder, &[]);
    let one = || serving.ask("GET", "/v1/catalog/basics/calculate", "").json();
    let tool = one();
    assert_eq!(tool["fields"].as_array().map(Vec::len), Some(27));
    let summary = tool["spec"]["summary"].clone();
    assert_eq!(origin(&tool, "summary"), [json!("source"), summary.clone(), summary]);
    assert_eq!(origin(&tool, "title"), [json!("file"), json!("Sums"), Value::Null]);
    assert_eq!(origin(&tool, "timeout"), [json!("file"), json!("90s"), Value::Null]);
    let places = ["title", "timeout", "guidance.system", "validation"]
        .map(|name| field(&tool, name)["file"].clone());
    let place =
        |line: u64, value: &str| json!({ "name": "crib.toml", "line": line, "value": value });
    let wanted = [place(10, "Sums"), place(11, "90s"), place(14, "Count."), place(7, "strict")];
    assert_eq!(places, wanted);
    assert_eq!(field(&tool, "title")["overlay"], Value::Null);

    let body = json!({ "expect": 0, "why": "a trial", "until": "2031-01-31T12:00:00Z", "changes": [
        { "path": "tool.calculate.title", "value": "More sums" },
        { "path": "tool.calculate.guidance", "value": { "user": "Add." } },
    ] });
    assert_eq!(serving.ask("POST", "/v1/overlay", &body.to_string()).status, 200);
    let tool = one();
    assert_eq!(origin(&tool, "title"), [json!("overlay"), json!("More sums"), Value::Null]);
    assert_eq!(field(&tool, "title")["file"], place(10, "Sums"));
    let mut change = field(&tool, "title")["overlay"].clone();
    let at = change["at"].take();
    assert!(at.as_str().is_some_and(|at| at.ends_with('Z')), "{at}");
    let row = json!({ "row": 1, "by": "local", "at": null, "until": "2031-01-31T12:00:00Z",
        "why": "a trial" });
    assert_eq!(change, row);
    // A table that takes the place of another one says all that is below it.
    assert_eq!(origin(&tool, "guidance.system")[..2], [json!("overlay"), json!("")]);
    assert_eq!(origin(&tool, "guidance.user")[..2], [json!("overlay"), json!("Add.")]);

    // Others are told whose word it is, and no more.
    let other = serving.token_of("other");
    let theirs = serving.ask_as(&other, "GET", "/v1/catalog/basics/calculate", "").json();
    let title = json!({ "field": "title", "value": "More sums", "from": "overlay", "given": null,
        "file": null, "overlay": null });
    assert_eq!(*field(&theirs, "title"), title);

    // What a file says that is not in force is nobody's word.
    serving.folder.write("crib.toml", &SAID.replace("\"90s\"", "\"soon\""));
    assert!(super::support::eventually(|| origin(&one(), "timeout")[0].is_null()));
    assert_eq!(origin(&one(), "timeout")[1], "90s");
}

#[test]
fn a_server_without_an_overlay_knows_what_its_file_says_too() {
    let folder = Folder::new();
    folder.write("crib.toml", SAID);
    let serving = Serving::start_in(folder, &["--no-overlay"]);
    let tool = serving.ask("GET", "/v1/catalog/basics/calculate", "").json();
    assert_eq!(origin(&tool, "title"), [json!("file"), json!("Sums"), Value::Null]);
    assert_eq!(origin(&tool, "enabled"), [json!("source"), json!(true), json!(true)]);
}

#[test]
fn a_call_is_tried_out_in_the_words_of_the_gate_and_does_not_run() {
    let serving = serving();
    let validate = |name: &str, arguments: Value| {
        let body = json!({ "arguments": arguments }).to_string();
        serving.ask("POST", &format!("/v1/tools/{name}/validate"), &body)
    };
    let fits = validate("calculate", json!({ "expression": "6 * 7" })).json();
    assert_eq!((&fits["fits"], &fits["would"]["verdict"]), (&json!(true), &json!("run")));
    assert_eq!(fits["coerced"], json!({ "expression": "6 * 7" }));
    let asks = validate("uuid_new", json!({ "count": "2" })).json();
    assert_eq!(asks["would"]["verdict"], "ask");
    assert_eq!(asks["coerced"], json!({ "count": 2 }), "{asks}");
    assert_eq!(asks["repairs"].as_array().map(Vec::len), Some(1), "{asks}");
    let wrong = validate("calculate", json!({ "expresion": "1" })).json();
    assert_eq!((&wrong["fits"], &wrong["would"]), (&json!(false), &Value::Null));
    let places = wrong["problems"].to_string();
    assert!(places.contains("did you mean `expression`"), "{places}");
    let ran = serving.call(&json!({ "calls": [{ "name": "calculate",
        "arguments": { "expresion": "1" } }] }));
    let told = ran["responses"][0]["text"].as_str().unwrap();
    assert!(told.contains(wrong["message"].as_str().unwrap()), "{told}\n{wrong}");
    assert_eq!(validate("hash_text", json!({})).problem(), "404 unknown-tool");
    assert_eq!(validate("calculate", json!([])).json()["fits"], false);
    let recorded = serving.ask("GET", "/v1/calls", "").json();
    assert!(!recorded.to_string().contains("uuid_new"), "{recorded}");
    assert_eq!(serving.ask("GET", "/v1/tickets", "").json()["tickets"], json!([]));
}
