//! The same over HTTP, with a server by the SDK and with one that breaks the rules.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use toolcrib_core::{BatchOptions, CallKey, ErrorKind, Host, Progress, Secret, Source};
use toolcrib_egress::Network;
use toolcrib_mcp::{HttpAuthorization, HttpSettings, McpEra, McpSourceSettings, McpTransport};
use toolcrib_testkit::hostile::HostileServer;
use url::Url;

use crate::fixture::{Fixture, serve};
use crate::support::{crib, failed, run, run_with, source};

pub(crate) fn settings(url: &str) -> McpSourceSettings {
    McpSourceSettings::new(McpTransport::Http(Box::new(HttpSettings {
        url: url.parse().unwrap(),
        headers: vec![("x-team".to_owned(), Secret::new("tools"))],
        authorization: HttpAuthorization::Bearer(Secret::new("token-1")),
        network: Network::default(),
    })))
}

#[tokio::test]
async fn calls_over_http_work_in_both_eras_with_json_and_with_events() {
    for (legacy, json) in [(false, true), (false, false), (true, true), (true, false)] {
        let fixture = Fixture { legacy, ..Fixture::default() };
        let url = serve(fixture, json).await.unwrap();
        let source = source(settings(&url));
        let crib = crib(&source).await;
        for n in 0..3 {
            let response = run(&crib, "echo", json!({ "n": n })).await;
            assert_eq!(response.text(), format!(r#"{{"n":{n}}}"#), "legacy {legacy}, json {json}");
        }
        let era = if legacy { McpEra::Legacy } else { McpEra::Modern };
        assert_eq!(source.status().era, Some(era));
    }
}

#[derive(Default)]
struct Steps(Mutex<Vec<f64>>);

impl Host for Steps {
    fn progress(&self, _: CallKey, progress: Progress) {
        self.0.lock().unwrap().push(progress.done);
    }
}

#[tokio::test]
async fn progress_comes_on_the_stream_of_its_call() {
    for legacy in [false, true] {
        let url = serve(Fixture { legacy, ..Fixture::default() }, false).await.unwrap();
        let crib = crib(&source(settings(&url))).await;
        let steps = Arc::new(Steps::default());
        let host = Some(Arc::clone(&steps) as Arc<dyn Host>);
        let options = BatchOptions { host, ..BatchOptions::default() };
        let response = run_with(&crib, "steps", json!({}), options).await;
        assert_eq!(response.text(), "{}");
        assert_eq!(*steps.0.lock().unwrap(), [1.0, 2.0], "legacy {legacy}");
    }
}

/// Passes on what comes to a server, and counts the connections.
async fn counted(url: &str) -> (String, Arc<AtomicUsize>) {
    let mut url: Url = url.parse().unwrap();
    let server = format!("127.0.0.1:{}", url.port().unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    url.set_port(Some(listener.local_addr().unwrap().port())).unwrap();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::AcqRel);
            let mut server = TcpStream::connect(&server).await.unwrap();
            tokio::spawn(async move { copy_bidirectional(&mut client, &mut server).await });
        }
    });
    (url.to_string(), count)
}

