//! `/v1/responses/compact`: a thread in short, to go on with in its place.

use serde_json::{Value, json};
use toolcrib_agent::model::summary_of;
use toolcrib_agent::{RunOrder, Usage};
use uuid::Uuid;

use super::api_error::ApiError;
use super::input::SUMMARY;
use super::output::{now, usage_told};
use super::responses::order;
use crate::http::routes::reply::{self, HttpReply};
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

pub(crate) fn compact(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let body: Value = asked.json()?;
        match order(&asked, &body, None).await? {
            Ok(ordered) => Ok(answer(ordered.order).await),
            Err(error) => Ok(error.reply()),
        }
    })
}

async fn answer(order: RunOrder) -> HttpReply {
    let mut usage = Usage::default();
    match summary_of(&order.agent.model, &order.thread, &mut usage).await {
        Err(fault) => ApiError::of_model(&fault).reply(),
        Ok(text) => {
            let id = || Uuid::new_v4().simple();
            let item = json!({
                "type": "compaction", "id": format!("cmp_{}", id()),
                "encrypted_content": format!("{SUMMARY}{text}"),
            });
            reply::json(&json!({
                "id": format!("resp_{}", id()), "object": "response.compaction",
                "created_at": now(), "output": [item], "usage": usage_told(&usage),
            }))
        }
    }
}
