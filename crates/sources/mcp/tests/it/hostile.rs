//! Servers that break the rules cost their own calls and nothing else.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::process::Command;
use tokio_util::sync::CancellationToken;
use toolcrib_core::{BatchOptions, ErrorKind, Source, SourceId};
use toolcrib_engine::Crib;
use toolcrib_mcp::{
    ConnectionPhase, McpEnvironment, McpSource, McpSourceSettings, McpTransport, StdioSettings,
};
use toolcrib_testkit::hostile::HostileServer;

use crate::support::{crib, example, failed, run, run_with, settings, until};

const EVILS: &[&[&str]] = &[
    &["hang"],
    &["exit"],
    &["crash=20"],
    &["half"],
    &["unfinished"],
    &["wrong-id"],
    &["null-id"],
    &["text-id"],
    &["again"],
    &["duplicate-keys"],
    &["unknown-id"],
    &["garbage"],
    &["batch"],
    &["shape"],
    &["error=-32603"],
    &["huge=67108864"],
    &["endless"],
    &["deep=100000"],
    &["bad-utf8"],
    &["asks=sampling"],
    &["asks=no/such"],
    &["progress=100000"],
    &["list-changed=100000"],
    &["stderr=10000000"],
    &["bomb=all"],
    &["names"],
    &["twice"],
];

/// Tries something within bounds of time; on a machine that is too busy for them once more, with
/// all of them ten times as long. What one server holds up for as long as it may is held up then
/// too, and what waits for the processor is not.
async fn in_time(attempt: impl AsyncFn(u32) -> Result<(), String>) {
    if attempt(1).await.is_ok() {
        return;
    }
    let again = attempt(10).await;
    assert_eq!(again, Ok(()));
}

/// Whether that took less than so many seconds.
fn within(seconds: u32, took: Duration, what: &str) -> Result<(), String> {
    let is_within = took < Duration::from_secs(seconds.into());
    is_within.then_some(()).ok_or_else(|| format!("{what}: {took:?}, not {seconds} s"))
}

fn hostile(words: &[&str], era: &str, times: u32) -> McpSourceSettings {
    let era = format!("era={era}");
    let words = words.iter().copied().chain([era.as_str()]).map(str::to_owned);
    let mut settings = McpSourceSettings::new(McpTransport::Stdio(StdioSettings {
        command: example("hostile_peer"),
        arguments: words.collect(),
        environment: Vec::new(),
        folder: None,
    }));
    settings.timeouts.connect = Duration::from_secs(10) * times;
    settings.timeouts.list = Duration::from_secs(5) * times;
    settings.timeouts.call = Duration::from_secs(1) * times;
    settings.timeouts.longest_call = Duration::from_secs(4) * times;
    settings
}

fn named(id: &str, settings: McpSourceSettings) -> std::sync::Arc<McpSource> {
    std::sync::Arc::new(McpSource::new(id, settings, McpEnvironment::default()))
}

#[tokio::test]
async fn no_evil_on_a_pipe_outlasts_its_time_or_delays_a_neighbour() {
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    for era in ["legacy", "modern"] {
        for words in EVILS {
            in_time(async |times| beside_a_neighbour(words, era, times).await).await;
        }
    }
    until("no task is left over", || tasks() <= before).await;
}

/// Calls of an evil server and of a good one at the same time; `Err`: one took too long.
async fn beside_a_neighbour(words: &[&str], era: &str, times: u32) -> Result<(), String> {
    let bad = named("bad", hostile(words, era, times));
    let good = named("good", settings(&["modern"]));
    let placed = |id: &str, source: &std::sync::Arc<McpSource>| {
        let patience = Duration::from_secs(20) * times;
        (SourceId::new(id), std::sync::Arc::clone(source) as _, patience)
    };
    let crib = Crib::builder()
        .policy(toolcrib_core::AllowAll)
        .placed(placed("good", &good))
        .placed(placed("bad", &bad))
        .build()
        .await;
    let begun = Instant::now();
    let evil = async { run(&crib, "wait", json!({"text": "10"})).await };
    let (_, neighbour) = tokio::join!(evil, async {
        let begun = Instant::now();
        let response = run(&crib, "slow", json!({"pause": 20, "nonce": 1})).await;
        (response.text(), begun.elapsed())
    });
    let took = begun.elapsed();
    let _: Value = serde_json::to_value(bad.status()).unwrap();
    bad.stop().await;
    good.stop().await;
    assert_eq!(neighbour.0, "answer to 1", "{era} {words:?}");
    within(3 * times, neighbour.1, &format!("the neighbour of {era} {words:?}"))?;
    within(15 * times, took, &format!("{era} {words:?}"))
}

