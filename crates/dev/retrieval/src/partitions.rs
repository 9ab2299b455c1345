//! How tools are shared out over agents, beside dealing them out in turn.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_search::{PartitionAgent, PartitionSettings, ToolDocument, cohesion, partition};

use crate::RetrievalError;
use crate::labelled_set::LabelledSet;
use crate::scale::busy;

/// Tools and agents that are measured.
const TOOLS: [usize; 4] = [17, 100, 300, 1_000];
const AGENTS: [usize; 3] = [2, 5, 10];

/// How often each is measured; the middle counts.
const ROUNDS: usize = 5;

/// Shares the first tools of a set out, in every size.
pub fn partitions(set: &LabelledSet) -> Result<Vec<Value>, RetrievalError> {
    let mut found = Vec::new();
    for tools in TOOLS {
        let own = set.tools.iter().take(tools);
        let documents: Vec<ToolDocument<'_>> = own.map(crate::LabelledTool::document).collect();
        for agents in AGENTS {
            let (ours, took) = shared(&documents, agents)?;
            let dealt = dealt(&documents, agents);
            found.push(json!({
                "tools": documents.len(),
                "agents": agents,
                "toolcrib": figures(&documents, &ours),
                "round robin": figures(&documents, &dealt),
                "µs": u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            }));
        }
    }
    Ok(found)
}

/// By agent the places of its tools, and how long that took.
fn shared(
    documents: &[ToolDocument<'_>],
    agents: usize,
) -> Result<(Vec<Vec<usize>>, Duration), RetrievalError> {
    let settings = PartitionSettings {
        agents: vec![PartitionAgent::default(); agents],
        ..PartitionSettings::default()
    };
    let (mut groups, mut times) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let started = busy();
        let found = partition(documents, &settings)?;
        times.push(busy().saturating_sub(started));
        let places = |group: &Vec<toolcrib_search::PlacedTool>| {
            group.iter().map(|placed| placed.document).collect()
        };
        groups = found.groups.iter().map(places).collect();
    }
    times.sort_unstable();
    Ok((groups, times.get(ROUNDS / 2).copied().unwrap_or_default()))
}

/// As the tool selector of MAS-Arena deals them out without a task: each category in turn, beginning
/// with the agent of its number.
fn dealt(documents: &[ToolDocument<'_>], agents: usize) -> Vec<Vec<usize>> {
    let mut numbers: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut groups = vec![Vec::new(); agents];
    for (place, document) in documents.iter().enumerate() {
        let category = document.category.as_deref().unwrap_or("general");
        let new = (numbers.len(), 0);
        let (number, dealt) = numbers.entry(category).or_insert(new);
        if let Some(group) = groups.get_mut((*number + *dealt) % agents) {
            group.push(place);
        }
        *dealt += 1;
    }
    groups
}

/// Figures in percent, but for the balance: the most tools of an agent as a part of an equal share.
fn figures(documents: &[ToolDocument<'_>], groups: &[Vec<usize>]) -> Value {
    let placed: BTreeSet<usize> = groups.iter().flatten().copied().collect();
    let most = groups.iter().map(Vec::len).max().unwrap_or_default();
    let mut homes = BTreeMap::new();
    for (agent, group) in groups.iter().enumerate() {
        homes.extend(group.iter().map(|place| (*place, agent)));
    }
    let mut families: BTreeMap<&str, BTreeMap<usize, usize>> = BTreeMap::new();
    for (place, document) in documents.iter().enumerate() {
        let Some(agent) = homes.get(&place) else { continue };
        *families.entry(family(document)).or_default().entry(*agent).or_default() += 1;
    }
    let pairs = |count: usize| count * count.saturating_sub(1) / 2;
    let all: usize = families.values().map(|agents| pairs(agents.values().sum())).sum();
    let kept: usize = families.values().flat_map(BTreeMap::values).map(|count| pairs(*count)).sum();
    json!({
        "coverage": part(placed.len(), documents.len()),
        "cut affinity": rounded((1.0 - f64::from(cohesion(documents, groups))) * 100.0),
        "torn pairs of an API": part(all - kept, all),
        "balance": rounded(real(most) * real(groups.len()) / real(documents.len().max(1))),
    })
}

/// The API that a tool is of, which the set has before the dot of its name.
fn family<'d>(document: &'d ToolDocument<'_>) -> &'d str {
    document.name.split_once('.').map_or(&*document.name, |(api, _)| api)
}

fn part(some: usize, all: usize) -> f64 {
    rounded(100.0 * real(some) / real(all.max(1)))
}

fn rounded(number: f64) -> f64 {
    (number * 10.0).round() / 10.0
}

fn real(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}
