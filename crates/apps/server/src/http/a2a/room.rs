//! Who answers at a place: an agent, or the tools of a profile, which need no model.

use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::request::GatewayRequest;

/// The place of whoever answers where nobody is named.
pub(super) const DEFAULT: &str = "default";
/// What stands before the name of a profile. No agent is named so.
const PROFILE: &str = "profile:";
/// The agent that answers where there are several.
const USUAL: &str = "assistant";

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AgentRoom {
    Agent {
        name: String,
        profile: Option<String>,
    },
    /// Tools alone; `None`: those of the whole file.
    Tools {
        profile: Option<String>,
    },
}

impl AgentRoom {
    /// The room that a path names. Who may not use it is told that there is none, or which scope
    /// they lack.
    pub(super) fn of(asked: &GatewayRequest) -> Result<Self, HttpProblem> {
        Self::named(asked, asked.segment())
    }

    pub(super) fn named(asked: &GatewayRequest, name: &str) -> Result<Self, HttpProblem> {
        if let Some(profile) = name.strip_prefix(PROFILE) {
            asked.crib(Some(profile))?;
            return Ok(Self::Tools { profile: Some(profile.to_owned()) });
        }
        let agents = asked.gateway.agents.all();
        let seen = agents.iter().filter(|agent| asked.permit(agent.profile()).is_ok());
        let seen: Vec<_> = seen.collect();
        let agent = |name: &str| {
            let found = seen.iter().find(|agent| agent.settings.name == name);
            found.map(|agent| Self::Agent {
                name: agent.settings.name.clone(),
                profile: agent.profile().map(str::to_owned),
            })
        };
        if let Some(agent) = agent(name) {
            return Ok(agent);
        }
        if name != DEFAULT {
            let shown: String = name.chars().take(80).collect();
            let detail = format!(
                "there is no agent `{shown}`: `GET /v1/models` lists them; tools without a model \
                 are at `profile:NAME`"
            );
            return Err(HttpProblem::new(ProblemKind::UnknownAgent, detail));
        }
        let only = seen.first().filter(|_| seen.len() == 1);
        if let Some(agent) = agent(only.map_or(USUAL, |agent| agent.settings.name.as_str())) {
            return Ok(agent);
        }
        asked.permit(None)?;
        Ok(Self::Tools { profile: None })
    }

    pub(super) fn profile(&self) -> Option<&str> {
        match self {
            Self::Agent { profile, .. } | Self::Tools { profile } => profile.as_deref(),
        }
    }
}
