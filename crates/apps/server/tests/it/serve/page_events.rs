//! What happens, as events: who is told of what, how a reader goes on, and when a stream ends.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use super::keys::make;
use super::support::{Answer, Serving, bearer, eventually, head};
use crate::process::Folder;

const FILE: &str = "allow = [\"*\"]\nask = [\"uuid_new\"]\n\n\
    [[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n";

/// An event: its id, its name and its data.
type Event = (String, String, Value);

/// A stream of events that is read as it comes.
pub(super) struct Follower {
    stream: TcpStream,
    seen: String,
}

impl Follower {
    pub(super) fn open(serving: &Serving, path: &str, headers: &[&str]) -> Self {
        let mut stream = serving.connect();
        let headers = [headers, &["Connection: close"]].concat();
        write!(stream, "{}\r\n", head("GET", path, serving, &headers)).unwrap();
        Self { stream, seen: String::new() }
    }

    pub(super) fn of(serving: &Serving, token: &str) -> Self {
        let mut follower = Self::open(serving, "/v1/events", &[&bearer(token)]);
        assert_eq!(follower.next().unwrap().1, "hello");
        follower
    }

    /// The next event; `None`: the stream is over.
    fn next(&mut self) -> Option<Event> {
        loop {
            // Each is whole within one chunk.
            if let Some(begin) = self.seen.find("\nid: ").map(|before| before + 1)
                && let Some(length) = self.seen[begin..].find("\n\n")
            {
                let event = self.seen[begin..begin + length].to_owned();
                self.seen.drain(..begin + length);
                let mut lines = event.lines().map(|line| line.split_once(": ").unwrap().1);
                let mut next = || lines.next().unwrap().to_owned();
                let (id, name, data) = (next(), next(), next());
                return Some((id, name, serde_json::from_str(&data).unwrap()));
            }
            let mut piece = [0; 4096];
            match self.stream.read(&mut piece).unwrap() {
                0 => return None,
                read => self.seen += &String::from_utf8_lossy(&piece[..read]),
            }
        }
    }

    /// The events up to one that is wanted, each in short; beats are left out.
    pub(super) fn until(&mut self, is_last: impl Fn(&str, &Value) -> bool) -> Vec<String> {
        let mut told = Vec::new();
        loop {
            let (_, name, data) = self.next().unwrap();
            if name != "beat" {
                told.push(short(&name, &data));
            }
            if is_last(&name, &data) {
                return told;
            }
        }
    }

    pub(super) fn is_over(&mut self) -> bool {
        self.stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        matches!(self.stream.read(&mut [0; 4096]), Ok(0))
    }
}

fn short(name: &str, data: &Value) -> String {
    let words = ["phase", "caller", "tool", "outcome", "verdict"];
    let words = words.into_iter().filter_map(|word| data[word].as_str());
    std::iter::once(name).chain(words).collect::<Vec<_>>().join(" ")
}

fn run(serving: &Serving, token: &str, name: &str, arguments: &Value) -> Answer {
    let body = json!({ "calls": [{ "name": name, "arguments": arguments }] }).to_string();
    let answer = serving.ask_as(token, "POST", "/v1/calls", &body);
    assert_eq!(answer.status, 200, "{answer:?}");
    answer
}

fn sum(serving: &Serving, token: &str) {
    run(serving, token, "calculate", &json!({ "expression": "1+1" }));
}

fn serving() -> Serving {
    let folder = Folder::new();
    folder.write("crib.toml", FILE);
    Serving::start_in(folder, &[])
}

