//! What the gate does when something around it breaks.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcrib_core::{
    AllowAll, BatchOptions, BoxFuture, Call, CallKey, CallLedger, Caller, Content, CribLimits,
    Decision, Effect, Ending, ErrorKind, Host, HostQuestion, Intent, KeyLedger, LedgerError,
    ParkedCall, PlanRequest, PlannedCall, Policy, Progress, QuestionError, QuestionKind,
    RawArguments, Reference, ResultHandle, ResultLedger, Run, TicketError, TicketId, TicketLedger,
    Tool, ToolError, ToolOutcome, ToolSpec, Toolset, Verdict, raw_tool,
};
use toolcrib_engine::Crib;
use toolcrib_engine::ledger::MemoryLedger;
use toolcrib_testkit::{Behaviour, BrokenLedger, Oracle, spec};

fn call(id: &str, name: &str) -> Call {
    Call::new(id, name, RawArguments::Value(json!({})))
}

async fn outcomes(crib: &Crib, names: &[&str]) -> Vec<(String, String)> {
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
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
        said(&[("done", down), ("unavailable", cause), ("unavailable", cause)])
    );
    assert_eq!(oracle.runs(), [("read".to_owned(), json!({}))]);
}

#[tokio::test]
async fn a_call_that_goes_on_elsewhere_is_not_recorded_as_never_executed() {
    let ledger = Arc::new(MemoryLedger::default());
    let remote = raw_tool(spec("remote", Effect::Read), |_, _| async {
        let ticket = toolcrib_core::TicketId::claimed("task-7");
        let reason = "it works on it".to_owned();
        ToolOutcome::Pending(toolcrib_core::PendingTicket { ticket, reason, question: None })
    });
    let crib = Crib::builder()
        .policy(AllowAll)
        .ledger(ledger.clone())
        .build_fixed(Toolset::of([remote]).unwrap());
    assert_eq!(outcomes(&crib, &["remote"]).await, said(&[("pending", "")]));
    assert_eq!(ledger.rows()[0].ending, Some(Ending::Unknown));
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
    let timed_out = Ending::Failed(ErrorKind::Timeout);
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
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let host: Arc<dyn Host> = Arc::new(Listener(Arc::clone(&seen)));
    let options = BatchOptions { host: Some(host), ..BatchOptions::default() };
    let report = crib.run_with(&plan, vec![call("1", "steps")], options).await;
    assert_eq!(report.responses[0].text(), "1");
    assert_eq!(*seen.lock().unwrap(), ["step 1", "step 2"]);
}

/// Breaks after it was sent, and cannot be reached afterwards.
fn lost(name: &str, effect: Effect) -> Arc<dyn Tool> {
    raw_tool(ToolSpec { idempotent: true, ..spec(name, effect) }, |_, context| async move {
        let kind = match context.attempt() {
            1 => ErrorKind::Network,
            _ => ErrorKind::Unavailable,
        };
        ToolOutcome::Failed(ToolError::new(kind, "nothing was sent"))
    })
}

#[tokio::test(start_paused = true)]
async fn a_call_that_was_sent_once_is_never_said_to_be_unsent() {
    let crib = Crib::builder().policy(AllowAll).build_fixed(
        Toolset::of([lost("reads", Effect::Read), lost("writes", Effect::Write)]).unwrap(),
    );
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let report = crib.run(&plan, vec![call("1", "reads"), call("2", "writes")]).await;
    let said: Vec<_> = report
        .responses
        .iter()
        .map(|response| {
            (response.error().unwrap().kind, response.text().contains("nothing was sent"))
        })
        .collect();
    assert_eq!(said, [(ErrorKind::Network, false), (ErrorKind::Network, false)]);
    assert!(
        report.responses[1].text().contains("may or may not"),
        "{}",
        report.responses[1].text()
    );
}

#[tokio::test(start_paused = true)]
async fn no_tool_runs_longer_than_the_host_lets_any_of_them() {
    let mut patient = spec("patient", Effect::Read);
    patient.limits.timeout = Some(Duration::from_hours(1));
    let patient = raw_tool(patient, |_, _| std::future::pending());
    let longest_timeout = Some(Duration::from_secs(2));
    let limits = CribLimits { longest_timeout, ..CribLimits::default() };
    let crib = Crib::builder().limits(limits).build_fixed(Toolset::of([patient]).unwrap());
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let begun = tokio::time::Instant::now();
    let report = crib.run(&plan, vec![call("1", "patient")]).await;
    assert_eq!(report.responses[0].error().unwrap().kind, ErrorKind::Timeout);
    assert!(begun.elapsed() < Duration::from_secs(4), "{:?}", begun.elapsed());
}

