//! Agents that have each other as tools: what they ask each other ends.

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::a2a::asks;
use super::agents::{ALL, BASICS};
use super::support::{Serving, eventually};
use crate::process::Folder;

const AGENT: &str = include_str!("sdks/a2a_forwards.py");

/// A model that asks the other agent, and then says what that said.
fn asks_on() -> ScriptedModel {
    ScriptedModel::by(|_, body| {
        let last = body["messages"].as_array().and_then(|all| all.last()).cloned();
        let last = last.unwrap_or_default();
        if last["role"] == "tool" {
            return ScriptedTurn::says(last["content"].as_str().unwrap_or_default());
        }
        ScriptedTurn::call("ask", json!({ "message": "And what do you say?" }))
    })
    .unwrap()
}

/// The file of a crib with such a model, whose only tool is the agent at the address, if there is
/// one.
fn file(model: &ScriptedModel, other: Option<&str>) -> String {
    let own = format!("{ALL}\n[model]\nurl = \"{}\"\nname = \"m\"\n", model.url());
    let Some(other) = other else { return format!("{own}{BASICS}") };
    format!(
        "{own}[[source]]\nid = \"other\"\nprefix = \"\"\na2a = {{ card = \"{other}\", url = \
         \"{other}/a2a/default\", auth = {{ bearer = \"${{file:agent.token}}\" }} }}\n\
         [tool.ask]\neffect = \"read\"\n"
    )
}

fn crib(model: &ScriptedModel, other: &str, token: &str) -> Serving {
    let folder = Folder::new();
    folder.write("agent.token", token);
    folder.write("crib.toml", &file(model, Some(other)));
    let serving = Serving::start_in(folder, &[]);
    serving.hears("`other`: 1 tools");
    serving
}

/// Gives a crib that began without it the other agent.
fn leads_to(crib: &Serving, model: &ScriptedModel, other: &str, token: &str) {
    crib.folder.write("agent.token", token);
    crib.folder.write("crib.toml", &file(model, Some(other)));
    crib.hears("`other`: 1 tools");
}

fn asked(to: &Serving, metadata: &Value) -> Value {
    let message = json!({
        "messageId": "m", "role": "ROLE_USER", "parts": [{ "text": "What do you say?" }],
        "metadata": metadata,
    });
    asks(to, "SendMessage", &json!({ "message": message }))
}

/// The requests to a model that began a run.
fn runs(model: &ScriptedModel) -> usize {
    let last = |body: &Value| body["messages"].as_array().and_then(|all| all.last()).cloned();
    let is_first = |body: &Value| last(body).is_some_and(|last| last["role"] != "tool");
    model.asked().iter().filter(|asked| is_first(&asked.body)).count()
}

#[test]
fn agents_that_ask_each_other_in_a_ring_end_and_say_why() {
    let (one, two) = (asks_on(), asks_on());
    let folder = Folder::new();
    folder.write("crib.toml", &file(&one, None));
    let first = Serving::start_in(folder, &[]);
    let second = crib(&two, &format!("http://{}", first.address), &first.token);
    leads_to(&first, &one, &format!("http://{}", second.address), &second.token);
    let done = asked(&first, &json!({}));
    let task = &done["result"]["task"];
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED", "{done}");
    let text = task["artifacts"][0]["parts"][0]["text"].as_str().unwrap();
    assert!(text.contains("8 agents have handed this request on already"), "{done}");
    // It began with the first, and was handed on eight times.
    assert_eq!((runs(&one), runs(&two)), (5, 4));
    // Whoever says that it came far is taken at their word.
    asked(&first, &json!({ "toolcrib/hops": 7.0 }));
    assert_eq!((runs(&one), runs(&two)), (6, 5));
    let refused = asked(&first, &json!({ "toolcrib/hops": 9 }));
    assert_eq!(refused["error"]["code"], -32004, "{refused}");
    let why = refused["error"]["message"].as_str().unwrap();
    assert!(why.contains("more than 8 agents have handed this request on"), "{refused}");
    assert_eq!((runs(&one), runs(&two)), (6, 5));
}

