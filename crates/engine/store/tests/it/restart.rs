//! What outlives the process that wrote it.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolcrib_core::{
    AllowAll, Arguments, Call, CallWire, Caller, CribLimits, Decision, Effect, Ending, Fingerprint,
    IdempotencyKey, KeyLedger as _, KeyState, ParkedCall, PlanRequest, RawArguments, Run, SourceId,
    TicketError, TicketId, TicketLedger as _, ToolName, ToolOutcome, Toolset,
};
use toolcrib_engine::Crib;
use toolcrib_store::{CallFilter, Store, StoreOptions};
use toolcrib_testkit::{Behaviour, Oracle, spec};

use crate::scratch::Scratch;

fn alice() -> Caller {
    Caller::new("acme", "alice").with_scopes(["pay"])
}

fn store(scratch: &Scratch) -> Store {
    scratch.open(StoreOptions::default()).unwrap()
}

fn crib(scratch: &Scratch, tools: Toolset, lifetime: Duration) -> Crib {
    let limits = CribLimits { ticket_lifetime: lifetime, ..CribLimits::default() };
    Crib::builder().ledger(Arc::new(store(scratch))).limits(limits).build_fixed(tools)
}

fn wipe(oracle: &Oracle) -> Toolset {
    Toolset::of([oracle.echo("wipe", Effect::Destroy)]).unwrap()
}

async fn park(crib: &Crib, n: u32) -> TicketId {
    let request = PlanRequest { session: Some("talk".into()), ..PlanRequest::default() };
    let plan = crib.plan(&alice(), request).unwrap();
    let call = Call::new("c1", "wipe", RawArguments::Value(json!({ "n": n, "x": 0.1 })));
    let report = crib.run(&plan, vec![call]).await;
    let ToolOutcome::Pending(pending) = &report.responses[0].outcome else { panic!("{report:?}") };
    pending.ticket.clone()
}

const LONG: Duration = Duration::from_mins(10);

#[tokio::test]
async fn a_parked_call_is_redeemed_once_after_a_restart_with_all_that_it_was_bound_to() {
    let (scratch, oracle) = (Scratch::new(), Oracle::default());
    let before = crib(&scratch, wipe(&oracle), LONG);
    let ticket = park(&before, 7).await;
    let parked = before.tickets(&alice()).await.unwrap();
    drop(before);
    let after = crib(&scratch, wipe(&oracle), LONG);
    let mut open = after.tickets(&alice()).await.unwrap();
    // The time that it has left goes on meanwhile, and is not begun anew.
    assert!(open[0].lifetime <= parked[0].lifetime && parked[0].lifetime <= LONG, "{open:?}");
    open[0].lifetime = parked[0].lifetime;
    assert_eq!(open, parked);
    assert_eq!(parked[0].session.as_deref(), Some("talk"));
    let approve = async |crib: &Crib, caller: &Caller| {
        crib.decide(caller, &Run::default(), &ticket, Decision::Approve).await
    };
    let stranger = approve(&after, &Caller::new("acme", "bob")).await;
    assert_eq!(stranger.err(), Some(TicketError::Unknown));
    let response = approve(&after, &alice()).await.unwrap();
    assert_eq!(
        (response.id.as_str(), oracle.runs()),
        ("c1", vec![("wipe".to_owned(), json!({ "n": 7, "x": 0.1 }))])
    );
    drop(after);
    let again = crib(&scratch, wipe(&oracle), LONG);
    assert_eq!(approve(&again, &alice()).await.err(), Some(TicketError::Used));
    assert_eq!(oracle.count("wipe"), 1);
    assert!(!scratch.holds("\"x\":0."), "the arguments are gone");
}

#[tokio::test]
async fn another_tool_of_that_name_after_a_restart_is_not_run() {
    let (scratch, oracle) = (Scratch::new(), Oracle::default());
    let before = crib(&scratch, wipe(&oracle), LONG);
    let ticket = park(&before, 1).await;
    drop(before);
    let changed = wipe(&oracle).respec(|spec| spec.description.push_str(" And more."));
    let after = crib(&scratch, changed, LONG);
    let refused = after.decide(&alice(), &Run::default(), &ticket, Decision::Approve).await;
    assert_eq!(refused.err(), Some(TicketError::Changed(ToolName::new("wipe").unwrap())));
    assert_eq!(oracle.runs(), []);
}

