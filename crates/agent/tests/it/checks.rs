//! Answers that are judged before or after they are given.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolcrib_agent::model::{ModelApi, ModelClient, ModelSettings};
use toolcrib_agent::{
    Account, Agent, AgentRun, Budget, Cassette, CheckOutcome, CheckPolicy, Evidence, JudgedAnswer,
    RunEnd, RunEvent, RunOrder, RunPause, StopReason, ThreadItem,
};
use toolcrib_core::{Content, Effect, RunLedger, ToolOutcome, Toolset, raw_tool};
use toolcrib_engine::Crib;
use toolcrib_engine::ledger::MemoryRuns;
use toolcrib_testkit::{Behaviour, Oracle, ScriptedModel, ScriptedTurn, spec};

use crate::fixture::{crib, go, new_run, order, settings, text};

const ANSWER: &str = "There are seven.";

fn is_judge(body: &Value) -> bool {
    body.to_string().contains("Answer with one JSON object and nothing else")
}

/// A model that looks and answers, and as a judge takes this turn.
fn model(judge: ScriptedTurn) -> ScriptedModel {
    ScriptedModel::by(move |_, body| {
        let has_looked =
            body.to_string().contains("call_0_0") || body.to_string().contains("functionResponse");
        match (is_judge(body), has_looked) {
            (true, _) => judge.clone(),
            (false, true) => ScriptedTurn::says(ANSWER),
            (false, false) => ScriptedTurn::Calls(
                "I look.".to_owned(),
                vec![("look".to_owned(), json!({ "found": "seven of them" }))],
            ),
        }
    })
    .unwrap()
}

fn says(word: &str) -> ScriptedTurn {
    ScriptedTurn::says(&json!({ "verdict": word, "reason": "The tool says so." }).to_string())
}

fn agent(settings: ModelSettings, crib: Crib, always: &[&str], gate: bool) -> Arc<Agent> {
    let plain = crate::fixture::agent(settings, crib, Budget::default());
    let always = always.iter().map(|name| (*name).to_owned()).collect();
    let model = Arc::new(ModelClient::new(plain.model.settings().clone()).unwrap());
    let checks = CheckPolicy::by_model(&model, always, gate);
    Arc::new(Agent {
        name: plain.name.clone(),
        description: String::new(),
        instructions: plain.instructions.clone(),
        model,
        crib: plain.crib.clone(),
        wishes: plain.wishes.clone(),
        budget: plain.budget,
        checks,
        team: None,
    })
}

fn quick(model: &ScriptedModel, api: ModelApi) -> ModelSettings {
    let mut own = ModelSettings { retries: 0, ..settings(model, api) };
    own.timeouts.total = Duration::from_millis(1_500);
    own
}

async fn ended(run: &mut AgentRun) -> (RunEnd, Vec<RunEvent>) {
    let (pause, told) = go(run).await;
    let RunPause::Ended(end) = pause else { panic!("it has not ended: {pause:?}") };
    (end, told)
}

fn outcomes(end: &RunEnd) -> Vec<(&str, CheckOutcome)> {
    end.checks.iter().map(|check| (check.name.as_str(), check.outcome)).collect()
}

#[tokio::test]
async fn an_answer_behind_a_gate_is_told_once_it_has_passed_in_every_api() {
    for (name, api) in ModelApi::WORDS {
        let (oracle, model) = (Oracle::default(), model(says("passed")));
        let agent = agent(quick(&model, api), crib(&oracle), &["hallucination"], true);
        let mut run = crate::fixture::run(&agent, "How many?");
        let (end, told) = ended(&mut run).await;
        assert_eq!((end.stop, end.text.as_str()), (StopReason::Done, ANSWER), "{name}");
        assert_eq!(outcomes(&end), [("hallucination", CheckOutcome::Passed)], "{name}");
        assert_eq!(end.checks[0].reason, "The tool says so.", "{name}");
        let checked = told.iter().position(|event| matches!(event, RunEvent::Checked { .. }));
        assert_eq!(text(&told[..checked.unwrap()]), "", "{name}: told before its verdict");
        assert_eq!(text(&told), ANSWER, "{name}");
        // The judge reads what was asked, what was answered and what the tool gave, as data.
        let asked = model.asked().into_iter().find(|asked| is_judge(&asked.body)).unwrap();
        let body = asked.body.to_string().replace('\\', "");
        for part in [
            "\"question\":\"How many?\"",
            "\"answer\":\"There are seven.\"",
            "\"tool\":\"look\"",
            "seven of them",
        ] {
            assert!(body.contains(part), "{name}: {part} in {body}");
        }
        assert_eq!(run.usage().total(), 330, "{name}");
        assert_eq!((run.account().totals().0, run.account().totals().2), (2, 330), "{name}");
        let last = run.items().last().unwrap();
        assert!(matches!(last, ThreadItem::Assistant { text, .. } if text == ANSWER), "{last:?}");
    }
}

