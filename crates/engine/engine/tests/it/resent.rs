//! A call that changes something is made again where that is known not to do it twice, and what it
//! ends with is never more than anybody knows.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;
use toolcrib_core::{
    AllowAll, Arguments, BoxFuture, Call, CallContext, CallKey, Caller, Content, CribLimits,
    Effect, Ending, ErrorKind, PlanRequest, RawArguments, Response, Tool, ToolError, ToolOutcome,
    ToolSpec, Toolset,
};
use toolcrib_engine::Crib;
use toolcrib_engine::ledger::MemoryLedger;
use toolcrib_testkit::spec;

/// What the bank says once the line holds; `None`: that it paid.
type Then = Option<ErrorKind>;

/// Pays once for each key. The line breaks before its first answers.
struct Bank {
    spec: ToolSpec,
    takes_key: bool,
    lost: u32,
    then: Then,
    /// How long the answer that is not lost takes.
    pause: Duration,
    paid: Arc<Mutex<Vec<CallKey>>>,
}

impl Tool for Bank {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn honours_idempotency_key(&self) -> bool {
        self.takes_key
    }

    fn call<'a>(&'a self, _: Arguments, context: &'a CallContext) -> BoxFuture<'a, ToolOutcome> {
        Box::pin(async move {
            {
                let mut paid = self.paid.lock().unwrap();
                if !self.takes_key || !paid.contains(&context.key()) {
                    paid.push(context.key());
                }
            }
            let failed = |kind| ToolOutcome::Failed(ToolError::new(kind, "no"));
            if context.attempt() <= self.lost {
                return failed(ErrorKind::Network);
            }
            sleep(self.pause).await;
            self.then.map_or_else(|| ToolOutcome::Done(Content::text("paid")), failed)
        })
    }
}

/// How one payment ended: what its caller was told, what is on record, and how often it was made.
struct Paid {
    response: Response,
    ledger: Arc<MemoryLedger>,
    times: usize,
}

impl Paid {
    async fn by(bank: Bank) -> Self {
        let (ledger, paid) = (Arc::new(MemoryLedger::default()), Arc::clone(&bank.paid));
        let tools = Toolset::of([Arc::new(bank) as Arc<dyn Tool>]).unwrap();
        let limits = CribLimits { timeout: Duration::from_secs(5), ..CribLimits::default() };
        let builder = Crib::builder().policy(AllowAll).limits(limits);
        let crib = builder.ledger(Arc::<MemoryLedger>::clone(&ledger)).build_fixed(tools);
        let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
        let call = Call::new("1", "pay", RawArguments::Value(json!({})));
        let response = crib.run(&plan, vec![call]).await.responses.remove(0);
        let times = paid.lock().unwrap().len();
        Self { response, ledger, times }
    }

    fn kind(&self) -> Option<ErrorKind> {
        self.response.error().map(|error| error.kind)
    }

    fn ending(&self) -> Option<Ending> {
        self.ledger.rows()[0].ending
    }
}

fn bank(takes_key: bool, (lost, then): (u32, Then)) -> Bank {
    let (spec, pause) = (spec("pay", Effect::Write), Duration::ZERO);
    Bank { spec, takes_key, lost, then, pause, paid: Arc::default() }
}

const LOST: Option<ErrorKind> = Some(ErrorKind::UnknownOutcome);

#[tokio::test(start_paused = true)]
async fn a_call_whose_line_breaks_is_made_again_where_its_key_is_known_and_ends_truthfully() {
    use ErrorKind::{RateLimited, Tool as Said, Unavailable};
    for (takes_key, breaks, retries, kind, attempts) in [
        (true, (0, None), None, None, 1),
        (true, (1, None), None, None, 2),
        (true, (2, None), None, None, 3),
        (true, (3, None), None, LOST, 3),
        (true, (1, None), Some(0), LOST, 1),
        (false, (1, None), None, LOST, 1),
        // What is said to the second tells nothing of the first, unless it is the same.
        (true, (1, Some(Said)), None, LOST, 2),
        (true, (1, Some(RateLimited)), None, LOST, 2),
        (true, (1, Some(Unavailable)), None, LOST, 3),
        (true, (0, Some(Said)), None, Some(Said), 1),
        (true, (0, Some(RateLimited)), None, Some(RateLimited), 1),
    ] {
        let mut bank = bank(takes_key, breaks);
        bank.spec.limits.retries = retries;
        let paid = Paid::by(bank).await;
        let case = format!("{takes_key} {breaks:?} {retries:?}");
        assert_eq!((paid.kind(), paid.response.debug.attempts), (kind, attempts), "{case}");
        let says_unknown = paid.response.text().contains("may or may not have taken effect");
        assert_eq!(says_unknown, kind == LOST, "{case}: {}", paid.response.text());
        let ending = match kind {
            None => Ending::Succeeded,
            Some(ErrorKind::UnknownOutcome) => Ending::Unknown,
            Some(kind) => Ending::Failed(kind),
        };
        assert_eq!((paid.ending(), paid.times), (Some(ending), 1), "{case}");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_said_to_a_harmless_repetition_does_not_tell_that_the_first_did_nothing() {
    for (then, ending) in [
        (None, Ending::Succeeded),
        (Some(ErrorKind::Tool), Ending::Unknown),
        (Some(ErrorKind::Unavailable), Ending::Unknown),
    ] {
        let mut bank = bank(false, (1, then));
        bank.spec.idempotent = true;
        let paid = Paid::by(bank).await;
        assert_eq!(paid.ending(), Some(ending), "{then:?}: {}", paid.response.text());
        let is_unsure = paid.response.text().contains("may or may not have taken effect");
        assert_eq!(is_unsure, then.is_some(), "{then:?}: {}", paid.response.text());
    }
}

#[tokio::test(start_paused = true)]
async fn a_late_answer_to_a_repetition_tells_of_the_first_attempt_only_by_success() {
    for (breaks, ending) in [
        ((1, None), Ending::Succeeded),
        ((1, Some(ErrorKind::Tool)), Ending::Unknown),
        ((1, Some(ErrorKind::Unavailable)), Ending::Unknown),
        // Of a first attempt it tells all.
        ((0, Some(ErrorKind::Tool)), Ending::Failed(ErrorKind::Tool)),
        ((0, Some(ErrorKind::Unavailable)), Ending::NotExecuted),
    ] {
        let mut bank = bank(true, breaks);
        bank.pause = Duration::from_secs(8);
        let paid = Paid::by(bank).await;
        assert_eq!((paid.kind(), paid.ending()), (LOST, Some(Ending::Unknown)), "{breaks:?}");
        sleep(Duration::from_secs(10)).await;
        assert_eq!((paid.ending(), paid.times), (Some(ending), 1), "{breaks:?}");
    }
}
