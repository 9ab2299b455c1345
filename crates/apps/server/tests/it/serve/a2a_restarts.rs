//! A task at a remote agent goes on while the server is killed, and is taken up and never begun
//! twice.

use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::a2a::{over, says};
use super::agents::BASICS;
use super::remote_agents::RemoteAgent;
use super::support::{Serving, eventually};
use crate::keep::killed;
use crate::process::Folder;

/// An agent of 1.0 over JSON-RPC whose tasks end when there is a file `done` in its folder, and ask
/// for a colour as long as there is a file `ask`. It writes down what it is asked.
const AGENT: &str = r#"
import os, sys, time
from a2a import Agent, serve

tasks = {"begun": [], "cancelled": [], "answered": {}}

def task(name):
    state, words = "WORKING", None
    if os.path.exists("ask") and name not in tasks["answered"]:
        state, words = "INPUT_REQUIRED", "Which colour?"
    elif name in tasks["cancelled"]:
        state = "CANCELED"
    elif os.path.exists("done"):
        state = "COMPLETED"
    status = {"state": "TASK_STATE_" + state}
    if words:
        status["message"] = {"messageId": "m", "role": "ROLE_AGENT", "parts": [{"text": words}]}
    told = {"id": name, "contextId": "c-" + name, "status": status}
    if state == "COMPLETED":
        text = "It is done" + tasks["answered"].get(name, "") + "."
        told["artifacts"] = [{"artifactId": "a", "parts": [{"text": text}]}]
    return told

def named(params):
    said = params.get("message")
    if said is None:
        return params["id"]
    name = said.get("taskId") or "t%d" % len(tasks["begun"])
    if said.get("taskId"):
        tasks["answered"][name] = " in " + said["parts"][0]["text"]
    else:
        tasks["begun"].append(name)
    return name

class Maker(Agent):
    def do_GET(self):
        self.send_error(503) if os.path.exists("away") else super().do_GET()

    card = {"name": "Maker", "description": "Makes things.",
            "capabilities": {"streaming": sys.argv[1] == "streams"}}

    def asked(self, method, params, wrap):
        with open("asked", "a") as log:
            log.write(method + "\n")
        name = named(params)
        if method == "CancelTask":
            tasks["cancelled"].append(name)
        if method in ("SendStreamingMessage", "SubscribeToTask"):
            return self.follow(name, wrap)
        self.answer(wrap({"task": task(name)} if method == "SendMessage" else task(name)))

    def follow(self, name, wrap):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        before = None
        try:
            while True:
                now = task(name)
                if now != before:
                    self.wfile.write(("data: " + wrap({"task": now}) + "\n\n").encode())
                    self.wfile.flush()
                before = now
                if now["status"]["state"] != "TASK_STATE_WORKING":
                    return
                time.sleep(0.02)
        except OSError:
            return

serve(Maker)
"#;

struct Maker {
    _agent: RemoteAgent,
    folder: Folder,
    base: String,
}

impl Maker {
    fn start(way: &str) -> Self {
        let folder = Folder::new();
        let (agent, base) = RemoteAgent::start(&folder, AGENT, &[way]);
        Self { _agent: agent, folder, base }
    }

    fn asked(&self) -> Vec<String> {
        let asked = std::fs::read_to_string(self.folder.path().join("asked")).unwrap_or_default();
        asked.lines().map(str::to_owned).collect()
    }

    /// How many messages it was sent.
    fn messages(&self) -> usize {
        self.asked().iter().filter(|method| method.starts_with("Send")).count()
    }

    fn is(&self, name: &str, there: bool) {
        if there {
            self.folder.write(name, "");
        } else {
            let _ = std::fs::remove_file(self.folder.path().join(name));
        }
    }

    fn forget(&self) {
        self.folder.write("asked", "");
    }
}

/// What a server says once it has the agent.
const LOADED: &str = "`maker`: 1 tools";

/// Each time for something else: the same once more may be held back.
fn asks_the_maker(round: usize) -> ScriptedTurn {
    let message = format!("Make hat {round}.");
    let call = ("maker__ask".to_owned(), json!({ "message": message }));
    ScriptedTurn::Calls(String::new(), vec![call])
}

/// A model that asks the maker, and then says so.
fn model(rounds: usize) -> ScriptedModel {
    let turns =
        (0..rounds).flat_map(|round| [asks_the_maker(round), ScriptedTurn::says("It is over.")]);
    ScriptedModel::of(turns.collect::<Vec<_>>()).unwrap()
}

fn folder(maker: &Maker, model: &ScriptedModel, rules: &str) -> Folder {
    let folder = Folder::new();
    folder.write(
        "crib.toml",
        &format!(
            "{rules}\n[store]\nurl = \"sqlite://crib.db\"\n[model]\nurl = \"{}\"\nname = \"m\"\n\
             {BASICS}[[source]]\nid = \"maker\"\na2a = {{ card = \"{}\" }}\n",
            model.url(),
            maker.base
        ),
    );
    folder
}