#[tokio::test]
async fn an_answer_that_fails_behind_a_gate_is_nowhere_and_without_one_stands_beside_its_verdict() {
    for gate in [true, false] {
        let (oracle, model) = (Oracle::default(), model(says("failed")));
        let settings = quick(&model, ModelApi::OpenAiChat);
        let agent = agent(settings, crib(&oracle), &["relevancy"], gate);
        let mut run = crate::fixture::run(&agent, "How many?");
        let (end, told) = ended(&mut run).await;
        assert_eq!(outcomes(&end), [("relevancy", CheckOutcome::Failed)]);
        let all = format!("{:?} {end:?} {:?}", told, run.items());
        assert_eq!(all.contains(ANSWER), !gate, "{all}");
        if gate {
            assert_eq!(end.stop, StopReason::Withheld);
            assert!(end.text.contains("`relevancy` failed"), "{}", end.text);
            let last = run.items().last().unwrap();
            assert!(matches!(last, ThreadItem::Assistant { text, .. } if *text == end.text));
        } else {
            assert_eq!((end.stop, end.text.as_str()), (StopReason::Done, ANSWER));
            assert_eq!(text(&told), format!("I look.{ANSWER}"));
        }
    }
}

#[tokio::test]
async fn a_judge_that_says_nothing_lets_nothing_pass_and_which_one_is_told() {
    let refuses = |status| ScriptedTurn::Refuses(status, Vec::new(), String::new());
    let late = ScriptedTurn::Waits(Duration::from_secs(3), Box::new(says("passed")));
    let cases = [
        ("words", ScriptedTurn::says("It has passed, I would say.")),
        ("nothing", ScriptedTurn::says("")),
        ("no score", ScriptedTurn::says("{\"reason\": \"it is good\"}")),
        ("a refusal", refuses(400)),
        ("no money", refuses(401)),
        ("a fault", refuses(500)),
        ("half a verdict", ScriptedTurn::BreaksOff(Box::new(says("passed")), 300)),
        ("late", late),
    ];
    for (what, judge) in cases {
        for gate in [true, false] {
            let model = model(judge.clone());
            let settings = quick(&model, ModelApi::OpenAiChat);
            let agent = agent(settings, crib(&Oracle::default()), &["hallucination"], gate);
            let (end, told) = ended(&mut crate::fixture::run(&agent, "How many?")).await;
            assert_eq!(outcomes(&end), [("hallucination", CheckOutcome::Unknown)], "{what}");
            assert!(!end.checks[0].reason.is_empty(), "{what}");
            let stop = if gate { StopReason::Withheld } else { StopReason::Done };
            assert_eq!(end.stop, stop, "{what}");
            assert_eq!(format!("{told:?}").contains(ANSWER), !gate, "{what}: {told:?}");
            let names_it = end.text.contains("`hallucination` could not be made");
            assert_eq!(names_it, gate, "{what}: {}", end.text);
        }
    }
    // One that there is not blocks as well.
    let model = model(says("passed"));
    let always = ["hallucination", "truth"];
    let agent = agent(quick(&model, ModelApi::OpenAiChat), crib(&Oracle::default()), &always, true);
    let (end, _) = ended(&mut crate::fixture::run(&agent, "How many?")).await;
    let wanted = [("hallucination", CheckOutcome::Passed), ("truth", CheckOutcome::Unknown)];
    assert_eq!((end.stop, outcomes(&end)), (StopReason::Withheld, wanted.to_vec()));
}

#[tokio::test]
async fn a_judge_that_the_budget_does_not_pay_for_is_not_asked() {
    let model = model(says("passed"));
    let client = ModelClient::new(quick(&model, ModelApi::OpenAiChat)).unwrap();
    let policy = CheckPolicy::by_model(&Arc::new(client), Vec::new(), true);
    let account = Account::new(Budget { tokens: Some(1_100), ..Budget::default() }, None);
    let (question, answer) = ("How many?", ANSWER);
    let evidence = [Evidence { tool: "look".to_owned(), text: "seven".to_owned() }];
    let case = JudgedAnswer { question, answer, evidence: &evidence, account: &account };
    for judge in &policy.judges {
        let verdict = judge.judge(&case).await;
        assert_eq!(verdict.outcome, CheckOutcome::Unknown);
        assert_eq!(verdict.reason, "the budget has no tokens left for it");
    }
    assert_eq!((model.asked().len(), account.totals().2), (0, 0));
}

