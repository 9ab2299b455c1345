//! What a turn costs: of the least loop there is, of an agent behind the endpoint, and of agents
//! that others wrote, on the same model.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::AgentSettings;
use super::endpoint::EndpointClient;
use super::servers::AgentServers;
use crate::figures::{count, median, round};
use crate::test_bed::{MeasuredPrograms, TestBed};
use crate::{LoadError, LoadTarget, MeasuredProgram};

/// The loops of others.
const LOOPS: &str = include_str!("loops.py");

/// Microseconds a turn of each way: those of a long run less those of a short one, by the turns
/// between them.
pub(super) async fn turns(
    programs: &MeasuredPrograms,
    below: &Path,
    much: &AgentSettings,
) -> Result<Value, LoadError> {
    let servers = AgentServers::start(programs, below)?;
    let mut bare = EndpointClient::open(&servers.direct).await?;
    let mut in_memory = EndpointClient::open_agent(&servers.in_memory).await?;
    let mut stored = EndpointClient::open_agent(&servers.stored).await?;
    let mut times: [[Vec<f64>; 2]; 3] = Default::default();
    for round in 0..=much.rounds {
        for (long, steps) in [1, much.turns + 1].into_iter().enumerate() {
            let took = [
                bare.bare_steps(steps).await?,
                in_memory.steps(steps).await?,
                stored.steps(steps).await?,
            ];
            // The first round warms up.
            for (ways, took) in times.iter_mut().zip(took).filter(|_| round > 0) {
                ways.iter_mut().skip(long).take(1).for_each(|to| to.push(took.as_secs_f64() * 1e6));
            }
        }
    }
    let a_turn = |[short, long]: [Vec<f64>; 2]| {
        round((median(long) - median(short)) / count(much.turns.max(1)))
    };
    let [bare, in_memory, stored] = times.map(a_turn);
    let others = match &much.python {
        Some(python) => loops(python, &servers.folders[0], &servers.direct, much)?,
        None => Value::Null,
    };
    Ok(json!({
        "turns": much.turns,
        "bare_us": bare,
        "in_memory_us": in_memory,
        "stored_us": stored,
        "others_us": others,
    }))
}

/// The loops of others, one after the other.
fn loops(
    python: &Path,
    place: &TestBed,
    model: &LoadTarget,
    much: &AgentSettings,
) -> Result<Value, LoadError> {
    fs::write(place.folder().join("loops.py"), LOOPS)?;
    let url = format!("http://{}/v1", model.address);
    let (turns, rounds) = (much.turns.to_string(), much.rounds.to_string());
    let words = ["loops.py", &url, &turns, &rounds];
    let mut program = MeasuredProgram::start(python, &words, place.folder())?;
    Ok(serde_json::from_str(&program.line()?)?)
}
