//! What the gate does when something around it breaks.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcrib_core::{
    AllowAll, BatchOptions, BoxFuture, Call, Caller, Content, CribLimits, Effect, Ending, Intent,
    Policy, Progress, RawArguments, Request, ToolOutcome, ToolSpec, Toolset, Verdict, raw_tool,
};
use toolcrib_engine::Crib;
use toolcrib_engine::ledger::MemoryLedger;
use toolcrib_testkit::{BrokenLedger, Oracle, spec};

fn call(id: &str, name: &str) -> Call {
    Call::new(id, name, RawArguments::Value(json!({})))
}

async fn outcomes(crib: &Crib, names: &[&str]) -> Vec<(String, String)> {
    let plan = crib.plan(&Caller::local(), Request::default()).unwrap();
    let calls = names.iter().map(|name| call(name, name)).collect();
    let report = crib.run(&plan, calls).await;
    let said = |response: &toolcrib_core::Response| {
        let kind = response.error().map_or(response.outcome.as_str(), |error| error.kind.as_str());
        (kind.to_owned(), response.debug.cause.clone().unwrap_or_default())
    };
    report.responses.iter().map(said).collect()
}

fn said(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(kind, cause)| ((*kind).to_owned(), (*cause).to_owned())).collect()
}

#[tokio::test]
async fn what_cannot_be_recorded_does_not_run_unless_it_only_reads() {
    let oracle = Oracle::default();
    let tools = [
        oracle.echo("read", Effect::Read),
        oracle.echo("write", Effect::Write),
        oracle.echo("wipe", Effect::Destroy),
    ];
    let crib =
        Crib::builder().ledger(Arc::new(BrokenLedger)).build_fixed(Toolset::of(tools).unwrap());
    let cause = "the ledger does not answer: the disk is full";
    let down = "the ledger does not answer";
    assert_eq!(
        outcomes(&crib, &["read", "write", "wipe"]).await,
        said(&[("done", down), ("busy", cause), ("busy", cause)])
    );
    assert_eq!(oracle.runs(), [("read".to_owned(), json!({}))]);
}

/// A policy with a bug.
struct Panicking;

impl Policy for Panicking {
    fn sees(&self, _: &Caller, _: &ToolSpec) -> bool {
        true
    }

    fn decide<'a>(&'a self, _: Intent<'a>) -> BoxFuture<'a, Verdict> {
        panic!("a bug in the policy")
    }
}

#[tokio::test]
async fn a_policy_that_panics_denies() {
    let oracle = Oracle::default();
    let tools = Toolset::of([oracle.echo("read", Effect::Read)]).unwrap();
    let crib = Crib::builder().policy(Panicking).build_fixed(tools);
    assert_eq!(outcomes(&crib, &["read"]).await, said(&[("denied", "")]));
    assert_eq!(oracle.runs(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_tool_that_holds_on_to_its_thread_is_answered_for() {
    let oracle = Oracle::default();
    let ledger = Arc::new(MemoryLedger::default());
    let stuck = |name, effect| {
        raw_tool(spec(name, effect), |_, _| async {
            std::thread::sleep(Duration::from_secs(3));
            ToolOutcome::Done(Content::text("too late"))
        })
    };
    let tools = [
        stuck("stuck_reader", Effect::Read),
        stuck("stuck_writer", Effect::Write),
        oracle.echo("behind", Effect::Write),
    ];
    let limits = CribLimits {
        timeout: Duration::from_millis(200),
        grace: Duration::from_millis(100),
        ..CribLimits::default()
    };
    let crib = Crib::builder()
        .policy(AllowAll)
        .limits(limits)
        .ledger(ledger.clone())
        .build_fixed(Toolset::of(tools).unwrap());
    let started = Instant::now();
    let ended = outcomes(&crib, &["stuck_reader", "stuck_writer", "behind"]).await;
    assert_eq!(ended, said(&[("timeout", ""), ("unknown_outcome", ""), ("done", "")]));
    assert!(started.elapsed() < Duration::from_millis(2_900), "{:?}", started.elapsed());
    // The threads come back later, and the record does not change its mind.
    tokio::time::sleep(Duration::from_millis(4_500)).await;
    let endings: Vec<_> = ledger.rows().iter().map(|row| row.ending.unwrap()).collect();
    let timed_out = Ending::Failed(toolcrib_core::ErrorKind::Timeout);
    assert_eq!(endings, [timed_out, Ending::Unknown, Ending::Succeeded]);
}

#[tokio::test]
async fn progress_reaches_the_host_of_the_batch() {
    let steps = raw_tool(spec("steps", Effect::Read), |_, context| async move {
        for done in 1..=2 {
            context.progress(Progress {
                done: f64::from(done),
                total: Some(2.0),
                message: Some(format!("step {done}")),
            });
        }
        ToolOutcome::Done(Content::json(Value::from(context.attempt())))
    });
    let crib = Crib::new([steps]).unwrap();
    let plan = crib.plan(&Caller::local(), Request::default()).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let options = BatchOptions {
        progress: Some(Arc::new(move |_, progress| {
            sink.lock().unwrap().extend(progress.message);
        })),
        ..BatchOptions::default()
    };
    let report = crib.run_with(&plan, vec![call("1", "steps")], options).await;
    assert_eq!(report.responses[0].text(), "1");
    assert_eq!(*seen.lock().unwrap(), ["step 1", "step 2"]);
}
