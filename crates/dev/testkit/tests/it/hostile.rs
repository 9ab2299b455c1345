//! The server that breaks the rules breaks them as it is told.

#![expect(clippy::expect_used, reason = "helpers of tests")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use toolcrib_testkit::hostile::{HostileServer, WORDS};

/// What the program says to these lines until its input ends.
#[expect(clippy::disallowed_methods, reason = "a program of the tests")]
fn run(words: &[&str], lines: &[Value]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_hostile"))
        .args(words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let text: String = lines.iter().flat_map(|line| [line.to_string(), "\n".to_owned()]).collect();
    let mut stdin = program.stdin.take().expect("it listens");
    // One that ends early does not read everything.
    let _ = stdin.write_all(text.as_bytes());
    drop(stdin);
    program.wait_with_output().expect("it ends")
}

#[expect(clippy::needless_pass_by_value, reason = "a literal reads better")]
fn ask(id: u32, method: &str, parameters: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters})
}

fn echo(id: u32) -> Value {
    ask(id, "tools/call", json!({"name": "echo", "arguments": {"text": "hello"}}))
}

fn messages(output: &Output) -> Vec<Value> {
    let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).expect("a message")).collect()
}

#[test]
fn without_a_word_it_is_a_proper_server_of_both_eras() {
    let modern = json!({"io.modelcontextprotocol/protocolVersion": "2026-07-28"});
    let output = run(
        &[],
        &[
            ask(1, "initialize", json!({"protocolVersion": "2025-11-25"})),
            json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
            echo(2),
            ask(3, "server/discover", json!({"_meta": modern})),
            ask(4, "tools/call", json!({"name": "nothing"})),
        ],
    );
    assert!(output.status.success());
    let capabilities = json!({"tools": {"listChanged": true}});
    let info = json!({"name": "hostile", "version": "1.0.0"});
    let text = json!([{"type": "text", "text": "hello"}]);
    assert_eq!(
        messages(&output),
        [
            json!({"jsonrpc": "2.0", "id": 1, "result": {
                "protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info,
            }}),
            json!({"jsonrpc": "2.0", "id": 2, "result": {"content": text, "isError": false}}),
            json!({"jsonrpc": "2.0", "id": 3, "result": {
                "supportedVersions": ["2026-07-28"],
                "capabilities": capabilities,
                "_meta": {"io.modelcontextprotocol/serverInfo": info},
                "resultType": "complete",
                "ttlMs": 0,
                "cacheScope": "private",
            }}),
            json!({"jsonrpc": "2.0", "id": 4, "error": {
                "code": -32602, "message": "no tool named `nothing`",
            }}),
        ]
    );
}

#[test]
fn a_list_comes_in_pages_or_without_end() {
    let list = |words: &[&str], cursor: Value| {
        let answers = messages(&run(words, &[ask(1, "tools/list", json!({"cursor": cursor}))]));
        let result = answers[0]["result"].clone();
        let tools = result["tools"].as_array().expect("tools").len();
        (tools, result["nextCursor"].as_str().map(str::to_owned))
    };
    assert_eq!(list(&["tools=7", "page=5"], Value::Null), (5, Some("5".to_owned())));
    assert_eq!(list(&["tools=7", "page=5"], json!("10")), (1, None));
    assert_eq!(list(&["endless-pages"], json!("41")), (1, Some("42".to_owned())));
    assert_eq!(list(&["repeat-cursor"], json!("0")), (4, Some("0".to_owned())));
    assert_eq!(list(&["twice", "names", "bomb"], Value::Null), (4 + 1 + 9 + 8, None));
}

