//! Which agents have which tools, as somebody has laid it down.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use toolcrib_core::{Plan, Policy, ToolName};

use super::assignment::AgentWish;
use super::chosen::VisibleNames;
use crate::policy::AssignedTools;

/// Agents by name with the tools that each has, and no others. Names count letter by letter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentRules {
    pub listed: BTreeMap<String, BTreeSet<ToolName>>,
    pub unlisted: UnlistedAgents,
}

/// What an agent has that the rules do not list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UnlistedAgents {
    /// Its share of what is selected and left over.
    #[default]
    Selection,
    /// Nothing, where any agent is listed.
    Nothing,
}

impl AgentRules {
    /// The tools of an agent; `None`: the rules say nothing of it.
    pub fn tools(&self, agent: &str) -> Option<BTreeSet<ToolName>> {
        match self.listed.get(agent) {
            Some(tools) => Some(tools.clone()),
            None if self.listed.is_empty() => None,
            None => match self.unlisted {
                UnlistedAgents::Selection => None,
                UnlistedAgents::Nothing => Some(BTreeSet::new()),
            },
        }
    }

    /// So many agents: those that the rules name come first, then `agent_1` and so on.
    pub fn names(&self, count: usize) -> Vec<String> {
        let numbered = (1..).map(|number: u32| format!("agent_{number}"));
        let numbered = numbered.filter(|name| !self.listed.contains_key(name));
        self.listed.keys().cloned().chain(numbered).take(count).collect()
    }

    /// The policy under which an agent has its tools alone; `None`: the rules say nothing of it.
    pub fn policy(&self, agent: &str) -> Option<Arc<dyn Policy>> {
        Some(Arc::new(AssignedTools::new(self.tools(agent)?)))
    }

    /// What is wished for an agent. Tools that its caller does not see are left out: whoever reads
    /// the rules is to be told of those that are not there.
    pub fn wish(&self, plan: &Plan, name: &str, role: &str) -> AgentWish {
        let (name, role) = (name.to_owned(), role.to_owned());
        let Some(tools) = self.tools(&name) else {
            return AgentWish { name, role, ..AgentWish::default() };
        };
        let visible = VisibleNames::of(plan);
        let tools = tools.iter().filter(|tool| visible.get(tool.as_str()).is_some());
        AgentWish { name, role, tools: tools.map(ToString::to_string).collect(), only: true }
    }
}
