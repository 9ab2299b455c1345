//! What an observer sees of the calls that come to the gate.

use std::sync::{Arc, Mutex};

use serde_json::json;
use toolcrib_core::{
    BoxFuture, Call, CallDecided, CallFinished, CribLimits, Decision, Effect, LedgerError,
    Observer, PlanRequest, Policy as _, RawArguments, Run, ToolOutcome, Toolset, Trace,
};
use toolcrib_engine::Crib;
use toolcrib_engine::rules::Rules;
use toolcrib_testkit::Oracle;

use crate::tickets::alice;

/// Writes down what it sees, one line each.
#[derive(Default)]
pub(crate) struct Notes {
    lines: Mutex<Vec<String>>,
    spans: Mutex<Vec<Trace>>,
    is_down: bool,
}

impl Observer for Notes {
    fn decided<'a>(&'a self, call: CallDecided<'a>) -> BoxFuture<'a, Result<(), LedgerError>> {
        let CallDecided { tool, caller, arguments, ruling, ticket, policy, .. } = call;
        let ticket = if ticket.is_some() { " with a ticket" } else { "" };
        let policy = if policy.is_some() { " by rules" } else { "" };
        let arguments = arguments.clone().into_value();
        let line = format!(
            "{} {} of {}{arguments}{ticket}{policy}",
            ruling.as_str(),
            tool.spec.name,
            caller.subject
        );
        Box::pin(async move {
            if self.is_down {
                return Err(LedgerError::new("no room"));
            }
            self.lines.lock().unwrap().push(line);
            Ok(())
        })
    }

    fn ended(&self, call: CallFinished<'_>) {
        let known = if call.tool.is_some() { "" } else { " unknown" };
        let decided = if call.was_decided { "" } else { " undecided" };
        let outcome = match call.outcome {
            ToolOutcome::Failed(error) => error.kind.as_str(),
            ToolOutcome::Done(_) | ToolOutcome::Denied { .. } | ToolOutcome::Pending(_) => {
                call.outcome.as_str()
            }
        };
        self.spans.lock().unwrap().extend(call.trace);
        self.lines.lock().unwrap().push(format!("{}{known}{decided}: {outcome}", call.name));
    }
}

impl Notes {
    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.lines.lock().unwrap())
    }
}

fn crib(oracle: &Oracle, notes: &Arc<Notes>) -> Crib {
    let tools = [oracle.echo("wipe", Effect::Destroy), oracle.echo("read", Effect::Read)];
    let tools = Toolset::of(tools).unwrap();
    let observer: Arc<dyn Observer> = Arc::<Notes>::clone(notes);
    crate::builder().observer(observer).build_fixed(tools)
}

fn calls(names: &[&str]) -> Vec<Call> {
    let call = |name: &&str| Call::new(*name, *name, RawArguments::Value(json!({"n": 1})));
    names.iter().map(call).collect()
}