#[tokio::test]
async fn calls_in_turn_that_are_answered_as_events_use_one_connection() {
    let (url, count) = counted(&serve(Fixture::default(), false).await.unwrap()).await;
    let crib = crib(&source(settings(&url))).await;
    run(&crib, "echo", json!({})).await;
    // As below: nothing tells of the end of a stream that nobody waits for.
    tokio::time::sleep(Duration::from_millis(150)).await;
    let before = count.load(Ordering::Acquire);
    for n in 0..6 {
        assert_eq!(run(&crib, "echo", json!({ "n": n })).await.text(), format!(r#"{{"n":{n}}}"#));
        // The end of the stream may come a while after its last event.
        tokio::time::sleep(Duration::from_millis(150)).await;
    }
    assert_eq!(count.load(Ordering::Acquire), before);
}

#[tokio::test]
async fn many_slow_calls_do_not_wait_for_each_other() {
    let url = serve(Fixture::default(), true).await.unwrap();
    let crib = crib(&source(settings(&url))).await;
    let begun = std::time::Instant::now();
    let calls = (0..60).map(|n| run(&crib, "slow", json!({"pause": 700, "n": n})));
    for (n, response) in futures_util::future::join_all(calls).await.iter().enumerate() {
        assert_eq!(response.text(), json!({"pause": 700, "n": n}).to_string());
    }
    assert!(begun.elapsed() < Duration::from_secs(15));
}

#[tokio::test]
async fn headers_and_token_go_with_every_request() {
    let server = HostileServer::start(&["era=modern"]).unwrap();
    let crib = crib(&source(settings(&server.url()))).await;
    assert_eq!(run(&crib, "echo", json!({"text": "hi"})).await.text(), "hi");
    let received = server.received();
    assert!(received.len() >= 3);
    for (head, _) in received {
        let head = head.to_ascii_lowercase();
        assert!(head.contains("authorization: bearer token-1"), "{head}");
        assert!(head.contains("x-team: tools"), "{head}");
    }
}

#[tokio::test]
async fn a_forgotten_session_is_begun_anew_without_a_word_to_callers() {
    let server = HostileServer::start(&["era=legacy", "session", "forget=5"]).unwrap();
    let crib = crib(&source(settings(&server.url()))).await;
    for n in 0..6 {
        let text = format!("call {n}");
        assert_eq!(run(&crib, "echo", json!({ "text": text })).await.text(), text);
    }
}

#[tokio::test]
async fn a_status_says_what_became_of_the_call() {
    let kinds = [
        ("status=429", ErrorKind::RateLimited),
        ("status=404", ErrorKind::Tool),
        // The tool only reads, so that these are ends, and it may be called again.
        ("status=502", ErrorKind::Network),
        ("type=text/html", ErrorKind::Internal),
        ("cut", ErrorKind::Network),
    ];
    for (word, kind) in kinds {
        let server = HostileServer::start(&["era=modern", word]).unwrap();
        let crib = crib(&source(settings(&server.url()))).await;
        let response = run(&crib, "count", json!({})).await;
        assert_eq!(failed(&response).0, kind, "{word}: {response:?}");
    }
}

#[tokio::test]
async fn a_stream_that_ends_without_an_answer_is_told_as_that() {
    let told = [
        ("legacy", "the connection to the server `far` broke (the server closed it)"),
        (
            "modern",
            "the connection to the server `far` broke (its stream of events ended before the answer)",
        ),
    ];
    for (era, broke) in told {
        let server = HostileServer::start(&[&format!("era={era}"), "sse", "cut"]).unwrap();
        let crib = crib(&source(settings(&server.url()))).await;
        let reading = failed(&run(&crib, "count", json!({})).await);
        assert_eq!(reading, (ErrorKind::Network, broke.to_owned()), "{era}");
    }
}

#[tokio::test]
async fn a_server_that_refuses_our_token_is_named_with_the_cure() {
    let server = HostileServer::start(&["status@connect=401"]).unwrap();
    let error = source(settings(&server.url())).load().await.err().unwrap().to_string();
    assert!(error.contains("refuses our credentials"), "{error}");
}

#[tokio::test]
async fn nobody_listens_is_said_at_once_and_nothing_counts_as_sent() {
    let url = serve(Fixture::default(), true).await.unwrap();
    let listed = source(settings(&url)).load().await.unwrap();
    assert_eq!(listed.len(), 4);
    let dead = source(settings("http://127.0.0.1:9/mcp"));
    let error = dead.load().await.err().unwrap().to_string();
    assert!(error.contains("cannot be connected to"), "{error}");
    let _: Value = serde_json::to_value(dead.status()).unwrap();
}

#[tokio::test]
async fn an_old_server_with_sessions_is_reached() {
    let server = HostileServer::start(&["era=legacy", "session"]).unwrap();
    let crib = crib(&source(settings(&server.url()))).await;
    assert_eq!(run(&crib, "echo", json!({"text": "hi"})).await.text(), "hi");
}
