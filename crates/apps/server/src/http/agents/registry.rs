//! The agents of the file that is in force.

use std::sync::{Arc, Mutex, PoisonError};

use toolcrib::PlanRequest;
use toolcrib::agent::Agent;
use toolcrib::agent::model::ModelClient;
use toolcrib::config::{AgentSettings, Config};

use super::ApiError;
use crate::config;
use crate::http::routes::problem::HttpProblem;
use crate::http::routes::request::GatewayRequest;

#[derive(Default)]
pub(crate) struct AgentRegistry(Mutex<Arc<Vec<Arc<RegisteredAgent>>>>);

/// An agent with its model; its crib is looked up for each run.
pub(crate) struct RegisteredAgent {
    pub(super) settings: AgentSettings,
    model: Arc<ModelClient>,
}

impl AgentRegistry {
    /// Takes the agents of a file, and tells which of them cannot be asked and why.
    pub(crate) fn take(&self, file: &Config) -> Vec<String> {
        let mut troubles = Vec::new();
        let settings = file.agents(&config::ProcessLookup).unwrap_or_else(|missing| {
            let lines: Vec<_> = missing.iter().map(ToString::to_string).collect();
            troubles.push(format!("no agent can be asked: {}", lines.join("; ")));
            Vec::new()
        });
        let before = self.all();
        let mut agents = Vec::new();
        for settings in settings {
            // A client that is the same keeps its connections.
            if let Some(same) = before.iter().find(|agent| agent.settings == settings) {
                agents.push(Arc::clone(same));
                continue;
            }
            match ModelClient::new(settings.model.clone()) {
                Ok(model) => {
                    agents.push(Arc::new(RegisteredAgent { settings, model: Arc::new(model) }));
                }
                Err(fault) => {
                    troubles.push(format!("the agent `{}`: {}", settings.name, fault.message));
                }
            }
        }
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(agents);
        troubles
    }

    pub(super) fn all(&self) -> Arc<Vec<Arc<RegisteredAgent>>> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl RegisteredAgent {
    pub(super) fn profile(&self) -> Option<&str> {
        self.settings.profile.as_deref()
    }

    /// The agent over the crib of the moment, within what the request may add to it.
    fn agent(
        &self,
        asked: &GatewayRequest,
        instructions: Option<&str>,
        max_tokens: Option<u32>,
    ) -> Result<Agent, HttpProblem> {
        let settings = &self.settings;
        let own = [settings.instructions.as_str(), instructions.unwrap_or_default()];
        let own: Vec<_> = own.into_iter().filter(|part| !part.is_empty()).collect();
        let model = match max_tokens.filter(|most| *most < settings.model.max_tokens) {
            None => Arc::clone(&self.model),
            Some(max_tokens) => Arc::new(self.model.within(max_tokens)),
        };
        Ok(Agent {
            name: settings.name.clone(),
            description: settings.description.clone(),
            instructions: own.join("\n\n"),
            model,
            crib: asked.crib(self.profile())?,
            wishes: PlanRequest::default(),
            budget: settings.budget,
        })
    }
}

/// The agent that a request names as its model, with what it adds.
pub(super) fn agent_of(
    asked: &GatewayRequest,
    name: Option<&str>,
    instructions: Option<&str>,
    max_tokens: Option<u32>,
) -> Result<Result<Arc<Agent>, ApiError>, HttpProblem> {
    let agents = asked.gateway.agents.all();
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return Ok(Err(ApiError::invalid("model", "say which agent is asked: `model`")));
    };
    // Who may not use the profile of an agent is not told that there is one.
    let found = agents.iter().find(|agent| agent.settings.name == name);
    let Some(agent) = found.filter(|agent| asked.permit(agent.profile()).is_ok()) else {
        let message = format!("there is no agent `{name}`: `GET /v1/models` lists them");
        return Ok(Err(ApiError::not_found("model_not_found", message)));
    };
    Ok(Ok(Arc::new(agent.agent(asked, instructions, max_tokens)?)))
}
