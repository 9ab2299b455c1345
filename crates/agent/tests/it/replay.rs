//! Runs that are played again from their record, and recorded calls that are made once more.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolcrib_agent::model::ModelApi;
use toolcrib_agent::{
    Agent, AgentRun, AnswerCheck, Budget, Cassette, CassetteError, CheckPolicy, CheckVerdict,
    Drift, JudgedAnswer, LiveTools, ReplayError, RunEvent, RunPause,
};
use toolcrib_core::{BoxFuture, Caller, Decision, Effect, PlanRequest, RunLedger, Toolset};
use toolcrib_engine::Crib;
use toolcrib_engine::ledger::MemoryRuns;
use toolcrib_testkit::{Behaviour, Oracle, ScriptedTurn, spec};

use crate::fixture::{agent, crib, new_run, order, scripted, settings};

/// Runs to the end, saying yes to all, and gives the record with what was told.
async fn recorded(agent: &Arc<Agent>) -> (Cassette, Vec<RunEvent>) {
    let ledger: Arc<dyn RunLedger> = Arc::new(MemoryRuns::default());
    let begun = AgentRun::recorded(order(agent, "Do it."), Arc::clone(&ledger), new_run()).await;
    let (mut run, mut told) = (begun.unwrap().with_deferral(), Vec::new());
    let never = CancellationToken::new();
    loop {
        match run.go(&mut |event| told.push(event), &never).await {
            RunPause::Ended(_) | RunPause::Held => break,
            RunPause::Deferred { .. } => tokio::time::sleep(Duration::from_millis(200)).await,
            RunPause::Waiting(tickets) => {
                let mut tell = |event| told.push(event);
                run.decide(&tickets[0], Decision::Approve, &mut tell).await.unwrap();
            }
        }
    }
    (Cassette::load(&*ledger, "r1").await.unwrap().unwrap(), told)
}

fn live(crib: Crib, with_effects: bool) -> LiveTools {
    let caller = Arc::new(Caller::local());
    LiveTools { crib, caller, wishes: PlanRequest::default(), model: None, with_effects }
}

#[tokio::test]
async fn thoughts_retries_and_deferrals_are_told_as_they_were() {
    let thinks = "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"I think about it for \
                  quite a while, as the words are more than what is written out twice anyway, \
                  really.\"}}]}\n\n\
                  data: {\"choices\":[{\"delta\":{\"reasoning_content\":\" So.\"}}]}\n\n\
                  data: {\"choices\":[{\"delta\":{\"content\":\"Yes\"}}]}\n\n\
                  data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n\
                  data: [DONE]\n\n";
    let later = vec![("retry-after".to_owned(), "1".to_owned())];
    let says = ScriptedTurn::says("Words that break off before they are all said, sadly.");
    let model = scripted([
        ScriptedTurn::call("look", json!({ "n": 1 })),
        ScriptedTurn::BreaksOff(Box::new(says), 400),
        ScriptedTurn::Refuses(429, later, String::new()),
        ScriptedTurn::Writes(thinks.to_owned()),
    ]);
    let mut settings = settings(&model, ModelApi::OpenAiChat);
    settings.retries = 1;
    settings.timeouts.retry_after = Duration::from_millis(600);
    let agent = agent(settings, crib(&Oracle::default()), Budget::default());
    let (cassette, told) = recorded(&agent).await;
    let kinds = |kind: &str| {
        let of_kind = told.iter().filter(|event| event.to_json()["type"] == kind);
        of_kind.count()
    };
    assert_eq!((kinds("reasoning.delta"), kinds("notice"), kinds("ended")), (2, 1, 1), "{told:?}");
    assert_eq!(cassette.replay().await.unwrap().events, told);
}

