//! What an agent says of itself.
//!
//! Anybody may read the card: whoever cannot use the agent reads the same of every name, which tells
//! how to sign in and nothing of this crib.

use std::sync::atomic::Ordering;

use http::header;
use serde_json::Value;
use toolcrib_a2a_client::protocol::card::AgentSkill;
use toolcrib_a2a_client::protocol::signed_card::sign_card;
use toolcrib_a2a_server::{SecurityChoice, ServedCard};
use toolcrib_auth::ProtectedResource;
use toolcrib_core::PlanRequest;
use toolcrib_engine::{Crib, toolsets};

use super::refusal::Refusal;
use super::room::{AgentRoom, DEFAULT};
use super::wire::AnswerWire;
use crate::http::pipeline::host_check::single;
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::{self, HttpReply};
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

/// What an agent without a model says of itself.
const RUNS_TOOLS: &str = "Runs tools. A message with the data part {\"tool\": NAME, \"arguments\": \
                          {...}} is that call; any other is answered with the tools that there are.";

/// Skills of a card, tools of a skill that are named, and letters of a description.
const MOST: (usize, usize, usize) = (200, 20, 2_000);

pub(crate) fn show(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let name = asked.segments.first().map_or(DEFAULT, String::as_str);
        let card = match AgentRoom::named(&asked, name) {
            Ok(room) => card(&asked, &room, name)?,
            Err(_) => unseen(&asked, name),
        };
        Ok(reply::json(&written(&asked, &card)?))
    })
}

pub(super) fn extended(
    asked: &GatewayRequest,
    room: &AgentRoom,
    wire: &AnswerWire,
) -> Result<HttpReply, Refusal> {
    let card = card(asked, room, asked.segment())?;
    Ok(wire.answer(&written(asked, &card)?))
}

/// The card with our signature, if there is a key for it.
fn written(asked: &GatewayRequest, card: &ServedCard) -> Result<Value, HttpProblem> {
    let mut written = card.write();
    if let Some(key) = &asked.gateway.card_key {
        let named = (key.algorithm(), key.kid(), key.public());
        if !sign_card(&mut written, named, |text| key.sign(text)) {
            let detail = "the card cannot be signed now: ask again";
            return Err(HttpProblem::new(ProblemKind::Unavailable, detail));
        }
    }
    Ok(written)
}

/// What whoever has not signed in reads, of whatever is there or not.
fn unseen(asked: &GatewayRequest, name: &str) -> ServedCard {
    let skill = AgentSkill {
        id: "sign-in".to_owned(),
        name: "Sign in".to_owned(),
        description: "Whoever signs in reads here what the agent can do.".to_owned(),
        tags: vec!["access".to_owned()],
        examples: Vec::new(),
        input_modes: None,
    };
    let description = "An agent for those who sign in: its extended card tells more.";
    ServedCard {
        name: "toolcrib".to_owned(),
        description: description.to_owned(),
        skills: vec![skill],
        ..bare(asked, name)
    }
}

fn bare(asked: &GatewayRequest, name: &str) -> ServedCard {
    let access = asked.gateway.guard.access();
    let mut security = vec![SecurityChoice::Bearer];
    let metadata = access.metadata(ProtectedResource::Whole).unwrap_or_default();
    let issuers = metadata.get("authorization_servers").and_then(Value::as_array);
    let issuers = issuers.into_iter().flatten().filter_map(Value::as_str);
    security.extend(issuers.map(|issuer| SecurityChoice::OpenId {
        url: format!("{}/.well-known/openid-configuration", issuer.trim_end_matches('/')),
    }));
    ServedCard {
        name: String::new(),
        description: String::new(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        url: format!("{}/a2a/{name}", origin(asked)),
        skills: Vec::new(),
        security,
        is_guarded: !asked.gateway.guard.is_open(),
        takes_images: false,
        pushes: false,
    }
}

/// How the reader of the card got here, which is one of the names of this server.
fn origin(asked: &GatewayRequest) -> String {
    if let Some(url) = asked.gateway.guard.access().url() {
        return url.as_str().trim_end_matches('/').to_owned();
    }
    let host = single(&asked.headers, &header::HOST).ok().flatten().unwrap_or_default();
    format!(
        "{}://{host}",
        if asked.gateway.is_encrypted.load(Ordering::Relaxed) { "https" } else { "http" }
    )
}

fn card(asked: &GatewayRequest, room: &AgentRoom, name: &str) -> Result<ServedCard, HttpProblem> {
    let crib = asked.crib(room.profile())?;
    let agents = asked.gateway.agents.all();
    let mut card = bare(asked, name);
    match room {
        AgentRoom::Agent { name, .. } => {
            let found = agents.iter().find(|agent| agent.settings.name == *name);
            let crib = found.map_or_else(|| crib.clone(), |it| it.settings.within(crib.clone()));
            card.skills = skills(asked, &crib);
            let said = found.map(|agent| agent.settings.description.clone());
            card.description = said.filter(|said| !said.is_empty()).unwrap_or_else(|| {
                "Answers questions and does what is asked, with its tools.".to_owned()
            });
            card.name.clone_from(name);
            card.takes_images = true;
            card.pushes = true;
        }
        AgentRoom::Tools { profile } => {
            card.skills = skills(asked, &crib);
            card.name = profile.clone().unwrap_or_else(|| "toolcrib".to_owned());
            card.description.push_str(RUNS_TOOLS);
        }
    }
    Ok(card)
}

/// The toolsets as skills, with what their tools are called as tags.
fn skills(asked: &GatewayRequest, crib: &Crib) -> Vec<AgentSkill> {
    let (most, tools, letters) = MOST;
    let Ok(plan) = crib.plan(&asked.caller, PlanRequest::default()) else { return Vec::new() };
    let listing = toolsets::toolsets(&plan);
    let mut skills: Vec<_> = listing
        .toolsets
        .iter()
        .take(most)
        .map(|set| {
            let own = set.tools.iter().take(tools);
            let names = own.clone().map(|tool| tool.name.to_string());
            let specs = own.filter_map(|tool| plan.get(tool.name.as_str()));
            let examples = specs.flat_map(|tool| tool.listed.spec.examples.iter().cloned());
            AgentSkill {
                id: set.toolset.id.clone(),
                name: set.toolset.title.clone(),
                description: cut(&set.summary, letters),
                tags: names.collect(),
                examples: examples.take(tools).collect(),
                input_modes: None,
            }
        })
        .collect();
    for name in listing.in_none.iter().take(most.saturating_sub(skills.len())) {
        let Some(tool) = plan.get(name.as_str()) else { continue };
        let spec = &tool.listed.spec;
        skills.push(AgentSkill {
            id: name.to_string(),
            name: spec.title.clone().unwrap_or_else(|| name.to_string()),
            description: cut(&spec.summary, letters),
            tags: vec![name.to_string()],
            examples: spec.examples.iter().take(tools).cloned().collect(),
            input_modes: None,
        });
    }
    skills
}

fn cut(text: &str, letters: usize) -> String {
    text.chars().take(letters).collect()
}
