//! `/v1/calls`: the calls of a model, answered as its API wants them.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, header};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use toolcrib_auth::profiles;
use toolcrib_core::{
    BatchOptions, Call, ErrorKind, IdempotencyKey, KeyResult, KeyState, LONGEST_KEY, PlanRequest,
    failpoint,
};

use super::plan::{asked_dialect, names};
use crate::http::pipeline::host_check::single;
use crate::http::rest::batch::events;
use crate::http::rest::batch::idempotency;
use crate::http::rest::batch::job::{BatchJob, BatchReply};
use crate::http::rest::batch::replay_access::{hears, hears_anyway};
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::{HttpReply, json as reply, json_bytes};
use crate::http::routes::request::{GatewayRequest, of_object};
use crate::http::routes::route::ReplyFuture;

pub(crate) const KEY: HeaderName = HeaderName::from_static("idempotency-key");
const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// Calls of one request. Those beyond the limit of a batch are answered too, and more than a model
/// ever writes would be nothing but answers.
const MOST_CALLS: usize = 1000;

/// The calls of one turn of a model.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CallsBody {
    /// The plan that the model was shown. Without one, a plan is made without wishes.
    plan: Option<String>,
    /// The profile to run under; a plan has its own, which this may repeat.
    profile: Option<String>,
    /// The model API that wrote the calls. Without one they are `{id, name, arguments}`.
    #[schemars(extend("enum" = names()))]
    dialect: Option<String>,
    /// The calls as the model wrote them: a list, a message or the whole reply of the API.
    #[schemars(extend("type" = ["array", "object"], "maxItems" = MOST_CALLS))]
    calls: Value,
    /// Those among them that this caller made before and cancelled are meant once more.
    #[serde(default)]
    again: bool,
}

/// A call in no model's words.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PlainCall {
    #[serde(default, rename = "id")]
    _id: Option<String>,
    name: String,
    #[serde(default)]
    arguments: Option<Value>,
}

pub(crate) fn stop(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let batch = asked.gateway.running.stop(asked.segment(), &asked.caller);
        Ok(reply(&batch.ok_or_else(over)?))
    })
}

/// The batches of all callers that run now.
pub(crate) fn running(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move { Ok(reply(&json!({ "running": asked.gateway.running.all() }))) })
}

/// Cancels a batch of whomever.
pub(crate) fn stop_any(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let batch = asked.gateway.running.stop_any(asked.segment());
        Ok(reply(&batch.ok_or_else(|| {
            let detail = "no batch runs under this name: it may be over";
            HttpProblem::new(ProblemKind::UnknownCall, detail)
        })?))
    })
}

pub(crate) fn over() -> HttpProblem {
    HttpProblem::new(
        ProblemKind::UnknownCall,
        "no batch of this caller runs under this name: it may be over",
    )
}

pub(crate) fn run(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let work = match work(&asked) {
            Ok(work) => work,
            Err(problem) => return before(&asked, problem).await,
        };
        if let Some(problem) = starting(&work) {
            let hears = hears(&work, &asked.caller);
            return if hears { before(&asked, problem).await } else { Err(problem) };
        }
        let streams = wants_events(&asked.headers);
        let key = key(&asked)?;
        if let Some(key) = &key
            && let Some(reply) = begin(&asked, key, &work).await?
        {
            return Ok(reply);
        }
        // The key is ours now: who hangs up at an await or is refused here would hold it for good,
        // so that neither stands before `keep` has it.
        let replies = asked.gateway.replies.clone();
        if streams {
            return Ok(events::stream(work, key, replies));
        }
        let options = BatchOptions { cancel: work.cancel.clone(), ..BatchOptions::default() };
        let Some(key) = key else {
            let BatchReply { reply: done, .. } = work.done(options).await;
            failpoint::reached("replying");
            return Ok(json_bytes(done));
        };
        // Who goes away and comes back with the key finds the reply.
        let options = BatchOptions { key: Some(key.clone()), ..options };
        let done = tokio::spawn(replies.keep(key, work.done(options))).await;
        failpoint::reached("replying");
        done.map(json_bytes).map_err(|_| lost())
    })
}

