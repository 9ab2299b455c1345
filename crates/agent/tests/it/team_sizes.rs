//! How many specialists there are decides by which tools work is given to them.

use serde_json::{Value, json};
use toolcrib_agent::{AgentMode, StopReason, TeamLimits};
use toolcrib_core::{Effect, Toolset};
use toolcrib_engine::Crib;
use toolcrib_testkit::{Oracle, ScriptedModel, ScriptedTurn};

use crate::fixture::{go, run, scripted};
use crate::team::{ended, planner, results};

const NAMES: [&str; 31] = [
    "accounts",
    "archive",
    "audit",
    "billing",
    "calendar",
    "catalogue",
    "claims",
    "contracts",
    "customs",
    "debts",
    "delivery",
    "events",
    "fleet",
    "forecasts",
    "gardens",
    "hiring",
    "houses",
    "invoices",
    "journeys",
    "kitchen",
    "ledgers",
    "mail",
    "notes",
    "orders",
    "payroll",
    "quality",
    "repairs",
    "safety",
    "taxes",
    "visas",
    "weather",
];

/// A planner over the first of these, each with a tool of its own, and the model of all of them.
async fn planned(count: usize, turns: Vec<ScriptedTurn>) -> (ScriptedModel, ScriptedModel) {
    let oracle = Oracle::default();
    let tools = NAMES.iter().map(|name| oracle.echo(&format!("{name}_look"), Effect::Read));
    let crib = Crib::of(Toolset::of(tools).unwrap());
    // It says by which tool it is known who it is.
    let workers = ScriptedModel::by(|_, body| {
        let name = body["tools"][0]["function"]["name"].as_str().unwrap_or("nobody");
        ScriptedTurn::says(&format!("{name} was here"))
    });
    let (boss, workers) = (scripted(turns), workers.unwrap());
    let members: Vec<_> = NAMES.iter().take(count).map(|name| (*name, &workers)).collect();
    let agent = planner(&boss, &crib, AgentMode::Planner, TeamLimits::default(), &members);
    let mut run = run(&agent, "How do things stand?");
    let (pause, _) = go(&mut run).await;
    let end = ended(pause);
    assert_eq!((end.stop, &*end.text), (StopReason::Done, "So they stand."));
    (boss, workers)
}

/// The tools of the team that the first request offers, and whom they name.
fn offered(boss: &ScriptedModel) -> Vec<(String, Value)> {
    let tools = boss.asked()[0].body["tools"].as_array().cloned().unwrap();
    let of_team = tools.iter().map(|tool| {
        let function = &tool["function"];
        let who = &function["parameters"]["properties"]["specialist"]["enum"];
        (function["name"].as_str().unwrap().to_owned(), who.clone())
    });
    of_team.filter(|(name, _)| !name.ends_with("_look")).collect()
}

#[tokio::test]
async fn above_five_specialists_one_tool_gives_work_to_each_under_its_own_name_or_an_older_one() {
    let turns = vec![
        ScriptedTurn::calls(&[
            ("delegate", json!({ "specialist": "billing", "task": "Look it up." })),
            (
                "delegateToSpecialistAgent",
                json!({ "specialistId": "archive", "subTaskDescription": "Look for it." }),
            ),
            ("delegate", json!({ "specialist": "nobody", "task": "Look it up." })),
            ("delegate", json!({ "task": "Look it up." })),
        ]),
        ScriptedTurn::says("So they stand."),
    ];
    let (boss, workers) = planned(6, turns).await;
    let names = json!(NAMES[..6]);
    assert_eq!(
        offered(&boss),
        [("delegate".to_owned(), names.clone()), ("hand_over".to_owned(), names)]
    );
    let answers = results(&boss, 1);
    assert_eq!(answers[0]["answer"], "billing_look was here");
    assert_eq!(answers[1]["answer"], "archive_look was here");
    assert!(answers[2].to_string().contains("nobody"), "{}", answers[2]);
    assert!(answers[3].to_string().contains("needs `specialist`"), "{}", answers[3]);
    assert_eq!(workers.asked().len(), 2, "whoever is not there is not asked");
}

#[tokio::test]
async fn above_thirty_specialists_a_search_tells_who_can_do_it() {
    let turns = vec![
        ScriptedTurn::calls(&[
            ("find_specialists", json!({ "query": "Who knows about visas?" })),
            ("find_specialists", json!({ "query": "zzz" })),
        ]),
        ScriptedTurn::calls(&[(
            "delegate",
            json!({ "specialist": "visas", "task": "Is one needed?" }),
        )]),
        ScriptedTurn::says("So they stand."),
    ];
    let (boss, _) = planned(31, turns).await;
    let by_search: Vec<_> = ["delegate", "find_specialists", "hand_over"]
        .map(|name| (name.to_owned(), Value::Null))
        .into();
    assert_eq!(offered(&boss), by_search);
    let found = results(&boss, 1);
    let visas =
        json!({ "specialist": "visas", "description": "Does all that has to do with visas." });
    assert_eq!(found, [json!({ "specialists": [visas] }), json!({ "specialists": [] })]);
    assert_eq!(results(&boss, 2)[2]["answer"], "visas_look was here");
}
