//! Parked calls: what is asked, who may answer, and how often.
//!
//! Every ledger must pass these: `crate::builder` gives a crib's beginning with a new one.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::json;
use toolcrib_core::{
    Call, CallFlag, Caller, CribLimits, Decision, Effect, NextStep, PlanRequest, RawArguments,
    Response, Run, TicketBounds, TicketError, TicketId, ToolOutcome, Toolset, Verdict,
};
use toolcrib_engine::Crib;
use toolcrib_testkit::{FixedPolicy, Oracle, ScriptedSource};

use crate::{builder, builder_within};

pub(crate) fn alice() -> Caller {
    Caller::new("acme", "alice")
}

/// A crib whose default policy asks before `wipe`.
fn crib(oracle: &Oracle) -> Crib {
    builder().build_fixed(tools(oracle))
}

fn crib_within(oracle: &Oracle, bounds: TicketBounds) -> Crib {
    builder_within(bounds).build_fixed(tools(oracle))
}

fn tools(oracle: &Oracle) -> Toolset {
    let tools = [oracle.echo("wipe", Effect::Destroy), oracle.echo("read", Effect::Read)];
    Toolset::of(tools).unwrap()
}

pub(crate) async fn park(crib: &Crib, caller: &Caller, n: u32) -> (TicketId, Response) {
    let plan = crib.plan(caller, PlanRequest::default()).unwrap();
    let call = Call::new("1", "wipe", RawArguments::Value(json!({"n": n})));
    let report = crib.run(&plan, vec![call]).await;
    let response = report.responses[0].clone();
    let ToolOutcome::Pending(pending) = &response.outcome else { panic!("{response:?}") };
    assert_eq!(report.turn(), NextStep::Waiting(vec![pending.ticket.clone()]));
    (pending.ticket.clone(), response)
}

