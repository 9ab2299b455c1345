//! The order of a batch, one example for each step.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use toolcrib_core::{
    AllowAll, BatchOptions, Call, CallFlag, Caller, Content, CribLimits, Effect, Ending, ErrorKind,
    NextStep, Part, Plan, PlanRequest, RawArguments, Reference, Report, Run, Tool, ToolError,
    ToolOutcome, Toolset, Validation, raw_tool,
};
use toolcrib_engine::Crib;
use toolcrib_engine::ledger::MemoryLedger;
use toolcrib_testkit::{Behaviour, Oracle, spec};

use std::sync::Arc;

fn crib(tools: impl IntoIterator<Item = Arc<dyn Tool>>) -> Crib {
    crib_within(tools, CribLimits::default())
}

fn crib_within(tools: impl IntoIterator<Item = Arc<dyn Tool>>, limits: CribLimits) -> Crib {
    let tools = Toolset::of(tools).unwrap();
    Crib::builder().policy(AllowAll).limits(limits).build_fixed(tools)
}

fn plan(crib: &Crib) -> Plan {
    crib.plan(&Caller::local(), PlanRequest::default()).unwrap()
}

fn call(id: &str, name: &str, arguments: Value) -> Call {
    Call::new(id, name, RawArguments::Value(arguments))
}

fn text(id: &str, name: &str, arguments: &str) -> Call {
    Call::new(id, name, RawArguments::Text(arguments.into()))
}

async fn run(crib: &Crib, calls: Vec<Call>) -> Report {
    crib.run(&plan(crib), calls).await
}

fn kinds(report: &Report) -> Vec<&str> {
    let kind = |response: &toolcrib_core::Response| {
        response.error().map_or(response.outcome.as_str(), |error| error.kind.as_str())
    };
    report.responses.iter().map(kind).collect()
}