/// Whether a call names a tool that may be there in a moment: then nothing of the request runs, and
/// its key stays free.
fn starting(work: &BatchJob) -> Option<HttpProblem> {
    let (missing, executor) = (work.crib.missing(), work.crib.executor());
    let bounds = &executor.limits().arguments;
    work.calls.iter().filter(|call| call.fault.is_none()).find_map(|call| {
        let raw = || call.arguments.clone();
        let meant = work.plan.meant(&call.name, raw, bounds);
        let name = meant.as_deref().unwrap_or(&call.name);
        let error = work.plan.missing(name, &missing)?;
        (error.kind == ErrorKind::SourceStarting).then(|| HttpProblem::starting(name))
    })
}

/// Whether a client takes events, and nothing simpler that we have.
fn wants_events(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let kinds = values.flat_map(|value| value.split(','));
    let names = kinds.map(|kind| kind.split_once(';').map_or(kind, |(kind, _)| kind).trim());
    let names: Vec<_> = names.map(str::to_ascii_lowercase).collect();
    let takes = |wanted: &str| names.iter().any(|name| name == wanted);
    takes("text/event-stream") && !takes("application/json")
}

/// Everything that a run needs; what is wrong with the request is told before its key is used.
fn work(asked: &GatewayRequest) -> Result<BatchJob, HttpProblem> {
    work_of(asked, asked.json()?)
}

fn work_of(asked: &GatewayRequest, body: CallsBody) -> Result<BatchJob, HttpProblem> {
    let dialect = asked_dialect(body.dialect.as_deref())?;
    let (crib, plan, profile) = match (&body.plan, body.profile) {
        (Some(id), profile) => {
            let pinned = asked.gateway.plans.get(id, &asked.caller).ok_or_else(|| {
                let detail =
                    "nobody has used it for an hour, or it never was: make one with `/v1/plan`";
                HttpProblem::new(ProblemKind::UnknownPlan, detail)
            })?;
            if profile.is_some() && profile != pinned.profile {
                let detail = "leave `profile` out";
                return Err(HttpProblem::new(ProblemKind::OtherProfile, detail));
            }
            (asked.crib(pinned.profile.as_deref())?, pinned.plan, pinned.profile)
        }
        (None, profile) => {
            let crib = asked.crib(profile.as_deref())?;
            let plan = crib.plan(&asked.caller, PlanRequest::default());
            let plan = plan
                .map_err(|error| HttpProblem::new(ProblemKind::NothingLeft, error.to_string()))?;
            (crib, plan, profile)
        }
    };
    if !(body.calls.is_array() || body.calls.is_object()) {
        let detail = "`calls` must be a list or an object";
        return Err(HttpProblem::new(ProblemKind::InvalidBody, detail));
    }
    let mut calls = match &dialect {
        Some(dialect) => {
            let calls = dialect.calls(&plan, &body.calls);
            calls.map_err(|why| HttpProblem::new(ProblemKind::NotAReply, why.to_string()))?
        }
        None => plain(body.calls),
    };
    if calls.len() > MOST_CALLS {
        let detail = format!("one request has {MOST_CALLS} calls at the most");
        return Err(HttpProblem::new(ProblemKind::InvalidBody, detail));
    }
    for call in &mut calls {
        call.anew = body.again;
    }
    let gateway = &asked.gateway;
    let cancel = tokio_util::sync::CancellationToken::new();
    let listing = gateway.running.list(&asked.caller, &calls, cancel.clone());
    let (trace, trace_state) = (asked.trace, asked.trace_state.clone());
    Ok(BatchJob { crib, plan, profile, calls, dialect, cancel, listing, trace, trace_state })
}

/// Total, as the dialects are: what is no call is answered as one that says so.
fn plain(calls: Value) -> Vec<Call> {
    let items = if let Value::Array(items) = calls { items } else { vec![calls] };
    let call = |(item, number): (Value, usize)| {
        let given = item.get("id").and_then(Value::as_str).map(ToOwned::to_owned);
        let named = given.is_some();
        let id = given.unwrap_or_else(|| format!("call_{number}"));
        match of_object::<PlainCall>(item) {
            Ok(call) => Call { named, ..Call::new(id, call.name, call.arguments.into()) },
            Err(error) => {
                Call::malformed(id, format!("this is no `{{id, name, arguments}}`: {error}"))
            }
        }
    };
    items.into_iter().zip(1..).map(call).collect()
}