#[tokio::test]
async fn no_evil_over_http_outlasts_its_time() {
    let more: &[&[&str]] = &[
        &["status=500"],
        &["redirect=http://127.0.0.1:9/"],
        &["type=text/html"],
        &["sse"],
        &["cut"],
        &["drip=50"],
        &["long=1000"],
    ];
    for era in ["legacy", "modern"] {
        for words in EVILS.iter().chain(more) {
            let era = format!("era={era}");
            let mut words = words.to_vec();
            words.push(&era);
            in_time(async |times| {
                let server = HostileServer::start(&words).unwrap();
                let mut settings = crate::over_http::settings(&server.url());
                settings.timeouts = hostile(&[], "modern", times).timeouts;
                let source = named("bad", settings);
                let begun = Instant::now();
                let crib = crib(&source).await;
                let response = run(&crib, "count", json!({})).await;
                within(15 * times, begun.elapsed(), &format!("{words:?}: {response:?}"))
            })
            .await;
        }
    }
}

#[tokio::test]
async fn lists_that_never_end_are_refused() {
    for word in ["endless-pages", "hang@list", "huge@list=67108864", "shape@list"] {
        in_time(async |times| {
            let begun = Instant::now();
            let source = named("bad", hostile(&[word], "modern", times));
            assert!(source.load().await.is_err(), "{word}");
            within(15 * times, begun.elapsed(), word)
        })
        .await;
    }
}

#[tokio::test]
async fn who_is_told_a_call_counts_it_once() {
    let crib = crib(&named("bad", hostile(&["again"], "legacy", 1))).await;
    let first = run_with(&crib, "count", json!({}), BatchOptions::default()).await;
    let second = run(&crib, "count", json!({})).await;
    assert_ne!(first.text(), second.text());
}

/// Sends a signal to a server; one that is stopped by it reads nothing.
async fn tell(source: &McpSource, signal: &str) {
    let command = format!("kill -{signal} {}", source.status().pid.unwrap());
    let told = Command::new("sh").args(["-c", &command]).status().await;
    assert!(told.unwrap().success());
}

#[tokio::test]
async fn calls_that_a_stuck_server_never_took_leave_nothing_behind() {
    let source = named("bad", hostile(&[], "modern", 1));
    let crib = crib(&source).await;
    tell(&source, "STOP").await;
    let tasks = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let before = tasks();
    // More than a pipe holds.
    let text = "x".repeat(200_000);
    let calls = (0..40).map(|_| run(&crib, "echo", json!({ "text": text })));
    for response in futures_util::future::join_all(calls).await {
        assert!(!response.outcome.is_done());
    }
    // The line that is half written, and the word that the one is given up which was sent.
    until("the others are gone", || tasks() <= before + 4).await;
    tell(&source, "CONT").await;
    source.stop().await;
}

#[tokio::test]
async fn a_call_that_was_cancelled_says_whether_it_was_sent() {
    let source = named("bad", hostile(&[], "modern", 10));
    let bad = crib(&source).await;
    tell(&source, "STOP").await;
    let cancelled_after = async |crib: &Crib, pause: u64, text: &str| {
        let cancel = CancellationToken::new();
        let options = BatchOptions { cancel: cancel.clone(), ..BatchOptions::default() };
        let (response, ()) =
            tokio::join!(run_with(crib, "echo", json!({ "text": text }), options), async {
                tokio::time::sleep(Duration::from_millis(pause)).await;
                cancel.cancel();
            });
        failed(&response)
    };
    // More than a pipe holds: one is half written, and the others wait for that.
    let text = "x".repeat(200_000);
    let ended = [(); 3].map(|()| cancelled_after(&bad, 500, &text));
    let ended = futures_util::future::join_all(ended).await;
    let before = "the call was cancelled before anything was sent; nothing was run";
    let unsent = (ErrorKind::Unavailable, before.to_owned());
    assert_ne!(ended[0], unsent);
    assert_eq!(ended[1..], [unsent.clone(), unsent.clone()]);
    tell(&source, "CONT").await;
    source.stop().await;
    let mut settings = hostile(&["slow@connect=1000"], "modern", 10);
    settings.idle_stop = Some(Duration::from_millis(100));
    let source = named("slow", settings);
    let crib = crib(&source).await;
    until("it is left", || source.status().phase == ConnectionPhase::Idle).await;
    assert_eq!(cancelled_after(&crib, 200, "while it starts").await, unsent);
}
