//! The agents of the file that is in force, and who is told of them.

pub(crate) mod listing;

use std::sync::{Arc, Mutex, PoisonError};

use toolcrib_agent::model::{ModelClient, ModelFault, ModelSettings};
use toolcrib_config::{AgentSettings, Config};

use crate::config;

#[derive(Default)]
pub(crate) struct AgentRegistry(Mutex<Arc<Vec<Arc<RegisteredAgent>>>>);

/// An agent with its model; its crib is looked up for each run.
pub(crate) struct RegisteredAgent {
    pub(crate) settings: AgentSettings,
    pub(super) model: Arc<ModelClient>,
    /// Who judges its answers.
    pub(super) judge: Arc<ModelClient>,
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
            let name = settings.name.clone();
            match RegisteredAgent::new(settings) {
                Ok(agent) => agents.push(Arc::new(agent)),
                Err(fault) => troubles.push(format!("the agent `{name}`: {}", fault.message)),
            }
        }
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::new(agents);
        troubles
    }

    pub(in crate::http) fn all(&self) -> Arc<Vec<Arc<RegisteredAgent>>> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl RegisteredAgent {
    pub(crate) fn new(settings: AgentSettings) -> Result<Self, ModelFault> {
        Self::asking(settings, &ModelClient::new)
    }

    /// `client`: makes the client of a model.
    pub(crate) fn asking(
        settings: AgentSettings,
        client: &dyn Fn(ModelSettings) -> Result<ModelClient, ModelFault>,
    ) -> Result<Self, ModelFault> {
        let model = Arc::new(client(settings.model.clone())?);
        let judge = match &settings.judge {
            Some(other) => Arc::new(client(other.clone())?),
            None => Arc::clone(&model),
        };
        Ok(Self { settings, model, judge })
    }

    pub(in crate::http) fn profile(&self) -> Option<&str> {
        self.settings.profile.as_deref()
    }
}
