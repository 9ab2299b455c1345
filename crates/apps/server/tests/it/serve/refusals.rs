//! What does not get in.

use serde_json::Value;

use super::routes;
use super::support::{Answer, Serving, bearer, eventually, head};
use crate::process::{Folder, run_in};

#[test]
fn only_our_own_names_and_pages_get_in() {
    let serving = Serving::start(&[]);
    let port = serving.address.rsplit(':').next().unwrap().to_owned();
    let token = bearer(&serving.token);
    let ask = |target: &str, lines: &[&str]| {
        let lines = lines.iter().fold(String::new(), |all, line| all + line + "\r\n");
        serving.send(&format!("GET {target} HTTP/1.1\r\n{lines}{token}\r\n"), "").problem()
    };
    let own = format!("Host: 127.0.0.1:{port}");
    let good: [&[&str]; 5] = [
        &[&own],
        &[&format!("Host: localhost:{port}")],
        &[&format!("Host: LOCALHOST:{port}")],
        &[&format!("Host: [::1]:{port}")],
        &[&own, &format!("Origin: http://localhost:{port}")],
    ];
    for lines in good {
        assert_eq!(ask("/v1/tools", lines), "200", "{lines:?}");
    }
    let origin = |value: &str| ask("/v1/tools", &[&own, &format!("Origin: {value}")]);
    for value in [
        "http://evil.example".to_owned(),
        "null".to_owned(),
        String::new(),
        format!("http://127.0.0.1.evil.example:{port}"),
        "http://127.0.0.1:1".to_owned(),
        "http://127.0.0.1".to_owned(),
        format!("http://127.0.0.1:{port}.evil.example"),
        format!("http://127.0.0.1:{port}/"),
        format!("file://127.0.0.1:{port}"),
    ] {
        assert_eq!(origin(&value), "403 bad-origin", "{value}");
    }
    for host in [
        "evil.example".to_owned(),
        format!("evil.example:{port}"),
        "127.0.0.1".to_owned(),
        format!("127.0.0.1.evil.example:{port}"),
        format!("user@127.0.0.1:{port}"),
        String::new(),
    ] {
        assert_eq!(ask("/v1/tools", &[&format!("Host: {host}")]), "403 bad-host", "{host}");
        let health = ask("/healthz", &[&format!("Host: {host}")]);
        assert_eq!(health, "403 bad-host", "{host}");
    }
    assert_eq!(ask("/v1/tools", &[]), "400 bad-request");
    assert_eq!(ask("/v1/tools", &[&own, &own]), "400 bad-request");
    assert_eq!(ask("http://evil.example/v1/tools", &[&own]), "403 bad-host");
    assert_eq!(ask(&format!("http://127.0.0.1:{port}/v1/tools"), &[&own]), "200");
}