struct Listener(Arc<Mutex<Vec<String>>>);

impl Host for Listener {
    fn progress(&self, _call: CallKey, progress: Progress) {
        self.0.lock().unwrap().extend(progress.message);
    }

    fn answers(&self) -> &[QuestionKind] {
        &[QuestionKind::Form]
    }

    fn ask(
        &self,
        _call: CallKey,
        ask: HostQuestion,
    ) -> BoxFuture<'_, Result<Value, QuestionError>> {
        Box::pin(std::future::ready(Ok(json!({ "asked": ask.params }))))
    }
}

#[tokio::test]
async fn a_tool_asks_the_host_of_its_batch_and_nobody_else() {
    let asks = raw_tool(spec("asks", Effect::Read), |_, context| async move {
        let ask = |question| context.ask(HostQuestion::new(question, json!({ "q": 1 })));
        let (form, sample) = (ask(QuestionKind::Form).await, ask(QuestionKind::Sample).await);
        let session = context.session();
        ToolOutcome::Done(Content::text(format!("{form:?} {sample:?} {session:?}")))
    });
    let crib = Crib::new([asks]).unwrap();
    let plan = crib.plan(&Caller::local(), PlanRequest::default().in_session("s1")).unwrap();
    let host: Arc<dyn Host> = Arc::new(Listener(Arc::default()));
    let options = BatchOptions { host: Some(host), ..BatchOptions::default() };
    let with_host = crib.run_with(&plan, vec![call("1", "asks")], options).await;
    let alone = crib.run(&plan, vec![call("1", "asks")]).await;
    let texts = [with_host, alone].map(|report| report.responses[0].text());
    assert_eq!(
        texts,
        [
            r#"Ok(Object {"asked": Object {"q": Number(1)}}) Err(Unable) Some("s1")"#,
            r#"Err(Unable) Err(Unable) Some("s1")"#,
        ]
    );
}

/// A ledger in memory that remembers every end it was told, and can break in its own ways.
#[derive(Default)]
struct Odd {
    inner: MemoryLedger,
    silent: bool,
    pause_at_the_end: Duration,
    pause_after_claim: Duration,
    panics_while_it_keeps: bool,
    ends: Mutex<Vec<Ending>>,
}

impl CallLedger for Odd {
    fn planned<'a>(&'a self, call: PlannedCall<'a>) -> BoxFuture<'a, Result<(), LedgerError>> {
        if self.silent { Box::pin(std::future::pending()) } else { self.inner.planned(call) }
    }

    fn finished(&self, call: CallKey, ending: Ending) -> BoxFuture<'_, Result<(), LedgerError>> {
        Box::pin(async move {
            tokio::time::sleep(self.pause_at_the_end).await;
            self.ends.lock().unwrap().push(ending);
            self.inner.finished(call, ending).await
        })
    }
}

impl KeyLedger for Odd {}

impl TicketLedger for Odd {
    fn park(&self, parked: ParkedCall) -> BoxFuture<'_, Result<(), LedgerError>> {
        self.inner.park(parked)
    }

    fn claim<'a>(
        &'a self,
        ticket: &'a TicketId,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<ParkedCall, TicketError>> {
        Box::pin(async move {
            let claimed = self.inner.claim(ticket, caller).await;
            tokio::time::sleep(self.pause_after_claim).await;
            claimed
        })
    }

    fn parked<'a>(
        &'a self,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<Vec<ParkedCall>, LedgerError>> {
        self.inner.parked(caller)
    }
}

impl ResultLedger for Odd {
    fn keep<'a>(
        &'a self,
        caller: &'a Caller,
        content: Arc<Content>,
    ) -> BoxFuture<'a, Option<ResultHandle>> {
        assert!(!self.panics_while_it_keeps, "a bug in the ledger");
        self.inner.keep(caller, content)
    }

    fn kept<'a>(
        &'a self,
        caller: &'a Caller,
        handle: &'a ResultHandle,
    ) -> BoxFuture<'a, Option<Arc<Content>>> {
        self.inner.kept(caller, handle)
    }
}

impl Odd {
    fn ends(&self) -> Vec<Ending> {
        self.ends.lock().unwrap().clone()
    }
}

