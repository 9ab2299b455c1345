//! Agents behind the API of `OpenAI`: `/v1/models`, `/v1/chat/completions`, `/v1/responses`; by
//! themselves, `/v1/runs`; and for user interfaces, `/v1/agui`.
//!
//! Read in this order: `registry` (which agents there are), `input` (what clients send as a
//! thread), `live` (runs that are written down, and who drives them), `runs` and `responses` with
//! `output`, `running` and `chat` (a run whose thread its caller keeps), `agui` (one that waits for
//! people too).

pub(crate) mod agui;
pub(in crate::http) mod api_error;
pub(crate) mod chat;
pub(crate) mod chosen;
pub(crate) mod compaction;
mod input;
pub(crate) mod live;
mod output;
pub(crate) mod registry;
pub(crate) mod responses;
mod running;
pub(crate) mod runs;

use serde_json::{Value, json};

use crate::http::routes::reply;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

/// The agents that this caller may ask.
pub(crate) fn models(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let agents = asked.gateway.agents.all();
        let seen = agents.iter().filter(|agent| asked.permit(agent.profile()).is_ok());
        let rows: Vec<Value> = seen
            .map(|agent| {
                json!({
                    "id": agent.settings.name, "object": "model", "created": 0,
                    "owned_by": "toolcrib", "description": agent.settings.description,
                })
            })
            .collect();
        Ok(reply::json(&json!({ "object": "list", "data": rows })))
    })
}
