//! Agents that work for another one, within bounds: depth, number, budget, time.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::sync::Barrier;
use tokio_util::sync::CancellationToken;
use toolcrib_agent::model::ModelApi;
use toolcrib_agent::{
    Agent, AgentMode, Budget, NewSpecialist, RunEvent, StopReason, Team, TeamLimits,
};
use toolcrib_core::{Content, Effect, ToolOutcome, Toolset, raw_tool};
use toolcrib_engine::Crib;
use toolcrib_testkit::{Oracle, ScriptedModel, ScriptedTurn, spec};

use crate::fixture::{agent, go, run, scripted, settings};
use crate::team::{Named, crib, ended, member, planner, results};

#[tokio::test]
async fn tasks_that_go_round_or_too_deep_or_come_again_are_answered_and_not_run() {
    let oracle = Oracle::default();
    let crib = crib(&oracle);
    // Whoever is asked asks the next one for the very same, for ever.
    let below = ScriptedModel::by(|_, body| {
        let offered = body["tools"].to_string();
        let results = body["messages"].to_string().matches("\"tool\"").count();
        if offered.contains("ask_money") && results == 0 {
            return ScriptedTurn::calls(&[("ask_money", json!({ "task": "Look it up!" }))]);
        }
        ScriptedTurn::says("I do not know.")
    });
    let below = below.unwrap();
    let boss = scripted(
        (0..4)
            .map(|_| ScriptedTurn::calls(&[("ask_money", json!({ "task": "look  it up" }))]))
            .chain([ScriptedTurn::says("Nobody knows.")]),
    );
    let inner = |crib: Crib| {
        let nested = NewSpecialist {
            tools: Arc::new(Named("money")),
            agent: Box::new(|crib| member("money", &below, crib, Budget::default())),
        };
        let team = Team::new(&crib, AgentMode::Planner, TeamLimits::default(), vec![nested]);
        let agent = member("money", &below, crib, Budget::default());
        Agent { team: Some(Arc::new(team)), ..agent }
    };
    let outer = NewSpecialist { tools: Arc::new(Named("money")), agent: Box::new(inner) };
    let team = Team::new(&crib, AgentMode::Planner, TeamLimits::default(), vec![outer]);
    let plain = agent(settings(&boss, ModelApi::OpenAiChat), crib.clone(), Budget::default());
    let mut plain = Arc::into_inner(plain).unwrap();
    plain.team = Some(Arc::new(team));
    let mut run = run(&Arc::new(plain), "Look it up.");
    let (pause, _) = go(&mut run).await;
    assert_eq!(ended(pause).text, "Nobody knows.");
    // The first asked its own specialist for the same: that was answered, and not run.
    assert!(results(&below, 1)[0].to_string().contains("waits for this very task"));
    // Twice the same task brought the same; the third and fourth time nobody is asked.
    let answers = results(&boss, 4);
    assert_eq!(answers.len(), 4);
    assert_eq!(
        (&answers[0]["answer"], &answers[1]["answer"]),
        (&json!("I do not know."), &json!("I do not know."))
    );
    for again in &answers[2..] {
        assert!(again.to_string().contains("brought the same answer"), "{again}");
    }
    assert_eq!(below.asked().len(), 4);
}