#[tokio::test]
async fn every_call_is_seen_once_when_it_is_decided_and_once_when_it_is_over() {
    let (oracle, notes) = (Oracle::default(), Arc::new(Notes::default()));
    let crib = crib(&oracle, &notes);
    let plan = crib.plan(&alice(), PlanRequest::default()).unwrap();
    crib.run(&plan, calls(&["read"])).await;
    assert_eq!(notes.take(), [r#"allow read of alice{"n":1} by rules"#, "read: done"]);
    // A copy is no call of its own, and what is no tool has nothing to decide.
    crib.run(&plan, calls(&["read", "read"])).await;
    assert_eq!(notes.take(), [r#"allow read of alice{"n":1} by rules"#, "read: done"]);
    crib.run(&plan, calls(&["nothing"])).await;
    assert_eq!(notes.take(), ["nothing unknown undecided: unknown_tool"]);
    for (decision, ruling, end) in [
        (Decision::Approve, "allow", "done"),
        (Decision::Deny { reason: "no".into() }, "deny", "denied"),
    ] {
        crib.run(&plan, calls(&["wipe"])).await;
        let asked = r#"ask wipe of alice{"n":1} with a ticket by rules"#;
        assert_eq!(notes.take(), [asked, "wipe: pending"]);
        let ticket = crib.tickets(&alice()).await.unwrap()[0].ticket.clone();
        crib.decide(&alice(), &Run::default(), &ticket, decision).await.unwrap();
        let decided = format!(r#"{ruling} wipe of alice{{"n":1}} with a ticket by rules"#);
        assert_eq!(notes.take(), [decided, format!("wipe: {end}")]);
    }
}

#[tokio::test]
async fn a_call_that_is_sent_again_under_its_key_is_told_of_once() {
    let (oracle, notes) = (Oracle::default(), Arc::new(Notes::default()));
    let crib =
        crib(&oracle, &notes).with_policy(Arc::new(toolcrib_core::AllowAll), CribLimits::default());
    let plan = crib.plan(&alice(), PlanRequest::default()).unwrap();
    let keyed = |n: u8| {
        let arguments = RawArguments::Value(json!({ "n": n }));
        vec![Call { key: Some("k".into()), ..Call::new("wipe", "wipe", arguments) }]
    };
    crib.run(&plan, keyed(1)).await;
    assert_eq!(notes.take(), [r#"allow wipe of alice{"n":1}"#, "wipe: done"]);
    // The same answer again is the end of the call that was told of.
    let again = crib.run(&plan, keyed(1)).await;
    assert_eq!(again.responses[0].outcome.as_str(), "done");
    assert_eq!(notes.take(), Vec::<String>::new());
    // A key of another call is refused, and nothing was decided.
    crib.run(&plan, keyed(2)).await;
    assert_eq!(notes.take(), ["wipe undecided: invalid_call"]);
    assert_eq!(oracle.count("wipe"), 1);
}

#[tokio::test]
async fn a_decision_that_nobody_can_record_stops_what_may_change_something() {
    let notes = Arc::new(Notes { is_down: true, ..Notes::default() });
    let oracle = Oracle::default();
    let crib =
        crib(&oracle, &notes).with_policy(Arc::new(toolcrib_core::AllowAll), CribLimits::default());
    let plan = crib.plan(&alice(), PlanRequest::default()).unwrap();
    let report = crib.run(&plan, calls(&["wipe", "read"])).await;
    let outcomes: Vec<_> = report.responses.iter().map(|one| one.outcome.as_str()).collect();
    assert_eq!(outcomes, ["failed", "done"]);
    assert_eq!((oracle.count("wipe"), oracle.count("read")), (0, 1));
    let mut seen = notes.take();
    seen.sort();
    assert_eq!(seen, ["read undecided: done", "wipe undecided: unavailable"]);
}

#[tokio::test]
async fn the_policy_and_the_trace_of_a_call_are_told() {
    let (oracle, notes) = (Oracle::default(), Arc::new(Notes::default()));
    let rules = Rules::parse("allow = [\"*\"]").unwrap();
    assert_eq!(rules.version(), Some(rules.fingerprint()));
    let crib = crib(&oracle, &notes).with_policy(Arc::new(rules), CribLimits::default());
    let plan = crib.plan(&alice(), PlanRequest::default()).unwrap();
    let trace = Trace::root();
    let options = toolcrib_core::BatchOptions { trace: Some(trace), ..Default::default() };
    crib.run_with(&plan, calls(&["read"]), options).await;
    assert_eq!(notes.take(), [r#"allow read of alice{"n":1} by rules"#, "read: done"]);
    let spans = notes.spans.lock().unwrap().clone();
    assert_eq!(spans.len(), 1);
    assert_eq!(spans[0].trace_id(), trace.trace_id());
    assert_eq!(spans[0].parent_id(), Some(trace.span_id()));
}
