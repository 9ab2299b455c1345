//! Clients of the four model APIs, over real sockets.

use std::time::{Duration, Instant};

use serde_json::json;
use toolcrib_agent::model::{ModelApi, ModelClient, ModelDelta, ModelFaultKind, ModelSettings};
use toolcrib_agent::{Usage, UsageSource};
use toolcrib_testkit::ScriptedTurn;

use crate::fixture::{answered, scripted, settings};

/// What one request came to, and what was told of it.
async fn ask(
    settings: ModelSettings,
) -> (
    Result<toolcrib_agent::model::ModelAnswer, toolcrib_agent::model::ModelFault>,
    Usage,
    Vec<ModelDelta>,
) {
    answered(&ModelClient::new(settings).unwrap(), &[]).await
}

#[tokio::test]
async fn a_turn_is_the_same_in_every_api() {
    for (name, api) in ModelApi::WORDS {
        let calls = vec![
            ("look".to_owned(), json!({ "n": 1, "t": "é" })),
            ("write".to_owned(), json!({ "n": 2 })),
        ];
        let model = scripted([ScriptedTurn::Calls("I look and write.".to_owned(), calls)]);
        let (answer, used, told) = ask(settings(&model, api)).await;
        let answer = answer.unwrap_or_else(|fault| panic!("{name}: {fault:?}"));
        assert_eq!(answer.text, "I look and write.", "{name}");
        let called: Vec<_> = answer.calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!(called, ["look", "write"], "{name}");
        let first: serde_json::Value =
            serde_json::from_str(&answer.call_texts[0].arguments).unwrap();
        assert_eq!(first, json!({ "n": 1, "t": "é" }), "{name}");
        assert_eq!((used.input_tokens, used.output_tokens), (100, 10), "{name}");
        assert_eq!(used.source, UsageSource::Reported, "{name}");
        let words = ["I ", "look ", "and ", "write."].map(|word| ModelDelta::Text(word.to_owned()));
        assert_eq!(told, words, "{name}");
        let asked = model.asked().remove(0);
        assert!(asked.body.to_string().contains("Be brief."), "{name}: {}", asked.body);
        assert!(asked.body.to_string().contains("Does look."), "{name}: {}", asked.body);
    }
}

#[tokio::test]
async fn the_key_goes_where_the_api_wants_it() {
    let places = [
        (ModelApi::OpenAiChat, "authorization", "Bearer k"),
        (ModelApi::OpenAiResponses, "authorization", "Bearer k"),
        (ModelApi::Anthropic, "x-api-key", "k"),
        (ModelApi::Gemini, "x-goog-api-key", "k"),
    ];
    for (api, name, value) in places {
        let model = scripted([]);
        let key = Some(toolcrib_core::Secret::new("k"));
        ask(ModelSettings { key, ..settings(&model, api) }).await.0.unwrap();
        let headers = model.asked().remove(0).headers;
        assert!(headers.contains(&(name.to_owned(), value.to_owned())), "{headers:?}");
    }
}

