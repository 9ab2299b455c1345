//! Sessions of MCP clients of the older revisions: a restart keeps them, and its clients notice
//! nothing.

use serde_json::{Value, json};

use super::killed;
use super::postgres::cluster::Cluster;
use super::upstream::Upstream;
use crate::serve::support::{Answer, Serving, bearer, eventually, head};

/// A client of 2025-11-25 of whom a server knows nothing but the name of a session.
pub(super) struct SessionClient {
    token: String,
    /// The line that names it.
    session: String,
}

impl SessionClient {
    /// Begins a session.
    pub(super) fn begin(serving: &Serving, token: &str) -> Self {
        let client = Self { token: token.to_owned(), session: String::new() };
        let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": { "name": "t", "version": "1" } });
        let begun = client.asks(serving, "POST", "/mcp", &message("initialize", &params));
        let line = |line: &&str| line.to_lowercase().starts_with("mcp-session-id:");
        let line = begun.head.lines().find(line).unwrap_or_else(|| unreachable!("{begun:?}"));
        let client = Self { session: line.to_owned(), ..client };
        let ready = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(client.asks(serving, "POST", "/mcp", &ready).status, 202);
        client
    }

    /// The same session in the hands of somebody else.
    pub(super) fn taken_by(&self, token: &str) -> Self {
        Self { token: token.to_owned(), session: self.session.clone() }
    }

    /// The same client with another name of a session.
    pub(super) fn naming(&self, change: impl FnOnce(&str) -> String) -> Self {
        Self { token: self.token.clone(), session: change(&self.session) }
    }

    fn asks(&self, serving: &Serving, method: &str, path: &str, body: &Value) -> Answer {
        let bearer = bearer(&self.token);
        let mut lines = vec![
            bearer.as_str(),
            "Accept: application/json, text/event-stream",
            "Content-Type: application/json",
        ];
        lines.extend(Some(self.session.as_str()).filter(|line| !line.is_empty()));
        let body = if body.is_null() { String::new() } else { body.to_string() };
        serving.send(&head(method, path, serving, &lines), &body)
    }

    pub(super) fn lists(&self, serving: &Serving) -> Answer {
        self.asks(serving, "POST", "/mcp", &message("tools/list", &json!({})))
    }

    /// Has the upstream act, and tells the status; what it did the upstream counts.
    pub(super) fn acts(&self, serving: &Serving, nonce: &str) -> u16 {
        let arguments = json!({ "how": "ok", "nonce": nonce });
        let params = json!({ "name": "web__act", "arguments": arguments });
        self.asks(serving, "POST", "/mcp", &message("tools/call", &params)).status
    }

    /// Asks for nothing at this door.
    pub(super) fn pings(&self, serving: &Serving, path: &str) -> Answer {
        self.asks(serving, "POST", path, &message("ping", &json!({})))
    }

    pub(super) fn ends(&self, serving: &Serving) -> Answer {
        self.asks(serving, "DELETE", "/mcp", &Value::Null)
    }
}

fn message(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

fn keep_over_restarts(url: &str) {
    let upstream = Upstream::start();
    let file = format!("allow = [\"*\"]\n[store]\nurl = \"{url}\"\n[profile.x]\nallow = [\"*\"]\n");
    let mut serving = Serving::start_in(upstream.furnish_web(&file), &[]);
    let (own, others) = (serving.token.clone(), serving.token_of("other"));
    let client = SessionClient::begin(&serving, &own);
    let ended = SessionClient::begin(&serving, &own);
    assert_eq!(client.acts(&serving, "before"), 200);
    assert_eq!(ended.ends(&serving).status, 204);
    for restart in ["first", "second"] {
        serving = killed(serving);
        // Nobody else's, no name that was changed, and none at another door.
        let forged = client.naming(|line| format!("{}x", line.trim_end()));
        for wrong in [client.taken_by(&others), forged, ended.taken_by(&own)] {
            assert_eq!(wrong.acts(&serving, "wrong"), 404);
        }
        let elsewhere = client.pings(&serving, "/mcp/x");
        assert_eq!(elsewhere.status, 404, "{elsewhere:?}");
        let listed = client.lists(&serving);
        assert!(listed.status == 200 && listed.body.contains("web__act"), "{listed:?}");
        assert_eq!(client.acts(&serving, restart), 200);
        assert_eq!(upstream.oracle.count(restart), 1);
    }
    assert_eq!(client.ends(&serving).status, 204);
    assert_eq!(client.acts(&serving, "ended"), 404);
    serving = killed(serving);
    assert_eq!(client.acts(&serving, "ended"), 404);
    assert_eq!((upstream.oracle.count("wrong"), upstream.oracle.count("ended")), (0, 0));
}

#[test]
fn a_restart_keeps_the_sessions_of_mcp_clients() {
    keep_over_restarts("sqlite://crib.db");
}

#[test]
fn a_restart_over_postgres_keeps_the_sessions_of_mcp_clients() {
    let Some(cluster) = Cluster::start_if_any("sessions") else { return };
    keep_over_restarts(&cluster.database("record"));
}

#[test]
fn while_its_database_is_away_a_session_goes_on_and_a_server_that_lost_it_says_when_to_come() {
    let Some(cluster) = Cluster::start_if_any("sessions-away") else { return };
    let upstream = Upstream::start();
    let url = cluster.database("record");
    let file = format!("allow = [\"*\"]\n[store]\nurl = \"{url}\"\n");
    let serving = Serving::start_in(upstream.furnish_web(&file), &[]);
    let client = SessionClient::begin(&serving, &serving.token);
    let before = SessionClient::begin(&serving, &serving.token);
    let serving = killed(serving);
    assert_eq!(client.lists(&serving).status, 200);
    cluster.crash();
    assert_eq!(client.lists(&serving).status, 200);
    let away = before.lists(&serving);
    let tells_when = away.head.to_lowercase().contains("retry-after:");
    assert!(away.status == 503 && tells_when, "{away:?}");
    let new = SessionClient::begin(&serving, &serving.token);
    cluster.run();
    assert!(eventually(|| before.lists(&serving).status == 200));
    assert_eq!(client.lists(&serving).status, 200);
    let written = "SELECT count(*) FROM client_sessions WHERE NOT ended";
    assert!(eventually(|| cluster.sql("record", written).is_some_and(|count| count.trim() == "3")));
    let serving = killed(serving);
    for client in [client, before, new] {
        assert_eq!(client.lists(&serving).status, 200);
    }
}
