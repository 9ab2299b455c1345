//! `/v1/responses/compact`: a thread in short, to go on with in its place.

use serde_json::{Value, json};
use toolcrib::agent::model::ModelRequest;
use toolcrib::agent::{RunOrder, ThreadItem, Usage};
use uuid::Uuid;

use super::api_error::ApiError;
use super::input::SUMMARY;
use super::output::{now, usage_told};
use super::responses::order;
use crate::http::routes::reply::{self, HttpReply};
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

/// What the model is asked for, behind the thread.
const WANTED: &str = "\
Sum this conversation up for somebody who goes on with it and has not read it: what is wanted, what \
was decided, what the tools gave (names, numbers, identifiers as they are), and what is still open. \
Write the summary and nothing else.";

pub(crate) fn compact(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let body: Value = asked.json()?;
        match order(&asked, &body).await? {
            Ok(ordered) => Ok(answer(ordered.order).await),
            Err(error) => Ok(error.reply()),
        }
    })
}

async fn answer(order: RunOrder) -> HttpReply {
    let RunOrder { agent, caller, mut thread, .. } = order;
    let plan = agent.crib.plan(&caller, agent.wishes.clone()).ok();
    thread.push(ThreadItem::user(WANTED));
    let request = ModelRequest {
        instructions: "",
        items: &thread,
        plan: plan.as_ref(),
        is_last: true,
        caller_tools: &[],
        max_tokens: agent.model.settings().max_tokens.into(),
    };
    let mut usage = Usage::default();
    match agent.model.answer(&request, &mut usage, &mut |_| {}).await {
        Err(fault) => ApiError::of_model(&fault).reply(),
        Ok(answer) => {
            let id = || Uuid::new_v4().simple();
            let item = json!({
                "type": "compaction", "id": format!("cmp_{}", id()),
                "encrypted_content": format!("{SUMMARY}{}", answer.text),
            });
            reply::json(&json!({
                "id": format!("resp_{}", id()), "object": "response.compaction",
                "created_at": now(), "output": [item], "usage": usage_told(&usage),
            }))
        }
    }
}
