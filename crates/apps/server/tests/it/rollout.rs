//! `toolcrib rollout` through its door: real models and services over sockets, a real kill.

mod engine;
mod engines;
mod generate;
mod generated;
mod judged;
mod killed;
mod teams;
mod worse_days;

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Value, json};
use toolcrib_json::schema::Schema;
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use crate::process::{Folder, Ran};

const BASICS: &str = "[[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = [\"text_count\"]\n";

/// A file with this model and one tool that counts.
fn file(url: &str, more: &str) -> String {
    format!(
        "allow = [\"*\"]\n[model]\nurl = \"{url}\"\nname = \"m\"\nretries = 0\n{more}\n{BASICS}"
    )
}

/// One that counts so many texts as the task says (`steps:2`), and then says that it is over.
fn stepper() -> ScriptedModel {
    ScriptedModel::by(|_, body| step(body)).unwrap()
}

fn step(body: &Value) -> ScriptedTurn {
    let messages = body["messages"].as_array().cloned().unwrap_or_default();
    let done = messages.iter().filter(|message| message["role"] == "tool").count();
    let asked = messages.iter().find(|message| message["role"] == "user").cloned();
    let asked = asked.unwrap_or_default()["content"].as_str().unwrap_or_default().to_owned();
    let wanted = asked.rsplit_once(':').and_then(|(_, count)| count.parse().ok());
    if done < wanted.unwrap_or(0) {
        return ScriptedTurn::call("text_count", json!({ "text": format!("text {done}") }));
    }
    ScriptedTurn::says("It is over.")
}