#[tokio::test]
async fn a_ticket_expires_by_the_clock_on_the_wall_also_while_nothing_runs() {
    let (scratch, oracle) = (Scratch::new(), Oracle::default());
    let before = crib(&scratch, wipe(&oracle), Duration::from_millis(300));
    let ticket = park(&before, 1).await;
    drop(before);
    // By the clock on the wall: nothing of ours runs that could be asked.
    tokio::time::sleep(Duration::from_millis(350)).await;
    let after = crib(&scratch, wipe(&oracle), LONG);
    assert_eq!(after.tickets(&alice()).await.unwrap(), []);
    let refused = after.decide(&alice(), &Run::default(), &ticket, Decision::Approve).await;
    assert_eq!(refused.err(), Some(TicketError::Expired));
    assert_eq!(oracle.runs(), []);
}

#[tokio::test]
async fn a_call_without_an_end_is_unknown_after_a_restart() {
    let (scratch, oracle) = (Scratch::new(), Oracle::default());
    let hang = |name, effect| oracle.tool(spec(name, effect), Behaviour::Hang);
    let tools = [hang("write", Effect::Write), hang("read", Effect::Read)];
    let kept = store(&scratch);
    let before = Crib::builder().ledger(Arc::new(kept.clone())).policy(AllowAll);
    let before = before.build_fixed(Toolset::of(tools).unwrap());
    // Each in a batch of its own: within one, the second would wait for the first.
    let running = ["read", "write"].map(|name| {
        let plan = before.plan(&alice(), PlanRequest::default()).unwrap();
        let (before, calls) = (before.clone(), vec![Call::new("1", name, RawArguments::Absent)]);
        tokio::spawn(async move { before.run(&plan, calls).await })
    });
    while oracle.runs().len() < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // The row of the call that reads is on its way, and nobody waited for it.
    let rows = async || {
        let page = kept.calls(&alice(), CallFilter::default(), None, 9).await;
        page.unwrap().calls.len()
    };
    while rows().await < 2 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // As a kill would leave it: a copy while it runs, since the calls hold the store.
    let copy = scratch.copied();
    let after = store(&copy);
    let calls = after.calls(&alice(), CallFilter::default(), None, 9).await.unwrap().calls;
    let ends: Vec<_> = calls.iter().map(|call| (call.ending, call.interrupted)).collect();
    assert_eq!(ends, [(Some(Ending::Unknown), true); 2]);
    assert!(calls.iter().all(|call| call.ended >= Some(call.planned)));
    for running in running {
        running.abort();
    }
}

#[tokio::test]
async fn a_ticket_that_was_taken_is_open_again_until_its_call_may_have_been_sent() {
    let (scratch, oracle) = (Scratch::new(), Oracle::default());
    let ticket = park(&crib(&scratch, wipe(&oracle), LONG), 1).await;
    let key = IdempotencyKey::of_ticket(&alice(), &ticket);
    for _ in 0..2 {
        let taken = store(&scratch);
        assert!(taken.claim(&ticket, &alice()).await.is_ok());
        assert_eq!(taken.recorded(&key).await.unwrap(), KeyState::Running);
        assert_eq!(taken.claim(&ticket, &alice()).await.err(), Some(TicketError::Used));
    }
    let taken = store(&scratch);
    assert!(taken.claim(&ticket, &alice()).await.is_ok());
    taken.bind(std::slice::from_ref(&key)).await.unwrap();
    drop(taken);
    let after = store(&scratch);
    assert_eq!(after.claim(&ticket, &alice()).await.err(), Some(TicketError::Used));
    assert_eq!(after.recorded(&key).await.unwrap(), KeyState::Unknown);
    drop(after);
    assert!(!scratch.holds("\"x\":0."), "the arguments are gone");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 30, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((any::<String>(), inner), 0..5)
                .prop_map(|fields| Value::Object(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn parked_arguments_come_back_to_the_last_bit(
        values in prop::collection::vec(any_json(), 1..6),
        deep in 0_usize..120,
    ) {
        let scratch = Scratch::new();
        let nested = (0..deep).fold(json!(0.1), |inner, _| json!([inner]));
        let mut fields: Map<String, Value> =
            values.into_iter().enumerate().map(|(n, value)| (n.to_string(), value)).collect();
        fields.insert("nested".into(), nested);
        let parked = ParkedCall {
            ticket: TicketId::claimed("t_1"),
            caller: alice(),
            tool: ToolName::new("wipe").unwrap(),
            source: SourceId::new("s"),
            fingerprint: Fingerprint::of(&json!(1)),
            arguments: Arguments::new(fields),
            session: None,
            profile: None,
            key: None,
            mark: Some("m".into()),
            reason: "why".into(),
            lifetime: LONG,
            call_id: "1".into(),
            wire: CallWire::default(),
            question: None,
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let claimed = runtime.block_on(async {
            store(&scratch).park(parked.clone()).await.unwrap();
            store(&scratch).claim(&parked.ticket, &alice()).await
        });
        prop_assert_eq!(claimed, Ok(parked));
    }
}
