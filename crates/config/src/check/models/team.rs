//! Agents that work for another one.

use std::collections::{BTreeMap, BTreeSet};

use toolcrib_agent::{AgentMode, TeamLimits};
use toolcrib_engine::rules::{NamedToolset, PatternProblem, ToolPatterns, instead};

use crate::check::ConfigChecker;
use crate::file::toml_path::TomlPath;
use crate::raw;
use crate::settings::agents::{AgentTemplate, ModelTemplate, TeamMember, TeamSettings};

/// More than a model keeps apart, even by a search.
const MOST_MEMBERS: usize = 200;

impl ConfigChecker<'_, '_, '_> {
    pub(super) fn agent_tools(
        &mut self,
        patterns: &[String],
        place: &TomlPath,
    ) -> Option<ToolPatterns> {
        if patterns.is_empty() {
            return None;
        }
        match self.toolsets.patterns(patterns) {
            Ok(read) => Some(read),
            Err(wrong) => {
                for PatternProblem { index, what, cure } in wrong {
                    self.problem(&place.index(index), what, cure);
                }
                None
            }
        }
    }

    pub(super) fn team(
        &mut self,
        name: &str,
        all: &BTreeMap<String, raw::AgentTable>,
        place: &TomlPath,
    ) -> Option<TeamSettings> {
        let raw = all.get(name)?;
        let at = place.key("specialists");
        if raw.specialists.is_empty() {
            let alone = [
                ("mode", raw.mode.is_some_and(|mode| mode != raw::AgentModeWord::Direct)),
                ("depth", raw.depth.is_some()),
                ("active", raw.active.is_some()),
            ];
            for (key, _) in alone.into_iter().filter(|(_, is_set)| *is_set) {
                let cure = "add `specialists = [..]` with agents or toolsets, or take it out";
                self.problem(&place.key(key), "nobody works for this agent", cure);
            }
            return None;
        }
        if raw.specialists.len() > MOST_MEMBERS {
            let message = format!("there are more than {MOST_MEMBERS} specialists");
            self.problem(&at, message, "give some of them a planner of their own");
            return None;
        }
        let (mut members, mut seen) = (Vec::new(), BTreeSet::new());
        for (index, member) in raw.specialists.iter().enumerate() {
            let at = at.index(index);
            if !seen.insert(member) {
                self.problem(&at, format!("`{member}` works for it already"), "take it out");
            } else if member == name {
                let cure = "name another agent, or a toolset";
                self.problem(&at, "an agent cannot work for itself", cure);
            } else {
                members.extend(self.member(member, all, &at));
            }
        }
        let usual = TeamLimits::default();
        let count = |wanted: Option<u32>, usual: usize| {
            wanted.and_then(|count| usize::try_from(count).ok()).unwrap_or(usual)
        };
        Some(TeamSettings {
            mode: match raw.mode {
                Some(raw::AgentModeWord::Direct) => AgentMode::Direct,
                Some(raw::AgentModeWord::Router) => AgentMode::Router,
                Some(raw::AgentModeWord::Planner) | None => AgentMode::Planner,
                Some(raw::AgentModeWord::Auto) => AgentMode::Auto,
            },
            limits: TeamLimits {
                depth: count(raw.depth, usual.depth),
                active: count(raw.active, usual.active),
            },
            members,
        })
    }

    fn member(
        &mut self,
        name: &str,
        agents: &BTreeMap<String, raw::AgentTable>,
        at: &TomlPath,
    ) -> Option<TeamMember> {
        if agents.contains_key(name) {
            return Some(TeamMember::Agent(name.to_owned()));
        }
        if name.contains('*') {
            return Some(TeamMember::Toolsets { ids: name.to_owned() });
        }
        let pattern = [format!("toolset:{name}")];
        if let Ok(tools) = self.toolsets.patterns(&pattern) {
            let named = self.toolsets.named.iter().map(NamedToolset::toolset);
            let info = named.into_iter().find(|info| info.id == name);
            let summary = info.map(|info| info.summary.clone()).unwrap_or_default();
            return Some(TeamMember::Toolset { id: name.to_owned(), summary, tools });
        }
        let sets = self.toolsets.named.iter().map(|named| named.toolset().id.as_str());
        let known: Vec<&str> = agents.keys().map(String::as_str).chain(sets).collect();
        let cure = match instead(name, &known) {
            cure if cure.starts_with("did you mean") => cure,
            _ => format!("add `[agent.{name}]` or `[toolset.{name}]`"),
        };
        let message = format!("there is no agent and no toolset `{name}`");
        self.problem(at, message, cure);
        None
    }

    /// Where money is limited, nothing is paid that nobody knows the price of: an agent that works
    /// for one with such a limit would end at its first request.
    pub(super) fn costs(&mut self, agents: &[AgentTemplate], models: &[ModelTemplate]) {
        let below = |agent: &AgentTemplate| {
            let members = agent.team.iter().flat_map(|team| &team.members);
            let names = members.filter_map(|member| match member {
                TeamMember::Agent(name) => Some(name.clone()),
                TeamMember::Toolset { .. } | TeamMember::Toolsets { .. } => None,
            });
            names.collect::<Vec<_>>()
        };
        for agent in agents.iter().filter(|agent| agent.budget.cost.is_some()) {
            let (mut reached, mut next) = (BTreeSet::new(), below(agent));
            while let Some(name) = next.pop() {
                if !reached.insert(name.clone()) {
                    continue;
                }
                let Some(member) = agents.iter().find(|one| one.name == name) else { continue };
                next.extend(below(member));
                let model = models.iter().find(|model| model.id == member.model);
                if model.is_some_and(|model| !model.is_priced()) {
                    let at = TomlPath::default().key("agent").key(&agent.name);
                    let message = format!(
                        "nobody knows what the model of `{name}` costs, which works for it"
                    );
                    let cure = "add `price = { input = 0.15, output = 0.6 }` to that model";
                    self.problem(&at.key("budget").key("cost"), message, cure);
                }
            }
        }
    }

    /// Agents that work for each other would ask each other without end.
    pub(super) fn circles(&mut self, raw: &BTreeMap<String, raw::AgentTable>) {
        for name in raw.keys() {
            let (mut reached, mut next) = (BTreeSet::new(), vec![name]);
            while let Some(agent) = next.pop() {
                let below = raw.get(agent).into_iter().flat_map(|table| &table.specialists);
                for member in below.filter(|member| raw.contains_key(*member)) {
                    if reached.insert(member) {
                        next.push(member);
                    }
                }
            }
            let is_own = raw.get(name).is_some_and(|table| table.specialists.contains(name));
            if reached.contains(name) && !is_own {
                let at = TomlPath::default().key("agent").key(name).key("specialists");
                let cure = "take one of them out: who asks is above, who answers is below";
                self.problem(&at, "this agent would work for itself by others", cure);
            }
        }
    }
}
