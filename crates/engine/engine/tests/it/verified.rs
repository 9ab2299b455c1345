//! A call of whose outcome nobody knows is looked up by a tool that its spec names.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::time::sleep;
use toolcrib_core::{
    AllowAll, Call, CallLedger as _, Caller, Content, Effect, Ending, ErrorKind, PlanRequest,
    Policy, RawArguments, Tool, ToolError, ToolName, ToolOutcome, Toolset, Verdict, Verify,
    raw_tool,
};
use toolcrib_engine::Crib;
use toolcrib_engine::ledger::MemoryLedger;
use toolcrib_testkit::{FixedPolicy, spec};

/// What a lookup finds, one after the other, and the last of them again; `None`: it fails.
type Finds = Vec<Option<Value>>;

struct LookupFixture {
    crib: Crib,
    ledger: Arc<MemoryLedger>,
    /// What was looked for.
    looked: Arc<Mutex<Vec<Value>>>,
    paid: Arc<Mutex<usize>>,
}

impl LookupFixture {
    /// `pay` does what it is for and nobody hears of it; `find` tells of it.
    fn of(finds: Finds, policy: impl Policy + 'static, effect: Effect) -> Self {
        let (looked, paid) = (Arc::<Mutex<Vec<Value>>>::default(), Arc::<Mutex<usize>>::default());
        let Value::Object(arguments) = json!({ "reference": "{reference}", "limit": 1 }) else {
            unreachable!()
        };
        let mut pay = spec("pay", Effect::Write);
        let (tool, at) = (ToolName::new("find").unwrap(), "/status".to_owned());
        pay.verify = Some(Arc::new(Verify { tool, arguments, at, is: Some(json!("paid")) }));
        let counted = Arc::clone(&paid);
        let pay = raw_tool(pay, move |_, _| {
            *counted.lock().unwrap() += 1;
            async { ToolOutcome::Failed(ToolError::new(ErrorKind::Network, "the line broke")) }
        });
        let seen = Arc::clone(&looked);
        let find: Arc<dyn Tool> = raw_tool(spec("find", effect), move |arguments, _| {
            let mut seen = seen.lock().unwrap();
            let found = finds.get(seen.len()).or(finds.last()).cloned().flatten();
            seen.push(arguments.into_value());
            async move {
                match found {
                    Some(data) => {
                        let content = Content { structured: Some(data), ..Content::default() };
                        ToolOutcome::Done(content)
                    }
                    None => ToolOutcome::Failed(ToolError::told("it is away")),
                }
            }
        });
        let ledger = Arc::new(MemoryLedger::default());
        let builder = Crib::builder().policy(policy).ledger(Arc::<MemoryLedger>::clone(&ledger));
        let crib = builder.build_fixed(Toolset::of([pay, find]).unwrap());
        Self { crib, ledger, looked, paid }
    }

    async fn pay(&self) -> ToolError {
        let plan = self.crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
        let arguments = RawArguments::Value(json!({ "reference": "r-1", "n": 7 }));
        let report = self.crib.run(&plan, vec![Call::new("1", "pay", arguments)]).await;
        let outcome = report.responses.into_iter().next().unwrap().outcome;
        let ToolOutcome::Failed(error) = outcome else { panic!("{outcome:?}") };
        error
    }

    fn ending(&self) -> Option<Ending> {
        let rows = self.ledger.rows();
        rows.iter().find(|row| row.tool.name.as_str() == "pay").unwrap().ending
    }

    fn looks(&self) -> usize {
        self.looked.lock().unwrap().len()
    }
}

fn status(status: &str) -> Value {
    json!({ "status": status })
}