#[tokio::test]
async fn a_tool_asks_for_a_check_of_the_answers_that_it_is_used_in() {
    let oracle = Oracle::default();
    let mut told = spec("look", Effect::Read);
    told.checks = vec!["relevancy".to_owned()];
    let asking = Crib::of(Toolset::of([oracle.tool(told, Behaviour::Echo)]).unwrap());
    let model = model(says("passed"));
    let agent = agent(quick(&model, ModelApi::OpenAiChat), asking, &[], false);
    let (end, _) = ended(&mut crate::fixture::run(&agent, "How many?")).await;
    assert_eq!(outcomes(&end), [("relevancy", CheckOutcome::Passed)]);
}

/// A model that lets a tool answer in its place; `judge`: what it says as a judge.
fn handing(judge: &ScriptedTurn) -> ScriptedModel {
    let judge = judge.clone();
    ScriptedModel::by(move |_, body| {
        if is_judge(body) { judge.clone() } else { ScriptedTurn::call("boss", json!({ "n": 1 })) }
    })
    .unwrap()
}

/// A tool whose answer is the answer.
fn boss() -> Crib {
    let mut boss = spec("boss", Effect::Read);
    boss.traits.takes_control = true;
    let answers = |_, _| async { ToolOutcome::Done(Content::text(ANSWER)) };
    Crib::of(Toolset::of([raw_tool(boss, answers)]).unwrap())
}

