//! `/v1/tools/{name}/validate`: what the gate would make of a call, without running it.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolcrib_core::{BatchOptions, Call, CallTrial, Discovery, PlanRequest, RawArguments, Verdict};

use crate::http::rest::tools::unknown;
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::json as reply;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TrialBody {
    /// The arguments, as a call would have them.
    #[serde(default)]
    arguments: Option<Value>,
    /// The profile to look through.
    profile: Option<String>,
}

pub(crate) fn validate(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let body: TrialBody = asked.json()?;
        let crib = asked.crib(body.profile.as_deref())?;
        let plan = crib.plan(&asked.caller, PlanRequest::default().show(Discovery::Direct));
        let plan =
            plan.map_err(|error| HttpProblem::new(ProblemKind::NothingLeft, error.to_string()))?;
        let name = asked.segment();
        let tool = plan.get(name).ok_or_else(|| unknown(&crib, &plan, name))?;
        let places = places(tool.listed.schema(), body.arguments.as_ref());
        let arguments = body.arguments.map_or(RawArguments::Absent, RawArguments::Value);
        let call = Call::new("", name, arguments);
        let options = BatchOptions::default();
        let told = match crib.executor().try_out(&plan, call, &options).await {
            CallTrial::Refused { error, repairs } => json!({
                "fits": false,
                "problems": places,
                "message": error.message,
                "repairs": repairs,
                "coerced": null,
                "would": null,
            }),
            CallTrial::Fits { arguments, repairs, verdict } => {
                let (word, reason) = match &verdict {
                    Verdict::Allow => ("run", None),
                    Verdict::Ask(reason) => ("ask", Some(reason)),
                    Verdict::Deny(reason) => ("deny", Some(reason)),
                };
                json!({
                    "fits": true,
                    "problems": [],
                    "message": null,
                    "repairs": repairs,
                    "coerced": arguments.into_value(),
                    "would": { "verdict": word, "reason": reason },
                })
            }
        };
        Ok(reply(&told))
    })
}

/// The places that do not fit: where, what belongs there, what stands there.
fn places(schema: Option<&toolcrib_json::schema::Schema>, arguments: Option<&Value>) -> Value {
    let (Some(schema), Some(arguments)) = (schema, arguments) else { return json!([]) };
    let (coerced, _) = schema.coerce(arguments.clone());
    let Err(violations) = schema.check(&coerced) else { return json!([]) };
    let told = violations
        .places
        .iter()
        .map(|place| json!({ "path": place.path, "expected": place.expected, "got": place.got }));
    Value::Array(told.collect())
}