#[tokio::test]
async fn what_a_provider_ran_and_cited_is_told_as_it_was() {
    let reply = json!({ "id": "resp_1", "status": "completed", "output": [
        { "type": "web_search_call", "id": "ws_1", "status": "completed", "action": {
            "type": "search", "query": "rust 2026 ".repeat(20),
            "sources": [{ "type": "url", "url": "https://a.example/1" }],
        } },
        { "type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [{
            "type": "output_text", "text": "It is out.", "logprobs": [], "annotations": [{
                "type": "url_citation", "url": "https://a.example/1", "title": "One",
                "start_index": 0, "end_index": 5,
            }],
        }] },
    ] });
    let model = scripted([ScriptedTurn::Gives(reply)]);
    let settings = settings(&model, ModelApi::OpenAiResponses);
    let agent = agent(settings, crib(&Oracle::default()), Budget::default());
    let (cassette, told) = recorded(&agent).await;
    let RunEvent::Ended { end, .. } = told.last().unwrap() else { panic!("{told:?}") };
    assert_eq!(end.references.len(), 1, "{told:?}");
    assert!(matches!(told[1..3], [RunEvent::Calls { .. }, RunEvent::CallDone { .. }]), "{told:?}");
    assert_eq!(cassette.replay().await.unwrap().events, told);
}

#[tokio::test]
async fn a_record_is_small_beside_what_it_records() {
    let model = scripted([
        ScriptedTurn::call("large", json!({ "n": 1 })),
        ScriptedTurn::says(&"All of it was read, word by word. ".repeat(200)),
    ]);
    let oracle = Oracle::default();
    let large = oracle.tool(spec("large", Effect::Read), Behaviour::Large(20_000));
    let settings = settings(&model, ModelApi::OpenAiChat);
    let agent = agent(settings, Crib::of(Toolset::of([large]).unwrap()), Budget::default());
    let (cassette, _) = recorded(&agent).await;
    let text = cassette.to_json();
    let inputs = text.lines().filter(|line| line.starts_with("{\"input\":"));
    let bytes: usize = inputs.map(str::len).sum();
    // Both texts stand in the events; what came names them.
    assert!(text.len() > 60_000 && bytes < 8_000, "{bytes} of {}", text.len());
}

#[tokio::test]
async fn an_answer_that_its_judge_holds_back_stands_in_no_record_and_is_played_all_the_same() {
    struct Never;
    impl AnswerCheck for Never {
        fn name(&self) -> &'static str {
            "never"
        }

        fn judge<'a>(&'a self, _: &'a JudgedAnswer<'a>) -> BoxFuture<'a, CheckVerdict> {
            Box::pin(async { CheckVerdict::unknown("never", "Nobody knows.") })
        }
    }
    let model = scripted([
        ScriptedTurn::call("look", json!({ "n": 1 })),
        ScriptedTurn::says("The moon is made of cheese."),
    ]);
    let settings = settings(&model, ModelApi::OpenAiResponses);
    let mut agent = agent(settings, crib(&Oracle::default()), Budget::default());
    let (always, judges) = (vec!["never".to_owned()], vec![Arc::new(Never) as Arc<_>]);
    Arc::get_mut(&mut agent).unwrap().checks = CheckPolicy { always, judges, gate: true };
    let (cassette, told) = recorded(&agent).await;
    let text = cassette.to_json();
    assert!(text.contains("it did not pass the checks") && !text.contains("cheese"), "{text}");
    assert_eq!(cassette.replay().await.unwrap().events, told);
}

#[tokio::test]
async fn a_run_of_before_is_told_to_be_one() {
    let model = scripted([ScriptedTurn::says("Done.")]);
    let settings = settings(&model, ModelApi::OpenAiChat);
    let agent = agent(settings, crib(&Oracle::default()), Budget::default());
    let (cassette, told) = recorded(&agent).await;
    let mut file: serde_json::Value = serde_json::from_str(&cassette.to_json()).unwrap();
    file["log"].as_array_mut().unwrap().retain(|row| row.get("input").is_none());
    let before = Cassette::read(&file.to_string()).unwrap();
    assert_eq!(before.events().unwrap(), told);
    assert_eq!(before.replay().await, Err(ReplayError::Cassette(CassetteError::Earlier)));
}