// The clock stands while anything runs: who waits without resting never gets to the end.
#[tokio::test(start_paused = true)]
async fn a_record_that_takes_longer_than_the_tool_may_is_waited_for() {
    let limits = CribLimits { timeout: Duration::from_secs(1), ..CribLimits::default() };
    let ledger = Arc::new(Odd { pause_at_the_end: Duration::from_secs(5), ..Odd::default() });
    let crib = Crib::builder()
        .limits(limits)
        .ledger(ledger.clone())
        .build_fixed(Toolset::of([Oracle::default().echo("write", Effect::Write)]).unwrap());
    assert_eq!(outcomes(&crib, &["write"]).await, said(&[("done", "")]));
    assert_eq!(ledger.ends(), [Ending::Succeeded]);
}

#[tokio::test(start_paused = true)]
async fn an_approved_call_runs_although_its_approver_leaves_while_the_ticket_is_taken() {
    let oracle = Oracle::default();
    let pause_after_claim = Duration::from_secs(5);
    let ledger = Arc::new(Odd { pause_after_claim, ..Odd::default() });
    let crib = Crib::builder()
        .ledger(ledger.clone())
        .build_fixed(Toolset::of([oracle.echo("wipe", Effect::Destroy)]).unwrap());
    let caller = Caller::local();
    let plan = crib.plan(&caller, PlanRequest::default()).unwrap();
    let report = crib.run(&plan, vec![call("1", "wipe")]).await;
    let ToolOutcome::Pending(pending) = &report.responses[0].outcome else { panic!("{report:?}") };
    let run = Run::default();
    let deciding = crib.decide(&caller, &run, &pending.ticket, Decision::Approve);
    assert!(tokio::time::timeout(Duration::from_secs(1), deciding).await.is_err());
    assert_eq!(oracle.count("wipe"), 0);
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!((oracle.count("wipe"), ledger.ends()), (1, vec![Ending::Succeeded]));
}

#[tokio::test(start_paused = true)]
async fn a_ledger_that_never_answers_is_one_that_is_down() {
    let ledger = Arc::new(Odd { silent: true, ..Odd::default() });
    let tools = ["read", "write"].map(|name| {
        let effect = if name == "read" { Effect::Read } else { Effect::Write };
        Oracle::default().echo(name, effect)
    });
    let crib = Crib::builder().ledger(ledger.clone()).build_fixed(Toolset::of(tools).unwrap());
    let (down, cause) =
        ("the ledger does not answer", "the ledger does not answer: no answer within 10s");
    let expected = said(&[("done", down), ("unavailable", cause)]);
    assert_eq!(outcomes(&crib, &["read", "write"]).await, expected);
    // Whatever was written without a word of it has an end.
    assert_eq!(ledger.ends().iter().filter(|end| **end == Ending::NotExecuted).count(), 1);
}

#[tokio::test]
async fn a_ledger_that_panics_over_a_large_result_costs_the_whole_and_not_the_answer() {
    let mut large = spec("large", Effect::Write);
    large.limits.max_result_bytes = Some(10);
    let ledger = Arc::new(Odd { panics_while_it_keeps: true, ..Odd::default() });
    let tool = Oracle::default().tool(large, Behaviour::Large(100));
    let crib = Crib::builder().ledger(ledger.clone()).build_fixed(Toolset::of([tool]).unwrap());
    assert_eq!(outcomes(&crib, &["large"]).await, said(&[("done", "")]));
    assert_eq!(ledger.ends(), [Ending::Succeeded]);
}

/// A policy that never makes up its mind.
struct Undecided;

impl Policy for Undecided {
    fn sees(&self, _: &Caller, _: &ToolSpec) -> bool {
        true
    }

    fn decide<'a>(&'a self, _: Intent<'a>) -> BoxFuture<'a, Verdict> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test(start_paused = true)]
async fn a_policy_that_never_answers_denies_and_does_not_keep_a_batch_from_being_cancelled() {
    let tools = Toolset::of([Oracle::default().echo("read", Effect::Read)]).unwrap();
    let crib = Crib::builder().policy(Undecided).build_fixed(tools);
    assert_eq!(outcomes(&crib, &["read"]).await, said(&[("denied", "")]));
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let options = BatchOptions::default();
    options.cancel.cancel();
    let report = crib.run_with(&plan, vec![call("1", "read")], options).await;
    assert_eq!(report.responses[0].error().unwrap().kind, ErrorKind::Cancelled);
}