#[test]
fn bodies_are_json_and_of_one_mind() {
    let serving = Serving::start(&[]);
    let token = bearer(&serving.token);
    let send = |kind: &str, body: &[u8]| {
        let lines = [token.as_str(), kind, "Connection: close"];
        let head = head("POST", "/v1/calls", &serving, &lines);
        let head = format!("{head}Content-Length: {}\r\n\r\n", body.len());
        serving.raw(&[head.as_bytes(), body].concat()).problem()
    };
    let json = "Content-Type: application/json";
    assert_eq!(send(json, br#"{"calls": []}"#), "200");
    assert_eq!(send("Content-Type: Application/JSON; charset=utf-8", br#"{"calls": []}"#), "200");
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""] {
        let kind = format!("Content-Type: {kind}");
        assert_eq!(send(&kind, br#"{"calls": []}"#), "415 not-json", "{kind}");
    }
    assert_eq!(send("X-None: x", br#"{"calls": []}"#), "415 not-json");
    let deep = format!(r#"{{"calls": {}{}}}"#, "[".repeat(129), "]".repeat(129));
    let malformed: [&[u8]; 9] = [
        b"",
        b"{",
        br#"{"calls": []} x"#,
        b"\xef\xbb\xbf{\"calls\": []}",
        b"{\"calls\": \"\xff\"}",
        br#"{"calls": [], "calls": [{"name": "calculate"}]}"#,
        br#"{"calls": [{"name": "time_now", "name": "calculate"}]}"#,
        b"\x7b\x00\x22\x00",
        deep.as_bytes(),
    ];
    for body in malformed {
        let shown = String::from_utf8_lossy(body);
        assert_eq!(send(json, body), "400 bad-request", "{shown}");
    }
    for body in [
        r#"[{"calls": []}]"#,
        r#"{"Calls": []}"#,
        r#"{"calls": [], "caller": {"tenant": "other"}}"#,
        r#"{"calls": null}"#,
        r#"{"calls": "x"}"#,
        r#"{"calls": [], "dialect": "unknown"}"#,
        "null",
        "1e400",
    ] {
        let problem = send(json, body.as_bytes());
        let refused = ["422 invalid-body", "400 bad-request"].contains(&problem.as_str());
        assert!(refused, "{body}: {problem}");
    }
}

#[test]
fn a_list_is_no_object_with_its_fields_in_their_order() {
    let serving = Serving::start(&[]);
    for (path, body) in [
        ("/v1/plan", "[]"),
        ("/v1/calls", r#"[null, null, null, [{"name": "calculate"}], null, null]"#),
        ("/v1/tickets/t_1", r#"["approve", null, null, null]"#),
        ("/v1/sources/basics/reload", "[]"),
    ] {
        let refused = serving.ask("POST", path, body);
        assert_eq!(refused.problem(), "422 invalid-body", "{path}");
        assert!(refused.body.contains("it must be an object"), "{refused:?}");
    }
    let listed = r#"{"calls": [["1", "calculate", {"expression": "6 * 7"}]]}"#;
    let answer = serving.ask("POST", "/v1/calls", listed).json();
    assert_eq!(answer["responses"][0]["kind"], "invalid_call", "{answer}");
}

#[test]
fn a_route_that_is_not_there_is_told_apart_from_a_wrong_method() {
    let serving = Serving::start(&[]);
    for path in
        ["/index.html", "/v1", "/v1/", "/v1/tools/", "/v1//tools", "/v2/tools", "/v1/tools/a/b"]
    {
        assert_eq!(serving.ask("GET", path, "").problem(), "404 unknown-route", "{path}");
    }
    let wrong = serving.ask("DELETE", "/v1/tools", "");
    assert_eq!(wrong.problem(), "405 wrong-method");
    assert!(wrong.head.to_lowercase().contains("allow: get, head\r\n"), "{wrong:?}");
    assert_eq!(serving.ask("GET", "/v1/tools?limt=1", "").problem(), "400 invalid-query");
    assert_eq!(serving.ask("GET", "/v1/tools?limit=1&limit=2", "").problem(), "400 invalid-query");
}

#[test]
fn the_detail_of_what_is_not_there_does_not_repeat_the_title() {
    let serving = Serving::start(&[]);
    let calls = |rest: &str| format!("{{\"calls\": [{{\"name\": \"uuid_new\"}}]{rest}}}");
    for (method, path, body, title) in [
        ("GET", "/v1/tickets/t_0", String::new(), "There is no such ticket"),
        ("POST", "/v1/tickets/t_0", r#"{"decision": "deny"}"#.into(), "There is no such ticket"),
        ("GET", "/v1/tools/nothing", String::new(), "There is no such tool"),
        ("GET", "/v1/tools?profile=x", String::new(), "There is no such profile"),
        ("GET", "/v1/results/r_0", String::new(), "There is no such result"),
        ("POST", "/v1/calls", calls(r#", "plan": "p""#), "There is no such plan"),
        ("POST", "/v1/sources/x/reload", "{}".into(), "There is no such source"),
    ] {
        let problem = serving.ask(method, path, &body).json();
        assert_eq!(problem["title"], title, "{path}: {problem}");
        let detail = problem["detail"].as_str().unwrap();
        assert!(!detail.contains("there is no") && !detail.contains("no such"), "{detail}");
    }
}

#[test]
fn head_answers_as_get_does_without_the_body() {
    let serving = Serving::start_in(with_a_profile(), &[]);
    // The catalog is another one once the tokens of its definitions are counted.
    let is_counted = || serving.ask("GET", "/v1/catalog", "").json()["tokens_counted"] == true;
    assert!(eventually(is_counted), "the tokens are never counted");
    let lines = |answer: &Answer| {
        let lines = answer.head.lines().filter(|line| !line.starts_with("x-request-id"));
        let lines = lines.filter(|line| !line.starts_with("date"));
        let mut lines = lines.map(str::to_owned).collect::<Vec<_>>();
        // Of headers with different names the order says nothing.
        lines.sort();
        lines
    };
    let mut seen = 0;
    for route in routes::all().iter().filter(|route| route.method == "GET") {
        let path = route.filled();
        let of_head = serving.ask("HEAD", &path, "");
        if path.starts_with("/mcp") {
            // There `GET` listens, and `HEAD` is a method like any other.
            assert_eq!((of_head.status, of_head.body.as_str()), (405, ""), "{path}");
            assert!(of_head.head.contains("allow: GET, POST, DELETE\r\n"), "{of_head:?}");
            continue;
        }
        if route.listens() {
            assert_eq!((of_head.status, of_head.body.as_str()), (405, ""), "{path}");
            continue;
        }
        let of_get = serving.ask("GET", &path, "");
        assert_ne!(of_get.status, 405, "{path}");
        assert_eq!((of_head.status, of_head.body.as_str()), (of_get.status, ""), "{path}");
        // Some answers tell a time, and are as long as that is.
        let (of_head, of_get) = (lines(&of_head), lines(&of_get));
        let differing = of_head.iter().zip(&of_get).filter(|(head, get)| head != get);
        let only_length = differing.clone().all(|(head, _)| head.starts_with("content-length"));
        assert!(of_head.len() == of_get.len() && only_length, "{of_head:?} {of_get:?}");
        seen += 1;
    }
    assert!(seen > 10, "{seen}");
    let tools = |method: &str| serving.ask(method, "/v1/tools", "").head;
    let length = |head: &str| {
        head.lines().find_map(|line| line.strip_prefix("content-length: ").map(str::to_owned))
    };
    assert!(length(&tools("HEAD")).is_some());
    assert_eq!(length(&tools("HEAD")), length(&tools("GET")));
    let strange = serving.send(&head("HEAD", "/v1/tools", &serving, &[]), "");
    assert_eq!((strange.status, strange.body.as_str()), (401, ""));
}

#[test]
fn a_query_that_cannot_be_read_is_refused_and_its_parameter_named() {
    let serving = Serving::start(&[]);
    let refused = |query: &str| {
        let answer = serving.ask("GET", &format!("/v1/tools?{query}"), "");
        assert_eq!(answer.problem(), "400 invalid-query", "{query}: {answer:?}");
        answer.json()["detail"].as_str().unwrap().to_owned()
    };
    let why = "is no UTF-8 text in percent-encoding: write `%` as `%25`";
    for value in ["%ff", "a%C3", "%zz", "%", "a%4", "%+1", "%E2%82"] {
        for query in [format!("q={value}"), format!("limit=1&q={value}&effect=read")] {
            assert_eq!(refused(&query), format!("the value of `q` {why}"));
        }
    }
    assert_eq!(refused("source=%ff"), format!("the value of `source` {why}"));
    assert_eq!(refused("%ff=x"), format!("a name of the query {why}"));
    for good in ["q=%C3%a4+100%25", "%71=x", "&q=x&", "q", "q=a=b", "q=\u{e9}"] {
        let answer = serving.ask("GET", &format!("/v1/tools?{good}"), "");
        assert_eq!(answer.status, 200, "{good}: {answer:?}");
    }
}

/// A folder with a profile of the name that fills paths.
fn with_a_profile() -> Folder {
    let folder = Folder::new();
    folder.write("crib.toml", "[[source]]\nid = \"basics\"\nbasics = true\n[profile.x]\n");
    folder
}

#[test]
fn an_address_that_others_reach_needs_more_than_a_default() {
    let folder = Folder::new();
    let state = super::support::state(&folder);
    let start = |words: &[&str]| {
        let words: Vec<_> = ["serve"].iter().chain(words).copied().collect();
        run_in(&folder, &words, &[("XDG_STATE_HOME", &state)])
    };
    for (words, option) in [
        (&["--listen", "0.0.0.0:0", "--insecure-local"][..], "`--insecure-local`"),
        (&["--listen", "0.0.0.0:0"], "`--behind-proxy`"),
        (&["--listen", "[::]:0", "--host", "crib.example"], "`--behind-proxy`"),
        (&["--listen", "0.0.0.0:0", "--behind-proxy"], "`--host NAME`"),
        (
            &["--listen", "0.0.0.0:0", "--behind-proxy", "--host", "crib.example"],
            "`[[server.key]]`",
        ),
        (&["--listen", "7599"], "such as 127.0.0.1:7411"),
        (&["--listen", "crib.example:7599"], "such as 127.0.0.1:7411"),
    ] {
        let ran = start(words);
        assert_eq!(ran.code, 2, "{ran:?}");
        assert!(ran.err.contains(option), "{ran:?}");
    }
    folder.write("crib.toml", "[server]\nlisten = \"0.0.0.0:0\"\n");
    assert_eq!(start(&[]).code, 2);
}

#[test]
fn localhost_is_this_machine_and_nothing_else() {
    let serving = Serving::starting_at(Folder::new(), &["--listen", "localhost:0"]);
    assert!(serving.address.starts_with("127.0.0.1:"), "{}", serving.address);
    assert_eq!(serving.send(&head("GET", "/healthz", &serving, &[]), "").status, 200);
}

#[test]
fn without_a_token_by_wish_a_wrong_one_is_still_refused() {
    let serving = Serving::start(&["--insecure-local"]);
    let ask = |lines: &[&str]| serving.send(&head("GET", "/v1/tools", &serving, lines), "").status;
    assert_eq!(ask(&[]), 200);
    assert_eq!(ask(&["Authorization: Bearer x"]), 401);
    assert_eq!(ask(&["Origin: http://evil.example"]), 403);
    let tools: Value = serving.send(&head("GET", "/v1/tools", &serving, &[]), "").json();
    assert!(tools["total"].as_u64().unwrap() > 5);
}

#[test]
fn an_effect_that_there_is_none_of_is_told_with_those_that_there_are() {
    let serving = Serving::start(&[]);
    let ask = |effect: &str| serving.ask("GET", &format!("/v1/tools?effect={effect}"), "");
    for effect in ["foo", "", "read,write"] {
        let refused = ask(effect);
        assert_eq!(refused.problem(), "400 invalid-query", "{effect}");
        let detail = "`effect` is none of [read, write, destroy]";
        assert_eq!(refused.json()["detail"], detail);
    }
    assert!(ask("read").json()["total"].as_u64().unwrap() > 0);
}
