//! The specialists of an agent, over the crib of the moment.

use std::collections::BTreeMap;
use std::sync::Arc;

use toolcrib_agent::model::{ModelClient, ModelFault, ModelSettings};
use toolcrib_agent::{Agent, AgentTools, NewSpecialist, Team};
use toolcrib_config::{AgentSettings, Config, TeamMember};
use toolcrib_core::{
    BoxFuture, Caller, Fingerprint, Intent, Policy, ToolSpec, UnlistedAccess, UnlistedResource,
    Verdict,
};
use toolcrib_engine::Crib;
use toolcrib_engine::policy::{AssignedTools, strictest};
use toolcrib_engine::rules::{Glob, Rules, ToolPatterns};

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
    let of_toolset = |id: String, summary: String, tools: ToolPatterns| NewSpecialist {
        tools: Arc::new(AgentTools::new(tools)),
        agent: Box::new(move |crib| Agent {
            name: id,
            description: summary,
            instructions: String::new(),
            ..over(registered, crib, None, None)
        }),
    };
    let mut members = Vec::new();
    for member in &settings.members {
        match member {
            TeamMember::Agent(name) => members.extend(of_agent(parts, name)),
            TeamMember::Toolset { id, summary, tools } => {
                let said = || summary_of(&agent.crib, id);
                let summary = if summary.is_empty() { said() } else { summary.clone() };
                members.push(of_toolset(id.clone(), summary, tools.clone()));
            }
            TeamMember::Toolsets { ids } => {
                members.extend(toolsets(&agent.crib, ids).into_iter().filter_map(
                    |(id, summary)| {
                        let tools = ToolPatterns::read(&[format!("toolset:{id}")]).ok()?;
                        Some(of_toolset(id, summary, tools))
                    },
                ));
            }
        }
    }
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

/// Specialists that one pattern may make.
const MOST_TOOLSETS: usize = 1_000;

/// The toolsets with such ids that the crib has now, and what is said of each, in the order of ids.
fn toolsets(crib: &Crib, ids: &str) -> BTreeMap<String, String> {
    let (catalog, globs) = (crib.catalog(), Glob::new(ids));
    let sets = catalog.tools().iter().flat_map(|tool| tool.spec.toolsets.iter());
    // In the place of one that was split stand its parts.
    let is_meant = |id: &str, is_split: bool| globs.matches(id) && (!is_split || id == ids);
    let sets = sets.map(|set| &set.toolset).filter(|set| is_meant(&set.id, set.is_split));
    let told = sets.map(|toolset| {
        let said = if toolset.summary.is_empty() { &toolset.title } else { &toolset.summary };
        (toolset.id.clone(), said.clone())
    });
    let all: BTreeMap<_, _> = told.collect();
    all.into_iter().take(MOST_TOOLSETS).collect()
}

/// What the source of a toolset says of it.
fn summary_of(crib: &Crib, id: &str) -> String {
    toolsets(crib, id).remove(id).unwrap_or_default()
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

    fn stops(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        self.0.executor().policy().stops(caller, tool)
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
