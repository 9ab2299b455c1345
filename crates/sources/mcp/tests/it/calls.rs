//! Calls: what goes there and what comes back.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolcrib_core::{BatchOptions, ErrorKind, Source as _, ToolOutcome};

use crate::lists::List;
use crate::support::{crib, failed, run, run_with, settings, source, until};

#[tokio::test]
async fn servers_of_every_era_are_understood_and_silent_ones_cost_little_time() {
    let eras = [
        (vec!["modern"], "2026-07-28"),
        (vec!["legacy"], "2025-11-25"),
        (vec!["legacy", "revision=2025-06-18"], "2025-06-18"),
        (vec!["legacy", "revision=2025-03-26"], "2025-03-26"),
        (vec!["legacy", "revision=2024-11-05"], "2024-11-05"),
        (vec!["silent"], "2025-11-25"),
        (vec!["empty"], "2025-11-25"),
        (vec!["modern", "slow-start=1500"], "2026-07-28"),
    ];
    for (options, revision) in eras {
        let begun = Instant::now();
        let source = source(settings(&options));
        let crib = crib(&source).await;
        let response = run(&crib, "echo", json!({"x": 1})).await;
        assert_eq!(response.text(), r#"{"x":1}"#, "{options:?}");
        let status = source.status();
        assert_eq!(status.revision.as_deref(), Some(revision), "{options:?}");
        assert_eq!(status.server.as_deref(), Some("scripted"), "{options:?}");
        assert!(begun.elapsed() < Duration::from_secs(8), "{options:?}");
        source.stop().await;
    }
}

#[tokio::test]
async fn a_result_survives_whole_with_fields_that_nobody_knows() {
    for era in ["legacy", "modern"] {
        let crib = crib(&source(settings(&[era]))).await;
        let response = run(&crib, "rich", json!({})).await;
        let ToolOutcome::Done(content) = &response.outcome else {
            panic!("{:?}", response.outcome);
        };
        let hologram = json!({"type": "hologram", "beam": true});
        let expected = json!({
            "parts": [
                {"type": "text", "text": "hello",
                    "extra": {"annotations": {"audience": ["user"]}, "x-new": 1}},
                {"type": "image", "data": "aGk=", "mime": "image/png", "extra": {"x-new": 2}},
                {"type": "audio", "data": "aGk=", "mime": "audio/wav"},
                {"type": "text", "text": "inside", "extra": {
                    "type": "resource", "resource": {"uri": "file:///a.txt", "x-new": 3}}},
                {"type": "file", "data": "aGk=", "mime": "application/octet-stream",
                    "name": "b.bin",
                    "extra": {"type": "resource", "resource": {"uri": "file:///a/b.bin"}}},
                {"type": "link", "uri": "file:///c", "name": "c", "extra": {"size": 12}},
                {"type": "text", "text": hologram.to_string(), "extra": hologram},
            ],
            "structured": {"answer": 42},
            "extra": {"_meta": {"trace": "t1"}, "x-new": "top"},
        });
        assert_eq!(serde_json::to_value(content).unwrap(), expected);
    }
}

#[tokio::test]
async fn a_failure_says_what_kind_it_is() {
    let crib = crib(&source(settings(&["legacy"]))).await;
    let response = run(&crib, "fail", json!({})).await;
    assert_eq!(failed(&response), (ErrorKind::Tool, "the disk is full".to_owned()));
    let (kind, message) = failed(&run(&crib, "wrong", json!({})).await);
    assert_eq!(kind, ErrorKind::InvalidArguments);
    assert!(message.contains("`x` must be [2J positive"), "{message}");
    let (kind, message) = failed(&run(&crib, "gone", json!({})).await);
    assert_eq!(kind, ErrorKind::Tool);
    assert!(message.contains("does not have this tool any more"), "{message}");
    // Something was answered, and nobody can tell what it did.
    let (kind, message) = failed(&run(&crib, "odd", json!({})).await);
    assert_eq!(kind, ErrorKind::UnknownOutcome);
    assert!(message.contains("cannot be read"), "{message}");
    assert_eq!(run(&crib, "echo", json!({"still": "here"})).await.text(), r#"{"still":"here"}"#);
}

#[tokio::test]
async fn lines_are_bounded_and_a_long_one_costs_its_call_alone() {
    let mut settings = settings(&["legacy"]);
    settings.timeouts.call = Duration::from_secs(6);
    let crib = crib(&source(settings)).await;
    let fits = 8 * 1024 * 1024 - 200;
    assert!(run(&crib, "huge", json!({"bytes": fits})).await.outcome.is_done());
    let (too_long, too_deep, fine) = tokio::join!(
        run(&crib, "huge", json!({"bytes": 8 * 1024 * 1024})),
        run(&crib, "deep", json!({"depth": 2_000})),
        run(&crib, "slow", json!({"pause": 300, "nonce": 5})),
    );
    assert_eq!(failed(&too_long).0, ErrorKind::UnknownOutcome);
    assert_eq!(failed(&too_deep).0, ErrorKind::UnknownOutcome);
    assert_eq!(fine.text(), "answer to 5");
}

#[tokio::test]
async fn what_cannot_be_read_is_told_at_once_beside_other_calls_with_its_own_cause() {
    for (era, id) in [("legacy", "first"), ("modern", "last"), ("legacy", "none")] {
        let mut settings = settings(&[era]);
        settings.timeouts.call = Duration::from_mins(1);
        settings.bounds.message = 1024 * 1024;
        let crib = crib(&source(settings)).await;
        let deep = |raw: &str| match id {
            "first" => json!({ "raw": raw }),
            _ => json!({ "raw": raw, "id": id }),
        };
        let huge = format!("\"{}\"", "x".repeat(2 * 1024 * 1024));
        let nested = format!("{}{}", "[".repeat(2_000), "]".repeat(2_000));
        let told = [
            (huge.as_str(), "it is larger than `limits.message` allows"),
            (&nested, "it is nested deeper than `limits.depth` allows"),
            ("-Infinity", "it is no JSON"),
        ];
        for (raw, why) in told {
            let begun = Instant::now();
            let call = async {
                let ended = run(&crib, "deep", deep(raw)).await;
                (ended, begun.elapsed())
            };
            let ((ended, took), slow, other) = tokio::join!(
                call,
                run(&crib, "slow", json!({"pause": 4_000, "nonce": 5})),
                run(&crib, "slow", json!({"pause": 2_000, "nonce": 6})),
            );
            let (kind, message) = failed(&ended);
            assert_eq!(kind, ErrorKind::UnknownOutcome, "{id} {why}: {message}");
            assert!(message.contains(why), "{id}: {message}");
            assert_eq!(
                (slow.text().as_str(), other.text().as_str()),
                ("answer to 5", "answer to 6")
            );
            // Where nobody can see whose it is, it is the last one's.
            assert!(id == "none" || took < Duration::from_secs(3), "{id} {why}: {took:?}");
            assert!(begun.elapsed() < Duration::from_secs(30), "{id} {why}");
        }
    }
}

#[tokio::test]
async fn half_a_letter_costs_its_string_a_replacement_and_nothing_else() {
    let crib = crib(&source(settings(&["legacy"]))).await;
    let raw = r#"[{"a":"x\ud83dy\ud83d\ude00"}]"#;
    let (lone, fine) = tokio::join!(
        run(&crib, "deep", json!({ "raw": raw })),
        run(&crib, "echo", json!({"still": "here"})),
    );
    assert!(lone.outcome.is_done(), "{lone:?}");
    let ToolOutcome::Done(content) = &lone.outcome else { unreachable!("it is done") };
    assert_eq!(content.extra["x"], json!([{ "a": "x\u{fffd}y\u{1f600}" }]));
    assert_eq!(fine.text(), r#"{"still":"here"}"#);
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_ends_the_only_call_there_is_at_once() {
    let crib = crib(&source(settings(&["modern"]))).await;
    let begun = Instant::now();
    for (name, arguments, why) in [
        ("huge", json!({"bytes": 9 * 1024 * 1024}), "it is larger than `limits.message` allows"),
        ("deep", json!({"depth": 2_000}), "it is nested deeper than `limits.depth` allows"),
        // As the JSON of Python is written, for what is no number.
        ("deep", json!({"raw": "NaN"}), "it is no JSON"),
    ] {
        let (kind, message) = failed(&run(&crib, name, arguments).await);
        assert_eq!(kind, ErrorKind::UnknownOutcome, "{message}");
        assert!(message.contains(why), "{message}");
    }
    assert!(begun.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn a_greeting_that_does_not_fit_is_told_by_the_member_that_does_not() {
    let loaded = async |greeting: Value| {
        let file = List::new("hello", &greeting);
        let option = file.option().replace("list=", "hello=");
        let source = source(settings(&["legacy", &option]));
        source.load().await.map(|set| set.len() > 5).map_err(|error| error.to_string())
    };
    let server = json!({"name": "x", "version": "1"});
    let hello = |capabilities: Value, server: &Value| json!({"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": server});
    for (greeting, told) in [
        (hello(json!({"tools": []}), &server), Ok(true)),
        (hello(json!({"tools": null}), &server), Ok(true)),
        (hello(json!([]), &server), Ok(false)),
        (
            hello(json!({"tools": ["list"]}), &server),
            Err("`capabilities.tools` is a list, and has to be an object"),
        ),
        (
            hello(json!({"tools": {}}), &json!({"name": "x"})),
            Err("`serverInfo.version` is missing"),
        ),
        (json!({}), Err("its answer to the handshake is none of the protocol")),
        (json!([1]), Err("its answer cannot be read: it is none of the protocol")),
    ] {
        let loaded = loaded(greeting.clone()).await;
        match told {
            Ok(has_tools) => assert_eq!(loaded, Ok(has_tools), "{greeting}"),
            Err(told) => {
                let error = loaded.unwrap_err();
                assert!(error.contains(told) && !error.contains("Some("), "{greeting}: {error}");
            }
        }
    }
}

#[tokio::test]
async fn each_timeout_says_its_name_and_progress_extends_the_first() {
    let mut settings = settings(&["legacy"]);
    settings.timeouts.call = Duration::from_millis(1_500);
    settings.timeouts.longest_call = Duration::from_secs(5);
    let crib = crib(&source(settings)).await;
    let (silent, moving, endless) = tokio::join!(
        run(&crib, "hang", json!({})),
        run(&crib, "progress", json!({"pause": 500})),
        run(&crib, "progress", json!({"pause": 1_300})),
    );
    assert!(failed(&silent).1.contains("`call_timeout`"), "{silent:?}");
    assert_eq!(moving.text(), "done");
    assert!(failed(&endless).1.contains("`longest_call`"), "{endless:?}");
}

#[tokio::test]
async fn a_cancelled_call_leaves_nothing_behind_for_the_next() {
    for era in ["legacy", "modern"] {
        let source = source(settings(&[era]));
        let crib = crib(&source).await;
        let cancel = CancellationToken::new();
        let options = BatchOptions { cancel: cancel.clone(), ..BatchOptions::default() };
        let arguments = json!({"pause": 1_500, "nonce": "first"});
        let (given_up, ()) = tokio::join!(run_with(&crib, "late", arguments, options), async {
            until("the call runs", || source.status().in_flight == 1).await;
            cancel.cancel();
        });
        assert!(!given_up.outcome.is_done());
        // The answer to the first comes while the second waits for its own.
        let second = run(&crib, "late", json!({"pause": 1_700, "nonce": "second"})).await;
        assert_eq!(second.text(), r#"answer to "second""#);
        let told = |line: &String| line.starts_with("cancelled");
        assert!(source.status().stderr.iter().any(told), "{era}: {:?}", source.status());
        assert_eq!(source.status().in_flight, 0);
    }
}

#[tokio::test]
async fn a_child_gets_no_variable_that_is_not_its_own() {
    let crib = crib(&source(settings(&["legacy"]))).await;
    let names = run(&crib, "env", json!({})).await.text();
    assert!(names.contains("PATH") && !names.contains("GITHUB_TOKEN"), "{names}");
}
