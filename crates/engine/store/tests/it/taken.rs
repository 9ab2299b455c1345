//! A ticket that is taken at the very moment at which somebody asks about its call.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;
use toolcrib_core::{
    BoxFuture, Call, CallKey, CallLedger, Caller, Content, Effect, Ending, ErrorKind, Fingerprint,
    IdempotencyKey, KeyLedger, KeyResult, KeyState, LedgerError, ParkedCall, PlanRequest,
    PlannedCall, RawArguments, Report, ResultHandle, ResultLedger, TicketError, TicketId,
    TicketLedger, Toolset,
};
use toolcrib_engine::Crib;
use toolcrib_store::{Store, StoreOptions};
use toolcrib_testkit::Oracle;

use crate::scratch::Scratch;

/// The store, with somebody who takes a ticket just before it is looked up.
struct Raced {
    store: Store,
    takes: AtomicBool,
}

type Done<'a, T = ()> = BoxFuture<'a, Result<T, LedgerError>>;

impl CallLedger for Raced {
    fn planned<'a>(&'a self, call: PlannedCall<'a>) -> Done<'a> {
        self.store.planned(call)
    }

    fn finished(&self, call: CallKey, ending: Ending) -> Done<'_> {
        self.store.finished(call, ending)
    }
}

impl KeyLedger for Raced {
    fn begin<'a>(&'a self, key: &'a IdempotencyKey, arguments: Fingerprint) -> Done<'a, KeyState> {
        KeyLedger::begin(&self.store, key, arguments)
    }

    fn settle<'a>(&'a self, key: &'a IdempotencyKey, end: KeyResult) -> Done<'a> {
        KeyLedger::settle(&self.store, key, end)
    }

    fn recorded<'a>(&'a self, key: &'a IdempotencyKey) -> Done<'a, KeyState> {
        self.store.recorded(key)
    }
}

impl TicketLedger for Raced {
    fn ticket<'a>(&'a self, ticket: &'a TicketId, of: &'a Caller) -> Done<'a, Option<ParkedCall>> {
        Box::pin(async move {
            if self.takes.load(Ordering::Relaxed) {
                self.store.claim(ticket, of).await.unwrap();
            }
            self.store.ticket(ticket, of).await
        })
    }

    fn park(&self, parked: ParkedCall) -> Done<'_> {
        self.store.park(parked)
    }

    fn claim<'a>(
        &'a self,
        ticket: &'a TicketId,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<ParkedCall, TicketError>> {
        self.store.claim(ticket, caller)
    }

    fn parked<'a>(&'a self, caller: &'a Caller) -> Done<'a, Vec<ParkedCall>> {
        self.store.parked(caller)
    }
}

impl ResultLedger for Raced {
    fn keep<'a>(
        &'a self,
        caller: &'a Caller,
        content: Arc<Content>,
    ) -> BoxFuture<'a, Option<ResultHandle>> {
        self.store.keep(caller, content)
    }

    fn kept<'a>(
        &'a self,
        caller: &'a Caller,
        handle: &'a ResultHandle,
    ) -> BoxFuture<'a, Option<Arc<Content>>> {
        self.store.kept(caller, handle)
    }
}

async fn wipe(crib: &Crib) -> Report {
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let call = Call::new("1", "wipe", RawArguments::Value(json!({})));
    crib.run(&plan, vec![Call { key: Some("k1".into()), ..call }]).await
}

#[tokio::test]
async fn a_call_whose_ticket_was_taken_a_moment_ago_runs_and_was_not_forgotten() {
    let (scratch, oracle) = (Scratch::new(), Oracle::default());
    let store = scratch.open(StoreOptions::default()).unwrap();
    let raced = Arc::new(Raced { store, takes: AtomicBool::new(false) });
    let tools = Toolset::of([oracle.echo("wipe", Effect::Destroy)]).unwrap();
    let crib = Crib::builder().ledger(raced.clone()).build_fixed(tools);
    let waits = wipe(&crib).await.responses.remove(0);
    assert_eq!(wipe(&crib).await.responses[0].text(), waits.text(), "nobody took it yet");
    raced.takes.store(true, Ordering::Relaxed);
    let report = wipe(&crib).await;
    let kind = report.responses[0].error().map(|error| error.kind);
    assert_eq!(kind, Some(ErrorKind::Busy), "{}", report.responses[0].text());
}