#[tokio::test]
async fn so_deep_and_so_many_at_once_as_the_limits_say_and_no_more() {
    let oracle = Oracle::default();
    let crib = crib(&oracle);
    // A model that only delegates, each time something new.
    let model = ScriptedModel::by(|number, body| {
        let offered = body["tools"].to_string();
        let results = body["messages"].to_string().matches("tool_call_id").count();
        if offered.contains("ask_") && results < 1 {
            let task =
                |n: usize| ("ask_".to_owned(), json!({ "task": format!("{number} {n}") }), n);
            let calls = (0..3).map(task).map(|(_, task, _)| ("ask_money".to_owned(), task));
            return ScriptedTurn::Calls(String::new(), calls.collect());
        }
        let turn = ScriptedTurn::says("Done.");
        ScriptedTurn::Waits(Duration::from_millis(30), Box::new(turn))
    });
    let model = Arc::new(model.unwrap());
    fn deep(crib: &Crib, model: &Arc<ScriptedModel>, left: usize) -> Agent {
        let of = Arc::clone(model);
        let below = NewSpecialist {
            tools: Arc::new(Named("money")),
            agent: Box::new(move |crib| match left {
                0 => member("money", &of, crib, Budget::default()),
                left => deep(&crib, &of, left - 1),
            }),
        };
        let limits = TeamLimits { depth: 2, active: 2 };
        let team = Team::new(crib, AgentMode::Planner, limits, vec![below]);
        let agent =
            member("money", model, crib.clone(), Budget { turns: None, ..Budget::default() });
        Agent { team: Some(Arc::new(team)), ..agent }
    }
    let mut run = run(&Arc::new(deep(&crib, &model, 4)), "Go.");
    let (pause, told) = go(&mut run).await;
    assert_eq!(ended(pause).text, "Done.");
    let depths = told.iter().filter_map(|event| {
        let RunEvent::ChildStarted { path, .. } = event else { return None };
        Some(path.split('/').count())
    });
    let depths: Vec<_> = depths.collect();
    assert_eq!(depths.iter().max(), Some(&2));
    assert_eq!(depths.len(), 3 + 9);
    // Two at the same time at the most, though nine were asked for, and none waits for ever.
    let (mut now, mut most) = (0_i32, 0);
    for event in &told {
        let RunEvent::Child { path, event, .. } = event else { continue };
        if path.split('/').count() == 2 {
            now += i32::from(matches!(**event, RunEvent::TurnStarted { .. }));
            now -= i32::from(matches!(**event, RunEvent::Ended { .. }));
            most = most.max(now);
        }
    }
    assert_eq!((now, most), (0, 2));
}

#[tokio::test]
async fn children_under_a_tight_budget_spend_no_more_than_their_parent_may() {
    for children in [2_usize, 8, 32] {
        let oracle = Oracle::default();
        let crib = crib(&oracle);
        let money =
            ScriptedModel::by(|_, _| ScriptedTurn::calls(&[("money_look", json!({}))])).unwrap();
        let tasks =
            (0..children).map(|n| ("ask_money".to_owned(), json!({ "task": n.to_string() })));
        let boss = scripted([
            ScriptedTurn::Calls(String::new(), tasks.collect()),
            ScriptedTurn::says("So far."),
        ]);
        let limits = TeamLimits { depth: 2, active: 32 };
        let agent = planner(&boss, &crib, AgentMode::Planner, limits, &[("money", &money)]);
        let mut agent = Arc::into_inner(agent).unwrap();
        agent.budget =
            Budget { turns: Some(40), calls: Some(50), tokens: Some(60_000), ..Budget::default() };
        let mut run = run(&Arc::new(agent), "Go.");
        let (pause, _) = go(&mut run).await;
        ended(pause);
        let (turns, calls, tokens, _) = run.account().totals();
        assert!(
            turns <= 40 && calls <= 50 && tokens <= 60_000,
            "{children}: {turns} {calls} {tokens}"
        );
        assert!(oracle.count("money_look") <= 50, "{children}");
        // Those who are out of turns say no last words; the planner may.
        let requests = boss.asked().len() + money.asked().len();
        assert!((39..=41).contains(&requests), "{children}: {requests}");
        assert_eq!(run.usage().total(), tokens, "{children}: the sum over the tree");
    }
}

