//! A session of an older client opens nothing by itself: each of its requests is asked who sends
//! it, from where and what for, as any other is.

use serde_json::{Value, json};

use super::credentials::bent;
use super::oracle::{Operation, Oracle, document};
use super::support::{Answer, Serving, bearer};
use super::wire::message;
use crate::process::Folder;

const REVISIONS: [&str; 3] = ["2025-11-25", "2025-06-18", "2025-03-26"];

struct Session<'a> {
    serving: &'a Serving,
    revision: &'static str,
    id: String,
}

/// A server before an API that remembers what it was asked; nobody may see `evil`.
fn serving() -> (Serving, Oracle) {
    let oracle = Oracle::start();
    let operation = |name: &str| Operation { name: name.to_owned(), word: name.to_owned() };
    let (good, evil) = (operation("good"), operation("evil"));
    let folder = Folder::new();
    folder.write("api.json", &document(&[&good, &evil]).to_string());
    folder.write(
        "crib.toml",
        &format!(
            "allow = [\"good\"]\n\n[profile.x]\nallow = [\"*\"]\n\n[[source]]\nid = \"api\"\n\
             prefix = \"\"\nopenapi = {{ document = \"api.json\", base_url = \"{}\" }}\n",
            oracle.url
        ),
    );
    let serving = Serving::start_in(folder, &[]);
    serving.hears("`api`: 2 tools");
    (serving, oracle)
}

/// A request at the MCP door with these lines and no others.
fn send(serving: &Serving, method: &str, lines: &[String], body: &str) -> Answer {
    let lines = lines.iter().fold(String::new(), |all, line| all + line + "\r\n");
    serving.send(&format!("{method} /mcp HTTP/1.1\r\n{lines}"), body)
}

impl<'a> Session<'a> {
    fn begin(serving: &'a Serving, revision: &'static str) -> Self {
        let mut session = Self { serving, revision, id: String::new() };
        let hello = json!({ "protocolVersion": revision, "capabilities": {},
            "clientInfo": { "name": "t", "version": "1" } });
        let begun = session.asks("initialize", &hello);
        let name = |line: &&str| line.to_lowercase().starts_with("mcp-session-id:");
        let line = begun.head.lines().find(name).unwrap_or_else(|| unreachable!("{begun:?}"));
        line.clone_into(&mut session.id);
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let told = send(serving, "POST", &session.lines(None, None), &ready.to_string());
        assert_eq!(told.status, 202, "{told:?}");
        session
    }

    /// The lines of its requests, with others in the place of who sends it and from where.
    fn lines(&self, who: Option<Vec<String>>, host: Option<Vec<String>>) -> Vec<String> {
        let mut lines = host.unwrap_or_else(|| vec![format!("Host: {}", self.serving.address)]);
        lines.extend(who.unwrap_or_else(|| vec![bearer(&self.serving.token)]));
        lines.push("Content-Type: application/json".to_owned());
        lines.push("Accept: application/json, text/event-stream".to_owned());
        lines.push(format!("MCP-Protocol-Version: {}", self.revision));
        lines.extend(Some(self.id.clone()).filter(|id| !id.is_empty()));
        lines
    }

    fn asks(&self, method: &str, params: &Value) -> Answer {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        send(self.serving, "POST", &self.lines(None, None), &body.to_string())
    }

    fn calls(&self, name: &str) -> Answer {
        self.asks("tools/call", &json!({ "name": name, "arguments": {} }))
    }
}

fn call(name: &str) -> String {
    let params = json!({ "name": name, "arguments": {} });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string()
}

#[test]
fn a_session_believes_no_bad_credential_and_goes_on_for_its_own() {
    let (serving, oracle) = serving();
    let session = Session::begin(&serving, REVISIONS[0]);
    for (name, who) in bent(&serving.token) {
        for method in ["POST", "GET", "DELETE"] {
            let body = if method == "POST" { call("good") } else { String::new() };
            let answer = send(&serving, method, &session.lines(Some(who.clone()), None), &body);
            assert_eq!(answer.problem(), "401 unauthenticated", "{method} {name}: {answer:?}");
        }
    }
    assert_eq!(oracle.asked(), Vec::<String>::new());
    assert_eq!(message(&session.calls("good"))["result"]["isError"], json!(false));
}

#[test]
fn a_session_of_another_caller_is_to_everybody_as_if_it_were_made_up() {
    let (serving, oracle) = serving();
    let other = serving.token_of("other");
    for revision in REVISIONS {
        let session = Session::begin(&serving, revision);
        for method in ["POST", "GET", "DELETE"] {
            let body = if method == "POST" { call("good") } else { String::new() };
            let ask = |session: &Session<'_>, id: &str| {
                let who = vec![bearer(&other)];
                let session = Session { id: id.to_owned(), ..*session };
                let answer = send(&serving, method, &session.lines(Some(who), None), &body);
                (answer.status, answer.body)
            };
            let stolen = ask(&session, &session.id);
            assert_eq!(stolen, ask(&session, "Mcp-Session-Id: made-up"), "{method} {revision}");
            assert_eq!(stolen.0, 404, "{method} {revision}: {stolen:?}");
        }
        assert_eq!(oracle.asked(), Vec::<String>::new());
        assert_eq!(session.asks("ping", &json!({})).status, 200);
    }
}

#[test]
fn a_session_is_asked_from_where_it_should_be_and_in_json() {
    let (serving, oracle) = serving();
    let session = Session::begin(&serving, REVISIONS[0]);
    let own = format!("Host: {}", serving.address);
    let origin = |name: &str| vec![own.clone(), format!("Origin: {name}")];
    for (expected, host) in [
        ("403 bad-host", vec!["Host: evil.example".to_owned()]),
        ("403 bad-host", vec!["Host: 127.0.0.1:1".to_owned()]),
        ("400 bad-request", vec![own.clone(), own.clone()]),
        ("400 bad-request", vec![]),
        ("403 bad-origin", origin("http://evil.example")),
        ("403 bad-origin", origin("null")),
        ("403 bad-origin", origin("http://127.0.0.1.evil.example")),
    ] {
        for method in ["POST", "GET", "DELETE"] {
            let body = if method == "POST" { call("good") } else { String::new() };
            let answer = send(&serving, method, &session.lines(None, Some(host.clone())), &body);
            assert_eq!(answer.problem(), expected, "{method} {host:?}: {answer:?}");
        }
    }
    let plain = |line: String| line.replace("application/json", "text/plain");
    let lines: Vec<_> = session.lines(None, None).into_iter().map(plain).collect();
    assert_eq!(send(&serving, "POST", &lines, &call("good")).problem(), "415 not-json");
    assert_eq!(oracle.asked(), Vec::<String>::new());
}

#[test]
fn a_forbidden_tool_is_to_a_session_as_one_that_is_not_there() {
    let (serving, oracle) = serving();
    for revision in REVISIONS {
        let session = Session::begin(&serving, revision);
        let listed = message(&session.asks("tools/list", &json!({})));
        let tools = listed["result"]["tools"].as_array().unwrap().iter();
        let names: Vec<_> = tools.map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["good"], "{revision}");
        let (forbidden, absent) = (session.calls("evil"), session.calls("none"));
        let said = |answer: &Answer, name: &str| (answer.status, answer.body.replace(name, "NAME"));
        assert_eq!(said(&forbidden, "evil"), said(&absent, "none"), "{revision}");
    }
    assert_eq!(oracle.asked(), Vec::<String>::new());
}