/// Tasks by their ids and prompts.
fn tasks(tasks: &[(&str, &str)]) -> String {
    let line = |(id, prompt): &(&str, &str)| json!({ "id": id, "prompt": prompt }).to_string();
    tasks.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn lines(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// What was written, each line as the schema has it.
fn trajectories(folder: &Folder) -> Vec<Value> {
    const SCHEMA: &str = include_str!("../../../../../docs/reference/trajectory.schema.json");
    let schema = Schema::compile(&serde_json::from_str(SCHEMA).unwrap()).unwrap();
    assert_eq!(schema.left().len(), 0);
    let all = lines(&folder.path().join("trajectories.jsonl"));
    for one in &all {
        schema.check(one).unwrap_or_else(|why| unreachable!("{why:?}: {one}"));
    }
    all
}

/// By the id of the task; only of rollouts with one sample each.
fn by_task(folder: &Folder) -> BTreeMap<String, Value> {
    let own = trajectories(folder).into_iter();
    own.map(|one| (one["task"]["id"].as_str().unwrap().to_owned(), one)).collect()
}

fn rollout(folder: &Folder, words: &[&str]) -> Ran {
    folder.run(&[&["rollout", "--tasks", "tasks.jsonl"], words].concat())
}

#[test]
fn a_trajectory_is_a_graph_of_all_that_was_said_with_its_times() {
    let model = stepper();
    let folder = Folder::new();
    let agent = "[agent.solver]\ninstructions = \"Be brief.\"\nbudget = { turns = 5 }\n";
    folder.write("crib.toml", &file(&model.url(), agent));
    folder.write("tasks.jsonl", &tasks(&[("a", "steps:1")]));
    let ran = rollout(&folder, &["--agent", "solver", "--json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let told = ran.json();
    assert_eq!(
        [&told["samples"], &told["done"], &told["stops"], &told["turns"], &told["calls"]],
        [&json!(1), &json!(1), &json!({ "done": 1 }), &json!(2), &json!(1)]
    );
    let one = trajectories(&folder).remove(0);
    let nodes = one["nodes"].as_array().unwrap();
    let said: Vec<_> =
        nodes.iter().map(|node| json!([node["role"], node["content"], node["sampled"]])).collect();
    assert_eq!(
        json!(said),
        json!([
            ["system", "Be brief.", null],
            ["user", "steps:1", null],
            ["assistant", "", true],
            ["tool", "{\"characters\":6,\"words\":2,\"lines\":1,\"bytes\":6}", null],
            ["assistant", "It is over.", true],
        ])
    );
    let parents: Vec<_> = nodes.iter().map(|node| node["parent"].clone()).collect();
    assert_eq!(
        (json!(parents), &one["branches"]),
        (json!([null, 0, 1, 2, 3]), &json!([[0, 1, 2, 3, 4]]))
    );
    let call = &nodes[2]["tool_calls"][0];
    assert_eq!(
        [&nodes[3]["tool_call_id"], &nodes[3]["tool"], &nodes[3]["call"]["attempts"]],
        [&call["id"], &json!("text_count"), &json!(1)]
    );
    assert!(nodes[4]["began_ms"].as_u64() >= nodes[3]["began_ms"].as_u64(), "{nodes:?}");
    assert_eq!(nodes[2]["usage"]["source"], "reported");
    assert_eq!(one["tools"][0]["function"]["name"], "text_count");
    assert_eq!(
        [&one["stop"], &one["reward"], &one["task"]["data"]["prompt"], &one["model"]],
        [&json!("done"), &json!(null), &json!("steps:1"), &json!("m")]
    );
    // One that was done is not done again, and no file is written over.
    let again = rollout(&folder, &["--agent", "solver"]);
    assert_eq!(again.code, 2, "{again:?}");
    assert!(again.err.contains("`--resume` goes on with it"), "{again:?}");
    let asked = model.asked().len();
    let resumed = rollout(&folder, &["--agent", "solver", "--resume"]);
    assert_eq!((resumed.code, model.asked().len()), (0, asked), "{resumed:?}");
}

#[test]
fn ids_and_order_are_those_of_the_seed() {
    let model = stepper();
    let run = |words: &[&str]| {
        let folder = Folder::new();
        folder.write("crib.toml", &file(&model.url(), ""));
        let prompts: Vec<_> = (0..8).map(|number| format!("task {number}")).collect();
        let ids: Vec<_> = (0..8).map(|number| format!("t{number}")).collect();
        let all: Vec<_> =
            ids.iter().zip(&prompts).map(|(id, prompt)| (id.as_str(), prompt.as_str())).collect();
        folder.write("tasks.jsonl", &tasks(&all));
        let ran = rollout(&folder, &[&["--concurrency", "1", "--samples", "2"], words].concat());
        assert_eq!(ran.code, 0, "{ran:?}");
        let own = trajectories(&folder).into_iter();
        own.map(|one| json!([one["task"]["id"], one["sample"], one["id"], one["seed"]]))
            .collect::<Vec<_>>()
    };
    let (plain, again) = (run(&[]), run(&[]));
    assert_eq!(plain, again);
    // The samples of a task stand together, in the order of the file.
    let order =
        |all: &[Value]| -> Vec<Value> { all.iter().map(|one| json!([one[0], one[1]])).collect() };
    assert_eq!(json!(order(&plain)[..3]), json!([["t0", 0], ["t0", 1], ["t1", 0]]));
    let (drawn, same) = (run(&["--shuffle", "--seed", "7"]), run(&["--shuffle", "--seed", "7"]));
    assert_eq!(drawn, same);
    assert_ne!(order(&drawn), order(&plain));
    let other = run(&["--shuffle", "--seed", "8"]);
    assert_ne!(order(&other), order(&drawn));
    let ids = |all: &[Value]| -> std::collections::BTreeSet<String> {
        all.iter().map(|one| one[2].to_string()).collect()
    };
    assert_eq!((ids(&plain).len(), ids(&drawn).is_disjoint(&ids(&plain))), (16, true));
}

#[test]
fn a_task_has_the_tools_that_it_names_and_calls_those_that_it_must() {
    let model = ScriptedModel::by(|_, body| {
        let has_result = body["messages"].to_string().contains("\"tool\"");
        if has_result || body["tools"].is_null() {
            return ScriptedTurn::says("done");
        }
        ScriptedTurn::call("hash_text", json!({ "text": "a" }))
    })
    .unwrap();
    let folder = Folder::new();
    let basics = "[[source]]\nid = \"more\"\nprefix = \"\"\nbasics = [\"hash_text\"]\n";
    folder.write("crib.toml", &file(&model.url(), basics));
    let few = json!({ "id": "few", "prompt": "x", "tools": ["text_*"], "answer": 4 });
    let forced = json!({ "id": "forced", "prompt": "x", "force": ["hash_text"] });
    folder.write("tasks.jsonl", &format!("{few}\n{forced}\n"));
    let ran = rollout(&folder, &["--concurrency", "1"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let own = by_task(&folder);
    let names = |one: &Value| -> Vec<Value> {
        let tools = one["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["function"]["name"].clone()).collect()
    };
    assert_eq!(json!(names(&own["few"])), json!(["text_count"]));
    // It called one that is not there for it: that is an observation, and the run goes on.
    let refused = own["few"]["nodes"][2].clone();
    assert_eq!((&refused["role"], &refused["is_error"]), (&json!("tool"), &json!(true)));
    assert_eq!(own["few"]["nodes"][3]["content"], "done");
    assert_eq!(own["few"]["task"]["data"]["answer"], 4);
    let asked = model.asked();
    let choice = asked.iter().map(|one| &one.body["tool_choice"]).find(|choice| !choice.is_null());
    assert_eq!(choice.unwrap()["function"]["name"], "hash_text");
}

#[test]
fn a_long_result_is_cut_in_tokens_and_says_so() {
    let text = "word ".repeat(200);
    let model = {
        let text = text.clone();
        ScriptedModel::by(move |_, body| {
            if body["messages"].to_string().contains("\"tool\"") {
                return ScriptedTurn::says("done");
            }
            ScriptedTurn::call("text_case", json!({ "text": text, "case": "upper" }))
        })
        .unwrap()
    };
    let folder = Folder::new();
    let basics = "[[source]]\nid = \"more\"\nprefix = \"\"\nbasics = true\n";
    let own = file(&model.url(), "").replace(BASICS, basics);
    folder.write("crib.toml", &own);
    folder.write("tasks.jsonl", &tasks(&[("a", "x")]));
    let ran = rollout(&folder, &["--max-result-tokens", "20"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let node = trajectories(&folder).remove(0)["nodes"][2].clone();
    let told = node["content"].as_str().unwrap();
    let cut = node["call"]["cut"].as_array().unwrap();
    assert_eq!(cut[1], 20, "{node}");
    assert!(
        told.contains(&format!("[The first 20 of {} tokens of this result.]", cut[0])),
        "{told}"
    );
    let sent = model.asked().pop().unwrap().body["messages"][2]["content"].clone();
    assert_eq!(sent, told);
}
