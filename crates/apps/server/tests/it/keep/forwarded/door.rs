//! The door for other replicas, and what it does not take.

use serde_json::{Value, json};
use toolcrib_auth::ClusterKey;
use toolcrib_core::Secret;

use super::{SECRET, begin, file, own_address, start};
use crate::keep::postgres::cluster::Cluster;
use crate::keep::upstream::Upstream;
use crate::serve::support::{Answer, Serving, read};
use crate::serve::wire::meta;

/// A replica, and where others reach it.
struct Replica {
    serving: Serving,
    address: String,
}

impl Replica {
    fn start(upstream: &Upstream, url: &str) -> Self {
        let address = own_address();
        let serving = start(upstream.furnish_web(&file(url, &address, 20)));
        Self { serving, address }
    }

    fn send(&self, method: &str, path: &str, body: &[u8]) -> Answer {
        use std::io::{Read as _, Write as _};
        let mut stream = std::net::TcpStream::connect(&self.address).unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        stream.write_all(&[head.as_bytes(), body].concat()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        // Marks are no text.
        let shown = |byte: &u8| if byte.is_ascii() { char::from(*byte) } else { '?' };
        read(&answer.iter().map(shown).collect::<String>())
    }

    fn stamp(&self) -> String {
        self.send("GET", "/stamp", b"").body
    }
}

/// A forward as a replica sends it, under a secret.
fn sealed(secret: &str, head: &Value, body: &Value) -> Vec<u8> {
    let key = ClusterKey::new(&Secret::new(secret), "forwards between replicas");
    let (head, body) = (head.to_string().into_bytes(), body.to_string().into_bytes());
    let mut message = key.mark(&[b"a request, form 1", &head, &body]).to_vec();
    message.extend(u32::try_from(head.len()).unwrap().to_be_bytes());
    [message, head, body].concat()
}

#[test]
fn the_door_for_replicas_takes_what_a_replica_marks_for_it_once_and_nothing_else() {
    let Some(cluster) = Cluster::start_if_any("forwarded-door") else { return };
    let upstream = Upstream::start();
    let url = cluster.database("record");
    let [one, two] = [(); 2].map(|()| Replica::start(&upstream, &url));
    let task = begin(&one.serving, "waits");
    let home = task["taskId"].as_str().unwrap().split('_').nth(1).unwrap().to_owned();
    let others = begin(&two.serving, "elsewhere");
    let of_two = others["taskId"].as_str().unwrap().split('_').nth(1).unwrap().to_owned();
    let head = |home: &str, stamp: &str, hop: u8| {
        let headers = [
            ("accept", "application/json, text/event-stream"),
            ("content-type", "application/json"),
            ("mcp-protocol-version", "2026-07-28"),
            ("mcp-method", "tasks/get"),
            ("mcp-name", task["taskId"].as_str().unwrap()),
        ];
        json!({ "stamp": stamp, "home": home, "hop": hop, "method": "POST", "path": "/mcp",
                "caller": { "tenant": "local", "subject": "local", "scopes": [] },
                "headers": headers, "trace": "" })
    };
    let mut params = task.clone();
    params["_meta"] = meta();
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let get = json!({ "jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": params });
    let forward = |replica: &Replica, secret: &str, head: &Value| {
        replica.send("POST", "/forward", &sealed(secret, head, &get))
    };
    let good = head(&home, &one.stamp(), 1);
    let taken = forward(&one, SECRET, &good);
    assert!(taken.status == 200 && taken.body.contains("\"status\":\"working\""), "{taken:?}");
    let refuses = |answer: Answer, why: &str| {
        assert!(answer.status == 403 && answer.body.contains(why), "{why}: {answer:?}");
    };
    refuses(forward(&one, SECRET, &good), "its stamp was used before");
    let of = |hop| head(&home, &one.stamp(), hop);
    refuses(forward(&one, &SECRET.replace('0', "9"), &of(1)), "not marked with the secret");
    refuses(forward(&one, SECRET, &of(2)), "it was forwarded before");
    refuses(forward(&one, SECRET, &head(&home, &two.stamp(), 1)), "none of this process");
    refuses(forward(&one, SECRET, &head(&of_two, &one.stamp(), 1)), "for another replica");
    let mut elsewhere = of(1);
    elsewhere["path"] = json!("/v1/tools");
    elsewhere["method"] = json!("GET");
    refuses(forward(&one, SECRET, &elsewhere), "lives in one replica");
    // One hop and never two: the second replica does not ask the first one for it.
    let further = forward(&two, SECRET, &head(&of_two, &two.stamp(), 1));
    assert!(further.body.contains("-32050") && !further.body.contains("working"), "{further:?}");
    // No route of clients is there, and no route of replicas at the door of clients.
    assert_eq!(one.send("GET", "/healthz", b"").status, 404);
    for (method, path) in [("GET", "/stamp"), ("POST", "/forward")] {
        assert_eq!(one.serving.ask(method, path, "").status, 404, "{path}");
    }
    for nonce in ["waits", "elsewhere"] {
        upstream.oracle.let_go(nonce);
    }
}