#[tokio::test]
async fn a_specialist_that_never_answers_ends_with_the_time_of_its_parent_and_cancel_reaches_it() {
    let oracle = Oracle::default();
    let crib = crib(&oracle);
    let never =
        || ScriptedTurn::Waits(Duration::from_mins(10), Box::new(ScriptedTurn::says("Late.")));
    let money = ScriptedModel::by(move |_, _| never()).unwrap();
    let boss = scripted([
        ScriptedTurn::calls(&[("ask_money", json!({ "task": "Look." })), ("clock", json!({}))]),
        ScriptedTurn::says("Without it."),
    ]);
    let members = [("money", &money)];
    let agent = planner(&boss, &crib, AgentMode::Planner, TeamLimits::default(), &members);
    let mut agent = Arc::into_inner(agent).unwrap();
    agent.budget.time = Some(Duration::from_millis(700));
    let mut late = run(&Arc::new(agent), "Look.");
    let (pause, told) = go(&mut late).await;
    let end = ended(pause);
    assert_eq!((end.stop, &*end.text), (StopReason::Time, "Without it."));
    let answer = results(&boss, 1)[0].to_string();
    let parts = ["failed", "did not answer in the time"];
    assert!(parts.iter().all(|part| answer.contains(part)), "{answer}");
    assert_eq!(oracle.count("clock"), 1, "what was asked beside it ran");
    let child_ended = |event: &RunEvent| matches!(event, RunEvent::Child { event, .. } if matches!(**event, RunEvent::Ended { .. }));
    assert_eq!(told.iter().filter(|event| child_ended(event)).count(), 1);

    // Whoever cancels the run cancels those that work for it, and they end first.
    let boss = scripted([ScriptedTurn::calls(&[("ask_money", json!({ "task": "Look." }))])]);
    let agent = planner(&boss, &crib, AgentMode::Planner, TeamLimits::default(), &members);
    let mut cancelled = run(&agent, "Look.");
    let cancel = CancellationToken::new();
    let ending = cancel.clone();
    let mut told = Vec::new();
    let mut tell = |event| {
        if matches!(&event, RunEvent::Child { event, .. } if matches!(**event, RunEvent::TurnStarted { .. }))
        {
            ending.cancel();
        }
        told.push(event);
    };
    let end = ended(cancelled.go(&mut tell, &cancel).await);
    assert_eq!(end.stop, StopReason::Cancelled);
    let child = told.iter().position(child_ended).unwrap();
    let own = told.iter().position(|event| matches!(event, RunEvent::Ended { .. })).unwrap();
    assert!(child < own, "{told:?}");
}

#[tokio::test]
async fn tools_of_the_planner_run_while_its_specialists_work() {
    let both = Arc::new(Barrier::new(2));
    let meets = |name: &str| {
        let both = Arc::clone(&both);
        raw_tool(spec(name, Effect::Read), move |_, _| {
            let both = Arc::clone(&both);
            async move {
                both.wait().await;
                ToolOutcome::Done(Content::text("met"))
            }
        })
    };
    let crib = Crib::of(Toolset::of([meets("clock"), meets("money_look")]).unwrap());
    let money = scripted([
        ScriptedTurn::calls(&[("money_look", json!({}))]),
        ScriptedTurn::says("It met."),
    ]);
    let boss = scripted([
        ScriptedTurn::calls(&[
            ("clock", json!({})),
            ("ask_money", json!({ "task": "Meet the clock." })),
        ]),
        ScriptedTurn::says("Both met."),
    ]);
    let members = [("money", &money)];
    let agent = planner(&boss, &crib, AgentMode::Planner, TeamLimits::default(), &members);
    let mut run = run(&agent, "Have them meet.");
    let (pause, _) = tokio::time::timeout(Duration::from_secs(20), go(&mut run)).await.unwrap();
    assert_eq!(ended(pause).text, "Both met.");
    let told = results(&boss, 1);
    assert_eq!((&told[0], &told[1]["answer"]), (&json!("met"), &json!("It met.")));
}

#[tokio::test]
async fn a_result_that_is_cut_for_a_specialist_is_named_by_its_handle() {
    let large = raw_tool(spec("money_list", Effect::Read), |_, _| async {
        ToolOutcome::Done(Content::text("12, ".repeat(100_000)))
    });
    let crib = Crib::of(Toolset::of([large]).unwrap());
    let money = scripted([
        ScriptedTurn::call("money_list", json!({})),
        ScriptedTurn::says("There are many."),
    ]);
    let boss = scripted([
        ScriptedTurn::call("ask_money", json!({ "task": "List them." })),
        ScriptedTurn::says("Many."),
    ]);
    let members = [("money", &money)];
    let agent = planner(&boss, &crib, AgentMode::Planner, TeamLimits::default(), &members);
    let mut run = run(&agent, "List them.");
    let (pause, _) = go(&mut run).await;
    assert_eq!(ended(pause).text, "Many.");
    let answer = &results(&boss, 1)[0];
    assert_eq!(answer["evidence"][0]["tool"], "money_list");
    let handles = answer["artifacts"].as_array().unwrap();
    assert!(handles.len() == 1 && handles[0].as_str().unwrap().starts_with("r_"), "{answer}");
    // Its own model was told the beginning alone.
    assert!(results(&money, 1)[0].to_string().len() < 300_000);
}
