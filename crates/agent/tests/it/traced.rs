//! What was asked of the model, as whoever looks for a fault finds it.

use std::sync::Arc;

use serde_json::json;
use toolcrib_agent::model::{ModelApi, ModelSettings};
use toolcrib_agent::{AgentRun, Budget, RequestPurpose, RequestTrace};
use toolcrib_core::Caller;
use toolcrib_testkit::{Oracle, ScriptedModel, ScriptedTurn};

use crate::fixture::{agent, crib, go, run, settings};

/// All that is the same whenever it runs.
fn told(trace: &RequestTrace) -> (RequestPurpose, u32, usize, Option<usize>, u64, Option<&str>) {
    let tools = trace.tools.as_ref().map(Vec::len);
    let cause = trace.fault.as_ref().and_then(|fault| fault.detail.as_deref());
    (trace.purpose, trace.turn, trace.entries, tools, trace.usage.total(), cause)
}

#[tokio::test]
async fn each_request_is_known_with_what_it_sent_and_why_it_failed() {
    let down = || ScriptedTurn::Refuses(500, Vec::new(), "the disk is full".to_owned());
    let turns = [ScriptedTurn::call("look", json!({ "n": 1 })), down()];
    let model = ScriptedModel::of(turns).unwrap();
    let own = ModelSettings { retries: 0, ..settings(&model, ModelApi::Gemini) };
    let agent = agent(own, crib(&Oracle::default()), Budget::default());
    let mut run = run(&agent, "Look.");
    go(&mut run).await;
    let requests: Vec<_> = run.requests().iter().map(told).collect();
    let wanted = [
        (RequestPurpose::Turn, 1, 1, Some(3), 110, None),
        (RequestPurpose::Turn, 2, 3, None, 0, Some("the disk is full")),
    ];
    assert_eq!(requests, wanted);
    assert!(run.requests().iter().all(|one| one.model == "scripted" && one.estimate > 50));
    // It is written with the run.
    let saved = serde_json::from_str(&serde_json::to_string(&run.saved()).unwrap()).unwrap();
    let again = AgentRun::restored(agent, Arc::new(Caller::local()), saved).unwrap();
    assert_eq!(again.requests(), run.requests());
}

#[tokio::test]
async fn of_many_requests_the_last_are_kept_and_the_first_of_them_names_the_tools() {
    let model = ScriptedModel::by(|number, _| {
        if number < 80 {
            ScriptedTurn::call("look", json!({ "n": number }))
        } else {
            ScriptedTurn::says("Seen.")
        }
    })
    .unwrap();
    let budget = Budget { turns: None, ..Budget::default() };
    let agent = agent(settings(&model, ModelApi::OpenAiChat), crib(&Oracle::default()), budget);
    let mut run = run(&agent, "Look.");
    go(&mut run).await;
    let requests = run.requests();
    assert_eq!((requests.len(), requests[0].turn, requests[63].turn), (64, 18, 81));
    let tools = requests.iter().map(|one| one.tools.as_ref().map(Vec::len));
    let (first, rest): (Vec<_>, Vec<_>) = tools.enumerate().partition(|(place, _)| *place == 0);
    assert_eq!(first, [(0, Some(3))]);
    assert!(rest.iter().all(|(_, tools)| tools.is_none()));
}
