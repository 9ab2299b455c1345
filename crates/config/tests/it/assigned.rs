//! Which tools an agent has, as a file says it.

use std::sync::Arc;

use toolcrib_config::{Config, Environment, LiveConfig};
use toolcrib_core::{Call, Caller, PlanRequest, RawArguments};
use toolcrib_engine::Crib;
use toolcrib_engine::rules::Rules;

use crate::workshop::{Workshop, config};

const FILE: &str = r#"
[[source]]
id = "a"
mcp = { command = ["x"] }

[[source]]
id = "b"
mcp = { url = "https://b/" }

[assign]
Ann = ["a__echo", "b__echo", "b__ecko"]
"#;

async fn live(text: &str, rules: Option<Rules>) -> LiveConfig {
    let workshop = Workshop::default();
    let means = Environment::new(Arc::new(workshop.clone()), Arc::new(workshop.clone()));
    LiveConfig::start(&config(text), Environment { rules, ..means }).await.unwrap()
}

fn seen(crib: &Crib) -> Vec<String> {
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    plan.tools().map(|tool| tool.listed.spec.name.to_string()).collect()
}

#[tokio::test]
async fn an_agent_has_a_view_of_what_is_assigned_to_it_which_follows_the_file() {
    let live = live(FILE, None).await;
    let ann = live.view("agent:Ann").unwrap();
    assert_eq!(seen(&ann), ["a__echo", "b__echo"]);
    assert_eq!(seen(live.crib()).len(), 6);
    assert!(live.view("agent:ann").is_none() && live.view("Ann").is_none());
    // Not even under a plan of somebody who sees more.
    let plan = live.crib().plan(&Caller::local(), PlanRequest::default()).unwrap();
    let report = ann.run(&plan, vec![Call::new("1", "a__nnn", RawArguments::Absent)]).await;
    let denied = format!("{:?}", report.responses[0].outcome);
    assert!(denied.contains("it is no tool of this agent"), "{denied}");
    let unknown: Vec<_> = live.unknown_assigned().iter().map(ToString::to_string).collect();
    assert_eq!(
        unknown,
        ["crib.toml:11:30: assign.Ann[2]: there is no tool `b__ecko` now; did you mean `b__echo`?"]
    );
    let new = FILE.replace(", \"b__echo\", \"b__ecko\"", "").replace("Ann", "Bob");
    live.reload(&new, "crib.toml").await.unwrap();
    assert!(live.view("agent:Ann").is_none() && live.unknown_assigned().is_empty());
    assert_eq!(seen(&live.view("agent:Bob").unwrap()), ["a__echo"]);
}

#[tokio::test]
async fn rules_beside_the_file_hold_for_its_agents_too() {
    let rules = Rules::parse("allow = [\"*\"]\ndeny = [\"b__*\"]\n").unwrap();
    let live = live(FILE, Some(rules)).await;
    assert_eq!(seen(&live.view("agent:Ann").unwrap()), ["a__echo"]);
}

#[test]
fn agents_that_cannot_be_told_apart_from_profiles_or_are_too_many_are_refused() {
    let problems = |text: &str| -> Vec<String> {
        let read = Config::read(text, "crib.toml");
        read.problems.iter().map(ToString::to_string).collect()
    };
    assert_eq!(
        problems("[assign]\nAnn = []\n[profile.\"agent:Ann\"]\nallow = [\"*\"]\n"),
        ["crib.toml:2:7: assign.Ann: `agent:Ann` is the view of this agent, and a profile too; \
             give the profile another name"]
    );
    let many: Vec<_> = (0..257).map(|at| format!("a{at} = []\n")).collect();
    let many = many.concat();
    assert_eq!(
        problems(&format!("[assign]\n{many}")),
        ["crib.toml:1:1: assign: there are more than 256 agents; split the file"]
    );
}

const MAS: &str = r#"{
  "math": { "command": "python", "args": ["math.py"], "transport": "stdio" },
  "web search": { "command": "python", "args": ["search.py"], "env": { "KEY": "sk-0123456789abcdef0123" } },
  "tool_assignment": {
    "MathAgent": ["echo", "ecko"]
  }
}"#;

#[tokio::test]
async fn a_file_of_mas_arena_is_configuration_as_it_is_and_told_of_by_its_own_places() {
    let read = Config::read(MAS, "folder/mas.json");
    assert_eq!(read.problems, vec![]);
    let warnings: Vec<_> = read.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        ["folder/mas.json:1:1: web_search: the value is not copied: export it under this name; \
             the variable is `KEY`",]
    );
    let config = read.config.unwrap();
    let workshop = Workshop::default();
    workshop.set("KEY", "x");
    let means = Environment::new(Arc::new(workshop.clone()), Arc::new(workshop.clone()));
    let live = LiveConfig::start(&config, means).await.unwrap();
    assert_eq!(seen(&live.view("agent:MathAgent").unwrap()), ["echo"]);
    let unknown: Vec<_> = live.unknown_assigned().iter().map(ToString::to_string).collect();
    assert_eq!(
        unknown,
        ["folder/mas.json:5:27: tool_assignment.MathAgent[1]: there is no tool `ecko` now; did \
             you mean `echo`?"]
    );
}

#[test]
fn a_file_of_another_program_that_cannot_be_read_is_told_with_its_place() {
    let problem = |text: &str| {
        let read = Config::read(text, "mas.JSON");
        assert!(read.config.is_none() && read.problems.len() == 1, "{read:?}");
        read.problems[0].to_string()
    };
    assert_eq!(problem("{\n \"a\": [\n"), "mas.JSON:3:1: this is not JSON; correct the syntax");
    assert_eq!(
        problem("{\"a\": {\"command\": \"x\"},\n \"a\": {\"command\": \"y\"}}"),
        "mas.JSON:2:23: the key `a` stands twice with different values; write it once"
    );
    assert!(problem("{}").starts_with("mas.JSON:1:1: there are no servers in it"));
}
