//! Clients that all press on the same few keys, at whichever replica they come to.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_testkit::SeededRandom;

use super::replicas::HOST;
use crate::keep::doors::{Door, Told, Wanted, act};
use crate::keep::kills::exchange;
use crate::serve::support::{Answer, bearer};

/// Keys that are pressed on at the same time.
const KEYS: u64 = 3;

pub(super) struct Crowd<'a> {
    pub(super) address: &'a str,
    pub(super) token: &'a str,
    pub(super) is_over: AtomicBool,
    /// The first key that has not been answered as done.
    first: AtomicU64,
    /// What was told as done, by its name, and all names there were.
    heard: Mutex<Heard>,
}

#[derive(Default)]
pub(super) struct Heard {
    pub(super) done: HashSet<String>,
    pub(super) all: HashSet<String>,
    /// Requests that were not answered.
    pub(super) lost: u32,
    /// How often each other end was told.
    pub(super) others: HashMap<String, u32>,
}

impl<'a> Crowd<'a> {
    pub(super) fn new(address: &'a str, token: &'a str) -> Self {
        let (is_over, first) = (AtomicBool::new(false), AtomicU64::new(0));
        Self { address, token, is_over, first, heard: Mutex::default() }
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn send(&self, head: &str, body: &str) -> Option<Answer> {
        exchange(self.address, head, body)
    }

    /// Calls under shared keys, until it is over.
    pub(super) fn press(&self, seed: u64) {
        let mut random = SeededRandom::new(seed);
        while !self.is_over() {
            let at = self.first.load(Ordering::Relaxed);
            let number = at + random.below(KEYS);
            let (nonce, is_slow) = (format!("key-{number}"), number.is_multiple_of(4));
            let how = if is_slow { "slow-200" } else { "ok" };
            let told = self.call(Door::Rest, &act("web__act", how, &nonce).under(&nonce));
            if told.is_some_and(|told| !told.error) {
                // Others may be done with it too.
                let _ =
                    self.first.compare_exchange(at, at + 1, Ordering::Relaxed, Ordering::Relaxed);
            }
        }
    }

    /// The same call once more, as often as somebody would who wants an end.
    pub(super) fn call(&self, door: Door, wanted: &Wanted<'_>) -> Option<Told> {
        let nonce = wanted.arguments["nonce"].as_str().unwrap().to_owned();
        self.heard.lock().unwrap().all.insert(nonce.clone());
        let head = door.head_at((HOST, self.token), wanted);
        let answer = self.send(&head, &door.body(wanted));
        let mut noted = self.heard.lock().unwrap();
        let Some(answer) = answer else {
            noted.lost += 1;
            return None;
        };
        let told = door.told(&answer);
        if told.text.contains(&format!("\"did\":\"{nonce}\"")) {
            noted.done.insert(nonce);
        } else {
            *noted.others.entry(told.status.clone()).or_default() += 1;
        }
        drop(noted);
        Some(told)
    }

    /// Calls that a person has to approve: asked at one replica, and approved at another, by two
    /// people at the same time.
    pub(super) fn approve(&self, seed: u64) {
        for turn in 0.. {
            if self.is_over() {
                return;
            }
            let nonce = format!("asked-{seed}-{turn}");
            let wanted = Wanted { profile: Some("careful"), ..act("web__act", "ok", &nonce) };
            let told = self.call(Door::Rest, &wanted);
            let Some(ticket) =
                told.and_then(|told| told.whole["ticket"].as_str().map(str::to_owned))
            else {
                continue;
            };
            let head = Door::Rest.head_at((HOST, self.token), &wanted);
            let head = head.replace("POST /v1/calls ", &format!("POST /v1/tickets/{ticket} "));
            std::thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(|| self.send(&head, r#"{"decision": "approve"}"#));
                }
            });
        }
    }

    /// A session of an older client, which goes on at whichever replica it comes to. What was
    /// answered that should not have been.
    pub(super) fn hold_session(&self) -> Vec<String> {
        let (mut faults, mut session) = (Vec::new(), None::<String>);
        let mut id = 0;
        while !self.is_over() {
            id += 1;
            let (method, params) = match &session {
                None => (
                    "initialize",
                    json!({ "protocolVersion": "2025-11-25", "capabilities": {},
                            "clientInfo": { "name": "fleet", "version": "1" } }),
                ),
                Some(_) => ("tools/list", json!({})),
            };
            let mut lines = vec![
                bearer(self.token),
                "Content-Type: application/json".to_owned(),
                "Accept: application/json, text/event-stream".to_owned(),
            ];
            if let Some(session) = &session {
                lines.push(format!("Mcp-Session-Id: {session}"));
                lines.push("MCP-Protocol-Version: 2025-11-25".to_owned());
            }
            let head = format!("POST /mcp HTTP/1.1\r\nHost: {HOST}\r\n{}\r\n", lines.join("\r\n"));
            let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
            let Some(answer) = self.send(&head, &body.to_string()) else { continue };
            match (answer.status, &session) {
                (200, None) => {
                    let begun = answer.head.lines().find_map(|line| {
                        let (name, value) = line.split_once(": ")?;
                        name.eq_ignore_ascii_case("mcp-session-id").then(|| value.to_owned())
                    });
                    session = Some(begun.unwrap());
                }
                (200, Some(_)) if answer.body.contains("web__act") => {}
                // It says when to come again.
                (503, _) if answer.head.to_lowercase().contains("retry-after") => {
                    std::thread::sleep(Duration::from_millis(50));
                }
                _ => faults.push(format!("{method}: {answer:?}")),
            }
        }
        faults
    }

    pub(super) fn into_heard(self) -> Heard {
        self.heard.into_inner().unwrap()
    }

    /// All calls on record, newest first.
    pub(super) fn record(&self) -> Vec<Value> {
        let (mut calls, mut cursor) = (Vec::new(), String::new());
        loop {
            let path = format!("/v1/record?limit=200{cursor}");
            let head = format!("GET {path} HTTP/1.1\r\nHost: {HOST}\r\n{}\r\n", bearer(self.token));
            let page = self.send(&head, "").unwrap().json();
            calls.extend(page["calls"].as_array().unwrap().clone());
            let Some(next) = page["cursor"].as_str() else { return calls };
            cursor = next.bytes().fold("&cursor=".to_owned(), |mut cursor, byte| {
                let _ = write!(cursor, "%{byte:02X}");
                cursor
            });
        }
    }
}
