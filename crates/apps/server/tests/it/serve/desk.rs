//! A working desk over the wire: an event is added, found, moved, asked about, and gone.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};

use jiff::{ToSpan, Zoned};
use serde_json::{Value, json};
use toolcrib_testkit::google::{CLIENT, CLIENT_SECRET, GoogleServer, REFRESH_TOKEN};

use super::support::{Serving, eventually};
use super::wire::{message, modern};
use crate::process::Folder;

/// A client that is shown the tools, or finds them first.
struct Client<'a> {
    serving: &'a Serving,
    is_lazy: bool,
}

impl Client<'_> {
    fn ask(&self, method: &str, params: Value) -> Value {
        let answer = message(&modern(self.serving, &self.serving.token, "/mcp", (method, params)));
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    fn listed(&self) -> Vec<String> {
        let tools = self.ask("tools/list", json!({}))["tools"].take();
        let tools = tools.as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    /// The request that calls a tool in the way of this client.
    fn request(&self, tool: &str, arguments: &Value) -> Value {
        if self.is_lazy {
            let arguments = json!({ "name": tool, "parameters": arguments });
            return json!({ "name": "invoke_tool", "arguments": arguments });
        }
        json!({ "name": tool, "arguments": arguments })
    }

    /// What a call says, as data.
    fn call(&self, tool: &str, arguments: &Value) -> Value {
        let result = self.ask("tools/call", self.request(tool, arguments));
        assert!(result["isError"] != true && result["requestState"].is_null(), "{tool}: {result}");
        result["structuredContent"].clone()
    }

    /// The question that a call brings up, and the call again with the answer to it.
    fn asked(&self, tool: &str, arguments: &Value) -> (String, impl FnOnce(bool) -> Value) {
        let mut request = self.request(tool, arguments);
        let waiting = self.ask("tools/call", request.clone());
        let question = waiting["inputRequests"]["approval"]["params"]["message"].clone();
        let question = question.as_str().unwrap_or_else(|| unreachable!("{waiting}")).to_owned();
        let answer = move |approve| {
            request["requestState"] = waiting["requestState"].clone();
            let content = json!({ "action": "accept", "content": { "approve": approve } });
            request["inputResponses"] = json!({ "approval": content });
            self.ask("tools/call", request)
        };
        (question, answer)
    }

    /// Looks for what serves a task, as a model in lazy mode does.
    fn finds(&self, task: &str, tool: &str) {
        let query = json!({ "query": task, "limit": 5 });
        let found = self.ask("tools/call", json!({ "name": "discover_tools", "arguments": query }));
        let text = found["content"][0]["text"].as_str().unwrap();
        assert!(text.contains(&format!("- {tool}(")), "{task}: {text}");
        let read = json!({ "name": "get_tool_schema", "arguments": { "name": tool } });
        let read = self.ask("tools/call", read);
        assert!(read["content"][0]["text"].as_str().unwrap().contains("\"parameters\":{"));
    }
}

/// The whole life of an event, in words of every day.
fn the_life_of_an_event(client: &Client<'_>) {
    if client.is_lazy {
        client.finds("put a meeting into my calendar", "add_calendar_event");
        client.finds("delete an event from the calendar", "delete_calendar_event");
    }
    let before = Zoned::now();
    let new = json!({ "title": "Budget review", "start": "tomorrow 2pm", "duration": "30 min" });
    let added = client.call("add_calendar_event", &new)["data"].clone();
    let days = [before, Zoned::now()].map(|now| now.date().checked_add(1.day()).unwrap());
    let start = added["start"].as_str().unwrap();
    let day = days.iter().find(|day| start.starts_with(&format!("{day}T14:00:00")));
    let day = day.unwrap_or_else(|| unreachable!("{added}"));
    assert!(added["end"].as_str().unwrap().starts_with(&format!("{day}T14:30:00")), "{added}");

    let search = json!({ "query": "budget" });
    let found = || {
        let found = client.call("search_calendar_events", &search)["data"].clone();
        let found = found.as_array().unwrap().clone();
        found.iter().map(|event| (event["id"].clone(), event["start"].clone())).collect::<Vec<_>>()
    };
    assert_eq!(found(), [(added["id"].clone(), added["start"].clone())]);

    let moved = json!({ "event_id": added["id"], "start": "tomorrow 3pm" });
    let moved = client.call("update_calendar_event", &moved)["data"].clone();
    assert!(moved["start"].as_str().unwrap().starts_with(&format!("{day}T15:00:00")), "{moved}");
    assert!(moved["end"].as_str().unwrap().starts_with(&format!("{day}T15:30:00")), "{moved}");

    let one = json!({ "event_id": added["id"] });
    let (question, answer) = client.asked("delete_calendar_event", &one);
    let when = day.strftime("%a %-d %b %Y 15:00").to_string();
    assert!(question.contains(&format!("Delete *Budget review*, {when}")), "{question}");
    assert_eq!(found().len(), 1, "nothing is deleted while the question is open");
    let refused = answer(false);
    assert_eq!((refused["isError"].clone(), found().len()), (json!(true), 1), "{refused}");

    let (_, answer) = client.asked("delete_calendar_event", &one);
    let deleted = answer(true);
    assert!(deleted["isError"] != true, "{deleted}");
    assert_eq!(found(), []);
    let again = client.ask("tools/call", client.request("delete_calendar_event", &one));
    assert_eq!(again["isError"], true, "nobody is asked about what is not there: {again}");
}

/// A task is made, found, completed, and gone after a question.
fn the_life_of_a_task(client: &Client<'_>) {
    let titles = || {
        let open = client.call("list_tasks", &json!({}))["data"].clone();
        let titles = open.as_array().unwrap().iter().map(|task| task["title"].clone());
        titles.collect::<Vec<_>>()
    };
    let new = json!({ "title": "Water the plants", "due": "next Friday" });
    let task = client.call("create_task", &new)["data"].clone();
    assert_eq!(titles(), ["Water the plants"]);
    let one = json!({ "task_id": task["id"] });
    client.call("mark_task_complete", &one);
    assert_eq!(titles(), [""; 0]);
    client.call("mark_task_incomplete", &one);
    assert_eq!(titles(), ["Water the plants"]);
    let (question, answer) = client.asked("delete_task", &one);
    assert!(question.contains("Delete the task *Water the plants*"), "{question}");
    let deleted = answer(true);
    assert!(deleted["isError"] != true, "{deleted}");
    assert_eq!(titles(), [""; 0]);
}

/// A letter goes out after a question; it arrives, is read, answered after another, and put away.
fn the_life_of_a_letter(client: &Client<'_>, address: &str, arrives: &dyn Fn()) {
    let new = json!({ "to": [address], "subject": "Minutes", "body": "See you on Monday." });
    let (question, answer) = client.asked("send_email", &new);
    let shown = format!("Send *Minutes* to {address}");
    assert!(question.contains(&shown), "{question}");
    let sent = answer(true);
    assert!(sent["isError"] != true, "{sent}");
    arrives();
    let unread = || {
        let unread = client.call("list_unread_emails", &json!({}))["data"].clone();
        let found = unread.as_array().unwrap().iter().find(|mail| mail["subject"] == "Minutes");
        found.cloned()
    };
    assert!(eventually(|| unread().is_some()), "it arrives");
    let mail = unread().unwrap();
    let one = json!({ "email_id": mail["id"] });
    let read = client.call("get_email", &one)["data"].clone();
    assert!(read.to_string().contains("See you on Monday."), "{read}");
    client.call("mark_email_read", &one);
    assert_eq!(unread(), None);
    let reply = json!({ "email_id": mail["id"], "body": "Until then." });
    let (question, answer) = client.asked("reply_to_email", &reply);
    let shown = format!("Answer *Minutes* to {address}: “Until then.”");
    assert!(question.contains(&shown), "{question}");
    let replied = answer(true);
    assert!(replied["isError"] != true, "{replied}");
    client.call("archive_email", &one);
    let inbox = client.call("read_emails", &json!({}))["data"].clone();
    let left = inbox.as_array().unwrap().iter().filter(|mail| mail["subject"] == "Minutes");
    assert_eq!(left.count(), 0, "{inbox}");
}

fn everything(client: &Client<'_>, address: &str, arrives: &dyn Fn()) {
    the_life_of_an_event(client);
    the_life_of_a_task(client);
    the_life_of_a_letter(client, address, arrives);
}

const LAZY: &str = "discovery = \"lazy\"\n\n[[source]]\nid = \"desk\"\nprefix = \"\"\ndesk = {}\n\n\
                    [[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n";

#[test]
fn there_is_a_working_desk_before_anybody_has_configured_anything() {
    let serving = Serving::start(&[]);
    let client = Client { serving: &serving, is_lazy: false };
    let listed = client.listed();
    for tool in ["add_calendar_event", "list_tasks", "read_emails", "calculate"] {
        assert!(listed.iter().any(|name| name == tool), "{tool}: {listed:?}");
    }
    everything(&client, "local@localhost", &|| ());
}

#[test]
fn a_desk_works_for_who_has_to_find_its_tools_first() {
    let folder = Folder::new();
    folder.write("crib.toml", LAZY);
    let serving = Serving::start_in(folder, &[]);
    let client = Client { serving: &serving, is_lazy: true };
    assert_eq!(client.listed(), ["discover_tools", "get_tool_schema", "invoke_tool"]);
    everything(&client, "local@localhost", &|| ());
}

/// A Dovecot and a server of SMTP, as the tests of the desk start them.
#[expect(dead_code, reason = "the tests of the desk need more of it")]
#[path = "../../../../../sources/desk/tests/it/dovecot.rs"]
mod dovecot;
#[expect(dead_code, reason = "the tests of the desk need more of it")]
#[path = "../../../../../sources/desk/tests/it/sink.rs"]
mod sink;

/// A server of CalDAV that goes away with its test.
struct Radicale {
    url: String,
    process: Child,
    _folder: Folder,
}

impl Radicale {
    fn start() -> Option<Self> {
        #[expect(clippy::disallowed_methods, reason = "the chores tell tests where things are")]
        let Ok(python) = std::env::var("TOOLCRIB_PYTHON_PEERS") else {
            dovecot::skip("no server of CalDAV: `cargo xtask peers` installs it");
            return None;
        };
        let folder = Folder::new();
        folder.write("users", "ann:right\n");
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let (users, data) = (folder.path().join("users"), folder.path().join("data"));
        let settings = format!(
            "[server]\nhosts = 127.0.0.1:{port}\n[auth]\ntype = htpasswd\n\
             htpasswd_filename = {}\nhtpasswd_encryption = plain\ndelay = 0\n\
             [storage]\nfilesystem_folder = {}\n[logging]\nlevel = warning\n",
            users.display(),
            data.display()
        );
        folder.write("config", &settings);
        let mut command = dovecot::command(python);
        command.args(["-m", "radicale", "--config"]).arg(folder.path().join("config"));
        let process = command.stdin(Stdio::null()).spawn().unwrap();
        let radicale = Self { url: format!("http://127.0.0.1:{port}/"), process, _folder: folder };
        assert!(eventually(|| TcpStream::connect(("127.0.0.1", port)).is_ok()));
        Some(radicale)
    }
}

impl Drop for Radicale {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_desk_works_at_servers_of_caldav_imap_and_smtp() {
    let Some(radicale) = Radicale::start() else { return };
    let Some(dovecot) = dovecot::Dovecot::start("serve") else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let maildir = Some(dovecot.maildir("user"));
    let sink = runtime.block_on(sink::Sink::start(sink::Odd::Not, maildir, None));
    let folder = Folder::new();
    folder.write("dav.password", "right");
    folder.write("mail.password", "sec ret\"");
    let file = format!(
        "[[source]]\nid = \"desk\"\nprefix = \"\"\n[source.desk]\n\
         caldav = {{ url = \"{}\", user = \"ann\", password = \"${{file:dav.password}}\" }}\n\
         [source.desk.mail]\nimap = \"imap://127.0.0.1:{}\"\nsmtp = \"smtp://127.0.0.1:{}\"\n\
         from = \"User <user@mail.test>\"\nuser = \"user\"\n\
         password = \"${{file:mail.password}}\"\n",
        radicale.url, dovecot.port, sink.port
    );
    folder.write("crib.toml", &file);
    let serving = Serving::start_in(folder, &[]);
    let client = Client { serving: &serving, is_lazy: false };
    everything(&client, "user@mail.test", &|| ());
    assert_eq!(sink.taken().len(), 2, "a letter and its answer went out by SMTP");
}

#[test]
fn a_desk_works_at_a_server_that_speaks_the_documents_of_google() {
    let google = GoogleServer::start().unwrap();
    let folder = Folder::new();
    folder.write("client.secret", CLIENT_SECRET);
    folder.write("refresh.token", REFRESH_TOKEN);
    let file = format!(
        "[[source]]\nid = \"desk\"\nprefix = \"\"\n[source.desk.google]\nclient_id = \"{CLIENT}\"\n\
         client_secret = \"${{file:client.secret}}\"\nrefresh_token = \"${{file:refresh.token}}\"\n\
         base_url = \"{}\"\n",
        google.base()
    );
    folder.write("crib.toml", &file);
    let serving = Serving::start_in(folder, &[]);
    let client = Client { serving: &serving, is_lazy: false };
    let arrives = || {
        google.deliver(
            "From: Ann <ann@example.org>\nTo: me@example.org\nSubject: Minutes\n\
             Message-ID: <minutes@example.org>\nDate: Sun, 22 Nov 2026 10:00:00 +0000\n\n\
             See you on Monday.\n",
        );
    };
    everything(&client, "ann@example.org", &arrives);
    assert_eq!((google.sent().len(), google.violations()), (2, Vec::new()));
}