#[tokio::test]
async fn a_stream_that_tells_no_usage_is_estimated_and_never_nothing() {
    for (name, api) in ModelApi::WORDS {
        let turn = ScriptedTurn::TellsNoUsage(Box::new(ScriptedTurn::says("Something to say.")));
        let model = scripted([turn]);
        let (_, used, _) = ask(settings(&model, api)).await;
        assert_eq!(used.source, UsageSource::Estimated, "{name}");
        assert!(used.input_tokens > 50 && used.output_tokens >= 4, "{name}: {used:?}");
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_anywhere_is_asked_for_again_and_taken_back() {
    for (name, api) in ModelApi::WORDS {
        let whole =
            ScriptedTurn::Calls("I look.".to_owned(), vec![("look".to_owned(), json!({ "n": 1 }))]);
        for cut in (0..2_000).step_by(97) {
            let broken = ScriptedTurn::BreaksOff(Box::new(whole.clone()), cut);
            let model = scripted([broken, whole.clone()]);
            let (answer, used, told) = ask(settings(&model, api)).await;
            let answer = answer.unwrap_or_else(|fault| panic!("{name} {cut}: {fault:?}"));
            assert_eq!(answer.calls.len(), 1, "{name} {cut}");
            let asked = model.asked().len();
            let taken_back =
                told.iter().filter(|delta| matches!(delta, ModelDelta::Retracted(_))).count();
            let begins =
                told.iter().filter(|delta| **delta == ModelDelta::Text("I ".to_owned())).count();
            // Nothing is told twice that was not taken back, and what broke off has cost too.
            assert_eq!(begins, 1 + taken_back, "{name} {cut}: {told:?}");
            assert!(asked == 1 || taken_back == 0 || used.total() > 110, "{name} {cut}: {used:?}");
        }
    }
}

#[tokio::test]
async fn a_server_that_is_busy_is_asked_again_when_it_says() {
    let busy = ScriptedTurn::Refuses(
        429,
        vec![("retry-after".to_owned(), "1".to_owned())],
        r#"{"error":{"message":"slow down"}}"#.to_owned(),
    );
    let model = scripted([busy.clone(), ScriptedTurn::says("Here.")]);
    let began = Instant::now();
    let (answer, _, _) = ask(settings(&model, ModelApi::OpenAiChat)).await;
    assert_eq!(answer.unwrap().text, "Here.");
    assert!(began.elapsed() >= Duration::from_secs(1));

    // For longer than anybody waits: told at once, with the time.
    let hours = vec![("retry-after".to_owned(), "7200".to_owned())];
    let model = scripted([ScriptedTurn::Refuses(429, hours, String::new())]);
    let fault = ask(settings(&model, ModelApi::OpenAiChat)).await.0.unwrap_err();
    assert_eq!(fault.kind, ModelFaultKind::RateLimited);
    assert_eq!(fault.retry_after, Some(Duration::from_hours(2)));
    assert_eq!(model.asked().len(), 1);
}

#[tokio::test]
async fn a_refusal_says_what_is_wrong_and_what_to_do() {
    let refuse = |status, said: &str| {
        ScriptedTurn::Refuses(status, Vec::new(), format!(r#"{{"error":{{"message":"{said}"}}}}"#))
    };
    let cases = [
        (401, "no key", ModelFaultKind::Unauthorized, "look at `key` of `[model]`"),
        (404, "no model", ModelFaultKind::NotFound, "look at `url` and `name` of `[model]`"),
        (400, "context_length_exceeded", ModelFaultKind::TooLong, "begin a new one"),
        (400, "bad schema of `look`", ModelFaultKind::Refused, "bad schema of `look`"),
    ];
    for (status, said, kind, told) in cases {
        let model = scripted([refuse(status, said)]);
        let fault = ask(settings(&model, ModelApi::OpenAiChat)).await.0.unwrap_err();
        assert_eq!(fault.kind, kind, "{status}");
        assert!(fault.message.contains(told), "{}", fault.message);
        assert_eq!(model.asked().len(), 1, "asking again would be the same");
    }
    let nobody = ModelSettings {
        retries: 0,
        ..ModelSettings::new(
            ModelApi::OpenAiChat,
            url::Url::parse("http://127.0.0.1:9/v1").unwrap(),
            "m",
        )
    };
    let fault = ask(nobody).await.0.unwrap_err();
    assert_eq!(fault.kind, ModelFaultKind::Unreachable);
    assert!(fault.message.contains("is its server running"), "{}", fault.message);
}

#[tokio::test]
async fn what_is_no_stream_of_a_model_is_a_fault_and_no_panic() {
    for junk in
        ["", "data: [DONE]\n\n", "data: {\n\n", "<html>", "data: {\"choices\":7}\n\n", "\0\0"]
    {
        for (name, api) in ModelApi::WORDS {
            let model = scripted([ScriptedTurn::Writes(junk.to_owned())]);
            let own = ModelSettings { retries: 0, ..settings(&model, api) };
            let (answer, _, _) = ask(own).await;
            // An empty message is what `[DONE]` alone leaves of a chat.
            let is_fault = answer.is_err() || answer.is_ok_and(|answer| answer.text.is_empty());
            assert!(is_fault, "{name}: {junk:?}");
        }
    }
}

#[tokio::test]
async fn each_time_limit_is_named_when_it_ends_an_answer() {
    let slow = ScriptedTurn::Waits(Duration::from_secs(3), Box::new(ScriptedTurn::says("Late.")));
    let model = scripted([slow]);
    let mut own = ModelSettings { retries: 0, ..settings(&model, ModelApi::OpenAiChat) };
    own.timeouts.first_byte = Duration::from_millis(200);
    let fault = ask(own).await.0.unwrap_err();
    assert_eq!(fault.kind, ModelFaultKind::Timeout);
    assert_eq!(fault.message, "the model `scripted`: no answer began in time");
}
