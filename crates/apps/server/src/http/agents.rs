//! Agents behind the API of `OpenAI`: `/v1/models`, `/v1/chat/completions`, `/v1/responses`.
//!
//! Read in this order: `registry` (which agents there are), `input` (what clients send as a
//! thread), `running` (a run with its listener), `chat` and `responses` with `output` and `store`.

mod api_error;
pub(crate) mod chat;
mod chosen;
pub(crate) mod compaction;
mod input;
mod output;
pub(crate) mod registry;
pub(crate) mod responses;
mod running;
pub(crate) mod store;

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
