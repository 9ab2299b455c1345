//! Servers that die, and come back.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use toolcrib_core::{BatchOptions, CribLimits, ErrorKind, Response, Source, ToolOutcome};
use toolcrib_engine::Crib;
use toolcrib_mcp::{ConnectionPhase, McpSourceSettings, McpTransport, StdioSettings};
use toolcrib_testkit::hostile::HostileServer;
use url::Url;

use crate::over_http;
use crate::support::{crib, crib_within, failed, run, run_with, settings, source, until};

#[tokio::test]
async fn a_server_that_died_is_started_again_once_for_all_who_call() {
    let source = source(settings(&["legacy"]));
    let crib = crib(&source).await;
    let before = source.status().pid;
    let tools = crib.catalog().tools().len();
    assert!(tools > 0);
    let (kind, message) = failed(&run(&crib, "die", json!({})).await);
    assert_eq!(kind, ErrorKind::UnknownOutcome, "{message}");
    let calls = (0..10).map(|n| run(&crib, "echo", json!({ "n": n })));
    for (n, response) in futures_util::future::join_all(calls).await.iter().enumerate() {
        assert_eq!(response.text(), format!(r#"{{"n":{n}}}"#));
    }
    let status = source.status();
    assert!(status.pid.is_some() && status.pid != before, "{status:?}");
    assert_eq!((status.restarts, status.phase), (1, ConnectionPhase::Ready));
    let words = || source.status().last_error.unwrap();
    until("its end is known", || words().contains("its program ended with code 3")).await;
    assert_eq!(crib.catalog().tools().len(), tools);
}

#[tokio::test]
async fn the_death_of_a_server_wakes_whoever_waits_for_changes() {
    let source = source(settings(&["modern"]));
    let toolset = source.load().await.unwrap();
    let crib =
        toolcrib_engine::Crib::builder().policy(toolcrib_core::AllowAll).build_fixed(toolset);
    assert!(timeout(Duration::from_millis(200), source.changed()).await.is_err());
    let (_, woken) = tokio::join!(
        run(&crib, "die", json!({})),
        timeout(Duration::from_secs(20), source.changed()),
    );
    woken.unwrap();
}

#[tokio::test]
async fn calls_in_flight_end_when_their_server_dies() {
    let source = source(settings(&["legacy"]));
    let crib = crib(&source).await;
    let begun = Instant::now();
    let (hanging, _) = tokio::join!(run(&crib, "hang", json!({})), async {
        until("the call runs", || source.status().in_flight == 1).await;
        run(&crib, "die", json!({})).await
    });
    let (kind, message) = failed(&hanging);
    assert_eq!(kind, ErrorKind::UnknownOutcome);
    assert!(message.contains("the connection to the server `far` broke"), "{message}");
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[tokio::test]
async fn a_server_that_dies_again_and_again_is_left_alone_for_a_while() {
    let source = source(settings(&["legacy"]));
    let limits = CribLimits { retries: 0, guard: Duration::ZERO, ..CribLimits::default() };
    let crib = crib_within(&source, limits).await;
    for _ in 0..200 {
        let response = run(&crib, "die", json!({})).await;
        let (kind, message) = failed(&response);
        if kind == ErrorKind::Unavailable && source.status().phase == ConnectionPhase::BrokenCircuit
        {
            assert!(message.contains("the next try is in"), "{message}");
            let begun = Instant::now();
            assert_eq!(failed(&run(&crib, "die", json!({})).await).0, ErrorKind::Unavailable);
            assert!(begun.elapsed() < Duration::from_secs(1));
            return;
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    let status = source.status();
    assert_eq!(status.phase, ConnectionPhase::BrokenCircuit, "{status:?}");
}

#[tokio::test]
async fn a_command_that_is_not_there_is_named() {
    let settings = McpSourceSettings::new(McpTransport::Stdio(StdioSettings {
        command: "no-such-program-anywhere".into(),
        arguments: Vec::new(),
        environment: Vec::new(),
        folder: None,
    }));
    let source = source(settings);
    let error = source.load().await.err().unwrap().to_string();
    assert!(error.contains("cannot find `no-such-program-anywhere`"), "{error}");
    assert_eq!(source.status().phase, ConnectionPhase::Failed);
}

#[tokio::test]
async fn an_idle_server_is_stopped_and_the_next_call_starts_it() {
    let mut settings = settings(&["legacy"]);
    settings.idle_stop = Some(Duration::from_millis(200));
    let source = source(settings);
    let crib = crib(&source).await;
    until("the server is stopped", || source.status().phase == ConnectionPhase::Idle).await;
    assert_eq!(run(&crib, "echo", json!({})).await.text(), "{}");
    assert_eq!(source.status().last_error, None);
}

#[tokio::test]
async fn who_lets_go_of_a_source_ends_its_server() {
    let source = source(settings(&["legacy"]));
    let crib = crib(&source).await;
    let pid = source.status().pid.unwrap();
    let is_there = || std::path::Path::new(&format!("/proc/{pid}")).exists();
    assert!(is_there());
    drop(crib);
    drop(source);
    until("the server is gone", || !is_there()).await;
}

#[tokio::test]
async fn calls_over_http_outlive_one_that_was_not_let_in() {
    for words in [&["era=modern"][..], &["era=legacy"], &["era=legacy", "session"]] {
        let server = HostileServer::start(words).unwrap();
        let crib = crib(&source(over_http::settings(&server.url()))).await;
        // Several, so that none of the lines that were opened before is free.
        let slow = (0..6).map(|_| run(&crib, "wait", json!({"text": "2000"})));
        let (slow, refused) = tokio::join!(futures_util::future::join_all(slow), async {
            let calls =
                || server.received().iter().filter(|(_, body)| body.contains("tools/call")).count();
            until("all are within", || calls() == 6).await;
            let address = server.url();
            // It takes nobody in any more, and answers those that are within.
            drop(server);
            let address = Url::parse(&address).unwrap();
            let port = address.port().unwrap();
            let is_shut = || std::net::TcpStream::connect(("127.0.0.1", port)).is_err();
            until("it takes nobody in", is_shut).await;
            run(&crib, "echo", json!({"text": "hi"})).await
        });
        assert_eq!(failed(&refused).0, ErrorKind::Unavailable, "{words:?}: {refused:?}");
        for response in &slow {
            assert!(response.outcome.is_done(), "{words:?}: {response:?}");
        }
    }
}

#[tokio::test]
async fn a_connection_that_was_stopped_since_nobody_came_for_it_is_not_handed_out() {
    let server = HostileServer::start(&["era=modern", "slow@connect=1000"]).unwrap();
    let mut settings = over_http::settings(&server.url());
    settings.idle_stop = Some(Duration::from_millis(200));
    let source = source(settings);
    let crib = crib(&source).await;
    let is_idle = || source.status().phase == ConnectionPhase::Idle;
    until("the server is left", is_idle).await;
    let cancel = CancellationToken::new();
    let options = BatchOptions { cancel: cancel.clone(), ..BatchOptions::default() };
    let (given_up, ()) = tokio::join!(run_with(&crib, "count", json!({}), options), async {
        let is_starting = || source.status().phase == ConnectionPhase::Starting;
        until("a connection is opened", is_starting).await;
        cancel.cancel();
    });
    assert!(!given_up.outcome.is_done());
    assert_eq!(source.status().phase, ConnectionPhase::Starting);
    until("the server is left once more", is_idle).await;
    assert_eq!(run(&crib, "count", json!({})).await.text(), "1");
}

/// A server that began as a shell, which had left a helper behind with some of its pipes.
fn beside_a_helper(helper: &str, marker: &str) -> McpSourceSettings {
    let script = format!("exec 3<&0; {} exec \"$0\" \"$@\" 3<&-", helper.replace("MARKER", marker));
    let McpTransport::Stdio(StdioSettings { command, arguments, .. }) =
        settings(&["legacy"]).transport
    else {
        unreachable!("it is started")
    };
    let words = ["-c".to_owned(), script, command.display().to_string()];
    McpSourceSettings::new(McpTransport::Stdio(StdioSettings {
        command: "/bin/sh".into(),
        arguments: words.into_iter().chain(arguments).collect(),
        environment: Vec::new(),
        folder: None,
    }))
}

/// Whether a program with this word among its arguments is there.
fn runs(word: &str) -> bool {
    let has_word = |process: std::fs::DirEntry| {
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).any(|part| part == word.as_bytes())
    };
    std::fs::read_dir("/proc").unwrap().flatten().any(has_word)
}

/// The pause of a helper: a number that no other one has.
fn marker(place: usize) -> String {
    format!("1000.{:09}{place}", std::process::id())
}

const HELPERS: [&str; 6] = [
    "sleep MARKER <&3 &",
    "setsid sleep MARKER <&3 &",
    "setsid -f sleep MARKER <&3;",
    "sleep MARKER <&- 2<&- &",
    "sleep MARKER <&- >&- &",
    "sleep MARKER <&3 >&- 2>&- &",
];

#[tokio::test]
async fn a_server_that_died_is_no_more_though_a_helper_holds_its_pipes() {
    for (place, helper) in HELPERS.into_iter().enumerate() {
        let marker = marker(place);
        let source = source(beside_a_helper(helper, &marker));
        let crib = crib(&source).await;
        let before = source.status().pid;
        until("the helper runs", || runs(&marker)).await;
        let begun = Instant::now();
        let (hanging, _) = tokio::join!(run(&crib, "hang", json!({})), async {
            until("the call runs", || source.status().in_flight == 1).await;
            run(&crib, "die", json!({})).await
        });
        let (kind, message) = failed(&hanging);
        assert_eq!(kind, ErrorKind::UnknownOutcome, "{helper}: {message}");
        for n in 0..3 {
            let response = run(&crib, "echo", json!({ "n": n })).await;
            assert_eq!(response.text(), format!(r#"{{"n":{n}}}"#), "{helper}");
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{helper}: {:?}", begun.elapsed());
        let status = source.status();
        assert!(status.pid.is_some() && status.pid != before, "{helper}: {status:?}");
        source.stop().await;
        until("the helpers are gone", || !runs(&marker)).await;
    }
}

/// A call that comes again when it is told to: a program that ended often starts after a pause, and
/// a call that would have to wait longer for it is told so, with the time.
async fn run_when_it_may(crib: &Crib, name: &str, arguments: Value) -> Response {
    let mut response = run(crib, name, arguments.clone()).await;
    for _ in 0..3 {
        let ToolOutcome::Failed(error) = &response.outcome else { break };
        let Some(pause) = error.retry_after else { break };
        assert_eq!(error.kind, ErrorKind::Unavailable, "{error:?}");
        assert!(error.message.contains("nothing was sent"), "{error:?}");
        assert!(pause <= Duration::from_secs(4), "{error:?}");
        tokio::time::sleep(pause).await;
        response = run(crib, name, arguments.clone()).await;
    }
    response
}

#[tokio::test]
async fn a_server_that_was_killed_is_started_by_the_next_call() {
    let source = source(beside_a_helper(HELPERS[1], &marker(90)));
    let crib = crib(&source).await;
    for n in 0..3 {
        let pid = source.status().pid.unwrap().to_string();
        let killed = tokio::process::Command::new("kill").args(["-KILL", &pid]).status().await;
        assert!(killed.unwrap().success());
        let is_there = || std::path::Path::new(&format!("/proc/{pid}")).exists();
        until("it is gone", || !is_there()).await;
        let begun = Instant::now();
        let response = run_when_it_may(&crib, "count", json!({})).await;
        assert!(response.text().starts_with("1 of "), "{n}: {response:?}");
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }
}

#[tokio::test]
async fn what_a_server_said_before_it_died_is_read() {
    let source = source(beside_a_helper(HELPERS[0], &marker(91)));
    let crib = crib(&source).await;
    for _ in 0..5 {
        let response = run_when_it_may(&crib, "last_words", json!({ "bytes": 60_000 })).await;
        assert_eq!(response.text().len(), 60_000, "{response:?}");
        // What is said to one that is about to die may be lost.
        until("it is gone", || source.status().phase != ConnectionPhase::Ready).await;
    }
}

/// A server whose tools close one of its pipes and live on, and one that counts.
const CLOSING: &str = r#"
import json, os, sys, time
count = 0
def answer(id, result):
    os.write(1, (json.dumps({"jsonrpc": "2.0", "id": id, "result": result}) + "\n").encode())
while True:
    message = json.loads(sys.stdin.readline())
    id, method = message.get("id"), message["method"]
    if method == "initialize":
        server = {"name": "closing", "version": "1"}
        said = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": server}
        answer(id, said)
    elif method == "tools/list":
        names = ["close_stdin", "close_stdout", "count"]
        answer(id, {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]})
    elif method == "tools/call":
        name = message["params"]["name"]
        if name == "close_stdout":
            os.close(1)
            time.sleep(1000)
        if name == "close_stdin":
            os.close(0)
        count += 1
        answer(id, {"content": [{"type": "text", "text": str(count)}]})
        if name == "close_stdin":
            time.sleep(1000)
"#;

#[tokio::test]
async fn a_server_that_hears_or_says_nothing_more_is_left_for_another_one() {
    for (tool, told) in [("close_stdin", true), ("close_stdout", false)] {
        let source = source(McpSourceSettings::new(McpTransport::Stdio(StdioSettings {
            command: "python3".into(),
            arguments: vec!["-c".to_owned(), CLOSING.to_owned()],
            environment: Vec::new(),
            folder: None,
        })));
        let crib = crib(&source).await;
        let before = source.status().pid;
        let begun = Instant::now();
        let response = run(&crib, tool, json!({})).await;
        assert_eq!(response.outcome.is_done(), told, "{tool}: {response:?}");
        for n in 0..3 {
            let response = run(&crib, "count", json!({ "n": n })).await;
            assert_eq!(response.text(), (n + 1).to_string(), "{tool}");
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{tool}: {:?}", begun.elapsed());
        assert_ne!(source.status().pid, before, "{tool}");
        let is_there = || std::path::Path::new(&format!("/proc/{}", before.unwrap())).exists();
        until("the old one is gone", || !is_there()).await;
    }
}

#[tokio::test]
async fn a_command_that_leaves_its_server_in_the_background_is_told_so() {
    let mut settings = beside_a_helper("sleep MARKER <&3 & exit 0;", &marker(92));
    settings.timeouts.connect = Duration::from_secs(20);
    let begun = Instant::now();
    let error = source(settings).load().await.err().unwrap().to_string();
    assert!(error.contains("it ended with code 0 before it was ready"), "{error}");
    assert!(error.contains("its command has to stay"), "{error}");
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
}
