//! Who another caller would be, for an operator who looks at what it would be given.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use toolcrib_auth::{AccessLevel, is_operator, needed, reach};
use toolcrib_core::Caller;

use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::request::GatewayRequest;

/// Scopes of one caller.
const MOST_SCOPES: usize = 100;
/// Letters of a name or a scope.
const LONGEST: usize = 256;

/// A caller as a key or a token makes it.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct OtherCaller {
    #[schemars(length(max = LONGEST))]
    tenant: String,
    #[schemars(length(max = LONGEST))]
    subject: String,
    #[serde(default)]
    #[schemars(length(max = MOST_SCOPES), inner(length(max = LONGEST)))]
    scopes: Vec<String>,
}

/// The caller that is asked for, else the one that asks.
pub(crate) fn as_whom(
    asked: &GatewayRequest,
    profile: Option<&str>,
    other: Option<&OtherCaller>,
) -> Result<Arc<Caller>, HttpProblem> {
    let Some(other) = other else { return Ok(Arc::clone(&asked.caller)) };
    if !is_operator(&asked.caller) {
        let detail = "only the operator looks at what others are given: leave `as` out";
        return Err(HttpProblem::new(ProblemKind::Forbidden, detail));
    }
    let mut texts = [&other.tenant, &other.subject].into_iter().chain(&other.scopes);
    let is_long = texts.any(|text| text.chars().count() > LONGEST);
    if is_long || other.scopes.len() > MOST_SCOPES {
        let detail = format!(
            "`as` has names of {LONGEST} letters and {MOST_SCOPES} scopes at the most: shorten it"
        );
        return Err(HttpProblem::new(ProblemKind::InvalidBody, detail));
    }
    let caller = Caller::new(&other.tenant, &other.subject).with_scopes(other.scopes.clone());
    if reach(&caller, profile) == AccessLevel::Nothing {
        let detail = format!("this caller is let in nowhere here: give it `{}`", needed(profile));
        return Err(HttpProblem::new(ProblemKind::NothingLeft, detail));
    }
    Ok(Arc::new(caller))
}
