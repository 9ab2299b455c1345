//! Every route asks first by which name, from which page, and in which form it is asked.

use super::routes;
use super::support::{Answer, bearer};
use super::upstreams::Upstreams;

#[test]
fn no_route_answers_a_request_for_another_or_from_elsewhere() {
    let (upstreams, serving) = Upstreams::start();
    let port = serving.address.rsplit(':').next().unwrap().to_owned();
    let own = format!("Host: 127.0.0.1:{port}");
    let host = |name: &str| vec![format!("Host: {name}")];
    let origin = |name: &str| vec![own.clone(), format!("Origin: {name}")];
    let bad = [
        ("403 bad-host", host("evil.example")),
        ("403 bad-host", host(&format!("evil.example:{port}"))),
        ("403 bad-host", host("127.0.0.1")),
        ("403 bad-host", host("127.0.0.1:1")),
        ("403 bad-host", host(&format!("127.0.0.1.evil.example:{port}"))),
        ("403 bad-host", host(&format!("user@127.0.0.1:{port}"))),
        ("400 bad-request", vec![]),
        ("400 bad-request", vec![own.clone(), own.clone()]),
        ("400 bad-request", vec![own.clone(), "Host: evil.example".to_owned()]),
        ("403 bad-origin", origin("http://evil.example")),
        ("403 bad-origin", origin("null")),
        ("403 bad-origin", origin("")),
        ("403 bad-origin", origin(&format!("http://127.0.0.1.evil.example:{port}"))),
        ("403 bad-origin", origin("http://127.0.0.1:1")),
        ("403 bad-origin", origin("http://127.0.0.1")),
        ("400 bad-request", [origin("http://evil.example"), origin("null")[1..].to_vec()].concat()),
    ];
    let ask = |method: &str, target: &str, lines: &[String], kind: &str| -> Answer {
        let lines = lines.iter().fold(String::new(), |all, line| all + line + "\r\n");
        let token = bearer(&serving.token);
        let head = format!(
            "{method} {target} HTTP/1.1\r\n{lines}{token}\r\nContent-Type: {kind}\r\n\
             Accept: application/json, text/event-stream\r\n"
        );
        serving.send(&head, "{}")
    };
    for route in routes::all() {
        let path = route.filled();
        for (expected, lines) in &bad {
            let answer = ask(route.method, &path, lines, "application/json");
            assert_eq!(answer.problem(), *expected, "{route:?} {lines:?}: {answer:?}");
        }
        let absolute = format!("http://evil.example{path}");
        let answer = ask(route.method, &absolute, std::slice::from_ref(&own), "application/json");
        assert_eq!(answer.problem(), "403 bad-host", "{route:?}: {answer:?}");
        if route.listens() {
            continue;
        }
        for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
            let answer = ask(route.method, &path, std::slice::from_ref(&own), kind);
            if route.takes_body {
                if route.path.starts_with("/a2a/") {
                    // The protocol has words of its own for it, some of which are JSON-RPC's.
                    let words = ["-32005", "CONTENT_TYPE_NOT_SUPPORTED"];
                    assert!(words.iter().any(|word| answer.body.contains(word)), "{answer:?}");
                    continue;
                }
                assert_eq!(answer.problem(), "415 not-json", "{route:?} {kind}: {answer:?}");
            }
        }
    }
    assert_eq!(upstreams.calls(&serving), 0);
}

#[test]
fn asking_for_a_page_changes_nothing() {
    let (upstreams, serving) = Upstreams::start();
    for path in [
        "/v1/calls?calls=%5B%7B%22name%22%3A%22near__echo%22%7D%5D",
        "/v1/plan",
        "/v1/sources/near/reload",
        "/v1/tickets/x?decision=approve",
        "/mcp?method=tools/call&name=near__echo",
    ] {
        let status = serving.ask("GET", path, "").status;
        assert!([400, 404, 405, 406].contains(&status), "{path}: {status}");
    }
    assert_eq!(upstreams.calls(&serving), 0);
}