#[test]
fn a_caller_is_told_of_its_own_calls_and_the_operator_of_all() {
    let serving = serving();
    let other = serving.token_of("other");
    let (mut all, mut own) =
        (Follower::of(&serving, &serving.token), Follower::of(&serving, &other));
    sum(&serving, &serving.token);
    let waits = run(&serving, &other, "uuid_new", &json!({})).json();
    let ticket = format!("/v1/tickets/{}", waits["tickets"][0]["ticket"].as_str().unwrap());
    assert_eq!(serving.ask("POST", &ticket, r#"{"decision":"approve"}"#).status, 200);
    sum(&serving, &serving.token);
    sum(&serving, &other);
    let is_last = |name: &str, data: &Value| {
        let is = |key: &str, word: &str| data[key] == word;
        name == "call" && is("phase", "ended") && is("tool", "calculate") && is("caller", "other")
    };
    let of_other = [
        "call started other uuid_new",
        "call ended other uuid_new pending",
        "ticket new other uuid_new",
        "call started other uuid_new",
        "ticket decided other uuid_new allow",
        "call ended other uuid_new done",
        "call started other calculate",
        "call ended other calculate done",
    ];
    let of_local = ["call started local calculate", "call ended local calculate done"];
    let of_all = [&of_local[..], &of_other[..6], &of_local, &of_other[6..]].concat();
    assert_eq!(all.until(is_last), of_all);
    assert_eq!(own.until(is_last), of_other);
}

#[test]
fn a_reader_goes_on_where_it_was_and_is_told_when_something_is_missing() {
    let serving = serving();
    let epoch = serving.ask("GET", "/v1/session", "").json()["server"]["epoch"].clone();
    let token = bearer(&serving.token);
    // Somebody follows all the time, so that events are kept.
    let _stays = Follower::of(&serving, &serving.token);
    let mut first = Follower::open(&serving, "/v1/events", &[&token]);
    let (id, name, hello) = first.next().unwrap();
    assert_eq!((name.as_str(), hello), ("hello", json!({ "epoch": epoch, "cursor": id })));
    sum(&serving, &serving.token);
    let (at, _) = next_call(&mut first);
    drop(first);
    sum(&serving, &serving.token);
    let wanted = ["call ended", "call started", "call ended"];
    let by_header =
        Follower::open(&serving, "/v1/events", &[&token, &format!("Last-Event-ID: {at}")]);
    let by_query = Follower::open(&serving, &format!("/v1/events?after={at}"), &[&token]);
    for mut again in [by_header, by_query] {
        let (_, name, hello) = again.next().unwrap();
        assert_eq!((name.as_str(), &hello["cursor"]), ("hello", &json!(at)));
        let mut last = number(&at);
        for wanted in wanted {
            let (id, data) = next_call(&mut again);
            assert_eq!(format!("call {}", data["phase"].as_str().unwrap()), wanted);
            assert!(number(&id) > last);
            last = number(&id);
        }
    }
    let restarts = |after: &str| {
        let mut again = Follower::open(&serving, &format!("/v1/events?after={after}"), &[&token]);
        let (now, hello, _) = again.next().unwrap();
        let (id, name, _) = again.next().unwrap();
        assert_eq!((hello.as_str(), name.as_str(), &id), ("hello", "reset", &now), "{after}");
    };
    // It is no id, or one of another server, or of an event that is yet to come.
    for other in ["x", "1", "0-1", "%E2%82%AC-1"] {
        restarts(other);
    }
    restarts(&format!("{}-1000000", epoch.as_str().unwrap()));
    for batch in 0..9 {
        let sum = |call: u32| json!({ "expression": format!("{batch}+{call}") });
        let call = |call| json!({ "name": "calculate", "arguments": sum(call) });
        serving.call(&json!({ "calls": (0..64).map(call).collect::<Vec<_>>() }));
    }
    restarts(&at);
}

/// The id and the data of the next event of a call: sources may tell of themselves in between.
fn next_call(follower: &mut Follower) -> (String, Value) {
    loop {
        let (id, name, data) = follower.next().unwrap();
        if name == "call" {
            return (id, data);
        }
    }
}

fn number(id: &str) -> u64 {
    id.rsplit('-').next().unwrap().parse().unwrap()
}

#[test]
fn a_stream_beats_and_ends_with_its_session_or_its_key() {
    let folder = Folder::new();
    let (key, entry) = make(&folder, &["ann", "--tenant", "acme", "--scope", "tools"]);
    folder.write("crib.toml", &(FILE.to_owned() + &entry));
    let serving = Serving::start_in(folder, &[]);
    let token = bearer(&serving.token);
    let json = "Content-Type: application/json";
    let begin = || {
        let signed = serving.send(&head("POST", "/v1/session", &serving, &[&token, json]), "{}");
        let page = format!("Toolcrib-Page: {}", signed.json()["page_key"].as_str().unwrap());
        let set = signed.head.lines().find_map(|line| line.strip_prefix("set-cookie: "));
        (format!("Cookie: {}", set.unwrap().split(';').next().unwrap()), page)
    };
    let (ends, stays) = (begin(), begin());
    let half = serving.send(&head("GET", "/v1/events", &serving, &[&ends.1]), "");
    assert_eq!(half.problem(), "401 unauthenticated");
    let open =
        |(cookie, page): &(String, String)| Follower::open(&serving, "/v1/events", &[cookie, page]);
    let (mut of_session, mut of_other) = (open(&ends), open(&stays));
    let mut of_key = Follower::of(&serving, &key);
    assert_eq!(of_session.next().unwrap().1, "hello");
    of_session.until(|name, _| name == "beat");
    let halves = [ends.0.as_str(), ends.1.as_str()];
    assert_eq!(serving.send(&head("DELETE", "/v1/session", &serving, &halves), "").status, 200);
    assert!(eventually(|| of_session.is_over()));
    serving.folder.write("crib.toml", FILE);
    assert!(eventually(|| of_key.is_over()));
    assert!(!of_other.is_over());
}

#[test]
fn sources_are_the_operators_and_others_hear_of_the_catalog_that_it_changed() {
    let serving = serving();
    let other = serving.token_of("other");
    let (mut all, mut own) =
        (Follower::of(&serving, &serving.token), Follower::of(&serving, &other));
    let more = "\n[[source]]\nid = \"more\"\nbasics = true\n";
    serving.folder.write("crib.toml", &(FILE.to_owned() + more));
    let has_names = |name: &str, data: &Value| {
        name == "catalog" && data["added"].as_array().is_some_and(|names| !names.is_empty())
    };
    let mut seen = Vec::new();
    let added = loop {
        let (_, name, data) = all.next().unwrap();
        if name == "source" {
            seen.push((data["id"].clone(), data["error"].clone()));
        }
        if has_names(&name, &data) {
            break data;
        }
    };
    assert!(seen.contains(&(json!("more"), Value::Null)), "{seen:?}");
    let names = added["added"].as_array().unwrap();
    assert!(names.contains(&json!("more__calculate")), "{added}");
    assert_eq!((&added["removed"], &added["changed"]), (&json!([]), &json!([])));
    let (_, name, data) = own.next().unwrap();
    assert_eq!((name.as_str(), data), ("catalog", json!({})));
    // What others were told meanwhile is nothing more.
    sum(&serving, &other);
    let told = own.until(|name, _| name == "call");
    assert!(told.iter().all(|line| line == "catalog" || line.starts_with("call")), "{told:?}");
}