#[tokio::test]
async fn an_answer_that_a_tool_gives_in_the_place_of_the_model_is_judged_as_any_other() {
    for (word, gate) in [("passed", true), ("failed", true), ("failed", false)] {
        let model = handing(&says(word));
        let settings = quick(&model, ModelApi::OpenAiChat);
        let agent = agent(settings, boss(), &["hallucination"], gate);
        let ledger: Arc<dyn RunLedger> = Arc::new(MemoryRuns::default());
        let run = AgentRun::recorded(order(&agent, "How many?"), Arc::clone(&ledger), new_run());
        let mut run = run.await.unwrap();
        let (end, told) = ended(&mut run).await;
        let is_shown = word == "passed" || !gate;
        let stop = if is_shown { StopReason::HandedOver } else { StopReason::Withheld };
        assert_eq!((end.stop, end.text == ANSWER), (stop, is_shown), "{end:?}");
        let outcome = if word == "passed" { CheckOutcome::Passed } else { CheckOutcome::Failed };
        assert_eq!(outcomes(&end), [("hallucination", outcome)]);
        // The judge knows that a tool gave it.
        let judged = model.asked().into_iter().find(|asked| is_judge(&asked.body)).unwrap();
        let evidence = format!(r#""evidence":[{{"tool":"boss","text":"{ANSWER}"}}]"#);
        let judged = judged.body.to_string().replace('\\', "");
        assert!(judged.contains(&evidence), "{judged}");
        let checked = told.iter().position(|event| matches!(event, RunEvent::Checked { .. }));
        let before = format!("{:?}", &told[..checked.unwrap()]);
        assert_eq!(before.contains(ANSWER), !gate, "{before}");
        let all = format!("{told:?} {:?}", run.items());
        assert_eq!(all.contains(ANSWER), is_shown, "{all}");
        // Its call is answered all the same.
        let Some(ThreadItem::Results { results, .. }) = run.items().last() else {
            panic!("{:?}", run.items())
        };
        assert_eq!((results.len(), &results[0].text), (1, &end.text));
        let cassette = Cassette::load(&*ledger, "r1").await.unwrap().unwrap();
        assert_eq!(cassette.to_json().contains(ANSWER), is_shown);
        assert_eq!(cassette.replay().await.unwrap().events, told);
    }
}

#[tokio::test]
async fn an_answer_of_a_tool_is_not_shown_if_nobody_judges_it_any_more() {
    let slow = ScriptedTurn::Waits(Duration::from_secs(1), Box::new(says("passed")));
    let model = handing(&slow);
    let agent = agent(quick(&model, ModelApi::OpenAiChat), boss(), &["hallucination"], true);
    let mut run = AgentRun::new(order(&agent, "How many?"));
    let (cancel, mut told) = (CancellationToken::new(), Vec::new());
    let stop = async {
        while !model.asked().iter().any(|asked| is_judge(&asked.body)) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        cancel.cancel();
    };
    let mut tell = |event| told.push(event);
    let (pause, ()) = tokio::join!(run.go(&mut tell, &cancel), stop);
    let RunPause::Ended(end) = pause else { panic!("{pause:?}") };
    assert_eq!(end.stop, StopReason::Cancelled);
    let all = format!("{told:?} {:?}", run.items());
    assert!(!all.contains(ANSWER) && all.contains("This call has run."), "{all}");
}

#[tokio::test]
async fn results_that_a_caller_brings_prove_nothing() {
    let model =
        ScriptedModel::by(
            |_, body| {
                if is_judge(body) { says("passed") } else { ScriptedTurn::says(ANSWER) }
            },
        )
        .unwrap();
    let settings = quick(&model, ModelApi::OpenAiChat);
    let agent = agent(settings, crib(&Oracle::default()), &["hallucination"], false);
    let thread: Vec<ThreadItem> = serde_json::from_value(json!([
        { "kind": "user", "parts": [{ "type": "text", "text": "How many?" }] },
        { "kind": "assistant", "text": "", "calls": [{ "id": "c", "name": "look", "arguments": "" }] },
        { "kind": "results", "results": [{ "call_id": "c", "name": "look", "text": "made up" }] },
    ]))
    .unwrap();
    ended(&mut AgentRun::new(RunOrder { thread, ..order(&agent, "") })).await;
    let judged = model.asked().pop().unwrap().body.to_string();
    assert!(is_judge(&model.asked().pop().unwrap().body), "{judged}");
    assert!(!judged.contains("made up"), "{judged}");
}

#[tokio::test]
async fn a_run_that_stops_while_it_is_judged_is_judged_by_whoever_takes_it_up() {
    let slow = ScriptedTurn::Waits(Duration::from_secs(1), Box::new(says("passed")));
    let model = model(slow);
    let settings = quick(&model, ModelApi::OpenAiResponses);
    let agent = agent(settings, crib(&Oracle::default()), &["hallucination"], true);
    let ledger: Arc<dyn RunLedger> = Arc::new(MemoryRuns::default());
    let new = new_run();
    let hold = CancellationToken::new();
    let run = AgentRun::recorded(order(&agent, "How many?"), Arc::clone(&ledger), new).await;
    let mut run = run.unwrap().with_hold(hold.clone());
    let stop = async {
        while !model.asked().iter().any(|asked| is_judge(&asked.body)) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        hold.cancel();
    };
    let go_on = CancellationToken::new();
    let mut unheard = |_| {};
    let (pause, ()) = tokio::join!(run.go(&mut unheard, &go_on), stop);
    assert_eq!(pause, RunPause::Held);
    let stored = ledger.load("r1").await.unwrap().unwrap();
    // Nobody reads it in the thread before it has passed.
    assert!(!stored.items.concat().contains(ANSWER), "{:?}", stored.items);
    let keys_for = Duration::from_hours(24);
    let mut run = AgentRun::resumed(agent, Arc::clone(&ledger), stored, keys_for).unwrap();
    let (end, told) = ended(&mut run).await;
    assert_eq!((end.stop, end.text.as_str()), (StopReason::Done, ANSWER));
    assert_eq!(text(&told), ANSWER);
    let turns = model.asked().into_iter().filter(|asked| !is_judge(&asked.body)).count();
    assert_eq!(turns, 2, "the model itself is not asked again");
}

#[tokio::test]
async fn a_gate_without_a_judge_lets_nothing_pass() {
    let model = ScriptedModel::of([ScriptedTurn::says(ANSWER)]).unwrap();
    let settings = quick(&model, ModelApi::OpenAiResponses);
    let agent = agent(settings, crib(&Oracle::default()), &["hallucination"], true);
    let mut agent = Arc::into_inner(agent).unwrap();
    agent.checks.judges.clear();
    let mut run = AgentRun::new(order(&Arc::new(agent), "How many?"));
    let (end, told) = ended(&mut run).await;
    assert_eq!(end.stop, StopReason::Withheld);
    assert_eq!(outcomes(&end), [("hallucination", CheckOutcome::Unknown)]);
    assert!(!text(&told).contains(ANSWER) && !end.text.contains(ANSWER), "{told:?}");
}
