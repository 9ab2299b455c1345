//! `POST /v1/plan`: what one request may use, in the words of one model API.

pub(crate) mod cost;
pub(crate) mod on_behalf;
pub(crate) mod plan_store;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeOwned, Error as _};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use toolcrib_core::{ChoiceScope, Discovery, LONGEST_NAME, Plan, PlanRequest, PlanWarning, Run};
use toolcrib_dialect::{Dialect, NAMES, dialect};

use self::on_behalf::{OtherCaller, as_whom};
use self::plan_store::ProfilePlan;
use super::tools::VisibleTools;
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::json as reply;
use crate::http::routes::request::{GatewayRequest, of_object};
use crate::http::routes::route::ReplyFuture;

/// The wishes of one request.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct PlanBody {
    /// The profile to plan under; without one, the configuration as a whole.
    profile: Option<String>,
    /// Tools that the user chose; the order decides between exclusive ones.
    choices: Vec<String>,
    choice_scope: BodyChoiceScope,
    /// Tools that are out for this request.
    disabled: Vec<String>,
    /// Tools whose definitions the model API may hold back until they are found.
    deferred: Vec<String>,
    /// How the tools are shown; without it, as the profile has it. In lazy mode the model API holds
    /// back what it can, and elsewhere tools are added by which a model finds and calls the rest.
    discovery: Option<BodyDiscoveryMode>,
    /// Calls of one batch that run.
    #[serde(deserialize_with = "whole")]
    #[schemars(range(max = u32::MAX))]
    max_calls: Option<u32>,
    /// The host's name for the conversation, for tools that keep state in one.
    session: Option<String>,
    /// What `run` was in the answer to the calls of the turn before.
    #[serde(deserialize_with = "remembered")]
    #[schemars(schema_with = "run")]
    run: Option<Run>,
    /// The model API to write the definitions for.
    #[schemars(extend("enum" = names()))]
    dialect: Option<String>,
    /// Tells of every tool why it is in or out.
    why: bool,
    /// The plan is only looked at: it is not kept, has no name and cannot be run.
    preview: bool,
    /// Looks at the plan of another caller, as `preview` does; for the operator.
    #[serde(rename = "as")]
    on_behalf: Option<OtherCaller>,
}

/// The memory of a run, as an answer gave it.
pub(crate) fn run(_: &mut SchemaGenerator) -> Schema {
    let texts = json!({ "type": "array", "items": { "type": "string" } });
    let names = json!({ "type": "array", "items": {
        "type": "string", "minLength": 1, "maxLength": LONGEST_NAME, "pattern": "^[A-Za-z0-9_.:/-]+$",
    } });
    let source = json!({ "type": "object", "properties": {
        "id": { "type": "string" },
        "title": { "type": "string" },
        "url": { "type": ["string", "null"] },
        "text": { "type": "string" },
    } });
    json_schema!({
        "type": ["object", "null"],
        "properties": {
            "turn": { "type": "integer", "minimum": 0, "maximum": u32::MAX },
            "used": names,
            "checks": texts,
            "sources": { "type": "object", "additionalProperties": source },
        },
        "description": "What `run` was in the answer to the calls of the turn before.",
    })
}

/// JSON knows one kind of number: `3.0` is the whole number 3.
fn made_whole(value: &mut Value) {
    let number = value.as_f64().filter(|number| value.is_f64() && number.fract() == 0.0);
    // A zero may have a sign.
    let number = number.filter(|number| *number >= 0.0).map(f64::abs);
    if let Some(whole) = number.and_then(|number| format!("{number:.0}").parse::<u64>().ok()) {
        *value = whole.into();
    }
}

/// A number that may be written as `3.0` too, which JSON Schema takes for whole.
pub(crate) fn whole<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    let mut value = Value::deserialize(deserializer)?;
    made_whole(&mut value);
    serde_json::from_value(value).map_err(D::Error::custom)
}

/// The memory of a run as JSON has it.
pub(crate) fn remembered<'de, D>(deserializer: D) -> Result<Option<Run>, D::Error>
where
    D: Deserializer<'de>,
{
    let mut value = Value::deserialize(deserializer)?;
    if value.is_null() {
        return Ok(None);
    }
    if let Some(turn) = value.get_mut("turn") {
        made_whole(turn);
    }
    of_object(value).map(Some).map_err(D::Error::custom)
}

/// How long the choices bind.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum BodyChoiceScope {
    /// The first turn only.
    #[default]
    FirstTurn,
    Run,
}

/// How tools are shown.
#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum BodyDiscoveryMode {
    Direct,
    Lazy,
    Auto,
}

/// The dialects, and none.
pub(crate) fn names() -> Vec<Option<&'static str>> {
    NAMES.into_iter().map(Some).chain([None]).collect()
}

