//! Agents that work for another one: scripted models, real tools, and a ledger where runs outlive
//! the process.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolcrib_agent::model::{ModelApi, ModelClient};
use toolcrib_agent::{
    Agent, AgentMode, AgentRun, Budget, CheckPolicy, NewSpecialist, RunEnd, RunEvent, RunPause,
    StopReason, Team, TeamLimits,
};
use toolcrib_core::{
    BoxFuture, Caller, Decision, Effect, Intent, Policy, RunLedger, TicketId, ToolSpec, Toolset,
    Verdict,
};
use toolcrib_engine::Crib;
use toolcrib_engine::ledger::MemoryRuns;
use toolcrib_testkit::{Behaviour, Oracle, ScriptedModel, ScriptedTurn, spec as tool_spec};

use crate::fixture::{agent, go, new_run, order, run, scripted, settings};

/// The tools whose names begin so.
pub(crate) struct Named(pub(crate) &'static str);

impl Policy for Named {
    fn sees(&self, _: &Caller, tool: &ToolSpec) -> bool {
        tool.name.as_str().starts_with(self.0)
    }

    fn decide<'a>(&'a self, intent: Intent<'a>) -> BoxFuture<'a, Verdict> {
        let is_it = self.sees(intent.caller, intent.tool);
        let no = || Verdict::Deny("not of this specialist".to_owned());
        Box::pin(std::future::ready(if is_it { Verdict::Allow } else { no() }))
    }
}

/// A crib with two tools of money, two of mail, and one of nobody.
pub(crate) fn crib(oracle: &Oracle) -> Crib {
    let tools = [
        oracle.echo("money_look", Effect::Read),
        oracle.echo("money_wipe", Effect::Destroy),
        oracle.echo("mail_look", Effect::Read),
        oracle.echo("mail_wipe", Effect::Destroy),
        oracle.echo("clock", Effect::Read),
        oracle.echo("ask_weather", Effect::Read),
    ];
    Crib::of(Toolset::of(tools).unwrap())
}

pub(crate) fn member(name: &str, model: &ScriptedModel, crib: Crib, budget: Budget) -> Agent {
    Agent {
        name: name.to_owned(),
        description: format!("Does all that has to do with {name}."),
        instructions: "You are a specialist.".to_owned(),
        model: Arc::new(ModelClient::new(settings(model, ModelApi::OpenAiChat)).unwrap()),
        crib,
        wishes: toolcrib_core::PlanRequest::default(),
        budget,
        checks: CheckPolicy::default(),
        team: None,
    }
}

/// An agent over these, each with the tools that begin with its name.
pub(crate) fn planner(
    model: &ScriptedModel,
    crib: &Crib,
    mode: AgentMode,
    limits: TeamLimits,
    members: &[(&'static str, &ScriptedModel)],
) -> Arc<Agent> {
    let specialists = members.iter().map(|(name, model)| NewSpecialist {
        tools: Arc::new(Named(name)),
        agent: Box::new(|crib| member(name, model, crib, Budget::default())),
    });
    let team = Team::new(crib, mode, limits, specialists.collect());
    let plain = agent(settings(model, ModelApi::OpenAiChat), crib.clone(), Budget::default());
    let mut plain = Arc::into_inner(plain).unwrap();
    plain.team = Some(Arc::new(team));
    Arc::new(plain)
}

pub(crate) fn ended(pause: RunPause) -> RunEnd {
    let RunPause::Ended(end) = pause else { panic!("it has not ended: {pause:?}") };
    end
}

/// The names of the tools that a request offers.
fn offered(model: &ScriptedModel, request: usize) -> Vec<String> {
    let tools = model.asked()[request].body["tools"].as_array().cloned().unwrap_or_default();
    tools.iter().map(|tool| tool["function"]["name"].as_str().unwrap().to_owned()).collect()
}

/// The results that a request tells, in their order.
pub(crate) fn results(model: &ScriptedModel, request: usize) -> Vec<Value> {
    let messages = model.asked()[request].body["messages"].as_array().cloned().unwrap();
    let results = messages.iter().filter(|message| message["role"] == "tool");
    let texts = results.map(|message| message["content"].as_str().unwrap().to_owned());
    texts.map(|text| serde_json::from_str(&text).unwrap_or(Value::String(text))).collect()
}

#[tokio::test]
async fn a_planner_gives_parts_away_and_each_specialist_has_its_own_tools_alone() {
    let oracle = Oracle::default();
    let money = scripted([
        ScriptedTurn::calls(&[("money_look", json!({ "n": 1 })), ("mail_look", json!({ "n": 9 }))]),
        ScriptedTurn::says("{\"balance\": 12}"),
    ]);
    let mail = scripted([
        ScriptedTurn::Waits(
            Duration::from_millis(300),
            Box::new(ScriptedTurn::calls(&[("mail_look", json!({}))])),
        ),
        ScriptedTurn::says("No mail."),
    ]);
    let boss = scripted([
        ScriptedTurn::calls(&[
            ("ask_mail", json!({ "task": "Is there mail?", "expected": "yes or no" })),
            ("ask_weather", json!({})),
            ("ask_money", json!({ "task": "How much is there?" })),
        ]),
        ScriptedTurn::says("12, and no mail."),
    ]);
    let members = [("money", &money), ("mail", &mail)];
    let agent = planner(&boss, &crib(&oracle), AgentMode::Planner, TeamLimits::default(), &members);
    let mut run = run(&agent, "How do things stand?");
    let (pause, told) = go(&mut run).await;
    let end = ended(pause);
    assert_eq!((end.stop, &*end.text), (StopReason::Done, "12, and no mail."));

    // The planner has what nobody else has, and a tool for each of them.
    assert_eq!(offered(&boss, 0), ["clock", "ask_weather", "ask_money", "ask_mail", "hand_over"]);
    assert_eq!(offered(&money, 0), ["money_look", "money_wipe", "report_missing"]);
    assert_eq!(offered(&mail, 0), ["mail_look", "mail_wipe", "report_missing"]);
    // A tool of that kind of name is a tool, where no specialist is called so.
    assert_eq!(oracle.count("ask_weather"), 1);
    // A specialist that calls what it was not shown is refused by the gate.
    assert_eq!((oracle.count("money_look"), oracle.count("mail_look")), (1, 1));
    assert!(results(&money, 1)[1].to_string().contains("mail_look"), "{:?}", results(&money, 1));
    // It knows the task, and nothing of the conversation.
    let asked = mail.asked()[0].body["messages"].to_string();
    assert!(asked.contains("Is there mail?") && asked.contains("yes or no"), "{asked}");
    assert!(!asked.contains("How do things stand"), "{asked}");

    // The answers stand in the order of the calls, with what really ran.
    let answers = results(&boss, 1);
    assert_eq!(answers.len(), 3);
    assert_eq!(
        (&answers[0]["status"], &answers[0]["answer"]),
        (&json!("done"), &json!("No mail."))
    );
    assert_eq!(answers[2]["structured"], json!({ "balance": 12 }));
    let evidence = answers[2]["evidence"].as_array().unwrap();
    assert_eq!(evidence.len(), 1, "the refused call is none: {evidence:?}");
    assert_eq!(evidence[0]["tool"], "money_look");
    assert_eq!(answers[2]["usage"]["turns"], 2);

    // The events of both are told under their paths, and the usage is of the whole tree.
    let of = |name: &str| {
        let of_name = |event: &&RunEvent| matches!(event, RunEvent::Child { path, .. } if path.starts_with(name));
        told.iter().filter(of_name).count()
    };
    assert!(of("money-") > 3 && of("mail-") > 3);
    let ends = told.iter().filter(|event| {
        let RunEvent::Child { event, .. } = event else { return false };
        matches!(**event, RunEvent::Ended { .. })
    });
    assert_eq!(ends.count(), 2);
    assert_eq!(run.usage().total(), 6 * 110);
    assert_eq!(run.account().totals().0, 6, "turns of the whole tree");
}

/// Takes the run of a tree up as another process does: with agents that it makes anew.
async fn take_up(
    agent: &Arc<Agent>,
    ledger: &Arc<dyn RunLedger>,
    told: &mut Vec<RunEvent>,
) -> (AgentRun, RunPause) {
    let stored = ledger.load("r1").await.unwrap().unwrap();
    let (agent, ledger) = (Arc::clone(agent), Arc::clone(ledger));
    let mut run = AgentRun::resumed(agent, ledger, stored, Duration::from_hours(24)).unwrap();
    let mut tell = |event| told.push(event);
    run.look(&mut tell).await;
    let pause = run.go(&mut tell, &CancellationToken::new()).await;
    (run, pause)
}

/// The last ticket of a specialist that was told.
fn ticket_of(name: &str, told: &[RunEvent]) -> TicketId {
    let is_of =
        |event: &&RunEvent| matches!(event, RunEvent::Child { path, .. } if path.starts_with(name));
    let call = told.iter().rev().filter(is_of).find_map(RunEvent::waiting).unwrap();
    TicketId::claimed(call.ticket.clone())
}

async fn decide(crib: &Crib, ticket: &TicketId, decision: Decision) {
    let (caller, run) = (Caller::local(), toolcrib_core::Run::default());
    crib.decide(&caller, &run, ticket, decision).await.unwrap();
}

#[tokio::test]
async fn approvals_of_specialists_come_up_and_outlive_every_restart() {
    let oracle = Oracle::default();
    let crib = crib(&oracle);
    // Two wait at the same time, one of them twice, one after the other.
    let money = scripted([
        ScriptedTurn::calls(&[("money_wipe", json!({ "n": 1 }))]),
        ScriptedTurn::calls(&[("money_wipe", json!({ "n": 2 }))]),
        ScriptedTurn::says("Wiped twice."),
    ]);
    let mail = scripted([
        ScriptedTurn::calls(&[("mail_wipe", json!({ "n": 3 }))]),
        ScriptedTurn::says("It was not allowed."),
    ]);
    let boss = scripted([
        ScriptedTurn::calls(&[
            ("ask_money", json!({ "task": "Wipe." })),
            ("ask_mail", json!({ "task": "Wipe." })),
        ]),
        ScriptedTurn::says("So it is."),
    ]);
    let members = [("money", &money), ("mail", &mail)];
    let agent = planner(&boss, &crib, AgentMode::Planner, TeamLimits::default(), &members);
    let ledger: Arc<dyn RunLedger> = Arc::new(MemoryRuns::default());
    let begun = AgentRun::recorded(order(&agent, "Wipe."), Arc::clone(&ledger), new_run()).await;
    let mut told = Vec::new();
    let mut begun = begun.unwrap();
    let pause = begun.go(&mut |event| told.push(event), &CancellationToken::new()).await;
    let RunPause::Waiting(tickets) = pause else { panic!("it does not wait: {pause:?}") };
    assert_eq!(tickets.len(), 2);
    drop(begun);

    // In vain, in another process: nothing runs, and the same is waited for.
    let (again, pause) = take_up(&agent, &ledger, &mut told).await;
    let RunPause::Waiting(same) = pause else { panic!("it does not wait: {pause:?}") };
    assert_eq!(same, tickets);
    drop(again);
    // The later one first, and with a no; it is told to its own model, and the other one still waits.
    let deny = Decision::Deny { reason: "not the mail".to_owned() };
    decide(&crib, &ticket_of("mail", &told), deny).await;
    let (again, pause) = take_up(&agent, &ledger, &mut told).await;
    assert!(matches!(&pause, RunPause::Waiting(left) if left.len() == 1), "{pause:?}");
    assert_eq!(mail.asked().len(), 2);
    drop(again);
    decide(&crib, &ticket_of("money", &told), Decision::Approve).await;
    let (again, pause) = take_up(&agent, &ledger, &mut told).await;
    assert!(matches!(&pause, RunPause::Waiting(left) if left.len() == 1), "{pause:?}");
    assert_eq!((oracle.count("money_wipe"), boss.asked().len()), (1, 1));
    drop(again);
    decide(&crib, &ticket_of("money", &told), Decision::Approve).await;
    let (run, pause) = take_up(&agent, &ledger, &mut told).await;
    assert_eq!(ended(pause).text, "So it is.");
    assert_eq!((oracle.count("money_wipe"), oracle.count("mail_wipe")), (2, 0));
    let answers = results(&boss, 1);
    let texts: Vec<_> = answers.iter().map(|answer| answer["answer"].as_str().unwrap()).collect();
    assert_eq!(texts, ["Wiped twice.", "It was not allowed."]);
    assert_eq!(run.usage().total(), 7 * 110, "of the whole tree, over all restarts");
    assert_eq!(run.account().totals().0, 7);
    // Each specialist has a run of its own on record, and all have ended.
    assert!(ledger.unfinished().await.unwrap().is_empty());
    let runs = ledger.list(&Caller::local(), None, 10).await.unwrap();
    let children = runs.iter().filter(|run| run.parent.as_deref() == Some("r1"));
    assert_eq!(children.count(), 2);
    // The record of the whole can be played again.
    let cassette = toolcrib_agent::Cassette::load(&*ledger, "r1").await.unwrap().unwrap();
    cassette.replay().await.unwrap();
}

#[tokio::test]
async fn handing_over_is_alone_and_the_answer_of_the_specialist_is_the_answer() {
    let oracle = Oracle::default();
    let crib = crib(&oracle);
    let money = scripted([ScriptedTurn::says("I take it from here.")]);
    let over = ("hand_over", json!({ "specialist": "money", "task": "Go on." }));
    let boss = scripted([
        ScriptedTurn::calls(&[over.clone(), ("clock", json!({}))]),
        ScriptedTurn::calls(&[over]),
    ]);
    let members = [("money", &money)];
    let agent = planner(&boss, &crib, AgentMode::Planner, TeamLimits::default(), &members);
    let mut run = run(&agent, "Money, please.");
    let (pause, _) = go(&mut run).await;
    let end = ended(pause);
    assert_eq!((end.stop, &*end.text), (StopReason::HandedOver, "I take it from here."));
    let told = results(&boss, 1);
    assert!(told[0].to_string().contains("must be the only call"), "{told:?}");
    assert_eq!((oracle.count("clock"), money.asked().len()), (1, 1));
}

#[tokio::test]
async fn a_router_runs_exactly_the_tool_that_is_named_and_its_model_sees_no_other() {
    let oracle = Oracle::default();
    let crib = crib(&oracle);
    let route = |toolset: &str, tool: &str| {
        ("route", json!({ "toolset": toolset, "tool": tool, "arguments": { "n": 1 } }))
    };
    let boss = scripted([
        ScriptedTurn::calls(&[
            route("money", "mail_look"),
            route("mail", "mail_look"),
            route("nobody", "x"),
        ]),
        ScriptedTurn::says("Looked."),
    ]);
    let unused = scripted([]);
    let members = [("money", &unused), ("mail", &unused)];
    let agent = planner(&boss, &crib, AgentMode::Router, TeamLimits::default(), &members);
    let mut run = run(&agent, "Look.");
    let (pause, told) = go(&mut run).await;
    assert_eq!(ended(pause).text, "Looked.");
    assert_eq!(offered(&boss, 0), ["route"]);
    let described = boss.asked()[0].body["tools"].to_string();
    assert!(described.contains("mail_wipe(n?: int") && !described.contains("clock"), "{described}");
    assert_eq!((oracle.count("mail_look"), oracle.count("money_look")), (1, 0));
    let answers = results(&boss, 1);
    assert!(
        answers[0].to_string().contains("`money` has no tool `mail_look`: it has `money_look`")
    );
    assert_eq!(answers[1], json!({ "n": 1 }));
    assert!(answers[2].to_string().contains("there is no toolset `nobody`"), "{answers:?}");
    assert!(told.iter().any(
        |event| matches!(event, RunEvent::CallDone { response } if response.name == "mail_look")
    ));
}

#[tokio::test]
async fn what_no_specialist_can_do_is_planned_anew_once_and_a_thread_goes_on() {
    let oracle = Oracle::default();
    let crib = crib(&oracle);
    let lacks =
        || ScriptedTurn::calls(&[("report_missing", json!({ "capability": "send a letter" }))]);
    let money = scripted([
        lacks(),
        ScriptedTurn::says("I cannot."),
        ScriptedTurn::says("Still 12."),
        lacks(),
        ScriptedTurn::says("I still cannot."),
    ]);
    let thread = Arc::new(std::sync::Mutex::new(String::new()));
    let boss = {
        let thread = Arc::clone(&thread);
        ScriptedModel::by(move |number, body| {
            let messages = body["messages"].as_array().cloned().unwrap_or_default();
            let last =
                messages.last().and_then(|last| last["content"].as_str()).unwrap_or_default();
            let last: Value = serde_json::from_str(last).unwrap_or_default();
            match number {
                0 => ScriptedTurn::calls(&[("ask_money", json!({ "task": "Send a letter." }))]),
                1 => {
                    last["thread"].as_str().unwrap().clone_into(&mut thread.lock().unwrap());
                    ScriptedTurn::calls(&[(
                        "ask_money",
                        json!({ "task": "And now?", "thread": last["thread"] }),
                    )])
                }
                2 => ScriptedTurn::calls(&[
                    ("ask_money", json!({ "task": "Try a letter." })),
                    ("ask_money", json!({ "task": "Go on.", "thread": "money-nothing" })),
                ]),
                _ => ScriptedTurn::says("No letters."),
            }
        })
        .unwrap()
    };
    let members = [("money", &money)];
    let agent = planner(&boss, &crib, AgentMode::Planner, TeamLimits::default(), &members);
    let mut run = run(&agent, "A letter.");
    let (pause, _) = go(&mut run).await;
    assert_eq!(ended(pause).text, "No letters.");
    let answers = results(&boss, 3);
    assert_eq!(
        (&answers[0]["status"], &answers[0]["missing"]),
        (&json!("refused"), &json!(["send a letter"]))
    );
    assert_eq!(answers[0]["open_questions"], json!(["No tool for: send a letter"]));
    assert!(answers[0]["hint"].as_str().unwrap().starts_with("Plan anew once"));
    assert_eq!(answers[1]["answer"], "Still 12.");
    assert_eq!(answers[1]["thread"], *thread.lock().unwrap());
    assert!(answers[2]["hint"].as_str().unwrap().starts_with("Do not plan anew"), "{answers:?}");
    assert!(answers[3].to_string().contains("no thread `money-nothing`"), "{answers:?}");
    // The thread that went on has what was said in it.
    let went_on = money.asked()[2].body["messages"].to_string();
    assert!(went_on.contains("Send a letter.") && went_on.contains("I cannot."), "{went_on}");
}

#[tokio::test]
async fn whether_work_is_given_away_depends_on_the_task_and_is_told_with_the_reason() {
    let oracle = Oracle::default();
    let described = |name: &str, what: &str| {
        let spec = ToolSpec { summary: what.to_owned(), ..tool_spec(name, Effect::Read) };
        oracle.tool(spec, Behaviour::Echo)
    };
    let tools = [
        described("money_balance", "Tells the balance of a bank account."),
        described("money_transfer", "Transfers money to another bank account."),
        described("mail_search", "Searches the mailbox for letters."),
    ];
    let crib = Crib::of(Toolset::of(tools).unwrap());
    let unused = scripted([]);
    let members = [("money", &unused), ("mail", &unused)];
    let mut seen = Vec::new();
    for task in [
        "What is the balance of the bank account?",
        "Tell the balance of the bank account, and search the mailbox for letters.",
        "Sing.",
    ] {
        let boss = scripted([ScriptedTurn::says("So.")]);
        let agent = planner(&boss, &crib, AgentMode::Auto, TeamLimits::default(), &members);
        let ledger: Arc<dyn RunLedger> = Arc::new(MemoryRuns::default());
        let begun = AgentRun::recorded(order(&agent, task), Arc::clone(&ledger), new_run()).await;
        let (pause, told) = go(&mut begun.unwrap()).await;
        ended(pause);
        let notice = told.iter().find_map(|event| {
            if let RunEvent::Notice { text } = event { Some(text.clone()) } else { None }
        });
        seen.push((offered(&boss, 0).join(" "), notice.unwrap()));
        let cassette = toolcrib_agent::Cassette::load(&*ledger, "r1").await.unwrap().unwrap();
        cassette.replay().await.unwrap();
    }
    assert_eq!(seen[0].0, "money_balance money_transfer");
    assert!(seen[0].1.starts_with("`money` has all"), "{seen:?}");
    assert_eq!(seen[1].0, "ask_money ask_mail hand_over");
    assert!(seen[1].1.contains("parts for `money`, `mail`"), "{seen:?}");
    assert_eq!(seen[2].0, "ask_money ask_mail hand_over");
    assert!(seen[2].1.contains("names no tool"), "{seen:?}");
}