fn key(asked: &GatewayRequest) -> Result<Option<IdempotencyKey>, HttpProblem> {
    let Some(key) = single(&asked.headers, &KEY)? else { return Ok(None) };
    let key = idempotency::key(&asked.caller, key);
    if !key.fits() {
        let detail = format!("`{KEY}` must have from 1 to {LONGEST_KEY} letters");
        return Err(HttpProblem::new(ProblemKind::BadRequest, detail));
    }
    Ok(Some(key))
}

/// The reply to give in place of a run; `None`: it may run.
async fn begin(
    asked: &GatewayRequest,
    key: &IdempotencyKey,
    work: &BatchJob,
) -> Result<Option<HttpReply>, HttpProblem> {
    let begun = asked.gateway.replies.begin(key, &asked.body).await.map_err(|_| {
        HttpProblem::new(
            ProblemKind::Unavailable,
            "the key cannot be put on record now: nothing ran",
        )
    })?;
    match begun {
        KeyState::New => Ok(None),
        // What was answered to a wider token is not for a narrower one.
        KeyState::Ended(_) if !hears(work, &asked.caller) => Err(HttpProblem::new(
            ProblemKind::InsufficientScope,
            "this key has a reply to calls that this token may not make: ask with the token that \
             made them",
        )),
        KeyState::Ended(reply) => Ok(Some(replayed(idempotency::bytes(reply)))),
        KeyState::Unknown => Err(lost()),
        KeyState::Running => {
            let wait = HeaderValue::from_static("1");
            let detail = "ask again once it is done";
            Err(HttpProblem::new(ProblemKind::KeyInUse, detail).with(header::RETRY_AFTER, wait))
        }
        KeyState::Conflict => {
            let detail = "this key came with another body before: use a new key";
            Err(HttpProblem::new(ProblemKind::KeyConflict, detail))
        }
    }
}

/// What a request that cannot run now was answered before: plans end with their server, and the
/// replies under keys do not. `problem`: what else there is to say.
async fn before(asked: &GatewayRequest, problem: HttpProblem) -> Result<HttpReply, HttpProblem> {
    let Some(key) = key(asked).ok().flatten() else { return Err(problem) };
    let Some(work) = without_plan(asked) else { return Err(problem) };
    let executor = asked.gateway.replies.0.executor();
    let ledger = executor.ledger();
    let recorded = ledger.recorded(&key).await.map_err(|_| {
        HttpProblem::new(ProblemKind::Unavailable, "the key cannot be looked up now: nothing ran")
    })?;
    if recorded == KeyState::New {
        return Err(problem);
    }
    if let Some(reply) = begin(asked, &key, &work).await? {
        return Ok(reply);
    }
    // It was forgotten meanwhile, and nothing runs under it.
    let _ = ledger.settle(&key, KeyResult::Free).await;
    Err(problem)
}

/// The calls as they would be made now, to see who hears of them. The plan knew its profile: a token
/// that opens only some may have made them under one of those.
fn without_plan(asked: &GatewayRequest) -> Option<BatchJob> {
    let under = |own: Option<String>| {
        let body: CallsBody = asked.json().ok()?;
        let own = own.filter(|_| body.plan.is_some());
        let profile = body.profile.clone().or(own);
        work_of(asked, CallsBody { plan: None, profile, ..body }).ok()
    };
    let mut own = profiles(&asked.caller).filter_map(|name| under(Some(name)));
    under(None).or_else(|| own.find(|work| hears_anyway(work, &asked.caller)))
}

fn replayed(bytes: Bytes) -> HttpReply {
    let mut reply = json_bytes(bytes);
    reply.headers_mut().insert(REPLAYED, HeaderValue::from_static("true"));
    reply
}

fn lost() -> HttpProblem {
    let detail = "calls of this request may have run, and their answers are not known: look before \
                  you send them under a new key";
    HttpProblem::new(ProblemKind::OutcomeUnknown, detail)
}