/// The dialect of a name, if one is asked for.
pub(crate) fn asked_dialect(name: Option<&str>) -> Result<Option<Box<dyn Dialect>>, HttpProblem> {
    name.map(|name| {
        dialect(name).ok_or_else(|| {
            let detail = format!("`dialect` must be one of [{}]", NAMES.join(", "));
            HttpProblem::new(ProblemKind::InvalidBody, detail)
        })
    })
    .transpose()
}

impl PlanBody {
    fn request(&self, wire: Option<&dyn Dialect>) -> PlanRequest {
        let request = PlanRequest {
            choices: self.choices.clone(),
            choice_scope: match self.choice_scope {
                BodyChoiceScope::FirstTurn => ChoiceScope::FirstTurn,
                BodyChoiceScope::Run => ChoiceScope::Run,
            },
            disabled: self.disabled.clone(),
            deferred: self.deferred.clone(),
            max_calls: self.max_calls.and_then(|most| usize::try_from(most).ok()),
            discovery: self.discovery.map(|mode| match mode {
                BodyDiscoveryMode::Direct => Discovery::Direct,
                BodyDiscoveryMode::Lazy => Discovery::Lazy,
                BodyDiscoveryMode::Auto => Discovery::Auto,
            }),
            defers: wire.is_some_and(Dialect::defers),
            dialect: wire.map(|wire| wire.name().to_owned()),
            session: self.session.as_deref().map(Into::into),
            ..PlanRequest::default()
        };
        request.after(&self.run.clone().unwrap_or_default())
    }
}

pub(crate) fn plan(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let body: PlanBody = asked.json()?;
        let wire = asked_dialect(body.dialect.as_deref())?;
        let crib = asked.crib(body.profile.as_deref())?;
        let caller = as_whom(&asked, body.profile.as_deref(), body.on_behalf.as_ref())?;
        // Before the plan: what comes meanwhile is not in it.
        let is_starting = crib.is_starting();
        let plan = crib.plan(&caller, body.request(wire.as_deref()));
        let warnings = plan.as_ref().map_or_else(|error| &*error.0, Plan::warnings);
        if let Some(choice) = unknown(warnings).filter(|_| is_starting) {
            return Err(HttpProblem::starting(choice));
        }
        let plan =
            plan.map_err(|error| HttpProblem::new(ProblemKind::NothingLeft, error.to_string()))?;
        let mut answer = told(&plan);
        if let Value::Object(fields) = &mut answer {
            if let Some(wire) = wire {
                fields.extend(rendered(&*wire, &plan));
            }
            if body.why {
                let known = VisibleTools::of(&crib, &asked.caller)?;
                let reasons = plan.reasons().into_iter();
                let reasons: Vec<_> =
                    reasons.filter(|why| why.rule == "discovery" || known.has(&why.tool)).collect();
                fields.insert("why".to_owned(), json!(reasons));
            }
            if !body.preview && body.on_behalf.is_none() {
                let id = asked.gateway.plans.keep(ProfilePlan { profile: body.profile, plan });
                fields.insert("plan".to_owned(), id.into());
            }
        }
        Ok(reply(&answer))
    })
}

/// The first choice that names no tool.
fn unknown(warnings: &[PlanWarning]) -> Option<&str> {
    warnings.iter().find_map(|warning| match warning {
        PlanWarning::UnknownChoice { choice, .. } => Some(choice.as_str()),
        PlanWarning::LostChoice { .. }
        | PlanWarning::UnknownToolset { .. }
        | PlanWarning::UnknownDisabled { .. }
        | PlanWarning::NothingVisible => None,
    })
}

fn told(plan: &Plan) -> Value {
    let warnings: Vec<_> = plan.warnings().iter().map(ToString::to_string).collect();
    json!({
        "plan": null,
        "visible": plan.tools().map(|tool| &tool.listed.spec.name).collect::<Vec<_>>(),
        "forced": plan.forced().map(|tool| &tool.listed.spec.name).collect::<Vec<_>>(),
        "guidance": plan.guidance(),
        "warnings": warnings,
        "discovery": {
            "mode": plan.shown().mode,
            "rest": plan.shown().rest,
            "because": plan.shown().because,
        },
    })
}

/// The definitions as the model API is given them, and what it cannot be told.
fn rendered(wire: &dyn Dialect, plan: &Plan) -> Vec<(String, Value)> {
    let rendering = wire.rendering(plan);
    let fields = [
        ("dialect", json!(wire.name())),
        ("tools", rendering.tools.clone()),
        ("tool_choice", json!(rendering.tool_choice)),
        ("request", Value::Object(rendering.request())),
        ("losses", json!(rendering.losses)),
        ("refused", json!(rendering.refused)),
        // As good a guess as any without the tokenizer of the model.
        ("tokens", (rendering.tools.to_string().len() / 4).into()),
    ];
    fields.map(|(name, value)| (name.to_owned(), value)).into()
}
