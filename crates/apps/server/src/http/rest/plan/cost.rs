//! What the tools take in the prompt of a model, as each API is given them: for `toolcrib cost` and
//! for `POST /v1/plan/cost`.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use toolcrib_core::{Caller, Discovery, Exposure, Plan, PlanError, PlanRequest};
use toolcrib_dialect::{Dialect, NAMES, dialect};
use toolcrib_engine::Crib;
use toolcrib_engine::discovery::definition_tokens;

use super::on_behalf::{OtherCaller, as_whom};
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::json as reply;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

/// Requests that are counted at the same time: each may hold a core for seconds.
static PLACES: Semaphore = Semaphore::const_new(1);
/// Requests of each caller that are counted or wait for it, so that none keeps the others away.
static WAITING: Mutex<BTreeMap<[String; 2], usize>> = Mutex::new(BTreeMap::new());
/// So many of them at the most.
const MOST_WAITING: usize = 4;

/// Tools whose own figures are told.
const MOST_TOOLS: usize = 1_000;
/// Names of each list.
const MOST_NAMES: usize = 1_000;

/// What one way of showing costs.
pub(crate) struct PromptCost {
    pub(crate) dialect: &'static str,
    /// What was asked for.
    pub(crate) mode: Discovery,
    /// How the tools are shown then.
    pub(crate) shown: &'static str,
    pub(crate) tokens: usize,
    /// Definitions that the model sees at first.
    pub(crate) listed: usize,
    pub(crate) because: String,
    /// Of a hundred tokens, how many fewer than where all is shown directly.
    pub(crate) saved: usize,
}

const MODES: [Discovery; 3] = [Discovery::Direct, Discovery::Lazy, Discovery::Auto];

/// What each API and each way of showing costs, those of one API together and direct first.
pub(crate) fn costs(
    crib: &Crib,
    caller: &Caller,
    request: &PlanRequest,
) -> Result<Vec<PromptCost>, PlanError> {
    let mut costs = Vec::new();
    for name in NAMES {
        let Some(wire) = dialect(name) else { continue };
        let mut direct = None;
        for mode in MODES {
            let own = request.clone().show(mode).api_defers(wire.defers()).told_in(name);
            let mut cost = costed(name, &*wire, mode, &crib.plan(caller, own)?);
            let direct = *direct.get_or_insert(cost.tokens);
            cost.saved = 100 * direct.saturating_sub(cost.tokens) / direct.max(1);
            costs.push(cost);
        }
    }
    Ok(costs)
}

fn costed(name: &'static str, wire: &dyn Dialect, mode: Discovery, plan: &Plan) -> PromptCost {
    let rendering = wire.rendering(plan);
    let upfront = wire.upfront(&rendering);
    // No tools are no text.
    let listed = plan.tools().filter(|tool| tool.exposure == Exposure::Listed).count();
    let is_empty = upfront.as_array().is_some_and(Vec::is_empty);
    let tokens = if is_empty { 0 } else { toolcrib_tokens::count(&upfront.to_string()) };
    let shown = match plan.shown().rest {
        Exposure::Listed => "in full",
        Exposure::Deferred => "held back by the API",
        Exposure::Hidden if plan.meta_tools().relay.is_none() => "in full",
        Exposure::Hidden => "found by tools",
    };
    let because = plan.shown().because.to_string();
    PromptCost { dialect: name, mode, shown, tokens, listed, because, saved: 0 }
}

impl PromptCost {
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "dialect": self.dialect,
            "mode": self.mode,
            "shown": self.shown,
            "definitions": self.listed,
            "tokens": self.tokens,
            "saved_percent": self.saved,
            "because": self.because,
        })
    }
}

/// Whose tools are counted.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct CostBody {
    /// The profile to look through.
    profile: Option<String>,
    /// Tools that the user chose.
    #[schemars(length(max = MOST_NAMES))]
    choices: Vec<String>,
    /// Tools that are out.
    #[schemars(length(max = MOST_NAMES))]
    disabled: Vec<String>,
    /// Counts what another caller is given; for the operator.
    #[serde(rename = "as")]
    on_behalf: Option<OtherCaller>,
}

pub(crate) fn count(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let body: CostBody = asked.json()?;
        if [&body.choices, &body.disabled].iter().any(|names| names.len() > MOST_NAMES) {
            let detail = format!("`choices` and `disabled` name {MOST_NAMES} tools at the most");
            return Err(HttpProblem::new(ProblemKind::InvalidBody, detail));
        }
        let crib = asked.crib(body.profile.as_deref())?;
        let caller = as_whom(&asked, body.profile.as_deref(), body.on_behalf.as_ref())?;
        let broken = |error: &dyn std::fmt::Display| {
            HttpProblem::new(ProblemKind::Broken, error.to_string())
        };
        let waiting = WaitingPlace::take(&asked.caller).ok_or_else(|| {
            let detail = format!("{MOST_WAITING} requests of this caller are being counted: wait");
            HttpProblem::new(ProblemKind::TooMany, detail)
        })?;
        let place = PLACES.acquire().await.map_err(|error| broken(&error))?;
        // Whoever asks for figures waits for them.
        crib.count_tokens().await;
        let request = PlanRequest {
            choices: body.choices,
            disabled: body.disabled,
            ..PlanRequest::default()
        };
        let counted = tokio::task::spawn_blocking(move || {
            let (_place, _waiting) = (place, waiting);
            let rows = costs(&crib, &caller, &request)?;
            let plan = crib.plan(&caller, request.show(Discovery::Direct))?;
            Ok::<_, PlanError>((rows, per_tool(&plan)))
        });
        let counted = counted.await.map_err(|error| broken(&error))?;
        let (rows, (tools, total)) = counted
            .map_err(|error| HttpProblem::new(ProblemKind::NothingLeft, error.to_string()))?;
        Ok(reply(&json!({
            "costs": rows.iter().map(PromptCost::to_json).collect::<Vec<_>>(),
            "per_tool": tools,
            "tools": total,
        })))
    })
}

/// A request of a caller that is counted, or waits for it.
struct WaitingPlace([String; 2]);

impl WaitingPlace {
    /// `None`: the caller has enough of them.
    fn take(caller: &Caller) -> Option<Self> {
        let name = [caller.tenant.clone(), caller.subject.clone()];
        let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
        let own = waiting.entry(name.clone()).or_default();
        let is_free = *own < MOST_WAITING;
        *own += usize::from(is_free);
        is_free.then(|| Self(name))
    }
}

impl Drop for WaitingPlace {
    fn drop(&mut self) {
        let mut waiting = WAITING.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(own) = waiting.get_mut(&self.0) {
            *own -= 1;
            if *own == 0 {
                waiting.remove(&self.0);
            }
        }
    }
}

/// What the definition of each visible tool takes, the dearest first.
fn per_tool(plan: &Plan) -> (Vec<Value>, usize) {
    let catalog = plan.catalog();
    let weighed = definition_tokens(catalog);
    let mut rows: Vec<_> = catalog
        .loaded()
        .iter()
        .zip(weighed.tokens)
        .filter(|(tool, _)| plan.get(tool.spec.name.as_str()).is_some())
        .map(|(tool, tokens)| (tokens, tool.spec.name.clone()))
        .collect();
    rows.sort_by(|(one, left), (other, right)| other.cmp(one).then(left.cmp(right)));
    let total = rows.len();
    let told = rows.into_iter().take(MOST_TOOLS);
    (told.map(|(tokens, tool)| json!({ "tool": tool, "tokens": tokens })).collect(), total)
}
