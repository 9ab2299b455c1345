//! Servers that die, and come back.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use toolcrib_core::{BatchOptions, CribLimits, ErrorKind, Source};
use toolcrib_mcp::{Phase, ServerSettings, StdioSettings, Transport};
use toolcrib_testkit::hostile::Server;

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
    assert_eq!((status.restarts, status.phase), (1, Phase::Ready));
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
    let crib = crib(&source(settings(&["legacy"]))).await;
    let begun = Instant::now();
    let (hanging, _) = tokio::join!(run(&crib, "hang", json!({})), async {
        tokio::time::sleep(Duration::from_millis(500)).await;
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
        if kind == ErrorKind::Unavailable && source.status().phase == Phase::BrokenCircuit {
            assert!(message.contains("the next try is in"), "{message}");
            let begun = Instant::now();
            assert_eq!(failed(&run(&crib, "die", json!({})).await).0, ErrorKind::Unavailable);
            assert!(begun.elapsed() < Duration::from_secs(1));
            return;
        }
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    let status = source.status();
    assert_eq!(status.phase, Phase::BrokenCircuit, "{status:?}");
}

#[tokio::test]
async fn a_command_that_is_not_there_is_named() {
    let settings = ServerSettings::new(Transport::Stdio(StdioSettings {
        command: "no-such-program-anywhere".into(),
        arguments: Vec::new(),
        environment: Vec::new(),
        folder: None,
    }));
    let source = source(settings);
    let error = source.load().await.err().unwrap().to_string();
    assert!(error.contains("cannot find `no-such-program-anywhere`"), "{error}");
    assert_eq!(source.status().phase, Phase::Failed);
}

#[tokio::test]
async fn an_idle_server_is_stopped_and_the_next_call_starts_it() {
    let mut settings = settings(&["legacy"]);
    settings.idle_stop = Some(Duration::from_millis(200));
    let source = source(settings);
    let crib = crib(&source).await;
    until("the server is stopped", || source.status().phase == Phase::Idle).await;
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
        let server = Server::start(words).unwrap();
        let crib = crib(&source(over_http::settings(&server.url()))).await;
        // Several, so that none of the lines that were opened before is free.
        let slow = (0..6).map(|_| run(&crib, "wait", json!({"text": "2000"})));
        let (slow, refused) = tokio::join!(futures_util::future::join_all(slow), async {
            tokio::time::sleep(Duration::from_millis(500)).await;
            // It takes nobody in any more, and answers those that are within.
            drop(server);
            tokio::time::sleep(Duration::from_millis(200)).await;
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
    let server = Server::start(&["era=modern", "slow@connect=1000"]).unwrap();
    let mut settings = over_http::settings(&server.url());
    settings.idle_stop = Some(Duration::from_millis(200));
    let source = source(settings);
    let crib = crib(&source).await;
    let is_idle = || source.status().phase == Phase::Idle;
    until("the server is left", is_idle).await;
    let cancel = CancellationToken::new();
    let options = BatchOptions { cancel: cancel.clone(), ..BatchOptions::default() };
    let (given_up, ()) = tokio::join!(run_with(&crib, "count", json!({}), options), async {
        tokio::time::sleep(Duration::from_millis(300)).await;
        cancel.cancel();
    });
    assert!(!given_up.outcome.is_done());
    assert_eq!(source.status().phase, Phase::Starting);
    until("the server is left once more", is_idle).await;
    assert_eq!(run(&crib, "count", json!({})).await.text(), "1");
}
