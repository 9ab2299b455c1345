//! Whether work is given away at all, decided by the task before the first turn.
//!
//! Central planning pays where the parts of a task can be done apart; where one needs what another
//! gives, a single agent with all the tools does better. So: one set of tools has all that the task
//! names, and the agent works with that one itself; several do, and none needs the other, and it
//! plans; one needs another, and it has all tools itself.

use std::collections::BTreeSet;

use toolcrib_core::{Caller, Plan, ToolName};
use toolcrib_engine::selection::{Selection, SelectionReason, SelectionRequest, select};

use super::mode::AgentMode;
use super::{Specialist, Team};
use crate::run::team_memory::DecidedMode;

/// Tools that are looked for at the most.
const LOOKED_FOR: usize = 8;

/// The mode of a run, and why, in words.
pub(crate) fn decide(
    team: &Team,
    plan: &Plan,
    caller: &Caller,
    task: &str,
) -> (DecidedMode, String) {
    let request = SelectionRequest {
        task: task.to_owned(),
        limit: LOOKED_FOR,
        ..SelectionRequest::default()
    };
    let found = select(plan, &request).unwrap_or_default();
    let owners = |name: &ToolName| -> BTreeSet<usize> {
        let Some(tool) = plan.get(name.as_str()) else { return BTreeSet::new() };
        let spec = &tool.listed.spec;
        let theirs = team.specialists.iter().enumerate();
        let theirs = theirs
            .filter(|(_, Specialist { agent })| agent.crib.executor().policy().sees(caller, spec));
        theirs.map(|(place, _)| place).collect()
    };
    let owned: Vec<_> = found.tools.iter().map(|tool| owners(&tool.name)).collect();
    let owned: Vec<_> = owned.into_iter().filter(|owners| !owners.is_empty()).collect();
    let name =
        |place: &usize| team.specialists.get(*place).map_or("", |one| one.agent.name.as_str());
    let direct = |specialist: Option<&str>| DecidedMode {
        mode: AgentMode::Direct,
        specialist: specialist.map(ToOwned::to_owned),
    };
    let planner = DecidedMode { mode: AgentMode::Planner, specialist: None };
    let Some(first) = owned.first() else {
        return (planner, "the task names no tool of a specialist: it is planned".to_owned());
    };
    let of_all = owned.iter().fold(first.clone(), |all, owners| &all & owners);
    if let Some(place) = of_all.first() {
        let whose = name(place);
        let why =
            format!("`{whose}` has all {} tools of the task: they are called here", owned.len());
        return (direct(Some(whose)), why);
    }
    if let Some((tool, by)) = chain(&found, &owners) {
        let why =
            format!("`{by}` needs what `{tool}` gives, and they are of two: all are called here");
        return (direct(None), why);
    }
    let whose: BTreeSet<_> = owned.iter().filter_map(|owners| owners.first()).collect();
    let whose: Vec<_> = whose.iter().map(|place| format!("`{}`", name(place))).collect();
    (
        planner,
        format!(
            "the task has parts for {}, which need not each other: it is planned",
            whose.join(", ")
        ),
    )
}

/// A tool that another one needs, of which no specialist has both.
fn chain(
    found: &Selection,
    owners: &dyn Fn(&ToolName) -> BTreeSet<usize>,
) -> Option<(ToolName, ToolName)> {
    found.tools.iter().find_map(|tool| {
        let SelectionReason::Needed { by, .. } = &tool.because else { return None };
        let (own, other) = (owners(&tool.name), owners(by));
        let is_apart = !own.is_empty() && !other.is_empty() && own.is_disjoint(&other);
        is_apart.then(|| (tool.name.clone(), by.clone()))
    })
}
