//! Runs that are written down, and that another process goes on with.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolcrib_agent::model::ModelApi;
use toolcrib_agent::{Agent, AgentRun, Budget, RunEvent, RunPause, StopReason, events_of};
use toolcrib_core::{Caller, Decision, Run, RunLedger, RunStage, TicketId};
use toolcrib_engine::ledger::MemoryRuns;
use toolcrib_testkit::{Oracle, ScriptedTurn};

use crate::fixture::{agent, crib, new_run, order, scripted, settings};

const KEYS_FOR: Duration = Duration::from_hours(24);

/// Takes the run up as another process does, and goes on with it; what was told is added.
async fn take_up(
    agent: &Arc<Agent>,
    ledger: &Arc<dyn RunLedger>,
    told: &mut Vec<RunEvent>,
) -> RunPause {
    let stored = ledger.load("r1").await.unwrap().unwrap();
    let (agent, ledger) = (Arc::clone(agent), Arc::clone(ledger));
    let mut run = AgentRun::resumed(agent, ledger, stored, KEYS_FOR).unwrap();
    let mut tell = |event| told.push(event);
    run.look(&mut tell).await;
    run.go(&mut tell, &CancellationToken::new()).await
}

async fn approve(agent: &Agent, ticket: &TicketId) {
    let (caller, run) = (Caller::local(), Run::default());
    agent.crib.decide(&caller, &run, ticket, Decision::Approve).await.unwrap();
}

#[tokio::test]
async fn what_is_told_of_a_run_is_what_is_written_however_often_it_is_taken_up() {
    let oracle = Oracle::default();
    let calls = [1, 2].map(|n| ("wipe".to_owned(), json!({ "n": n })));
    let model = scripted([
        ScriptedTurn::Calls("Both.".to_owned(), calls.to_vec()),
        ScriptedTurn::says("Wiped."),
    ]);
    let settings = settings(&model, ModelApi::OpenAiChat);
    let agent = agent(settings, crib(&oracle), Budget::default());
    let ledger: Arc<dyn RunLedger> = Arc::new(MemoryRuns::default());
    let begun = AgentRun::recorded(order(&agent, "Wipe."), Arc::clone(&ledger), new_run()).await;
    let mut told = Vec::new();
    let mut run = begun.unwrap();
    let pause = run.go(&mut |event| told.push(event), &CancellationToken::new()).await;
    let RunPause::Waiting(tickets) = pause else { panic!("it does not wait") };
    drop(run);

    // In vain: nothing was decided, and nothing is told again.
    let before = told.len();
    let pause = take_up(&agent, &ledger, &mut told).await;
    assert_eq!((pause, told.len()), (RunPause::Waiting(tickets.clone()), before));

    approve(&agent, &tickets[0]).await;
    let pause = take_up(&agent, &ledger, &mut told).await;
    assert_eq!(pause, RunPause::Waiting(vec![tickets[1].clone()]));
    assert!(matches!(told[before..], [RunEvent::CallDone { .. }]), "{:?}", &told[before..]);

    approve(&agent, &tickets[1]).await;
    let RunPause::Ended(end) = take_up(&agent, &ledger, &mut told).await else {
        panic!("it has not ended")
    };
    assert_eq!((end.text.as_str(), oracle.count("wipe")), ("Wiped.", 2));
    let rows = ledger.events("r1", 0, usize::MAX).await.unwrap();
    assert_eq!(events_of(&rows).unwrap(), told);
    let stored = ledger.load("r1").await.unwrap().unwrap();
    assert_eq!((stored.summary.stage, stored.items.len()), (RunStage::Ended, 4));
}

#[tokio::test]
async fn a_model_that_wants_to_be_asked_later_is_asked_then_and_not_before() {
    let oracle = Oracle::default();
    let later = vec![("retry-after".to_owned(), "2".to_owned())];
    let model = scripted([
        ScriptedTurn::call("look", json!({ "n": 1 })),
        ScriptedTurn::Refuses(429, later, String::new()),
        ScriptedTurn::says("Seen."),
    ]);
    let mut settings = settings(&model, ModelApi::OpenAiChat);
    settings.timeouts.retry_after = Duration::from_secs(1);
    let agent = agent(settings, crib(&oracle), Budget::default());
    let ledger: Arc<dyn RunLedger> = Arc::new(MemoryRuns::default());
    let begun = AgentRun::recorded(order(&agent, "Look."), Arc::clone(&ledger), new_run()).await;
    let mut told = Vec::new();
    let mut run = begun.unwrap().with_deferral();
    let go_on = CancellationToken::new();
    let pause = run.go(&mut |event| told.push(event), &go_on).await;
    let RunPause::Deferred { until } = pause else { panic!("it does not wait: {pause:?}") };
    let Some(RunEvent::Notice { text }) = told.last() else { panic!("it is not told: {told:?}") };
    assert!(text.ends_with(&format!("it is asked again in 2 s, at {until}")), "{text}");
    drop(run);

    // Another process waits as well.
    assert_eq!(ledger.load("r1").await.unwrap().unwrap().summary.stage, RunStage::Waiting);
    assert_eq!(take_up(&agent, &ledger, &mut told).await, RunPause::Deferred { until });
    assert_eq!(model.asked().len(), 2);
    let end = loop {
        match take_up(&agent, &ledger, &mut told).await {
            RunPause::Deferred { .. } => tokio::time::sleep(Duration::from_millis(20)).await,
            RunPause::Ended(end) => break end,
            other @ (RunPause::Waiting(_) | RunPause::Held) => {
                panic!("it has not ended: {other:?}")
            }
        }
    };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    assert!(now.as_secs() >= until);
    assert_eq!((end.text.as_str(), oracle.count("look"), model.asked().len()), ("Seen.", 1, 3));
}

#[tokio::test]
async fn a_run_that_waits_for_its_model_is_cancelled_at_once() {
    let later = vec![("retry-after".to_owned(), "7200".to_owned())];
    let model = scripted([ScriptedTurn::Refuses(429, later, String::new())]);
    let agent =
        agent(settings(&model, ModelApi::OpenAiChat), crib(&Oracle::default()), Budget::default());
    let mut run = AgentRun::new(order(&agent, "Look.")).with_deferral();
    let cancel = CancellationToken::new();
    let pause = run.go(&mut |_| {}, &cancel).await;
    assert!(matches!(pause, RunPause::Deferred { .. }), "{pause:?}");
    cancel.cancel();
    let RunPause::Ended(end) = run.go(&mut |_| {}, &cancel).await else { panic!("it goes on") };
    assert_eq!((end.stop, model.asked().len()), (StopReason::Cancelled, 1));
}
