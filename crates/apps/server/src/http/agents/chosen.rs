//! The agent that a request names, over the crib of the moment.

pub(super) mod mcp_servers;
pub(crate) mod team;
pub(super) mod tool_choice;

use std::sync::Arc;

use serde_json::Value;
use toolcrib_agent::model::{CallChoice, CallerTool};
use toolcrib_agent::{Agent, CheckPolicy};
use toolcrib_core::{Caller, PlanRequest};
use toolcrib_engine::Crib;

use super::api_error::ApiError;
use super::live::live_run::{RunMeta, StoredRequest, ToolChoice};
use super::registry::RegisteredAgent;
use crate::http::routes::problem::HttpProblem;
use crate::http::routes::request::GatewayRequest;
use crate::http::state::GatewayState;
use mcp_servers::McpServers;
use tool_choice::{ChoosableTools, ChosenTools};

/// The agent over a crib, within what a request may add to it.
pub(crate) fn over(
    registered: &RegisteredAgent,
    crib: Crib,
    instructions: Option<&str>,
    max_tokens: Option<u32>,
) -> Agent {
    let settings = &registered.settings;
    let own = [settings.instructions.as_str(), instructions.unwrap_or_default()];
    let own: Vec<_> = own.into_iter().filter(|part| !part.is_empty()).collect();
    let model = match max_tokens.filter(|most| *most < settings.model.max_tokens) {
        None => Arc::clone(&registered.model),
        Some(max_tokens) => Arc::new(registered.model.within(max_tokens)),
    };
    Agent {
        name: settings.name.clone(),
        description: settings.description.clone(),
        instructions: own.join("\n\n"),
        model,
        crib,
        wishes: PlanRequest { choices: settings.force.clone(), ..PlanRequest::default() },
        budget: settings.budget,
        checks: CheckPolicy::by_model(&registered.judge, settings.checks.clone(), settings.gate),
        team: None,
    }
}

/// The agent of a run that is written down, as the file has it now.
pub(super) fn of_stored(gateway: &GatewayState, run: &RunMeta) -> Result<Arc<Agent>, String> {
    let agents = gateway.agents.all();
    let found = agents.iter().find(|agent| agent.settings.name == run.agent);
    let agent = found.ok_or_else(|| format!("the file has no agent `{}` any more", run.agent))?;
    // Under the profile that it began with: a ticket is redeemed under no other.
    let crib = match run.profile.as_deref() {
        None => Some(gateway.live.crib().clone()),
        Some(profile) => gateway.live.view(profile),
    };
    let crib = crib.ok_or_else(|| "the file has its profile no more".to_owned())?;
    let StoredRequest { instructions, max_tokens, body, .. } = &run.request;
    let servers = servers(agent, body).map_err(|error| error.message)?;
    let crib = team::own(agent, servers.within(agent.settings.within(crib)));
    let agent = over(agent, crib, instructions.as_deref(), *max_tokens);
    let mut agent = team::in_server(gateway, &agents, agent);
    run.request.choice.within(&mut agent);
    Ok(Arc::new(agent))
}

/// What the `mcp` tools of a request leave of an agent.
fn servers(agent: &RegisteredAgent, body: &Value) -> Result<McpServers, ApiError> {
    let whole = [Some(agent.settings.name.as_str()), agent.profile()];
    let whole: Vec<_> = whole.into_iter().flatten().collect();
    McpServers::read(body, &whole)
}

/// The agent that a request names as its model, with what it adds.
pub(super) fn agent_of(
    asked: &GatewayRequest,
    name: Option<&str>,
    instructions: Option<&str>,
    max_tokens: Option<u32>,
) -> Result<Result<Arc<Agent>, ApiError>, HttpProblem> {
    let within = agent_within(asked, name, instructions, max_tokens, &Value::Null)?;
    Ok(within.map(|(agent, _)| agent))
}