#[tokio::test]
async fn calls_that_are_made_once_more_tell_what_has_changed() {
    let oracle = Oracle::default();
    let calls = ["look", "write", "gone", "strict", "wipe"];
    let calls = calls.map(|name| (name.to_owned(), json!({ "n": 1 })));
    let model = scripted([
        ScriptedTurn::Calls(String::new(), calls.to_vec()),
        ScriptedTurn::call("look", json!({ "n": 2 })),
        ScriptedTurn::says("Done."),
    ]);
    let tools = || {
        vec![
            oracle.echo("look", Effect::Read),
            oracle.echo("write", Effect::Write),
            oracle.echo("wipe", Effect::Destroy),
        ]
    };
    let mut then = tools();
    then.extend(["gone", "strict"].map(|name| oracle.echo(name, Effect::Read)));
    let settings = settings(&model, ModelApi::Anthropic);
    let agent = agent(settings, Crib::of(Toolset::of(then).unwrap()), Budget::default());
    let (cassette, told) = recorded(&agent).await;
    let ran = oracle.runs().len();

    let mut strict = spec("strict", Effect::Read);
    strict.input = json!({ "type": "object", "required": ["m"] }).into();
    let mut now = tools();
    now.remove(0);
    now.push(oracle.tool(spec("look", Effect::Read), Behaviour::Large(3)));
    now.push(oracle.tool(strict, Behaviour::Echo));
    let now = Crib::of(Toolset::of(now).unwrap());
    let replayed = cassette.replay_with(&live(now.clone(), false)).await.unwrap();
    // The run hears what is on record.
    assert_eq!(replayed.events, told);
    let drift: Vec<_> = replayed
        .drift
        .iter()
        .map(|one| (one.tool.as_str(), one.drift.as_str(), one.turn))
        .collect();
    assert_eq!(
        drift,
        [
            ("look", "differs", 1),
            ("write", "not_run", 1),
            ("gone", "missing", 1),
            ("strict", "invalid_arguments", 1),
            ("wipe", "not_run", 1),
            ("look", "differs", 2),
        ]
    );
    assert_eq!(replayed.drift[0].drift, Drift::Differs("line 1: {\"n\":1} -> xxx".to_owned()));
    // Nothing ran that may change something.
    assert_eq!(oracle.runs().len(), ran + 2);
    assert_eq!((oracle.count("write"), oracle.count("wipe")), (1, 1));

    let replayed = cassette.replay_with(&live(now.clone(), true)).await.unwrap();
    assert_eq!(replayed.drift[1].drift, Drift::Same);
    let Drift::NotRun(why) = &replayed.drift[4].drift else { panic!("{:?}", replayed.drift[4]) };
    assert!(why.starts_with("a person would be asked"), "{why}");
    assert_eq!((oracle.count("write"), oracle.count("wipe")), (2, 1));
    // Nobody finds what waited for a moment.
    assert_eq!(now.tickets(&Caller::local()).await.unwrap().len(), 0);
}

/// A run that was recorded when its form was new. A form that reads it no more, or a loop that tells
/// other events, breaks the tests that others made of their runs.
const ON_FILE: &str = include_str!("../cassettes/look.json");

#[tokio::test]
async fn a_run_on_file_is_played_in_one_line() {
    Cassette::read(ON_FILE).unwrap().replay().await.unwrap();
}

#[tokio::test]
async fn a_file_is_read_however_it_is_indented_and_a_later_one_is_refused() {
    let mut file: serde_json::Value = serde_json::from_str(ON_FILE).unwrap();
    let indented = serde_json::to_string_pretty(&file).unwrap();
    assert_eq!(Cassette::read(&indented), Cassette::read(ON_FILE));
    file["cassette"] = 2.into();
    assert_eq!(Cassette::read(&file.to_string()), Err(CassetteError::Newer(2)));
}

#[tokio::test]
async fn the_first_difference_is_told_with_both_sides() {
    let changed = ON_FILE.replace("{\"text_pieces\":[\"It \"", "{\"text_pieces\":[\"It was \"");
    let told = Cassette::read(&changed).unwrap().replay().await.unwrap_err().to_string();
    assert_eq!(
        told,
        "event 9 differs\n  recorded: {\"type\":\"text.delta\",\"delta\":\"It was \"}\n  \
         replayed: {\"type\":\"text.delta\",\"delta\":\"It \"}"
    );
}