#[tokio::test(start_paused = true)]
async fn times_without_end_break_no_clock() {
    let oracle = Oracle::default();
    let mut patient = spec("patient", Effect::Read);
    patient.limits.timeout = Some(Duration::MAX);
    let limited = raw_tool(spec("limited", Effect::Read), |_, _| async {
        let mut error = ToolError::new(ErrorKind::RateLimited, "slow down");
        error.retry_after = Some(Duration::from_secs(u64::MAX));
        ToolOutcome::Failed(error)
    });
    let tools =
        [oracle.tool(patient, Behaviour::Echo), limited, oracle.echo("wipe", Effect::Destroy)];
    let limits = CribLimits {
        grace: Duration::MAX,
        ticket_lifetime: Duration::MAX,
        ..CribLimits::default()
    };
    let crib = Crib::builder().limits(limits).build_fixed(Toolset::of(tools).unwrap());
    assert_eq!(
        outcomes(&crib, &["patient", "limited", "wipe"]).await,
        said(&[("done", ""), ("rate_limited", ""), ("pending", "")])
    );
}

#[tokio::test(start_paused = true)]
async fn what_a_writer_did_before_it_fell_silent_is_unknown_even_if_it_may_be_repeated() {
    let oracle = Oracle::default();
    let writer = |name: &str, idempotent, behaviour| {
        let mut spec = spec(name, Effect::Write);
        spec.idempotent = idempotent;
        oracle.tool(spec, behaviour)
    };
    let tools = [
        writer("hangs", true, Behaviour::Hang),
        writer("broken_line", true, Behaviour::FailFirst(ErrorKind::Network, 9)),
        writer("mended_line", true, Behaviour::FailFirst(ErrorKind::Network, 1)),
        writer("waited_itself", false, Behaviour::FailFirst(ErrorKind::Timeout, 9)),
        oracle
            .tool(spec("reader_waited", Effect::Read), Behaviour::FailFirst(ErrorKind::Timeout, 9)),
    ];
    let names = tools.each_ref().map(|tool| tool.spec().name.to_string());
    let ledger = Arc::new(Odd::default());
    let crib = Crib::builder().ledger(ledger.clone()).build_fixed(Toolset::of(tools).unwrap());
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let mut ended = Vec::new();
    for name in &names {
        let report = crib.run(&plan, vec![call(name, name)]).await;
        let response = &report.responses[0];
        let kind = response.error().map_or(response.outcome.as_str(), |error| error.kind.as_str());
        let harmless = response.text().contains("to repeat it as it is does no harm");
        ended.push((kind.to_owned(), harmless, oracle.count(name)));
    }
    let expected = [
        ("timeout", true, 1),
        ("network", true, 3),
        ("done", false, 2),
        ("unknown_outcome", false, 1),
        ("timeout", false, 1),
    ];
    assert_eq!(ended, expected.map(|(kind, harmless, runs)| (kind.to_owned(), harmless, runs)));
    let timed_out = Ending::Failed(ErrorKind::Timeout);
    let unknown = Ending::Unknown;
    assert_eq!(ledger.ends(), [unknown, unknown, Ending::Succeeded, unknown, timed_out]);
}

#[tokio::test(start_paused = true)]
async fn a_full_tenant_keeps_no_place_of_a_source_from_the_others() {
    let oracle = Oracle::default();
    let slow = Behaviour::Sleep(Duration::from_secs(20));
    let slow = Toolset::of([oracle.tool(spec("slow", Effect::Read), slow)]).unwrap();
    let quick = Toolset::of([oracle.echo("quick", Effect::Read)]).unwrap();
    let limits = CribLimits { per_source: 1, per_tenant: 1, ..CribLimits::default() };
    let building = Crib::builder().limits(limits).source("slow", slow).source("quick", quick);
    let crib = building.build().await;
    let started = tokio::time::Instant::now();
    let run = async |tenant: &str, name: &str, after: u64| {
        tokio::time::sleep(Duration::from_secs(after)).await;
        let plan = crib.plan(&Caller::new(tenant, "x"), PlanRequest::default()).unwrap();
        let report = crib.run(&plan, vec![call("1", name)]).await;
        (report.responses[0].outcome.as_str(), started.elapsed().as_secs())
    };
    let (first, second, other) =
        tokio::join!(run("full", "slow", 0), run("full", "quick", 1), run("other", "quick", 2));
    assert_eq!([first, second, other], [("done", 20), ("done", 20), ("done", 2)]);
}

#[tokio::test]
async fn kept_results_are_bounded_whatever_they_are_made_of() {
    let ledger = MemoryLedger::default();
    let (alice, text) = (Caller::local(), "x".repeat(1024 * 1024));
    let reference = Reference { text, ..Reference::default() };
    let content = Arc::new(Content { references: vec![reference], ..Content::default() });
    let mut handles = Vec::new();
    for _ in 0..66 {
        handles.push(ledger.keep(&alice, Arc::clone(&content)).await.unwrap());
    }
    assert!(ledger.kept(&alice, &handles[0]).await.is_none());
    assert!(ledger.kept(&alice, &handles[65]).await.is_some());
}
