//! Models that are asked in the place of another.

use serde_json::json;
use toolcrib_agent::model::{ModelApi, ModelSettings, TextCallFormat};
use toolcrib_agent::{Budget, RunEnd, RunEvent, RunPause, StopReason};
use toolcrib_testkit::{Oracle, ScriptedModel, ScriptedTurn};

use crate::fixture::{agent, crib, go, run, scripted, settings, text};

fn refuses(status: u16) -> ScriptedTurn {
    ScriptedTurn::Refuses(status, Vec::new(), "{}".to_owned())
}

/// How a run ends whose first model is asked once and whose second is of another API, what was told
/// of it, and how often the tool ran.
async fn ended(
    first: &ScriptedModel,
    second: &ScriptedModel,
    text_calls: Option<TextCallFormat>,
) -> (RunEnd, Vec<RunEvent>, usize) {
    let oracle = Oracle::default();
    let other = ModelSettings {
        name: "other".to_owned(),
        text_calls,
        ..settings(second, ModelApi::Anthropic)
    };
    let asked = ModelSettings {
        retries: 0,
        fallback: vec![other],
        ..settings(first, ModelApi::OpenAiChat)
    };
    let agent = agent(asked, crib(&oracle), Budget::default());
    let (pause, told) = go(&mut run(&agent, "Look.")).await;
    let RunPause::Ended(end) = pause else { panic!("it waits") };
    (end, told, oracle.count("look"))
}

fn notices(told: &[RunEvent]) -> Vec<&str> {
    let notices = told.iter().filter_map(|event| {
        if let RunEvent::Notice { text } = event { Some(text.as_str()) } else { None }
    });
    notices.collect()
}

#[tokio::test]
async fn another_model_answers_while_one_cannot_and_that_is_told() {
    let first = scripted([refuses(503), ScriptedTurn::says("Found.")]);
    let second = scripted([ScriptedTurn::call("look", json!({ "n": 1 }))]);
    let (end, told, looked) = ended(&first, &second, None).await;
    // The second turn is the first model's again, with what the other did.
    assert_eq!((end.stop, end.text.as_str(), looked), (StopReason::Done, "Found.", 1));
    assert_eq!(
        notices(&told),
        ["the model `scripted` cannot answer now (503 Service Unavailable): try again; the model \
          `other` is asked instead"]
    );
    assert!(first.asked()[1].body.to_string().contains("\"tool_calls\""));
}

#[tokio::test]
async fn another_model_may_call_in_its_words() {
    let first = scripted([refuses(503), refuses(503)]);
    let call = "<tool_call>{\"name\": \"look\", \"arguments\": {\"n\": 1}}</tool_call>";
    let second = scripted([call, "Found."].map(ScriptedTurn::says));
    let (end, told, looked) = ended(&first, &second, Some(TextCallFormat::Hermes)).await;
    assert_eq!((end.text.as_str(), looked, notices(&told).len()), ("Found.", 1, 2));
    assert!(second.asked()[1].body.to_string().contains("<tool_response>"));
}

#[tokio::test]
async fn no_other_model_is_asked_for_what_would_not_pass_or_was_told_in_part() {
    let half = ScriptedTurn::BreaksOff(Box::new(ScriptedTurn::says("I look at it.")), 600);
    for fault in [refuses(401), refuses(404), refuses(400), half] {
        let (first, second) = (scripted([fault]), scripted([]));
        let (end, told, _) = ended(&first, &second, None).await;
        assert_eq!((end.stop, second.asked().len()), (StopReason::Fault, 0), "{end:?}");
        assert_eq!(notices(&told), [""; 0]);
    }
    // Where none answers, the fault of the last is told.
    let (first, second) = (scripted([refuses(503)]), scripted([refuses(401)]));
    let (end, told, _) = ended(&first, &second, None).await;
    assert!(end.text.contains("`other` refuses the key"), "{end:?}");
    assert_eq!((text(&told).as_str(), notices(&told).len()), ("", 1));
}