#[test]
fn a_place_without_a_model_counts_who_handed_a_call_on_too() {
    let model = asks_on();
    let folder = Folder::new();
    folder.write("crib.toml", &file(&model, None));
    let other = Serving::start_in(folder, &[]);
    let folder = Folder::new();
    folder.write("agent.token", &other.token);
    let text = file(&model, Some(&format!("http://{}", other.address)));
    let (_, source) = text.split_once("[[source]]").unwrap();
    folder.write("crib.toml", &format!("{ALL}\n[[source]]{source}"));
    let tools = Serving::start_in(folder, &[]);
    tools.hears("`other`: 1 tools");
    let call = |hops: u32| {
        let data = json!({ "tool": "ask", "arguments": { "message": "Hello." } });
        let message = json!({
            "messageId": "m", "role": "ROLE_USER", "parts": [{ "data": data }],
            "metadata": { "toolcrib/hops": hops },
        });
        asks(&tools, "SendMessage", &json!({ "message": message }))
    };
    let outcome = |hops| call(hops)["result"]["message"]["metadata"]["outcome"].clone();
    assert_eq!((outcome(7), outcome(8)), (json!("done"), json!("failed")));
    assert_eq!(call(9)["error"]["code"], -32004);
}

/// An agent of the SDK in Python that asks the one behind it what it is asked; ends with its test.
struct ForwardingAgent {
    base: String,
    child: Child,
}

impl ForwardingAgent {
    fn start(folder: &Folder, to: &Serving) -> Option<Self> {
        let Some(python) = python() else {
            let out = &mut std::io::stdout();
            writeln!(out, "[skipped] no agent in Python: `cargo xtask peers` installs it").unwrap();
            return None;
        };
        folder.write("forwards.py", AGENT);
        // Nobody else takes a port that was free a moment ago, in all likelihood.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        #[expect(clippy::disallowed_methods, reason = "the agent is a program")]
        let mut agent = Command::new(python);
        let behind = format!("http://{}", to.address);
        agent.args(["-W", "ignore", "forwards.py", &port.to_string(), &behind, &to.token]);
        agent.current_dir(folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
        let agent =
            Self { base: format!("http://127.0.0.1:{port}"), child: agent.spawn().unwrap() };
        assert!(eventually(|| TcpStream::connect(("127.0.0.1", port)).is_ok()));
        Some(agent)
    }
}

impl Drop for ForwardingAgent {
    fn drop(&mut self) {
        let _ = (self.child.kill(), self.child.wait());
    }
}

#[expect(clippy::disallowed_methods, reason = "the test run says where it installed its peers")]
fn python() -> Option<PathBuf> {
    std::env::var_os("TOOLCRIB_PYTHON_A2A").map(PathBuf::from)
}

#[test]
fn a_ring_through_an_agent_of_others_ends_where_it_hands_the_count_on() {
    let model = asks_on();
    let folder = Folder::new();
    folder.write("crib.toml", &file(&model, None));
    let crib = Serving::start_in(folder, &[]);
    let beside = Folder::new();
    let Some(agent) = ForwardingAgent::start(&beside, &crib) else { return };
    let text = file(&model, Some(&agent.base));
    let text = text.replace(&format!(", url = \"{}/a2a/default\"", agent.base), "");
    crib.folder.write("agent.token", "any");
    crib.folder.write("crib.toml", &text);
    crib.hears("`other`: 1 tools");
    let done = asked(&crib, &json!({}));
    let task = &done["result"]["task"];
    let text = task["artifacts"][0]["parts"][0]["text"].as_str().unwrap_or_default();
    assert!(text.contains("8 agents have handed this request on already"), "{done}");
    // The agent between counts nothing itself.
    assert_eq!(runs(&model), 9);
}
