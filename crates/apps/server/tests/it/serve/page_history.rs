//! What became of a tool, as the page tells it: changes over the file, decisions about pins, and
//! other definitions of its source.

use std::path::Path;

use serde_json::{Value, json};

use super::page_sources::changed_source;
use super::support::{Serving, eventually, state};
use crate::process::Folder;

const FILE: &str = "allow = [\"*\"]\n\n\
    [[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = [\"calculate\", \"text_count\"]\n";

fn history(serving: &Serving, tool: &str, query: &str) -> Value {
    let answer = serving.ask("GET", &format!("/v1/catalog/{tool}/history{query}"), "");
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

/// The entries, each as who did what.
fn acts(history: &Value) -> Vec<String> {
    let entries = history["entries"].as_array().unwrap().iter();
    let told = entries.map(|entry| {
        let by = entry["by"].as_str().unwrap_or("-");
        let change = &entry["change"];
        let what = if change.is_null() {
            String::new()
        } else {
            format!(" {} = {}", change["path"].as_str().unwrap(), change["value"])
        };
        format!("{by} {}{what}", entry["act"].as_str().unwrap())
    });
    told.collect()
}

fn set(serving: &Serving, path: &str, value: &Value) {
    let version = serving.ask("GET", "/v1/overlay", "").json()["version"].clone();
    let body = json!({ "expect": version, "why": "a trial",
        "changes": [{ "path": path, "value": value }] });
    let answer = serving.ask("POST", "/v1/overlay", &body.to_string());
    assert_eq!(answer.status, 200, "{answer:?}");
}

#[test]
fn who_changed_what_of_a_tool_is_told_newest_first_and_outlives_what_was_changed() {
    let folder = Folder::new();
    folder.write("crib.toml", FILE);
    let serving = Serving::start_in(folder, &[]);
    let of = |query: &str| history(&serving, "basics/calculate", query);
    let nothing = json!({ "kept": true, "days": 180, "total": 0, "entries": [] });
    assert_eq!(of(""), nothing);
    set(&serving, "tool.calculate.title", &json!("Sums"));
    set(&serving, "tool.text_count.title", &json!("Words"));
    set(&serving, "tool.calculate.title", &json!("x".repeat(3_000)));
    set(&serving, "source.basics.timeout", &json!("20s"));
    assert_eq!(serving.folder.run(&["overlay", "clear"]).code, 0);
    let all = of("");
    let title = "tool.calculate.title";
    let expected = [
        "local taken_back source.basics.timeout = \"20s\"".to_owned(),
        format!("local taken_back {title} = null"),
        "local changed source.basics.timeout = \"20s\"".to_owned(),
        format!("local changed {title} = null"),
        format!("local taken_back {title} = \"Sums\""),
        format!("local changed {title} = \"Sums\""),
    ];
    assert_eq!(acts(&all), expected, "{all}");
    let cut = |entry: &Value| entry["change"]["is_cut"].clone();
    let entries = all["entries"].as_array().unwrap();
    assert_eq!(
        entries.iter().map(cut).collect::<Vec<_>>(),
        [false, true, false, true, false, false]
    );
    let whys: Vec<_> = entries.iter().map(|entry| entry["why"].clone()).collect();
    let [none, why] = [Value::Null, json!("a trial")];
    assert_eq!(whys, [&none, &none, &why, &why, &none, &why].map(Value::clone));
    let page = of("?limit=2&offset=3");
    assert_eq!((page["total"].clone(), acts(&page)), (json!(6), expected[3..5].to_vec()));
    assert_eq!(acts(&history(&serving, "basics/text_count", "")).len(), 4);
    assert_eq!(history(&serving, "basics/none", "")["total"], 2);

    let other = serving.token_of("other");
    let theirs = serving.ask_as(&other, "GET", "/v1/catalog/basics/calculate/history", "");
    assert_eq!(theirs.problem(), "403 forbidden");
    let wrong = serving.ask("GET", "/v1/catalog/basics/calculate/history?limit=201", "");
    assert_eq!(wrong.problem(), "400 invalid-query");
}

#[test]
fn a_change_is_made_where_its_history_cannot_be_kept_and_the_log_says_so() {
    let folder = Folder::new();
    folder.write("crib.toml", FILE);
    let serving = Serving::start_in(folder, &[]);
    set(&serving, "tool.calculate.title", &json!("Sums"));
    let kept = Path::new(&state(&serving.folder)).join("toolcrib/history");
    let file = std::fs::read_dir(&kept).unwrap().flatten().map(|entry| entry.path());
    let file = file.into_iter().find(|path| path.extension().is_some_and(|end| end == "json"));
    std::fs::write(file.unwrap(), "no history").unwrap();
    set(&serving, "tool.calculate.title", &json!("More sums"));
    serving.hears("the history of the tools lacks a change");
    let answer = serving.ask("GET", "/v1/catalog/basics/calculate/history", "");
    assert_eq!(answer.problem(), "503 unavailable");
    assert!(answer.body.contains("which begins it anew"), "{answer:?}");
}

#[test]
fn another_definition_and_who_accepted_it_are_told() {
    let serving = changed_source();
    let of = |tool: &str| history(&serving, &format!("s/{tool}"), "");
    assert!(eventually(|| acts(&of("s__one")) == ["- redefined"]));
    let redefined = of("s__one")["entries"][0]["definition"].clone();
    assert_ne!(redefined["before"], redefined["fingerprint"]);
    assert_eq!(of("s__three")["total"], 0);
    let drift = serving.ask("GET", "/v1/drift", "").json();
    let one = &drift["tools"][0];
    assert_eq!(one["fingerprint"], redefined["fingerprint"]);
    let named = json!({ "source": "s", "tool": one["tool"], "fingerprint": one["fingerprint"] });
    let body = json!({ "accept": [named], "why": "looked at it" });
    assert_eq!(serving.ask("POST", "/v1/drift", &body.to_string()).status, 200);
    let told = of("s__one");
    assert_eq!(acts(&told), ["local accepted", "- redefined"]);
    assert_eq!(told["entries"][0]["why"], "looked at it");
    // What is changed of it here is no other definition.
    set(&serving, "tool.s__one.title", &json!("One"));
    assert!(eventually(|| {
        let tool = serving.ask("GET", "/v1/catalog/s/s__one", "").json();
        tool["spec"]["title"] == "One"
    }));
    assert_eq!(of("s__one")["total"], 3);
}