#[test]
fn a_word_means_the_moment_that_it_names() {
    let output = run(&["crash@list=9"], &[echo(1), ask(2, "tools/list", json!({})), echo(3)]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).expect("text");
    let (first, second) = text.split_once('\n').expect("a line");
    assert!(first.contains("hello"), "{first}");
    assert_eq!(second, r#"{"jsonrpc"#);
}

#[test]
fn wrong_answers_are_wrong_as_told() {
    let ids = |words: &[&str]| -> Vec<Value> {
        messages(&run(words, &[echo(5)])).iter().map(|message| message["id"].clone()).collect()
    };
    assert_eq!(ids(&["wrong-id"]), ["nobody asked"]);
    assert_eq!(ids(&["text-id"]), ["5"]);
    assert_eq!(ids(&["null-id"]), [Value::Null]);
    assert_eq!(ids(&["again"]), [5, 5]);
    assert_eq!(ids(&["unknown-id"]), [987_654_321, 5]);
    assert_eq!(ids(&["asks"]), [json!("question about 5"), json!(5)]);
    assert_eq!(ids(&["progress=3"]), [Value::Null, Value::Null, Value::Null, json!(5)]);
    let length = |words: &[&str]| run(words, &[echo(1)]).stdout.len();
    assert!((1_000_000..1_000_200).contains(&length(&["huge=1000000"])));
    assert!((2_000_000..2_000_200).contains(&length(&["deep=1000000"])));
    assert!(String::from_utf8(run(&["bad-utf8"], &[echo(1)]).stdout).is_err());
    assert_eq!(run(&["stderr=70000"], &[echo(1)]).stderr.len(), 70_000);
    assert_eq!(run(&["garbage"], &[echo(1)]).stdout.split(|byte| *byte == b'\n').count(), 12);
}

#[test]
fn a_word_that_is_none_is_refused_with_all_that_are() {
    let output = run(&["no-such-word"], &[]);
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8(output.stderr).expect("text");
    assert!(told.starts_with("error: unknown word `no-such-word`"), "{told}");
    let missing = WORDS.iter().find(|(name, ..)| !told.contains(&format!("\n  {name}")));
    assert_eq!(missing, None);
}

/// The whole answer to a message sent over HTTP.
fn post(server: &HostileServer, message: &Value) -> String {
    let body = message.to_string();
    let address = server.url().replace("http://", "").replace("/mcp", "");
    let mut stream = TcpStream::connect(address).expect("it listens");
    let head = format!("POST /mcp HTTP/1.1\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all((head + &body).as_bytes()).expect("it reads");
    stream.shutdown(std::net::Shutdown::Write).expect("it is open");
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    answer
}

#[test]
fn over_http_an_answer_is_a_body_or_events() {
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"hello"}],"isError":false}}"#;
    let server = HostileServer::start(&[]).expect("it starts");
    let expected = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{answer}",
        answer.len()
    );
    assert_eq!(post(&server, &echo(1)), expected);
    assert_eq!(server.received()[0].1, echo(1).to_string());
    let events = |words: &[&str]| {
        let answer = post(&HostileServer::start(words).expect("it starts"), &echo(1));
        answer.split_once("\r\n\r\n").expect("a head").1.to_owned()
    };
    assert_eq!(events(&["sse"]), format!("data: {answer}\n\n"));
    assert_eq!(events(&["sse", "cut"]), format!("data: {}", &answer[..answer.len() / 2]));
    assert_eq!(events(&["again"]), format!("data: {answer}\n\n").repeat(2));
    let refused = HostileServer::start(&["status@call=503"]).expect("it starts");
    assert!(post(&refused, &echo(1)).starts_with("HTTP/1.1 503 "));
    assert!(post(&refused, &ask(1, "ping", json!({}))).starts_with("HTTP/1.1 200 "));
}

#[test]
fn over_http_a_session_is_demanded_and_forgotten() {
    let server = HostileServer::start(&["session"]).expect("it starts");
    assert!(post(&server, &echo(1)).starts_with("HTTP/1.1 400 "));
    let begun = post(&server, &ask(1, "initialize", json!({})));
    assert!(begun.contains("\r\nMcp-Session-Id: session-1\r\n"), "{begun}");
}
