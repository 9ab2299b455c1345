//! `POST /v1/tickets/deny`: no to several calls at once. There is no yes to several.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolcrib_core::{Decision, Run, TicketId};

use super::{crib_for, redeemed, waiting};
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::json as reply;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

/// Tickets of one request.
const MOST: usize = 100;

/// Calls that do not run.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DenialBody {
    /// Their tickets.
    #[schemars(length(min = 1, max = MOST))]
    tickets: Vec<String>,
    /// Why not; the model is told.
    reason: Option<String>,
}

pub(crate) fn deny(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let body: DenialBody = asked.json()?;
        if !(1..=MOST).contains(&body.tickets.len()) {
            let detail = format!("`tickets` must be a list of 1 to {MOST} tickets");
            return Err(HttpProblem::new(ProblemKind::InvalidBody, detail));
        }
        let (mut denied, mut refused) = (Vec::new(), Vec::new());
        for name in &body.tickets {
            match deny_one(&asked, name, body.reason.as_deref()).await {
                Ok(()) => denied.push(name),
                Err(problem) => {
                    let (kind, detail) = problem.told();
                    let told = json!({ "ticket": name, "type": kind.uri(), "detail": detail });
                    refused.push(told);
                }
            }
        }
        Ok(reply(&json!({ "denied": denied, "refused": refused })))
    })
}

async fn deny_one(
    asked: &GatewayRequest,
    name: &str,
    reason: Option<&str>,
) -> Result<(), HttpProblem> {
    let ticket = TicketId::claimed(name);
    let (owner, parked) = waiting(asked, &ticket).await?;
    let crib = crib_for(asked, parked, (None, None))?;
    let reason = reason.unwrap_or("a person said no").to_owned();
    let decision = Decision::Deny { reason };
    redeemed(asked, crib, (owner, ticket), decision, Run::default()).await?;
    Ok(())
}
