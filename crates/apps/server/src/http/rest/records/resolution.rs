//! `POST /v1/record/{id}`: how a call ended of which nobody knew, as a person says who has looked.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use toolcrib_auth::{AccessLevel, ProtectedResource, needed, reach};
use toolcrib_store::{CallRecord, CallState, KnownEnd};

use super::listing::{phased, record, shown_whole, silent};
use crate::audit::Resolution;
use crate::http::pipeline::authentication::lacking;
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::json as reply;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

/// What a person says of a call.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ResolutionBody {
    /// How it really ended.
    #[schemars(with = "String", extend("enum" = KnownEnd::WORDS))]
    ending: KnownEnd,
}

pub(crate) fn resolve(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let ResolutionBody { ending } = asked.json()?;
        // Calls like it are not held back any more: that is for whoever could have made them.
        if reach(&asked.caller, None) < AccessLevel::All {
            return Err(lacking(
                &asked.gateway.guard.access(),
                ProtectedResource::Whole,
                &needed(None),
            ));
        }
        // Whoever goes away meanwhile does not leave it half done.
        let gateway = Arc::clone(&asked.gateway);
        let resolving = tokio::spawn(async move { said(&asked, ending).await });
        let said = resolving.await.map_err(|_| {
            HttpProblem::new(
                ProblemKind::Broken,
                "it broke off: look at the record and say it again",
            )
        })?;
        said.map(|call| reply(&phased(&gateway, &call, shown_whole(&call))))
    })
}

/// The call once it has this end. What is said first holds; said again, it changes nothing.
async fn said(asked: &GatewayRequest, end: KnownEnd) -> Result<CallRecord, HttpProblem> {
    let (store, key) = (record(asked)?, asked.segment());
    let found = store.call_of_any(key).await.map_err(|error| silent(asked, error))?;
    let call = found.ok_or_else(unknown)?;
    if !matches!(call.state(), CallState::OutcomeUnknown | CallState::Interrupted) {
        return ended_so(asked, call, end);
    }
    let resolution = Resolution { call: &call, end, by: &asked.caller };
    let audit = asked.gateway.telemetry.audit.as_ref();
    if let Some(audit) = audit {
        audit.resolved(&resolution).await.map_err(|fault| {
            let cause = anyhow::Error::new(fault);
            HttpProblem::new(ProblemKind::Unavailable, format!("nothing was changed, as {cause:#}"))
        })?;
    }
    let resolved = match store.resolve(key, end, &asked.caller).await {
        Ok(resolved) => resolved.ok_or_else(unknown).and_then(|call| ended_so(asked, call, end)),
        Err(error) => Err(silent(asked, error)),
    };
    if let (Err(_), Some(audit)) = (&resolved, audit) {
        audit.void(&resolution);
    }
    resolved
}

/// A call that has this end and no other.
fn ended_so(
    asked: &GatewayRequest,
    call: CallRecord,
    end: KnownEnd,
) -> Result<CallRecord, HttpProblem> {
    let state = call.state();
    if state == end.state() {
        return Ok(call);
    }
    let detail = if state == CallState::Running {
        "it still runs: there is nothing to say before it has ended".to_owned()
    } else {
        format!("it ended as `{}`, which is known and stays so", state.as_str())
    };
    let recorded = phased(&asked.gateway, &call, shown_whole(&call));
    Err(HttpProblem::new(ProblemKind::EndKnown, detail).telling("recorded", recorded))
}

fn unknown() -> HttpProblem {
    let detail = "the record has no call of this key: `GET /v1/record` lists those that it has";
    HttpProblem::new(ProblemKind::UnknownCall, detail)
}