#[tokio::test(start_paused = true)]
async fn what_took_effect_is_found_and_held_back_a_second_time_all_the_same() {
    let fixture =
        LookupFixture::of(vec![Some(status("open")), Some(status("paid"))], AllowAll, Effect::Read);
    let error = fixture.pay().await;
    let content = error.content.unwrap_or_default();
    let next = &content.structured.as_ref().unwrap()["next"];
    let lookup = json!({ "tool": "find", "arguments": { "reference": "r-1", "limit": 1 } });
    assert!(next.as_array().unwrap().contains(&lookup), "{next}");
    sleep(Duration::from_millis(900)).await;
    assert_eq!((fixture.looks(), fixture.ending()), (0, Some(Ending::Unknown)));
    sleep(Duration::from_millis(200)).await;
    assert_eq!((fixture.looks(), fixture.ending()), (1, Some(Ending::Unknown)));
    sleep(Duration::from_secs(9)).await;
    assert_eq!((fixture.looks(), fixture.ending()), (2, Some(Ending::Succeeded)));
    let again = fixture.pay().await;
    assert_eq!(again.kind, ErrorKind::DuplicateOfUnknown, "{again:?}");
    sleep(Duration::from_mins(2)).await;
    assert_eq!((fixture.looks(), *fixture.paid.lock().unwrap()), (2, 1));
    let asked = json!({ "reference": "r-1", "limit": 1 });
    assert_eq!(*fixture.looked.lock().unwrap(), [asked.clone(), asked]);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_there_at_the_last_look_was_not_executed_and_may_be_done_again() {
    let fixture = LookupFixture::of(vec![None, Some(status("open"))], AllowAll, Effect::Read);
    fixture.pay().await;
    sleep(Duration::from_secs(59)).await;
    assert_eq!((fixture.looks(), fixture.ending()), (2, Some(Ending::Unknown)));
    sleep(Duration::from_secs(2)).await;
    assert_eq!((fixture.looks(), fixture.ending()), (3, Some(Ending::NotExecuted)));
    let again = fixture.pay().await;
    assert_eq!(again.kind, ErrorKind::UnknownOutcome, "{again:?}");
    assert_eq!(*fixture.paid.lock().unwrap(), 2);
}

#[tokio::test(start_paused = true)]
async fn what_a_late_answer_told_first_holds_whatever_a_lookup_finds() {
    let fixture = LookupFixture::of(vec![Some(status("open"))], AllowAll, Effect::Read);
    fixture.pay().await;
    let key = fixture.ledger.rows()[0].key;
    fixture.ledger.resolved(key, Ending::Succeeded).await.unwrap();
    sleep(Duration::from_mins(2)).await;
    assert_eq!((fixture.looks(), fixture.ending()), (3, Some(Ending::Succeeded)));
    let again = fixture.pay().await;
    assert_eq!(again.kind, ErrorKind::DuplicateOfUnknown, "{again:?}");
}

#[tokio::test(start_paused = true)]
async fn a_lookup_that_cannot_tell_the_last_time_leaves_the_end_unknown() {
    for finds in [vec![Some(status("open")), None], vec![None]] {
        let fixture = LookupFixture::of(finds, AllowAll, Effect::Read);
        fixture.pay().await;
        sleep(Duration::from_mins(2)).await;
        assert_eq!((fixture.looks(), fixture.ending()), (3, Some(Ending::Unknown)));
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_looked_up_by_what_the_caller_may_not_use_or_by_what_changes_something() {
    let hidden = FixedPolicy::default().with("find", Verdict::Deny("no".to_owned()));
    let asked = FixedPolicy::default().with("find", Verdict::Ask("sure?".to_owned()));
    for (policy, effect) in
        [(hidden, Effect::Read), (asked, Effect::Read), (FixedPolicy::default(), Effect::Write)]
    {
        let fixture = LookupFixture::of(vec![Some(status("paid"))], policy, effect);
        fixture.pay().await;
        sleep(Duration::from_mins(2)).await;
        assert_eq!((fixture.looks(), fixture.ending()), (0, Some(Ending::Unknown)));
        assert_eq!(fixture.crib.tickets(&Caller::local()).await.unwrap(), []);
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_end_is_known_is_not_looked_up() {
    let fixture = LookupFixture::of(vec![Some(status("paid"))], AllowAll, Effect::Read);
    let plan = fixture.crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let found = Call::new("1", "find", RawArguments::Value(Value::Object(Map::new())));
    fixture.crib.run(&plan, vec![found]).await;
    sleep(Duration::from_mins(2)).await;
    assert_eq!(fixture.looks(), 1);
}