#[tokio::test]
async fn arguments_may_be_an_object_a_string_empty_or_null() {
    let oracle = Oracle::default();
    let crib = crib([oracle.echo("echo", Effect::Read)]);
    let calls = vec![
        call("1", "echo", json!({"n": 1})),
        text("2", "echo", r#"{"n": 2}"#),
        text("3", "echo", "  "),
        call("4", "echo", json!(null)),
        Call::new("5", "echo", RawArguments::Absent),
        text("6", "echo", r#""{\"n\": 6}""#),
        text("7", "echo", "[7]"),
        call("8", "echo", json!(8)),
    ];
    let report = run(&crib, calls).await;
    let expected = ["done"; 6].into_iter().chain(["invalid_arguments"; 2]).collect::<Vec<_>>();
    assert_eq!(kinds(&report), expected);
    assert_eq!(report.responses[5].repairs, ["opened an object that was written as a string"]);
    // Empty, null and absent mean the same and ran once.
    assert_eq!(report.responses[4].duplicate_of.as_deref(), Some("3"));
    assert_eq!(oracle.count("echo"), 4);
    assert_eq!(
        report.responses[6].text(),
        "Error: the arguments must be a JSON object, got a list: call echo(n?: integer)"
    );
}

#[tokio::test]
async fn equal_calls_run_once_and_every_id_is_answered() {
    let oracle = Oracle::default();
    let crib = crib([oracle.echo("echo", Effect::Write)]);
    let calls = vec![
        call("1", "echo", json!({"n": 1, "m": [1.0]})),
        call("2", "echo", json!({"m": [1], "n": 1.0})),
        call("3", "echo", json!({"n": 2})),
        call("4", "nobody", json!({})),
        call("5", "nobody", json!({})),
    ];
    let report = run(&crib, calls).await;
    assert_eq!(kinds(&report), ["done", "done", "done", "unknown_tool", "unknown_tool"]);
    let copies: Vec<_> =
        report.responses.iter().map(|response| response.duplicate_of.as_deref()).collect();
    assert_eq!(copies, [None, Some("1"), None, None, Some("4")]);
    let ids: Vec<_> = report.responses.iter().map(|response| response.id.as_str()).collect();
    assert_eq!(ids, ["1", "2", "3", "4", "5"]);
    assert_eq!(oracle.count("echo"), 2);
}

#[tokio::test]
async fn what_is_read_again_behind_a_writer_is_read_anew() {
    let oracle = Oracle::default();
    let crib = crib([oracle.echo("look", Effect::Read), oracle.echo("change", Effect::Write)]);
    let same = json!({"n": 1});
    let names = ["look", "look", "change", "look", "look", "change"];
    let calls = names.iter().enumerate();
    let calls = calls.map(|(id, name)| call(&id.to_string(), name, same.clone())).collect();
    let report = run(&crib, calls).await;
    let copies: Vec<_> =
        report.responses.iter().map(|response| response.duplicate_of.as_deref()).collect();
    // What may change something runs once, whatever is between.
    assert_eq!(copies, [None, Some("0"), None, None, Some("3"), Some("2")]);
    assert_eq!((oracle.count("look"), oracle.count("change")), (2, 1));
}

#[tokio::test]
async fn calls_beyond_the_limit_are_told_so() {
    let oracle = Oracle::default();
    let crib = crib([oracle.echo("echo", Effect::Read)]);
    let request = PlanRequest::default().max_calls(2);
    let plan = crib.plan(&Caller::local(), request).unwrap();
    let calls = [1, 1, 2, 3].iter().enumerate();
    let calls = calls.map(|(id, n)| call(&id.to_string(), "echo", json!({"n": n}))).collect();
    let report = crib.run(&plan, calls).await;
    assert_eq!(kinds(&report), ["done", "done", "done", "over_limit"]);
    assert_eq!(
        report.responses[3].text(),
        "Error: not run: limit of 2 calls at once. Send it again in your next turn if it is still \
         needed"
    );
    assert_eq!(oracle.count("echo"), 2);
}

#[tokio::test]
async fn a_request_cannot_ask_for_more_calls_than_the_operator_allows() {
    let oracle = Oracle::default();
    let limits = CribLimits { max_calls: 2, ..CribLimits::default() };
    let crib = crib_within([oracle.echo("echo", Effect::Read)], limits);
    let plan = crib.plan(&Caller::local(), PlanRequest::default().max_calls(1_000)).unwrap();
    let calls = (1..=3).map(|n| call(&n.to_string(), "echo", json!({ "n": n }))).collect();
    assert_eq!(kinds(&crib.run(&plan, calls).await), ["done", "done", "over_limit"]);
}

#[tokio::test]
async fn a_controlling_tool_comes_alone_or_nothing_runs_and_the_loop_goes_on() {
    let oracle = Oracle::default();
    let mut control = spec("research", Effect::Read);
    control.traits.takes_control = true;
    let crib = crib([oracle.tool(control, Behaviour::Echo), oracle.echo("echo", Effect::Read)]);
    let refused =
        run(&crib, vec![call("1", "echo", json!({})), call("2", "research", json!({"n": 1}))])
            .await;
    assert_eq!(kinds(&refused), ["control_conflict", "control_conflict"]);
    assert!(refused.responses[0].text().contains("`research` must be called alone"));
    assert!(refused.responses[1].text().contains("then `research` by itself"));
    assert_eq!(oracle.runs(), []);
    let mut memory = Run::default();
    assert_eq!(memory.absorb(&refused), NextStep::GoOn);

    // The same call twice is one call: it is alone.
    let twice =
        vec![call("1", "research", json!({"n": 1})), call("2", "research", json!({"n": 1}))];
    let report = run(&crib, twice).await;
    assert_eq!(kinds(&report), ["done", "done"]);
    let turn = memory.absorb(&report);
    assert_eq!(turn, NextStep::HandedOver { id: "1".into(), text: r#"{"n":1}"#.into() });
}

#[tokio::test]
async fn an_unknown_name_gets_the_nearest_and_a_hidden_tool_says_how_to_load_it() {
    let oracle = Oracle::default();
    let crib = crib(["create_event", "list_events"].map(|name| oracle.echo(name, Effect::Read)));
    let request = PlanRequest::default().hide("list_events");
    let plan = crib.plan(&Caller::local(), request).unwrap();
    let calls = vec![call("1", "createEvent", json!({})), call("2", "list_events", json!({}))];
    let report = crib.run(&plan, calls).await;
    assert_eq!(kinds(&report), ["unknown_tool", "not_loaded"]);
    assert_eq!(
        report.responses[0].text(),
        "Error: there is no tool `createEvent`. Did you mean `create_event`? Call one of: \
         `create_event`"
    );
    assert_eq!(
        report.responses[1].text(),
        "Error: `list_events` is not loaded yet: search for it first, then call it"
    );
}

#[tokio::test]
async fn what_the_schema_refuses_never_reaches_the_tool() {
    let oracle = Oracle::default();
    let with = |name: &str, validation| {
        let mut spec = spec(name, Effect::Read);
        spec.validation = validation;
        oracle.tool(spec, Behaviour::Echo)
    };
    let crib = crib([
        with("coerce", Validation::Coerce),
        with("strict", Validation::Strict),
        with("off", Validation::Off),
    ]);
    let calls = vec![
        call("1", "coerce", json!({"n": "3"})),
        call("2", "coerce", json!({"n": "three"})),
        call("3", "strict", json!({"n": "3"})),
        text("4", "strict", "{'n': 3}"),
        text("5", "coerce", "{'n': 3, }"),
        call("6", "off", json!({"n": "three"})),
    ];
    let report = run(&crib, calls).await;
    let invalid = "invalid_arguments";
    assert_eq!(kinds(&report), ["done", invalid, invalid, invalid, "done", "done"]);
    assert!(!report.responses[0].repairs.is_empty());
    assert!(!report.responses[4].repairs.is_empty());
    let message = report.responses[1].text();
    assert!(message.contains("`/n`") && message.contains("coerce(n?: integer)"), "{message}");
    assert_eq!(oracle.count("strict"), 0);
    let seen: Vec<_> = oracle.runs().into_iter().map(|(_, arguments)| arguments).collect();
    assert!(seen.contains(&json!({"n": 3})) && seen.contains(&json!({"n": "three"})), "{seen:?}");
}

#[tokio::test(start_paused = true)]
async fn readers_run_together_and_a_writer_waits_for_those_before_it() {
    let oracle = Oracle::default();
    let slow = |name: &str, effect, millis| {
        oracle.tool(spec(name, effect), Behaviour::Sleep(Duration::from_millis(millis)))
    };
    let crib = crib([slow("read", Effect::Read, 50), slow("write", Effect::Write, 50)]);
    let started = Instant::now();
    let calls = (0..100).map(|n| call(&n.to_string(), "read", json!({"n": n}))).collect();
    let limits = CribLimits { max_calls: 100, ..CribLimits::default() };
    let many = crib_within([slow("read", Effect::Read, 50)], limits);
    assert!(run(&many, calls).await.responses.iter().all(|response| response.outcome.is_done()));
    assert!(started.elapsed() < Duration::from_millis(60), "{:?}", started.elapsed());

    let started = Instant::now();
    let mixed = ["read", "read", "write", "read", "write"].iter().zip(1..);
    let calls = mixed.map(|(name, n)| call(&n.to_string(), name, json!({"n": n}))).collect();
    assert_eq!(kinds(&run(&crib, calls).await), ["done"; 5]);
    // Two readers, a writer, a reader, a writer: four steps of 50 ms.
    assert_eq!(started.elapsed().as_millis() / 10, 20);
    let order: Vec<_> = oracle.runs().iter().rev().take(5).rev().map(|run| run.0.clone()).collect();
    assert_eq!(order, ["read", "read", "write", "read", "write"]);
}

#[tokio::test(start_paused = true)]
async fn bounds_hold_and_a_full_house_answers_busy() {
    let oracle = Oracle::default();
    let tool = oracle.tool(spec("read", Effect::Read), Behaviour::Sleep(Duration::from_secs(1)));
    let limits =
        CribLimits { per_batch: 2, queue: Duration::from_millis(2_500), ..CribLimits::default() };
    let crib = crib_within([tool], limits);
    let started = Instant::now();
    let calls = (0..8).map(|n| call(&n.to_string(), "read", json!({"n": n}))).collect();
    let report = run(&crib, calls).await;
    assert_eq!(kinds(&report), ["done", "done", "done", "done", "done", "done", "busy", "busy"]);
    assert_eq!(started.elapsed().as_secs(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_hangs_or_crashes_is_answered_and_its_neighbour_runs() {
    let oracle = Oracle::default();
    let ledger = Arc::new(MemoryLedger::default());
    let tools = [
        oracle.tool(spec("hang", Effect::Read), Behaviour::Hang),
        oracle.tool(spec("crash", Effect::Read), Behaviour::Panic),
        oracle.echo("echo", Effect::Read),
    ];
    let crib = Crib::builder()
        .policy(AllowAll)
        .ledger(ledger.clone())
        .build_fixed(Toolset::of(tools).unwrap());
    let calls = ["hang", "crash", "echo"].map(|name| call(name, name, json!({}))).to_vec();
    let report = run(&crib, calls).await;
    assert_eq!(kinds(&report), ["timeout", "internal", "done"]);
    let texts: Vec<_> = report.responses.iter().map(toolcrib_core::Response::text).collect();
    assert!(texts[0].starts_with("Error: no answer within 60s. It changed nothing"));
    assert!(!texts[1].contains("scripted"), "the cause is for the operator: {}", texts[1]);
    let cause = report.responses[1].debug.cause.as_deref();
    assert_eq!(cause, Some("panic: the scripted panic"));
    let endings: BTreeSet<_> = ledger
        .rows()
        .iter()
        .map(|row| (row.tool.name.to_string(), format!("{:?}", row.ending.unwrap())))
        .collect();
    let expected =
        [("crash", "Failed(Internal)"), ("echo", "Succeeded"), ("hang", "Failed(Timeout)")];
    assert_eq!(endings, expected.map(|(name, end)| (name.to_owned(), end.to_owned())).into());
}

#[tokio::test(start_paused = true)]
async fn a_writer_that_was_started_and_cut_off_has_an_unknown_outcome() {
    let oracle = Oracle::default();
    let crib = crib([
        oracle.tool(spec("hang", Effect::Write), Behaviour::Hang),
        oracle.tool(spec("crash", Effect::Destroy), Behaviour::Panic),
        oracle
            .tool(spec("broken_line", Effect::Write), Behaviour::FailFirst(ErrorKind::Network, 9)),
    ]);
    for name in ["hang", "crash", "broken_line"] {
        let report = run(&crib, vec![call("1", name, json!({}))]).await;
        assert_eq!(kinds(&report), ["unknown_outcome"], "{name}");
        let text = report.responses[0].text();
        assert!(text.contains("may or may not have taken effect: do not repeat it"), "{text}");
        assert_eq!(oracle.count(name), 1, "{name} must not be repeated");
    }
}

#[tokio::test(start_paused = true)]
async fn only_what_is_harmless_to_repeat_is_tried_again() {
    let oracle = Oracle::default();
    let fails = |name: &str, effect, kind, idempotent| {
        let mut spec = spec(name, effect);
        spec.idempotent = idempotent;
        oracle.tool(spec, Behaviour::FailFirst(kind, 2))
    };
    let crib = crib([
        fails("reader", Effect::Read, ErrorKind::Network, false),
        fails("idempotent", Effect::Write, ErrorKind::RateLimited, true),
        fails("never_sent", Effect::Destroy, ErrorKind::Unavailable, false),
        fails("writer", Effect::Write, ErrorKind::RateLimited, false),
        fails("told", Effect::Read, ErrorKind::Tool, false),
    ]);
    let mut ended = Vec::new();
    for name in ["reader", "idempotent", "never_sent", "writer", "told"] {
        let report = run(&crib, vec![call("1", name, json!({}))]).await;
        ended.push((kinds(&report)[0].to_owned(), report.responses[0].debug.attempts));
    }
    let expected = [("done", 3), ("done", 3), ("done", 3), ("rate_limited", 1), ("tool", 1)];
    assert_eq!(ended, expected.map(|(kind, attempts)| (kind.to_owned(), attempts)));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_batch_answers_everything_and_starts_nothing_more() {
    let oracle = Oracle::default();
    let ledger = Arc::new(MemoryLedger::default());
    let tools = [
        oracle.tool(spec("hang", Effect::Write), Behaviour::Hang),
        oracle.echo("echo", Effect::Read),
    ];
    let crib = Crib::builder()
        .policy(AllowAll)
        .ledger(ledger.clone())
        .build_fixed(Toolset::of(tools).unwrap());
    let options = BatchOptions::default();
    let cancel = options.cancel.clone();
    let calls = vec![call("1", "hang", json!({})), call("2", "echo", json!({}))];
    let plan = plan(&crib);
    let (report, ()) = tokio::join!(crib.run_with(&plan, calls, options), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        cancel.cancel();
    });
    assert_eq!(kinds(&report), ["unknown_outcome", "cancelled"]);
    assert_eq!(oracle.count("echo"), 0);
    let endings: Vec<_> = ledger.rows().iter().map(|row| row.ending.unwrap()).collect();
    assert_eq!(endings, [Ending::Unknown, Ending::NotExecuted]);
}

#[tokio::test(start_paused = true)]
async fn a_writer_that_stops_waiting_when_it_is_cancelled_may_have_taken_effect() {
    let mut ends = Vec::new();
    for effect in [Effect::Read, Effect::Write] {
        let ledger = Arc::new(MemoryLedger::default());
        let obeys = raw_tool(spec("obeys", effect), |_, context| async move {
            context.cancelled().await;
            ToolOutcome::Failed(ToolError::new(ErrorKind::Cancelled, "the call was cancelled"))
        });
        let crib = Crib::builder()
            .policy(AllowAll)
            .ledger(ledger.clone())
            .build_fixed(Toolset::of([obeys]).unwrap());
        let options = BatchOptions::default();
        let cancel = options.cancel.clone();
        let plan = plan(&crib);
        let calls = vec![call("1", "obeys", json!({}))];
        let (report, ()) = tokio::join!(crib.run_with(&plan, calls, options), async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            cancel.cancel();
        });
        ends.push((kinds(&report)[0].to_owned(), ledger.rows()[0].ending));
    }
    let failed = Ending::Failed(ErrorKind::Cancelled);
    let expected = [("cancelled", failed), ("unknown_outcome", Ending::Unknown)];
    assert_eq!(ends, expected.map(|(kind, ending)| (kind.to_owned(), Some(ending))));
}

#[tokio::test(start_paused = true)]
async fn a_host_that_goes_away_cancels_and_the_record_stays_true() {
    let oracle = Oracle::default();
    let ledger = Arc::new(MemoryLedger::default());
    let hang = oracle.tool(spec("hang", Effect::Write), Behaviour::Hang);
    let crib = Crib::builder()
        .policy(AllowAll)
        .ledger(ledger.clone())
        .build_fixed(Toolset::of([hang]).unwrap());
    let plan = plan(&crib);
    let running = crib.run(&plan, vec![call("1", "hang", json!({}))]);
    assert!(tokio::time::timeout(Duration::from_secs(1), running).await.is_err());
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(ledger.rows()[0].ending, Some(Ending::Unknown));
}

#[tokio::test]
async fn a_large_result_is_cut_and_its_whole_is_kept_for_its_caller() {
    let oracle = Oracle::default();
    let mut large = spec("large", Effect::Read);
    large.limits.max_result_bytes = Some(10);
    let crib = crib([oracle.tool(large, Behaviour::Large(1_000))]);
    let report = run(&crib, vec![call("1", "large", json!({}))]).await;
    let response = &report.responses[0];
    let handle = response.whole.as_ref().unwrap();
    let expected = format!(
        "xxxxxxxxxx\n\n[cut: 10 of 1000 bytes are shown. Call again with arguments that ask for \
         less to see the rest, or read it in pieces: call `read_result` with the handle `{handle}`]"
    );
    assert_eq!(response.text(), expected);
    let whole = crib.result(&Caller::local(), handle).await.unwrap();
    assert_eq!(whole.parts, [Part::text("x".repeat(1_000))]);
    assert!(crib.result(&Caller::new("local", "mallory"), handle).await.is_none());
}

#[tokio::test]
async fn whatever_a_result_is_made_of_it_stays_within_the_bound() {
    let long = || "x".repeat(100_000);
    let reference = |id: String, title: String| Reference { id, title, ..Reference::default() };
    let extra = serde_json::Map::new;
    let results = [
        Content { parts: vec![Part::text(""); 50_000], ..Content::default() },
        Content { references: vec![reference("a".into(), long())], ..Content::text("see") },
        Content { references: vec![reference(long(), String::new())], ..Content::text("see") },
        Content {
            parts: vec![Part::Image { data: String::new(), mime: long(), extra: extra() }],
            ..Content::default()
        },
        Content { reminder: Some(long()), ..Content::text("see") },
        Content { structured: Some(json!([long()])), ..Content::text("see") },
    ];
    for (place, result) in results.into_iter().enumerate() {
        let mut bounded = spec("bounded", Effect::Read);
        bounded.limits.max_result_bytes = Some(1_000);
        let crib = crib([raw_tool(bounded, move |_, _| {
            let result = result.clone();
            async { ToolOutcome::Done(result) }
        })]);
        let report = run(&crib, vec![call("1", "bounded", json!({}))]).await;
        let text = report.responses[0].text();
        assert!(text.len() < 1_200, "{place}: {} bytes", text.len());
        assert!(report.responses[0].whole.is_some(), "{place}");
    }
}

#[tokio::test]
async fn checks_come_from_successes_and_sources_are_numbered_across_the_run() {
    let cite = |name: &str, ids: &'static [&'static str]| {
        let mut spec = spec(name, Effect::Read);
        spec.checks = vec!["hallucination".into(), format!("about_{name}")];
        raw_tool(spec, move |_, _| async move {
            let reference = |id: &&str| Reference { id: (*id).into(), ..Reference::default() };
            let references = ids.iter().map(reference).collect();
            ToolOutcome::Done(Content { references, ..Content::text("see") })
        })
    };
    let mut failing = spec("fails", Effect::Read);
    failing.checks = vec!["never".into()];
    let failing = raw_tool(failing, |_, _| async {
        ToolOutcome::Failed(ToolError::told("nothing found: ask for another word"))
    });
    let crib = crib([cite("one", &["x", "y"]), cite("two", &["z", "x"]), failing]);
    let mut memory = Run::default();
    let first = run(&crib, vec![call("1", "one", json!({})), call("2", "fails", json!({}))]).await;
    assert_eq!(first.responses[0].text(), "see\n\n[1] x\n\n[2] y");
    assert_eq!(memory.absorb(&first), NextStep::GoOn);
    let request = PlanRequest::default().after(&memory);
    let plan = crib.plan(&Caller::local(), request).unwrap();
    let second = crib.run(&plan, vec![call("1", "two", json!({}))]).await;
    assert_eq!(second.responses[0].text(), "see\n\n[3] z\n\n[1] x");
    memory.absorb(&second);
    assert_eq!(memory.checks().collect::<Vec<_>>(), ["hallucination", "about_one", "about_two"]);
    let sources: Vec<_> = memory.sources().map(|source| source.id.as_str()).collect();
    assert_eq!(sources, ["x", "y", "z"]);
}

#[tokio::test]
async fn the_debug_record_tells_origin_attempts_and_the_flags_that_applied() {
    let oracle = Oracle::default();
    let mut chosen = spec("chosen", Effect::Read);
    chosen.traits.exclusive = true;
    chosen.traits.takes_control = true;
    let crib = crib([oracle.tool(chosen, Behaviour::Echo)]);
    let plan = crib.plan(&Caller::local(), PlanRequest::default().choose("chosen")).unwrap();
    let report = crib.run(&plan, vec![call("1", "chosen", json!({}))]).await;
    let debug = &report.responses[0].debug;
    assert_eq!(debug.tool.as_ref().unwrap().as_str(), "chosen");
    assert_eq!(debug.source.as_ref().unwrap().as_str(), "code");
    assert_eq!(debug.attempts, 1);
    assert_eq!(debug.flags, [CallFlag::Forced, CallFlag::Exclusive, CallFlag::TakesControl]);
    assert!(report.responses[0].handed_over);
}
