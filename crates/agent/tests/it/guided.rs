//! What tools want said, and tools that the first turn must call.

use std::sync::Arc;

use serde_json::{Value, json};
use toolcrib_agent::model::{ModelApi, ModelClient, TextCallFormat};
use toolcrib_agent::{Agent, Budget, RunPause, StopReason, ThreadItem};
use toolcrib_core::{Effect, Guidance, PlanRequest, Toolset};
use toolcrib_engine::Crib;
use toolcrib_testkit::{Behaviour, Oracle, ScriptedTurn, spec};

use crate::fixture::{agent, crib, go, run, scripted, settings};

#[tokio::test]
async fn the_first_turn_must_call_what_is_forced_and_the_next_is_free_in_every_api() {
    for (name, api) in ModelApi::WORDS {
        let oracle = Oracle::default();
        let model =
            scripted([ScriptedTurn::call("look", json!({ "n": 1 })), ScriptedTurn::says("It is.")]);
        let plain = agent(settings(&model, api), crib(&oracle), Budget::default());
        let forcing = forcing(&plain, "look");
        let (pause, _) = go(&mut run(&forcing, "Is it?")).await;
        let RunPause::Ended(end) = pause else { panic!("{name}: {pause:?}") };
        assert_eq!((end.stop, end.text.as_str()), (StopReason::Done, "It is."), "{name}");
        let choices: Vec<Value> = model
            .asked()
            .into_iter()
            .map(|asked| match api {
                ModelApi::Gemini => asked.body["toolConfig"].clone(),
                ModelApi::OpenAiChat | ModelApi::OpenAiResponses | ModelApi::Anthropic => {
                    asked.body["tool_choice"].clone()
                }
            })
            .collect();
        let forced = match api {
            ModelApi::OpenAiChat => json!({ "type": "function", "function": { "name": "look" } }),
            ModelApi::OpenAiResponses => json!({ "type": "function", "name": "look" }),
            ModelApi::Anthropic => json!({ "type": "tool", "name": "look" }),
            ModelApi::Gemini => json!({
                "functionCallingConfig": { "mode": "ANY", "allowedFunctionNames": ["look"] },
            }),
        };
        assert_eq!(choices, [forced, Value::Null], "{name}");
    }
}

#[tokio::test]
async fn a_model_that_calls_in_its_text_is_told_what_it_must_call() {
    let oracle = Oracle::default();
    let call = r#"{"name": "look", "arguments": {"n": 1}}"#;
    let model = scripted([ScriptedTurn::says(call), ScriptedTurn::says("It is.")]);
    let mut settings = settings(&model, ModelApi::OpenAiChat);
    settings.text_calls = Some(TextCallFormat::Json);
    let plain = agent(settings, crib(&oracle), Budget::default());
    go(&mut run(&forcing(&plain, "look"), "Is it?")).await;
    let told = model.asked().into_iter().map(|asked| {
        let system = asked.body["messages"][0]["content"].as_str().unwrap().to_owned();
        system.contains("has to call `look`")
    });
    assert_eq!((told.collect::<Vec<_>>(), oracle.count("look")), (vec![true, false], 1));
}

#[tokio::test]
async fn what_is_forced_and_may_not_be_called_ends_the_run_before_it_costs() {
    let model = scripted([]);
    let oracle = Oracle::default();
    let plain = agent(settings(&model, ModelApi::OpenAiChat), crib(&oracle), Budget::default());
    let (pause, _) = go(&mut run(&forcing(&plain, "lok"), "Is it?")).await;
    let RunPause::Ended(end) = pause else { panic!("{pause:?}") };
    assert_eq!((end.stop, model.asked().len()), (StopReason::Fault, 0));
    assert!(end.text.contains("lok"), "{}", end.text);
}

#[tokio::test]
async fn what_tools_want_said_to_the_user_stands_beside_the_words_of_the_user_and_not_in_the_log() {
    let oracle = Oracle::default();
    let mut told = spec("look", Effect::Read);
    told.guidance = Arc::new(Guidance {
        system: "Look before you answer.".to_owned(),
        user: "Prefer what is new.".to_owned(),
        user_format: "Cite by number.".to_owned(),
        reminder: "Say when you are unsure.".to_owned(),
        ..Guidance::default()
    });
    let model =
        scripted([ScriptedTurn::call("look", json!({ "n": 1 })), ScriptedTurn::says("It is.")]);
    let crib = Crib::of(Toolset::of([oracle.tool(told, Behaviour::Echo)]).unwrap());
    let agent = agent(settings(&model, ModelApi::OpenAiChat), crib, Budget::default());
    let mut run = run(&agent, "Is it?");
    go(&mut run).await;
    let asked: Vec<Value> =
        model.asked().into_iter().map(|one| one.body["messages"].clone()).collect();
    assert_eq!(asked[0][0]["content"], "Be brief.\n\n## look\nLook before you answer.");
    let beside = |format: &str| {
        let said = format!("## look\nPrefer what is new.{format}\n\nSay when you are unsure.");
        json!([{ "type": "text", "text": "Is it?" }, { "type": "text", "text": said }])
    };
    assert_eq!(asked[0][1]["content"], beside(""));
    assert_eq!(asked[1][1]["content"], beside("\nCite by number."));
    assert_eq!(run.items()[0], ThreadItem::user("Is it?"));
}

/// The same agent, whose first turn must call a tool.
fn forcing(agent: &Arc<Agent>, tool: &str) -> Arc<Agent> {
    Arc::new(Agent {
        name: agent.name.clone(),
        description: agent.description.clone(),
        instructions: agent.instructions.clone(),
        model: Arc::new(ModelClient::new(agent.model.settings().clone()).unwrap()),
        crib: agent.crib.clone(),
        wishes: PlanRequest::default().choose(tool),
        budget: agent.budget,
        checks: agent.checks.clone(),
        team: None,
    })
}
