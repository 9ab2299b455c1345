//! Agents in the terminal, over a scripted model.

use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

#[cfg(target_os = "linux")]
use crate::process::at_terminal;
use crate::process::{Folder, run, shell};

const BASICS: &str = "[[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n";

fn file(model: &ScriptedModel, more: &str) -> String {
    format!("{more}\n[model]\nurl = \"{}\"\nname = \"scripted\"\n{BASICS}", model.url())
}

fn counts(text: &str) -> ScriptedTurn {
    ScriptedTurn::call("text_count", json!({ "text": text }))
}

#[test]
fn one_message_is_answered_with_the_calls_in_sight() {
    let model = ScriptedModel::of([counts("a b"), ScriptedTurn::says("Two words.")]).unwrap();
    let folder = Folder::new();
    folder.write("crib.toml", &file(&model, "allow = [\"*\"]"));
    let said = folder.run_with(&["chat", "How many words?"], "a b");
    assert_eq!((said.code, said.out.as_str()), (0, "Two words.\n"), "{said:?}");
    assert!(said.err.contains("calls `text_count` with {\"text\":\"a b\"}"), "{said:?}");
    let asked = model.asked().remove(0).body["messages"].to_string();
    assert!(asked.contains("How many words?\\n\\na b"), "{asked}");
}

#[test]
fn a_program_reads_every_event_as_a_line_of_json() {
    let model = ScriptedModel::of([counts("a b"), ScriptedTurn::says("Two words.")]).unwrap();
    let folder = Folder::new();
    folder.write("crib.toml", &file(&model, "allow = [\"*\"]"));
    let said = folder.run(&["chat", "How many words in `a b`?", "--json"]);
    assert_eq!(said.code, 0, "{said:?}");
    let events: Vec<Value> =
        said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(
        kinds,
        [
            "turn.started",
            "calls",
            "call.done",
            "turn.started",
            "text.delta",
            "text.delta",
            "usage",
            "ended"
        ]
    );
    assert_eq!(events[6]["usage"]["input_tokens"], 200);
    assert_eq!(events[7]["end"], json!({ "stop": "done", "text": "Two words." }));
}

#[test]
fn without_a_model_it_teaches_what_to_write_where() {
    let said = run(&["chat", "Hello"]);
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("[model]\nkind = \"ollama\""), "{said:?}");
    assert!(said.err.contains("toolcrib model check"), "{said:?}");
}

#[test]
fn a_model_is_checked_by_asking_it() {
    let time = || ScriptedTurn::call("time_in", json!({ "city": "Paris" }));
    let noon = || ScriptedTurn::says("It is noon.");
    let model = ScriptedModel::of([time(), noon(), noon(), time(), time()]).unwrap();
    let folder = Folder::new();
    folder.write("crib.toml", &file(&model, ""));
    let good = folder.run(&["model", "check", "--json"]);
    let told = "it calls tools; it reports its tokens";
    assert_eq!((good.code, good.json()[0]["told"].as_str()), (0, Some(told)), "{good:?}");
    let prose = folder.run(&["model", "check"]);
    assert_eq!(prose.code, 1, "{prose:?}");
    assert!(prose.out.contains("called no tool when it was asked to"), "{prose:?}");
    let endless = folder.run(&["model", "check"]);
    assert_eq!(endless.code, 1, "{endless:?}");
    assert!(endless.out.contains("no answer once it has their results"), "{endless:?}");
    let no_key = ScriptedTurn::Refuses(401, Vec::new(), "{}".to_owned());
    let model = ScriptedModel::of([no_key]).unwrap();
    folder.write("crib.toml", &file(&model, ""));
    let refused = folder.run(&["model", "check"]);
    assert_eq!(refused.code, 1, "{refused:?}");
    assert!(refused.out.contains("look at `key` of `[model]`"), "{refused:?}");
}

#[test]
fn a_model_that_writes_calls_into_its_text_is_found_and_then_works() {
    let said = [
        (
            "hermes",
            "<tool_call>{\"name\": \"time_in\", \"arguments\": {\"city\": \"Paris\"}}</tool_call>",
        ),
        ("json", "{\"name\": \"time_in\", \"arguments\": {\"city\": \"Paris\"}}"),
        ("llama", "[time_in(city=\"Paris\")]"),
        ("cline", "<time_in>\n<city>Paris</city>\n</time_in>"),
        ("react", "Thought: hm\nAction: time_in\nAction Input: {\"city\": \"Paris\"}"),
    ];
    for (word, call) in said {
        let last = if word == "react" { "Final Answer: noon" } else { "It is noon." };
        let model = ScriptedModel::of([call, call, last].map(ScriptedTurn::says)).unwrap();
        let folder = Folder::new();
        folder.write("crib.toml", &file(&model, ""));
        let found = folder.run(&["model", "check"]);
        assert_eq!(found.code, 1, "{found:?}");
        let cure = format!("into its text: add `calls = \"{word}\"` to its `[model]`");
        assert!(found.out.contains(&cure), "{found:?}");
        let url = model.url();
        let cured = format!("[model]\nurl = \"{url}\"\nname = \"scripted\"\ncalls = \"{word}\"\n");
        folder.write("crib.toml", &format!("{cured}{BASICS}"));
        let works = folder.run(&["model", "check"]);
        assert_eq!(works.code, 0, "{works:?}");
        assert!(works.out.contains("it calls tools"), "{works:?}");
    }
}

