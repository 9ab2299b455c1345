//! `/v1/agents`: the agents that a caller may ask, and the tools that each of them has for it.

use serde_json::{Value, json};
use toolcrib_core::PlanRequest;

use super::super::chosen::agent_of;
use super::super::chosen::mcp_servers::OURS;
use crate::http::routes::problem::ProblemKind;
use crate::http::routes::reply::json as reply;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

/// Tools of an agent that are told; `more` says whether there are others.
const MOST_TOOLS: usize = 1_000;

pub(crate) fn list(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let agents = asked.gateway.agents.all();
        let seen = agents.iter().filter(|agent| asked.permit(agent.profile()).is_ok());
        let rows: Vec<Value> = seen
            .map(|agent| {
                json!({
                    "name": agent.settings.name,
                    "description": agent.settings.description,
                    "profile": agent.profile(),
                })
            })
            .collect();
        Ok(reply(&json!({ "agents": rows })))
    })
}

/// One with its tools, of which a user may choose some and leave some out.
pub(crate) fn show(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let found = agent_of(&asked, Some(asked.segment()), None, None)?;
        let agent = found.map_err(|error| error.problem(ProblemKind::UnknownAgent))?;
        let agents = asked.gateway.agents.all();
        let registered = agents.iter().find(|known| known.settings.name == agent.name);
        let wishes = agent.model.wishes(PlanRequest::default(), false);
        // Where nothing is left for this caller, there is nothing to choose among.
        let plan = agent.crib.plan(&asked.caller, wishes).ok();
        let tools = plan.iter().flat_map(toolcrib_core::Plan::tools).map(|tool| &tool.listed.spec);
        let own = tools.filter(|spec| spec.origin.source.as_str() != OURS);
        let all: Vec<Value> = own
            .take(MOST_TOOLS + 1)
            .map(|spec| {
                let is_forced = agent.wishes.choices.iter().any(|name| name == spec.name.as_str());
                json!({
                    "name": spec.name,
                    "source": spec.origin.source,
                    "summary": spec.summary,
                    "effect": spec.effect,
                    "forced": is_forced,
                })
            })
            .collect();
        let told = all.get(..MOST_TOOLS).unwrap_or(&all);
        Ok(reply(&json!({
            "name": agent.name,
            "description": agent.description,
            "profile": registered.and_then(|known| known.profile()),
            "tools": told,
            "more": told.len() < all.len(),
        })))
    })
}