/// Sends the message of this name; whoever dies meanwhile answers nothing.
fn send(serving: &Serving, name: &str) -> Option<Value> {
    let mut message = says("A hat, please.");
    message["messageId"] = name.into();
    let asked = json!({ "message": message, "configuration": { "returnImmediately": true } });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": asked });
    let path = "/a2a/default";
    let answer = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        over(serving, "POST", path, Some("1.0"), &body.to_string())
    }));
    let told: Value = serde_json::from_str(&answer.ok()?.body).ok()?;
    Some(told["result"]["task"].clone())
}

fn get(serving: &Serving, id: &str) -> Value {
    let path = format!("/a2a/default/tasks/{id}");
    over(serving, "GET", &path, Some("1.0"), "").json()
}

/// The task, once it is in this state.
fn once(serving: &Serving, id: &str, state: &str) -> Value {
    let mut now = Value::Null;
    let is = eventually(|| {
        now = get(serving, id);
        now["status"]["state"] == state
    });
    assert!(is, "{now}");
    now
}

fn take(serving: &mut Serving) -> Folder {
    let _ = (serving.child.kill(), serving.child.wait());
    std::mem::replace(&mut serving.folder, Folder::new())
}

fn has_died(serving: &mut Serving) -> bool {
    serving.child.try_wait().unwrap().is_some()
}

/// What the model was told of the call.
fn told(model: &ScriptedModel) -> String {
    model.asked().pop().unwrap().body["messages"].as_array().unwrap().last().unwrap().to_string()
}

/// When the server dies, and how many messages the agent has then been sent at the end of it all.
const MOMENTS: &[(&str, usize)] = &[
    ("key begun#1", 1),
    ("admitted#1", 1),
    // It may have been sent.
    ("dispatched#1", 0),
    ("checkpoint left#1", 1),
    ("answered#1", 1),
    ("end recorded#1", 1),
    ("key settled#1", 1),
];

#[test]
fn a_server_that_dies_at_any_moment_finds_the_task_of_a_remote_agent_again() {
    for way in ["streams", "looks"] {
        let (maker, model) = (Maker::start(way), model(MOMENTS.len()));
        let mut own = folder(&maker, &model, "allow = [\"*\"]");
        for (moment, messages) in MOMENTS {
            let what = format!("{way}, {moment}");
            maker.is("done", false);
            maker.forget();
            let mut serving = Serving::start_dying(own, moment).unwrap_or_else(|_| panic!());
            serving.hears(LOADED);
            send(&serving, moment);
            if !moment.starts_with("checkpoint") {
                // It works for a while, so that it is known when it is done.
                eventually(|| maker.messages() == 1 || has_died(&mut serving));
                std::thread::sleep(Duration::from_millis(200));
                maker.is("done", true);
            }
            let died = eventually(|| has_died(&mut serving));
            assert!(died, "{what}: not reached, {:?}", maker.asked());
            let mut serving = Serving::start_in(take(&mut serving), &[]);
            let task = send(&serving, moment).unwrap();
            if moment.starts_with("checkpoint") {
                let is_asked = || maker.asked().contains(&"GetTask".to_owned());
                assert!(eventually(is_asked), "{what}: {:?}", maker.asked());
                maker.is("done", true);
            }
            let id = task["id"].as_str().unwrap();
            let done = once(&serving, id, "TASK_STATE_COMPLETED");
            assert_eq!(done["artifacts"][0]["parts"][0]["text"], "It is over.", "{what}");
            assert_eq!(maker.messages(), *messages, "{what}: {:?}", maker.asked());
            let told = told(&model);
            let (is_done, is_unknown) = (told.contains("It is done."), told.contains("may"));
            assert_eq!((is_done, is_unknown), (*messages == 1, *messages == 0), "{what}: {told}");
            assert!(!maker.asked().contains(&"CancelTask".to_owned()), "{what}");
            own = take(&mut serving);
        }
    }
}

#[test]
fn a_task_that_a_person_let_begin_is_found_again_and_the_person_is_not_asked_once_more() {
    let (maker, model) = (Maker::start("streams"), model(1));
    let own = folder(&maker, &model, "allow = [\"*\"]\nask = [\"maker__*\"]");
    let mut serving = Serving::start_in(own, &[]);
    serving.hears(LOADED);
    let id = send(&serving, "m1").unwrap()["id"].as_str().unwrap().to_owned();
    once(&serving, &id, "TASK_STATE_INPUT_REQUIRED");
    let own = take(&mut serving);
    let mut serving = Serving::start_dying(own, "checkpoint left#1").unwrap_or_else(|_| panic!());
    serving.hears(LOADED);
    let ticket = get(&serving, &id)["status"]["message"]["parts"][1]["data"]["ticket"].clone();
    let path = format!("/v1/tickets/{}", ticket.as_str().unwrap());
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        serving.ask("POST", &path, &json!({ "decision": "approve" }).to_string())
    }));
    assert!(eventually(|| has_died(&mut serving)), "{:?}", maker.asked());
    let serving = Serving::start_in(take(&mut serving), &[]);
    maker.is("done", true);
    once(&serving, &id, "TASK_STATE_COMPLETED");
    assert!(told(&model).contains("It is done."), "{}", told(&model));
    assert_eq!(maker.messages(), 1, "{:?}", maker.asked());
    // The record says of the one call that it took effect.
    let calls = serving.ask("GET", "/v1/record?tool=maker__ask", "").json();
    let endings: Vec<_> =
        calls["calls"].as_array().unwrap().iter().map(|call| &call["ending"]["ending"]).collect();
    assert_eq!(endings, ["succeeded", "succeeded"], "{calls}");
}

