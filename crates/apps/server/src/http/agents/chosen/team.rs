//! The specialists of an agent, over the crib of the moment.

use std::sync::Arc;

use toolcrib::agent::model::{ModelClient, ModelFault, ModelSettings};
use toolcrib::agent::{Agent, AgentTools, NewSpecialist, Team};
use toolcrib::config::{AgentSettings, Config, TeamMember};
use toolcrib::policy::{AssignedTools, strictest};
use toolcrib::rules::Rules;
use toolcrib::{
    BoxFuture, Caller, Crib, Fingerprint, Intent, Policy, ToolSpec, UnlistedAccess,
    UnlistedResource, Verdict,
};

use super::over;
use crate::config;
use crate::http::agents::registry::RegisteredAgent;
use crate::http::state::GatewayState;

/// What an agent has of a crib.
pub(crate) fn own(agent: &RegisteredAgent, crib: Crib) -> Crib {
    match &agent.settings.tools {
        Some(tools) => crib.narrowed(Arc::new(AgentTools::new(tools.clone()))),
        None => crib,
    }
}

/// What the teams of a file are made of.
pub(crate) struct TeamParts<'a> {
    pub(crate) agents: &'a [Arc<RegisteredAgent>],
    /// What a profile permits; `None`: it is not there.
    pub(crate) profile: &'a dyn Fn(&str) -> Option<Arc<dyn Policy>>,
}

/// The same agent with those that work for it, in the server.
pub(super) fn in_server(
    gateway: &GatewayState,
    agents: &[Arc<RegisteredAgent>],
    agent: Agent,
) -> Agent {
    let profile = |name: &str| -> Option<Arc<dyn Policy>> {
        Some(Arc::new(OfProfile(gateway.live.view(name)?)))
    };
    with(&TeamParts { agents, profile: &profile }, agent)
}

/// The same agent with those that work for it.
pub(crate) fn with(parts: &TeamParts<'_>, agent: Agent) -> Agent {
    let Some(registered) = parts.agents.iter().find(|one| one.settings.name == agent.name) else {
        return agent;
    };
    let Some(settings) = &registered.settings.team else { return agent };
    let members = settings.members.iter().filter_map(|member| match member {
        TeamMember::Agent(name) => of_agent(parts, name),
        TeamMember::Toolset { id, summary, tools } => {
            let summary =
                if summary.is_empty() { summary_of(&agent.crib, id) } else { summary.clone() };
            let name = id.clone();
            Some(NewSpecialist {
                tools: Arc::new(AgentTools::new(tools.clone())),
                agent: Box::new(move |crib| Agent {
                    name,
                    description: summary,
                    instructions: String::new(),
                    ..over(registered, crib, None, None)
                }),
            })
        }
    });
    let members: Vec<_> = members.collect();
    let team = Team::new(&agent.crib, settings.mode, settings.limits, members);
    Agent { team: Some(Arc::new(team)), ..agent }
}

/// An agent of a file, with those that work for it. Those that cannot be asked work for nobody.
/// `client`: makes the client of a model.
///
/// # Errors
/// Its own model cannot be asked.
pub(crate) fn of_file(
    settings: AgentSettings,
    file: &Config,
    crib: Crib,
    client: &dyn Fn(ModelSettings) -> Result<ModelClient, ModelFault>,
) -> Result<Agent, ModelFault> {
    let all = file.agents(&config::ProcessLookup).unwrap_or_default();
    let agents = all.into_iter().filter_map(|one| RegisteredAgent::asking(one, client).ok());
    let agents: Vec<_> = agents.map(Arc::new).collect();
    let crib = settings.within(crib);
    let registered = RegisteredAgent::asking(settings, client)?;
    let agent = over(&registered, own(&registered, crib), None, None);
    let profile = |name: &str| file.policy_with(Some(name), &Rules::parse("").ok()?);
    Ok(with(&TeamParts { agents: &agents, profile: &profile }, agent))
}

/// Another agent of the file. It has no more than its own profile and its own tools, wherever it
/// works; the file has been checked for circles.
fn of_agent<'a>(parts: &'a TeamParts<'a>, name: &str) -> Option<NewSpecialist<'a>> {
    let registered = parts.agents.iter().find(|one| one.settings.name == name)?;
    let mut policies: Vec<Arc<dyn Policy>> = Vec::new();
    if let Some(profile) = registered.profile() {
        // Without its profile nobody can say what it may do.
        policies.push((parts.profile)(profile)?);
    }
    if let Some(tools) = &registered.settings.assigned {
        policies.push(Arc::new(AssignedTools::new(tools.clone())));
    }
    if let Some(tools) = &registered.settings.tools {
        policies.push(Arc::new(AgentTools::new(tools.clone())));
    }
    let first = policies.pop().unwrap_or_else(|| Arc::new(AllTools));
    Some(NewSpecialist {
        tools: strictest(first, policies),
        agent: Box::new(move |crib| with(parts, over(registered, crib, None, None))),
    })
}

/// What the source of a toolset says of it.
fn summary_of(crib: &Crib, id: &str) -> String {
    let catalog = crib.catalog();
    let sets = catalog.tools().iter().flat_map(|tool| tool.spec.toolsets.iter());
    let found = sets.map(|set| &set.toolset).find(|toolset| toolset.id == id);
    let said = found.map(|toolset| [&toolset.summary, &toolset.title].map(String::clone));
    let mut said = said.into_iter().flatten();
    said.find(|text| !text.is_empty()).unwrap_or_default()
}

/// What a profile permits at the moment.
struct OfProfile(Crib);

/// Whatever there is.
struct AllTools;

impl Policy for OfProfile {
    fn sees(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        self.0.executor().policy().sees(caller, tool)
    }

    fn decide<'a>(&'a self, intent: Intent<'a>) -> BoxFuture<'a, Verdict> {
        Box::pin(async move {
            let executor = self.0.executor();
            executor.policy().decide(intent).await
        })
    }

    fn lets_run(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        self.0.executor().policy().lets_run(caller, tool)
    }

    fn is_per_tool(&self) -> bool {
        self.0.executor().policy().is_per_tool()
    }

    fn leave(&self, caller: &Caller, unlisted: &UnlistedResource<'_>) -> UnlistedAccess {
        self.0.executor().policy().leave(caller, unlisted)
    }

    fn version(&self) -> Option<Fingerprint> {
        self.0.executor().policy().version()
    }
}

impl Policy for AllTools {
    fn sees(&self, _: &Caller, _: &ToolSpec) -> bool {
        true
    }

    fn decide<'a>(&'a self, _: Intent<'a>) -> BoxFuture<'a, Verdict> {
        Box::pin(std::future::ready(Verdict::Allow))
    }

    fn version(&self) -> Option<Fingerprint> {
        Some(Fingerprint::of(&"all".into()))
    }
}