#[test]
fn another_model_answers_in_the_place_of_one_that_cannot_and_each_is_checked_by_itself() {
    let busy = || ScriptedTurn::Refuses(503, Vec::new(), "{}".to_owned());
    let first = ScriptedModel::of([busy(), busy()]).unwrap();
    let second = ScriptedModel::of(["Hello."].map(ScriptedTurn::says)).unwrap();
    let model = |id: &str, model: &ScriptedModel| {
        let url = model.url();
        format!("[[model]]\nid = \"{id}\"\nurl = \"{url}\"\nname = \"{id}\"\nretries = 0\n")
    };
    let agent = "[agent.x]\nmodel = \"first\"\nfallback = [\"second\"]\n";
    let folder = Folder::new();
    let text = [model("first", &first), model("second", &second), agent.to_owned()].concat();
    folder.write("crib.toml", &format!("{text}{BASICS}"));
    let said = folder.run(&["chat", "Hello"]);
    assert_eq!((said.code, said.out.as_str()), (0, "Hello.\n"), "{said:?}");
    assert!(said.err.contains("the model `second` is asked instead"), "{said:?}");
    let checked = folder.run(&["model", "check", "--json"]).json();
    let models: Vec<_> = checked.as_array().unwrap().iter().map(|row| &row["model"]).collect();
    assert_eq!(models, ["first", "second"], "{checked}");
    assert!(checked[0]["told"].as_str().unwrap().contains("cannot answer now"), "{checked}");
}