#[test]
fn what_a_remote_agent_asks_is_asked_anew_after_a_kill_and_its_answer_goes_to_the_same_task() {
    let (maker, model) = (Maker::start("streams"), model(1));
    maker.is("ask", true);
    let serving = Serving::start_in(folder(&maker, &model, "allow = [\"*\"]"), &[]);
    serving.hears(LOADED);
    let id = send(&serving, "m1").unwrap()["id"].as_str().unwrap().to_owned();
    let question = |serving: &Serving| {
        let asked = once(serving, &id, "TASK_STATE_INPUT_REQUIRED");
        let data = asked["status"]["message"]["parts"][1]["data"].clone();
        data["ticket"].as_str().unwrap().to_owned()
    };
    let first = question(&serving);
    let serving = killed(serving);
    maker.is("done", true);
    let mut second = String::new();
    assert!(eventually(|| {
        second = question(&serving);
        second != first
    }));
    let answer = json!({ "decision": "approve", "content": { "answer": "red" } });
    let path = format!("/v1/tickets/{second}");
    let decided = serving.ask("POST", &path, &answer.to_string()).json();
    assert_eq!(decided["response"]["text"], "It is done in red.", "{decided}");
    once(&serving, &id, "TASK_STATE_COMPLETED");
    assert_eq!(maker.messages(), 2, "{:?}", maker.asked());
}

/// A server whose run has begun a task at the agent, stopped so, and started again.
fn again(maker: &Maker, model: &ScriptedModel, signal: &str) -> (Serving, String) {
    let mut serving = Serving::start_in(folder(maker, model, "allow = [\"*\"]"), &[]);
    serving.hears(LOADED);
    let id = send(&serving, "m1").unwrap()["id"].as_str().unwrap().to_owned();
    assert!(eventually(|| maker.messages() == 1));
    // Its name comes with the first event, and is written down, where nobody but the next process
    // looks.
    std::thread::sleep(Duration::from_millis(300));
    serving.signal(signal);
    assert!(eventually(|| has_died(&mut serving)));
    let serving = Serving::start_in(take(&mut serving), &[]);
    assert!(eventually(|| maker.asked().contains(&"GetTask".to_owned())), "{:?}", maker.asked());
    (serving, id)
}

#[test]
fn a_server_that_is_stopped_leaves_the_task_of_a_remote_agent_alone_and_finds_it_again() {
    let (maker, model) = (Maker::start("streams"), model(1));
    let (serving, id) = again(&maker, &model, "TERM");
    maker.is("done", true);
    once(&serving, &id, "TASK_STATE_COMPLETED");
    assert!(told(&model).contains("It is done."), "{}", told(&model));
    let asked = ["SendStreamingMessage", "GetTask", "SubscribeToTask"];
    assert_eq!(maker.asked(), asked);
}

#[test]
fn a_task_that_was_taken_up_is_cancelled_with_its_run() {
    let (maker, model) = (Maker::start("streams"), model(1));
    let (serving, id) = again(&maker, &model, "KILL");
    let path = format!("/a2a/default/tasks/{id}:cancel");
    let ended = over(&serving, "POST", &path, Some("1.0"), "{}").json();
    assert_eq!(ended["status"]["state"], "TASK_STATE_CANCELED", "{ended}");
    assert!(eventually(|| maker.asked().contains(&"CancelTask".to_owned())), "{:?}", maker.asked());
    assert_eq!(maker.messages(), 1, "{:?}", maker.asked());
}

#[test]
fn a_run_whose_agent_is_away_when_the_server_starts_again_waits_for_it() {
    let (maker, model) = (Maker::start("streams"), model(1));
    let serving = Serving::start_in(folder(&maker, &model, "allow = [\"*\"]"), &[]);
    serving.hears(LOADED);
    let id = send(&serving, "m1").unwrap()["id"].as_str().unwrap().to_owned();
    assert!(eventually(|| maker.messages() == 1));
    maker.is("away", true);
    let serving = killed(serving);
    serving.hears("the source `maker` gives no tools");
    assert_eq!(get(&serving, &id)["status"]["state"], "TASK_STATE_WORKING");
    assert_eq!(model.asked().len(), 1);
    maker.is("done", true);
    maker.is("away", false);
    once(&serving, &id, "TASK_STATE_COMPLETED");
    assert!(told(&model).contains("It is done."), "{}", told(&model));
    assert_eq!(maker.messages(), 1, "{:?}", maker.asked());
}