#[tokio::test]
async fn an_approved_call_runs_once_with_the_arguments_that_were_parked() {
    let oracle = Oracle::default();
    let crib = crib(&oracle);
    let (ticket, parked) = park(&crib, &alice(), 7).await;
    let text = parked.text();
    assert!(text.starts_with("Waiting for approval: it may destroy data"), "{text}");
    assert!(!parked.is_error() && text.contains(ticket.as_str()));
    assert_eq!(oracle.runs(), []);
    assert_eq!(crib.tickets(&alice()).await.unwrap().len(), 1);
    let response =
        crib.decide(&alice(), &Run::default(), &ticket, Decision::Approve).await.unwrap();
    assert_eq!((response.id.as_str(), response.text().as_str()), ("1", r#"{"n":7}"#));
    assert_eq!(oracle.runs(), [("wipe".to_owned(), json!({"n": 7}))]);
    let again = crib.decide(&alice(), &Run::default(), &ticket, Decision::Approve).await;
    assert_eq!(again.err(), Some(TicketError::Used));
    assert_eq!(oracle.count("wipe"), 1);
}

#[tokio::test]
async fn as_many_calls_wait_as_may_wait_of_one_tenant_and_of_all() {
    let bounds = TicketBounds { open: 4, of_tenant: 3, ..TicketBounds::default() };
    let crib = crib_within(&Oracle::default(), bounds);
    let bob = Caller::new("other", "bob");
    let ask = async |caller: &Caller, n: u32| {
        let plan = crib.plan(caller, PlanRequest::default()).unwrap();
        let call = Call::new("1", "wipe", RawArguments::Value(json!({"n": n})));
        let report = crib.run(&plan, vec![call]).await;
        matches!(report.responses[0].outcome, ToolOutcome::Pending(_))
    };
    let theirs = [ask(&alice(), 1).await, ask(&alice(), 2).await, ask(&alice(), 3).await];
    assert_eq!((theirs, ask(&alice(), 4).await), ([true; 3], false));
    assert_eq!((ask(&bob, 1).await, ask(&bob, 2).await), (true, false));
    // What is decided makes room.
    let ticket = crib.tickets(&alice()).await.unwrap()[0].ticket.clone();
    let deny = Decision::Deny { reason: "no".into() };
    crib.decide(&alice(), &Run::default(), &ticket, deny).await.unwrap();
    assert_eq!((ask(&bob, 2).await, ask(&bob, 3).await), (true, false));
}

#[tokio::test]
async fn the_calls_of_one_tenant_that_wait_have_so_many_bytes_and_no_more() {
    let part = 1_000;
    let bounds = TicketBounds { bytes_of_tenant: 8 * part, ..TicketBounds::default() };
    let crib = crib_within(&Oracle::default(), bounds);
    let ask = async |caller: &Caller, bytes: usize| {
        let plan = crib.plan(caller, PlanRequest::default()).unwrap();
        let text = "a".repeat(bytes - r#"{"t":""}"#.len());
        let call = Call::new("1", "wipe", RawArguments::Value(json!({"t": text})));
        let report = crib.run(&plan, vec![call]).await;
        match &report.responses[0].outcome {
            ToolOutcome::Pending(pending) => Some(pending.ticket.clone()),
            ToolOutcome::Done(_) | ToolOutcome::Failed(_) | ToolOutcome::Denied { .. } => None,
        }
    };
    for _ in 0..7 {
        assert!(ask(&alice(), part).await.is_some());
    }
    assert_eq!(ask(&alice(), part + 1).await, None);
    let last = ask(&alice(), part - 1).await.unwrap();
    assert_eq!(ask(&Caller::new("acme", "bob"), 8 + 1).await, None);
    assert!(ask(&Caller::new("other", "bob"), part).await.is_some());
    // What is decided makes room, for exactly as much.
    let deny = Decision::Deny { reason: "no".into() };
    crib.decide(&alice(), &Run::default(), &last, deny).await.unwrap();
    assert!(ask(&alice(), part).await.is_some());
}

#[tokio::test]
async fn a_decided_call_settles_its_batch_or_comes_late_without_a_turn() {
    let oracle = Oracle::default();
    let crib = crib(&oracle);
    let plan = crib.plan(&alice(), PlanRequest::default()).unwrap();
    let calls = ["read", "wipe"].map(|name| Call::new(name, name, RawArguments::Absent)).to_vec();
    let mut report = crib.run(&plan, calls).await;
    let mut run = Run::default();
    assert_eq!(run.absorb(&report), NextStep::GoOn);
    let ticket = crib.tickets(&alice()).await.unwrap()[0].ticket.clone();
    let decided = crib.decide(&alice(), &run, &ticket, Decision::Approve).await.unwrap();
    assert_eq!(
        decided.late_text(),
        "The call of `wipe` (wipe) that waited for a person has ended:\n\n{}"
    );
    run.absorb_late(&decided);
    assert_eq!(run.turn(), 1);
    assert!(run.used(&toolcrib_core::ToolName::new("wipe").unwrap()));
    assert!(report.settle(decided.clone()));
    assert_eq!(report.responses[1].text(), "{}");
    assert!(!report.settle(decided), "it waits no more");
}

#[tokio::test]
async fn one_tenant_cannot_take_the_room_of_all_others() {
    let oracle = Oracle::default();
    let tools = Toolset::of([oracle.echo("wipe", Effect::Destroy)]).unwrap();
    let limits = CribLimits { max_calls: 2_000, ..CribLimits::default() };
    let crib = builder().limits(limits).build_fixed(tools);
    let plan = crib.plan(&alice(), PlanRequest::default()).unwrap();
    let call = |n: u32| Call::new(n.to_string(), "wipe", RawArguments::Value(json!({ "n": n })));
    let report = crib.run(&plan, (0..1_001).map(call).collect()).await;
    let busy = report.responses.iter().filter(|response| response.is_error()).count();
    assert_eq!((busy, crib.tickets(&alice()).await.unwrap().len()), (1, 1_000));
    park(&crib, &Caller::new("other", "bob"), 1).await;
}

#[tokio::test]
async fn a_parked_call_of_an_exclusive_tool_can_be_approved() {
    let oracle = Oracle::default();
    let tools = Toolset::of([oracle.echo("wipe", Effect::Destroy)]).unwrap();
    let crib = builder().build_fixed(tools.respec(|spec| spec.traits.exclusive = true));
    let plan = crib.plan(&alice(), PlanRequest::default().choose("wipe")).unwrap();
    let report = crib.run(&plan, vec![Call::new("1", "wipe", RawArguments::Absent)]).await;
    let NextStep::Waiting(tickets) = report.turn() else { panic!("{report:?}") };
    let run = Run::default();
    let response = crib.decide(&alice(), &run, &tickets[0], Decision::Approve).await.unwrap();
    assert!(response.outcome.is_done());
    assert_eq!(response.debug.flags, [CallFlag::Exclusive, CallFlag::Approved]);
}

#[tokio::test]
async fn a_denied_call_does_not_run() {
    let oracle = Oracle::default();
    let crib = crib(&oracle);
    let (ticket, _) = park(&crib, &alice(), 1).await;
    let decision = Decision::Deny { reason: "not today".into() };
    let response = crib.decide(&alice(), &Run::default(), &ticket, decision).await.unwrap();
    assert!(response.is_error());
    assert!(response.text().starts_with("Denied: not today. The call did not run."));
    assert_eq!(oracle.runs(), []);
}

#[tokio::test]
async fn a_ticket_is_of_its_caller_alone_and_a_guess_is_unknown() {
    let oracle = Oracle::default();
    let crib = crib(&oracle);
    let (ticket, _) = park(&crib, &alice(), 1).await;
    for (caller, ticket) in [
        (Caller::new("acme", "bob"), ticket.clone()),
        (Caller::new("other", "alice"), ticket.clone()),
        (alice(), TicketId::claimed("t_00000000000000000000000000000000")),
        (alice(), TicketId::claimed(ticket.as_str().to_uppercase())),
    ] {
        let refused = crib.decide(&caller, &Run::default(), &ticket, Decision::Approve).await;
        assert_eq!(refused.err(), Some(TicketError::Unknown));
    }
    assert_eq!(oracle.runs(), []);
    assert!(crib.decide(&alice(), &Run::default(), &ticket, Decision::Approve).await.is_ok());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_64_redemptions_at_once_one_runs() {
    let oracle = Oracle::default();
    let crib = crib(&oracle);
    let (ticket, _) = park(&crib, &alice(), 1).await;
    let claims = (0..64).map(|_| {
        let (crib, ticket) = (crib.clone(), ticket.clone());
        tokio::spawn(async move {
            crib.decide(&alice(), &Run::default(), &ticket, Decision::Approve).await
        })
    });
    let answers = join_all(claims).await;
    let run = answers.iter().filter(|answer| matches!(answer, Ok(Ok(_)))).count();
    assert_eq!((run, oracle.count("wipe")), (1, 1));
}

#[tokio::test]
async fn a_tool_that_changed_or_a_policy_that_denies_now_stops_an_approval() {
    let oracle = Oracle::default();
    let before = Toolset::of([oracle.echo("wipe", Effect::Destroy)]).unwrap();
    let after = before.respec(|spec| spec.description.push_str(" And more."));
    let source =
        ScriptedSource::default().then(Duration::ZERO, Ok(before)).then(Duration::ZERO, Ok(after));
    let crib = builder().source("s", source).build().await;
    let (ticket, _) = park(&crib, &alice(), 1).await;
    crib.reload(&toolcrib_core::SourceId::new("s")).await;
    let refused = crib.decide(&alice(), &Run::default(), &ticket, Decision::Approve).await;
    let name = toolcrib_core::ToolName::new("wipe").unwrap();
    assert_eq!(refused.err(), Some(TicketError::Changed(name)));
    assert_eq!(oracle.runs(), []);
}

#[tokio::test]
async fn an_approval_does_not_pass_to_the_same_words_of_another_source() {
    let (asked, other) = (Oracle::default(), Oracle::default());
    let wipe = |oracle: &Oracle| Toolset::of([oracle.echo("wipe", Effect::Destroy)]).unwrap();
    let source = ScriptedSource::default()
        .then(Duration::ZERO, Ok(wipe(&asked)))
        .then(Duration::ZERO, Ok(Toolset::default()));
    let crib = builder().source("asked", source).source("other", wipe(&other)).build().await;
    let (ticket, _) = park(&crib, &alice(), 1).await;
    crib.reload(&toolcrib_core::SourceId::new("asked")).await;
    let refused = crib.decide(&alice(), &Run::default(), &ticket, Decision::Approve).await;
    let name = toolcrib_core::ToolName::new("wipe").unwrap();
    assert_eq!(refused.err(), Some(TicketError::Changed(name)));
    assert_eq!((asked.runs(), other.runs()), (Vec::new(), Vec::new()));
}

#[tokio::test]
async fn a_tools_own_floor_asks_whatever_the_policy_allows() {
    let oracle = Oracle::default();
    let tools = Toolset::of([oracle.echo("read", Effect::Read)]).unwrap();
    let tools = tools.approval_required(|_| Some("it costs money".into()));
    let policy = FixedPolicy::default().with("read", Verdict::Allow);
    let crib = builder().policy(policy).build_fixed(tools);
    let plan = crib.plan(&alice(), PlanRequest::default()).unwrap();
    let report = crib.run(&plan, vec![Call::new("1", "read", RawArguments::Absent)]).await;
    assert!(report.responses[0].text().starts_with("Waiting for approval: it costs money."));
    assert_eq!(Arc::strong_count(plan.caller()), 1);
    assert_eq!(oracle.runs(), []);
}

#[tokio::test]
async fn open_tickets_come_in_pages_of_one_caller_or_of_all() {
    let oracle = Oracle::default();
    let crib = crib(&oracle);
    let bob = Caller::new("other", "bob").with_scopes(["tools"]);
    let mut tickets = Vec::new();
    for n in 0..6 {
        let caller = if n % 2 == 0 { alice() } else { bob.clone() };
        tickets.push((caller.clone(), park(&crib, &caller, n).await.0));
    }
    let used = tickets.remove(1);
    crib.decide(&bob, &Run::default(), &used.1, Decision::Approve).await.unwrap();
    for of in [None, Some(&bob)] {
        let meant = tickets.iter().filter(|(caller, _)| of.is_none_or(|of| of == caller));
        let meant: Vec<_> = meant.cloned().collect();
        let (mut found, mut after) = (Vec::new(), Some(0));
        while let Some(number) = after {
            let page = crib.open_tickets(of, number, 2).await.unwrap();
            assert!(page.tickets.len() <= 2);
            found.extend(page.tickets.into_iter().map(|parked| (parked.caller, parked.ticket)));
            after = page.next;
        }
        assert_eq!(found, meant);
    }
    // A used one is known for whose it was.
    assert!(crib.owner(&used.1).await.unwrap().is_some_and(|owner| owner.is(&bob)));
    assert_eq!(crib.owner(&TicketId::claimed("t_0")).await.unwrap(), None);
}