#[test]
fn a_call_in_the_text_of_a_model_is_run_and_not_shown() {
    let call = "I count.\n<tool_call>{\"name\": \"text_count\", \"arguments\": {\"text\": \"a b\"}}\
                </tool_call>";
    let model = ScriptedModel::of([call, "Two words."].map(ScriptedTurn::says)).unwrap();
    let folder = Folder::new();
    let text = file(&model, "allow = [\"*\"]").replace("[model]", "[model]\ncalls = \"hermes\"");
    folder.write("crib.toml", &text);
    let said = folder.run(&["chat", "How many words in `a b`?"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(!said.out.contains("tool_call") && said.out.ends_with("Two words.\n"), "{said:?}");
    assert!(said.err.contains("calls `text_count` with {\"text\":\"a b\"}"), "{said:?}");
}

#[test]
fn the_first_turn_calls_what_the_file_says_and_the_next_is_free() {
    let model = ScriptedModel::of([counts("a b"), ScriptedTurn::says("Two words.")]).unwrap();
    let folder = Folder::new();
    let text = file(&model, "allow = [\"*\"]");
    folder.write("crib.toml", &format!("{text}[agent.x]\nforce = [\"text_count\"]\n"));
    let said = folder.run(&["chat", "How many words in `a b`?"]);
    assert_eq!((said.code, said.out.as_str()), (0, "Two words.\n"), "{said:?}");
    let choices: Vec<_> =
        model.asked().iter().map(|asked| asked.body["tool_choice"].clone()).collect();
    let forced = json!({ "type": "function", "function": { "name": "text_count" } });
    assert_eq!(choices, [forced, Value::Null]);
    folder.write("crib.toml", &format!("{text}[agent.x]\nforce = [\"text_coutn\"]\n"));
    let said = folder.run(&["chat", "How many words in `a b`?"]);
    assert_eq!((said.code, said.out.as_str()), (1, ""), "{said:?}");
    assert!(said.err.contains("text_coutn"), "{said:?}");
}

#[test]
fn a_call_that_nobody_can_approve_does_not_run() {
    let model = ScriptedModel::of([counts("a")]).unwrap();
    let folder = Folder::new();
    folder.write("crib.toml", &file(&model, "ask = [\"*\"]"));
    let said = folder.run(&["chat", "Count."]);
    assert_eq!((said.code, said.out.as_str()), (4, ""), "{said:?}");
    assert!(said.err.contains("did not run: nobody is there"), "{said:?}");
    let model = ScriptedModel::of([counts("a"), ScriptedTurn::says("One.")]).unwrap();
    folder.write("crib.toml", &file(&model, "ask = [\"*\"]"));
    let said = folder.run(&["chat", "Count.", "--yes"]);
    assert_eq!((said.code, said.out.as_str()), (0, "One.\n"), "{said:?}");
}

#[test]
fn a_model_that_nobody_serves_is_told_in_words_with_the_cure() {
    let folder = Folder::new();
    let text = format!("[model]\nurl = \"http://127.0.0.1:9/v1\"\nname = \"m\"\n{BASICS}");
    folder.write("crib.toml", &text);
    let said = folder.run(&["chat", "Hello."]);
    assert_eq!((said.code, said.out.as_str()), (1, ""), "{said:?}");
    assert!(
        said.err.contains("error: nobody answers for the model `m`: is its server"),
        "{said:?}"
    );
    assert!(said.err.contains("Connection refused"), "{said:?}");
}

#[test]
fn a_thread_goes_on_where_it_was() {
    let model = ScriptedModel::of(["Hello Ann.", "Ann."].map(ScriptedTurn::says)).unwrap();
    let folder = Folder::new();
    folder.write("crib.toml", &file(&model, ""));
    folder.run(&["chat", "I am Ann."]);
    let said = folder.run(&["chat", "--resume", "Who am I?"]);
    assert_eq!((said.code, said.out.as_str()), (0, "Ann.\n"), "{said:?}");
    let messages = model.asked().remove(1).body["messages"].clone();
    let said: Vec<_> = messages.as_array().unwrap().iter().map(|one| &one["content"]).collect();
    assert_eq!(said, ["I am Ann.", "Hello Ann.", "Who am I?"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_person_talks_approves_and_looks_around() {
    let model =
        ScriptedModel::of([counts("a b"), ScriptedTurn::says("Two."), ScriptedTurn::says("Bye.")])
            .unwrap();
    let folder = Folder::new();
    folder.write("crib.toml", &file(&model, "ask = [\"category:text\"]"));
    let line = "toolcrib --config crib.toml chat";
    let typed = "Count `a b`.\ny\n/cost\n/tools\n/nonsense\nGood bye.\n/quit\n";
    let said = at_terminal(&folder, line, typed);
    assert_eq!(said.code, 0, "{said:?}");
    let in_order = [
        "`assistant` by `scripted`",
        "calls `text_count`",
        "Run `text_count` with {\"text\":\"a b\"}?",
        "`text_count`: {\"characters\":3",
        "Two.",
        "200 tokens read, 20 written; cost: unknown: the model has no `price`",
        "text_count: Counts the characters",
        "there is no command /nonsense",
        "Bye.",
    ];
    let mut rest = said.out.as_str();
    for part in in_order {
        let place = rest.find(part);
        assert!(place.is_some(), "`{part}` is not in `{rest}`");
        rest = &rest[place.unwrap()..];
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_call_that_nobody_decided_about_is_asked_again_by_the_next_chat_and_runs_once() {
    let model = ScriptedModel::of([counts("a b"), ScriptedTurn::says("Two.")]).unwrap();
    let folder = Folder::new();
    folder.write("crib.toml", &file(&model, "ask = [\"*\"]"));
    let line = "toolcrib --config crib.toml chat";
    // The person closes the terminal while they are asked.
    let left = at_terminal(&folder, line, "Count `a b`.\n");
    assert_eq!(left.code, 4, "{left:?}");
    assert!(left.out.contains("it waits: `toolcrib chat --resume` asks again"), "{left:?}");
    let told = at_terminal(&folder, line, "/quit\n");
    assert!(told.out.contains("/resume goes on with it"), "{told:?}");
    let nobody = shell(&folder, &format!("{line} --resume"));
    assert_eq!((nobody.code, nobody.out.as_str()), (4, ""), "{nobody:?}");
    assert_eq!(model.asked().len(), 1);
    let said = shell(&folder, &format!("{line} --resume --yes --json"));
    assert_eq!(said.code, 0, "{said:?}");
    let events: Vec<Value> =
        said.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let done: Vec<_> = events.iter().filter(|event| event["type"] == "call.done").collect();
    assert_eq!(done.len(), 1, "{said:?}");
    assert_eq!(events.last().unwrap()["end"], json!({ "stop": "done", "text": "Two." }));
    let messages = model.asked().remove(1).body["messages"].clone();
    let roles: Vec<_> = messages.as_array().unwrap().iter().map(|one| &one["role"]).collect();
    assert_eq!(roles, ["user", "assistant", "tool"]);
}

#[test]
fn a_chat_that_was_killed_goes_on_where_it_was() {
    let late = Box::new(ScriptedTurn::says("Never."));
    let model = ScriptedModel::of([
        counts("a b"),
        ScriptedTurn::Waits(Duration::from_mins(10), late),
        ScriptedTurn::says("Two."),
        ScriptedTurn::says("You are welcome."),
    ])
    .unwrap();
    let folder = Folder::new();
    folder.write("crib.toml", &file(&model, "allow = [\"*\"]"));
    let nothing = shell(&folder, "toolcrib --config crib.toml chat --resume Thank you.");
    assert_eq!(nothing.code, 2, "{nothing:?}");
    assert!(nothing.err.contains("there is no thread of `assistant` to go on with"), "{nothing:?}");
    shell(
        &folder,
        "toolcrib --config crib.toml chat 'Count `a b`.' 2>err </dev/null & child=$!; \
         until grep -q '`text_count`: ' err; do sleep 0.05; done; kill -9 $child; wait",
    );
    let said = shell(&folder, "toolcrib --config crib.toml chat --resume Thank you.");
    assert_eq!((said.code, said.out.as_str()), (0, "Two.\nYou are welcome.\n"), "{said:?}");
    let asked = model.asked();
    let messages = asked.last().unwrap().body["messages"].clone();
    let roles: Vec<_> = messages.as_array().unwrap().iter().map(|one| &one["role"]).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "user"]);
}