/// The same within what the `mcp` tools of the request leave of it.
pub(super) fn agent_within(
    asked: &GatewayRequest,
    name: Option<&str>,
    instructions: Option<&str>,
    max_tokens: Option<u32>,
    body: &Value,
) -> Result<Result<(Arc<Agent>, McpServers), ApiError>, HttpProblem> {
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
    let crib = agent.settings.within(asked.crib(agent.profile())?);
    let servers = match servers(agent, body) {
        Ok(servers) => servers,
        Err(error) => return Ok(Err(error)),
    };
    if !servers.is_empty()
        && let Ok(plan) =
            crib.plan(&asked.caller, agent.model.wishes(PlanRequest::default(), false))
        && let Err(error) = servers.check(&plan, &crib)
    {
        return Ok(Err(error));
    }
    let crib = team::own(agent, servers.within(crib));
    let agent = over(agent, crib, instructions, max_tokens);
    Ok(Ok((Arc::new(team::in_server(&asked.gateway, &agents, agent)), servers)))
}

/// Follows the `tool_choice` of a request to an agent, which nobody else holds yet. The tools of the
/// caller that it leaves out are gone. `profile`: of the agent.
pub(super) fn choose(
    body: &Value,
    caller: &Caller,
    (agent, profile): (&mut Arc<Agent>, Option<&str>),
    caller_tools: &mut Vec<CallerTool>,
) -> Result<(CallChoice, ToolChoice), ApiError> {
    // Most requests say nothing of it, and need no plan here.
    if body.get("tool_choice").is_none() {
        return Ok(Default::default());
    }
    let Some(there) = ChoosableTools::of((&**agent, profile), caller, caller_tools) else {
        return Ok(Default::default());
    };
    let chosen = ChosenTools::read(body, &there)?;
    caller_tools.retain(|tool| chosen.leaves(tool));
    if let Some(agent) = Arc::get_mut(agent) {
        chosen.tools.within(agent);
    }
    Ok((chosen.calls, chosen.tools))
}

/// Makes an agent, which nobody else holds yet, call these tools first. `at`: where the request names
/// them. `profile`: of the agent.
pub(super) fn force(
    (names, at): (&[String], &str),
    caller: &Caller,
    (agent, profile): (&mut Arc<Agent>, Option<&str>),
) -> Result<ToolChoice, ApiError> {
    let Some(there) = ChoosableTools::of((&**agent, profile), caller, &[]) else {
        return Ok(ToolChoice::default());
    };
    let forced = there.by_name(names, at)?;
    let choice = ToolChoice { force: Some(forced), ..ToolChoice::default() };
    if let Some(agent) = Arc::get_mut(agent) {
        choice.within(agent);
    }
    Ok(choice)
}

/// Takes these tools from an agent, which nobody else holds yet.
pub(super) fn leave_out(names: &[String], agent: &mut Arc<Agent>) {
    let choice = ToolChoice { disabled: names.to_vec(), ..ToolChoice::default() };
    if let Some(agent) = Arc::get_mut(agent) {
        choice.within(agent);
    }
}

/// Refuses tools of the caller that are named like one of the agent's: a model could not tell them
/// apart.
pub(super) fn check_names(
    agent: &Agent,
    caller: &Caller,
    tools: &[CallerTool],
) -> Result<(), ApiError> {
    if tools.is_empty() {
        return Ok(());
    }
    let Ok(plan) = agent.crib.plan(caller, agent.model.wishes(agent.wishes.clone(), true)) else {
        return Ok(());
    };
    let rendering = agent.model.dialect().rendering(&plan);
    let clash = tools.iter().find(|tool| {
        plan.tools().any(|own| {
            let name = own.listed.spec.name.as_str();
            name == tool.name || rendering.wire_name(name) == Some(tool.name.as_str())
        })
    });
    let Some(clash) = clash else { return Ok(()) };
    let message =
        format!("`{}` is a tool of this agent already: give yours another name", clash.name);
    Err(ApiError::invalid("tools", message))
}
