//! An agent over a scripted model and a crib of tools that remember what ran.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;
use toolcrib_agent::model::{
    CallChoice, CallerTool, ModelAnswer, ModelApi, ModelClient, ModelDelta, ModelFault,
    ModelRequest, ModelSettings,
};
use toolcrib_agent::{Agent, AgentRun, Budget, CheckPolicy, RunEvent, RunOrder, ThreadItem, Usage};
use toolcrib_core::{Caller, Effect, NewRun, PlanRequest, Toolset};
use toolcrib_engine::Crib;
use toolcrib_testkit::{Oracle, ScriptedModel, ScriptedTurn};
use url::Url;

pub(crate) fn settings(model: &ScriptedModel, api: ModelApi) -> ModelSettings {
    let mut settings = ModelSettings::new(api, Url::parse(&model.url()).unwrap(), "scripted");
    settings.timeouts.first_byte = Duration::from_secs(20);
    settings
}

pub(crate) fn scripted(turns: impl IntoIterator<Item = ScriptedTurn>) -> ScriptedModel {
    ScriptedModel::of(turns).unwrap()
}

/// A crib with `look` that reads, `write` that writes and `wipe` that waits for a person.
pub(crate) fn crib(oracle: &Oracle) -> Crib {
    let tools = [
        oracle.echo("look", Effect::Read),
        oracle.echo("write", Effect::Write),
        oracle.echo("wipe", Effect::Destroy),
    ];
    Crib::of(Toolset::of(tools).unwrap())
}

pub(crate) fn agent(settings: ModelSettings, crib: Crib, budget: Budget) -> Arc<Agent> {
    Arc::new(Agent {
        name: "assistant".to_owned(),
        description: String::new(),
        instructions: "Be brief.".to_owned(),
        model: Arc::new(ModelClient::new(settings).unwrap()),
        crib,
        wishes: PlanRequest::default(),
        budget,
        checks: CheckPolicy::default(),
        team: None,
    })
}

pub(crate) fn run(agent: &Arc<Agent>, said: &str) -> AgentRun {
    AgentRun::new(order(agent, said))
}

pub(crate) fn order(agent: &Arc<Agent>, said: &str) -> RunOrder {
    RunOrder {
        agent: Arc::clone(agent),
        caller: Arc::new(Caller::local()),
        thread: vec![ThreadItem::user(said)],
        sources: Vec::new(),
        caller_tools: Vec::new(),
        choice: CallChoice::Free,
        waits_for_people: true,
    }
}

/// How the first run of a thread is written down.
pub(crate) fn new_run() -> NewRun {
    NewRun {
        id: "r1".to_owned(),
        caller: Caller::local(),
        thread: "t1".to_owned(),
        previous: None,
        parent: None,
        agent: "assistant".to_owned(),
        profile: None,
        request: "{}".to_owned(),
    }
}

/// Goes on, and gives the pause with what was told meanwhile.
pub(crate) async fn go(run: &mut AgentRun) -> (toolcrib_agent::RunPause, Vec<RunEvent>) {
    let mut told = Vec::new();
    let pause = run.go(&mut |event| told.push(event), &CancellationToken::new()).await;
    (pause, told)
}

/// The words that were told.
pub(crate) fn text(told: &[RunEvent]) -> String {
    let words = told.iter().filter_map(|event| {
        if let RunEvent::Text { delta } = event { Some(delta.as_str()) } else { None }
    });
    words.collect()
}

/// What one request came to, what it cost, and what was told of it.
pub(crate) async fn answered(
    client: &ModelClient,
    tools: &[CallerTool],
) -> (Result<ModelAnswer, ModelFault>, Usage, Vec<ModelDelta>) {
    let crib = crib(&Oracle::default());
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let items = [ThreadItem::user("Look.")];
    let request = ModelRequest {
        instructions: "Be brief.",
        items: &items,
        plan: Some(&plan),
        is_last: false,
        choice: &CallChoice::Free,
        caller_tools: tools,
        max_tokens: 100,
        before: None,
    };
    let (mut used, mut told) = (Usage::default(), Vec::new());
    let answer = client.answer(&request, &mut used, &mut |delta| told.push(delta)).await;
    (answer, used, told)
}
