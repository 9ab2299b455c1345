//! Times that are set, at their ends to the millisecond: on a clock that stands still until
//! somebody waits.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep};
use toolcrib_core::{
    AllowAll, BatchOptions, Call, Caller, CribLimits, Decision, Effect, Ending, ErrorKind, Plan,
    PlanRequest, RawArguments, Report, Response, Run, TicketError, Tool, ToolError, ToolOutcome,
    Toolset, raw_tool,
};
use toolcrib_engine::Crib;
use toolcrib_engine::ledger::MemoryLedger;
use toolcrib_testkit::{Behaviour, Oracle, spec};

use crate::builder;
use crate::tickets::{alice, park};

const SECOND: Duration = Duration::from_secs(1);

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn crib(tool: Arc<dyn Tool>, limits: CribLimits) -> (Crib, Arc<MemoryLedger>) {
    let ledger = Arc::<MemoryLedger>::default();
    let builder = Crib::builder().policy(AllowAll).ledger(ledger.clone()).limits(limits);
    (builder.build_fixed(Toolset::of([tool]).unwrap()), ledger)
}

/// A tool that answers after so many milliseconds.
fn sleeper(effect: Effect, milliseconds: u64) -> Arc<dyn Tool> {
    Oracle::default().tool(spec("go", effect), Behaviour::Sleep(ms(milliseconds)))
}

fn plan(crib: &Crib) -> Plan {
    crib.plan(&Caller::local(), PlanRequest::default()).unwrap()
}

fn call(n: u32) -> Call {
    Call::new(n.to_string(), "go", RawArguments::Value(json!({ "n": n })))
}

async fn run(crib: &Crib, calls: u32) -> Report {
    crib.run(&plan(crib), (0..calls).map(call).collect()).await
}

fn kind(response: &Response) -> &str {
    response.error().map_or(response.outcome.as_str(), |error| error.kind.as_str())
}

#[tokio::test(start_paused = true)]
async fn a_call_may_take_its_time_to_the_end_and_no_longer() {
    for (takes, expected) in [(999, "done"), (1_000, "done"), (1_001, "timeout")] {
        let limits = CribLimits { timeout: SECOND, ..CribLimits::default() };
        let (crib, _) = crib(sleeper(Effect::Read, takes), limits);
        let began = Instant::now();
        assert_eq!(kind(&run(&crib, 1).await.responses[0]), expected, "{takes}");
        assert_eq!(began.elapsed(), ms(takes.min(1_000)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_waits_for_a_place_until_its_time_in_the_queue_is_over() {
    // At the very end both come at once, and either may be first.
    for (takes, expected) in [(999, "done"), (1_001, "busy")] {
        let limits = CribLimits { queue: SECOND, per_source: 1, ..CribLimits::default() };
        let (crib, _) = crib(sleeper(Effect::Read, takes), limits);
        let report = run(&crib, 2).await;
        let kinds: Vec<_> = report.responses.iter().map(kind).collect();
        assert_eq!(kinds, ["done", expected], "{takes}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_may_answer_to_the_end_of_its_grace() {
    for (takes, expected) in [(999, "done"), (1_000, "done"), (1_001, "unknown_outcome")] {
        let limits = CribLimits { grace: SECOND, ..CribLimits::default() };
        let (crib, _) = crib(sleeper(Effect::Write, 100 + takes), limits);
        let options = BatchOptions::default();
        let cancel = options.cancel.clone();
        let plan = plan(&crib);
        let (report, ()) = tokio::join!(crib.run_with(&plan, vec![call(1)], options), async {
            sleep(ms(100)).await;
            cancel.cancel();
        });
        assert_eq!(kind(&report.responses[0]), expected, "{takes}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_comes_late_is_heard_to_the_end_of_its_time() {
    let (heard, unheard) = (Ending::Succeeded, Ending::Unknown);
    for (takes, expected) in [(999, heard), (1_000, heard), (1_001, unheard)] {
        let limits = CribLimits { timeout: SECOND, late: SECOND, ..CribLimits::default() };
        let (crib, ledger) = crib(sleeper(Effect::Write, 1_000 + takes), limits);
        assert_eq!(kind(&run(&crib, 1).await.responses[0]), "unknown_outcome");
        assert_eq!(ledger.rows()[0].ending, Some(Ending::Unknown));
        sleep(2 * SECOND).await;
        assert_eq!(ledger.rows()[0].ending, Some(expected), "{takes}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_like_one_without_an_end_is_held_back_until_its_time_is_over() {
    for (later, runs) in [(999, 1), (1_000, 2), (1_001, 2)] {
        let oracle = Oracle::default();
        let tool = oracle.tool(spec("go", Effect::Write), Behaviour::Hang);
        let (crib, _) = crib(tool, CribLimits { guard: SECOND, ..CribLimits::default() });
        run(&crib, 1).await;
        sleep(ms(later)).await;
        run(&crib, 1).await;
        assert_eq!(oracle.count("go"), runs, "{later}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_is_repeated_after_pauses_that_double_as_long_as_there_is_time() {
    for (takes, expected) in [
        (999, &[0][..]),
        (1_000, &[0]),
        (1_001, &[0, 1_000]),
        (3_000, &[0, 1_000]),
        (3_001, &[0, 1_000, 3_000]),
    ] {
        let (began, times) = (Instant::now(), Arc::<Mutex<Vec<Duration>>>::default());
        let seen = Arc::clone(&times);
        let tool = raw_tool(spec("go", Effect::Read), move |_, _| {
            seen.lock().unwrap().push(began.elapsed());
            async { ToolOutcome::Failed(ToolError::new(ErrorKind::Network, "the line broke")) }
        });
        let limits = CribLimits { backoff: SECOND, timeout: ms(takes), ..CribLimits::default() };
        let (crib, _) = crib(tool, limits);
        run(&crib, 1).await;
        let expected: Vec<_> = expected.iter().copied().map(ms).collect();
        assert_eq!(*times.lock().unwrap(), expected, "{takes}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_ticket_is_good_until_its_time_is_over() {
    let expired = Some(TicketError::Expired);
    for (later, expected) in [(999, None), (1_000, expired.clone()), (1_001, expired)] {
        let limits = CribLimits { ticket_lifetime: SECOND, ..CribLimits::default() };
        let tools = Toolset::of([Oracle::default().echo("wipe", Effect::Destroy)]).unwrap();
        let crib = builder().limits(limits).build_fixed(tools);
        let (ticket, _) = park(&crib, &alice(), 1).await;
        sleep(ms(later)).await;
        let decided = crib.decide(&alice(), &Run::default(), &ticket, Decision::Approve).await;
        assert_eq!(decided.err(), expected, "{later}");
    }
}
