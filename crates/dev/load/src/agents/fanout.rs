//! How far those overshoot a bound that share it: a planner gives many tasks away at once, and each
//! of those who work for it would go on for ever.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::AgentSettings;
use super::endpoint::{EndpointClient, configuration};
use super::model::LoadModel;
use crate::test_bed::{MeasuredPrograms, TestBed};
use crate::{LoadError, LoadTarget, MeasuredProgram};

/// The planner of others.
const FANOUT: &str = include_str!("fanout.py");
/// How many tasks are given away at once.
const CHILDREN: [usize; 3] = [2, 8, 32];
/// Requests that all of them together may make.
const TURNS: usize = 40;

/// For each number of tasks: requests beyond the bound, of ours and of others.
pub(super) async fn fanout(
    programs: &MeasuredPrograms,
    below: &Path,
    much: &AgentSettings,
) -> Result<Value, LoadError> {
    let model = LoadModel::start()?;
    let place = TestBed::new(programs, below)?;
    let team = format!(
        "[agent.boss]\nspecialists = [\"counter\"]\nactive = 32\nbudget = {{ turns = {TURNS} }}\n\n\
         [agent.counter]\ndescription = \"Counts.\"\ntools = [\"text_count\"]\n\n"
    );
    let (server, target) = place.forgetful(&format!("{team}{}", configuration(&model)))?;
    let mut client = EndpointClient::open_agent(&target).await?;
    let mut ours = Map::new();
    for children in CHILDREN {
        let before = model.requests();
        let message = json!({ "role": "user", "content": format!("fanout:{children}") });
        let body = json!({ "model": "boss", "messages": [message] });
        client.ask("POST", "/v1/chat/completions", &body.to_string()).await?;
        ours.insert(children.to_string(), beyond(model.requests() - before)?);
    }
    drop(server);
    let others = match &much.python {
        Some(python) => others(python, &place, &model.target())?,
        None => Value::Null,
    };
    Ok(json!({ "turns": TURNS, "ours": ours, "others": others }))
}

/// A run that does not come near its bound measures nothing.
fn beyond(requests: usize) -> Result<Value, LoadError> {
    if requests < TURNS / 2 {
        return Err(format!("{requests} requests were made, and {TURNS} were to be had").into());
    }
    Ok(requests.saturating_sub(TURNS).into())
}

fn others(python: &Path, place: &TestBed, model: &LoadTarget) -> Result<Value, LoadError> {
    fs::write(place.folder().join("fanout.py"), FANOUT)?;
    let url = format!("http://{}/v1", model.address);
    let numbers = CHILDREN.map(|number| number.to_string());
    let turns = TURNS.to_string();
    let mut words = vec!["fanout.py", &url, &turns];
    words.extend(numbers.iter().map(String::as_str));
    let mut program = MeasuredProgram::start(python, &words, place.folder())?;
    let found: Map<String, Value> = serde_json::from_str(&program.line()?)?;
    let requests = |value: &Value| usize::try_from(value.as_u64().unwrap_or(0)).unwrap_or(0);
    let beyond = found.iter().map(|(number, value)| Ok((number.clone(), beyond(requests(value))?)));
    Ok(json!({ "pydantic-ai": beyond.collect::<Result<Map<_, _>, LoadError>>()? }))
}
