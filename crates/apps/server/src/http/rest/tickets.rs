//! `/v1/tickets`: the calls that wait for a person, to run or to go on.

pub(crate) mod denial;

use std::time::Duration;

use http::{HeaderValue, header};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value, json};
use toolcrib_auth::{AccessLevel, ProtectedResource, is_operator, needed, reach};
use toolcrib_core::{
    BatchOptions, Caller, Decision, Effect, ErrorKind, ParkedCall, Redemption, Response, Run,
    TicketError, TicketId, canonical,
};
use toolcrib_engine::Crib;
use toolcrib_json::invisible::exact_json;

use super::plan::{asked_dialect, names};
use crate::http::page::role::{APPROVE, approves};
use crate::http::pipeline::authentication::lacking;
use crate::http::rest::batch::job::told;
use crate::http::rest::records::listing::{noted, silent};
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::{HttpReply, json_bytes};
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

/// How long whoever comes too late waits for the end of the one that came first.
const PATIENCE: Duration = Duration::from_secs(30);

/// What a person says to a call.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = leaves_out)]
pub(crate) struct TicketBody {
    decision: BodyDecision,
    /// What a call asks for that runs already: the fields of its question, filled in. Of no account
    /// beside `deny`.
    #[serde(default, deserialize_with = "filled")]
    #[schemars(schema_with = "object")]
    content: Option<Value>,
    /// Why not; the model is told.
    reason: Option<String>,
    /// The profile that the call was made under: under another one there is no such ticket.
    profile: Option<String>,
    /// The arguments as the person saw them: the call runs only if they are those that wait.
    #[schemars(extend("type" = "object"))]
    arguments: Option<Value>,
    /// The conversation so far, for the numbers of its sources.
    #[serde(default, deserialize_with = "super::plan::remembered")]
    #[schemars(schema_with = "super::plan::run")]
    run: Option<Run>,
    /// The model API to write the answer for.
    #[schemars(extend("enum" = names()))]
    dialect: Option<String>,
}

/// What is filled in is an object, if anything is.
fn filled<'de, D: Deserializer<'de>>(fields: D) -> Result<Option<Value>, D::Error> {
    Map::deserialize(fields).map(|fields| Some(Value::Object(fields)))
}

fn object(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "object" })
}

/// Where nothing is filled in there is no field.
fn leaves_out(body: &mut Schema) {
    if let Some(content) = body.pointer_mut("/properties/content").and_then(Value::as_object_mut) {
        content.shift_remove("default");
    }
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum BodyDecision {
    /// Runs the call as it was made, or answers what it asks.
    Approve,
    /// Refuses the call, or an answer to it.
    Deny,
}

const DEFAULT_PAGE: usize = 50;
pub(crate) const LARGEST_PAGE: usize = 500;
/// Bytes of arguments that a list shows of a ticket; those of more are in the ticket alone.
const SHOWN: usize = 4 * 1024;

/// Those of the caller; of all callers, for the operator.
pub(crate) fn list(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let cursor = asked.query.get("cursor").filter(|cursor| !cursor.is_empty());
        let after = cursor.map(str::parse).transpose().map_err(|_| {
            let detail = "the cursor is none of this list: begin without one";
            HttpProblem::new(ProblemKind::UnknownCursor, detail)
        })?;
        let limit = asked.query.number("limit", DEFAULT_PAGE);
        let of = (!decides_for_all(&asked.caller)).then_some(&*asked.caller);
        let page = asked.gateway.live.crib().open_tickets(of, after.unwrap_or(0), limit).await;
        let page = page.map_err(|error| silent(&asked, error))?;
        let entered = page.tickets.into_iter().filter(|parked| enters(&asked.caller, parked));
        let tickets: Vec<_> = entered.map(in_short).collect();
        let mut answer = json!({ "tickets": tickets });
        if let (Some(next), Value::Object(fields)) = (page.next, &mut answer) {
            fields.insert("cursor".to_owned(), next.to_string().into());
        }
        Ok(written_out(&answer))
    })
}

/// One that waits, with all of its arguments.
pub(crate) fn show(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let ticket = TicketId::claimed(asked.segment());
        let (_, parked) = waiting(&asked, &ticket).await?;
        let parked = parked.filter(|parked| enters(&asked.caller, parked));
        let parked = parked.ok_or_else(|| refused(&TicketError::Unknown))?;
        let unlike = asked.gateway.telemetry.watched.unlike_approved(&parked);
        let mut row = shown(parked);
        if let Value::Object(fields) = &mut row {
            fields.insert("unlike_approved".to_owned(), unlike);
        }
        Ok(written_out(&row))
    })
}

/// The same JSON with every letter as an escape that whoever decides would not see.
fn written_out(answer: &Value) -> HttpReply {
    json_bytes(exact_json(&answer.to_string()).into_owned().into())
}

/// Whether the tickets of all callers are there for this one: for an operator who may call all that
/// they may.
pub(crate) fn decides_for_all(caller: &Caller) -> bool {
    is_operator(caller) && reach(caller, None) == AccessLevel::All
}

/// Whose ticket it is for this caller, and the call as long as it waits. To all but the operator
/// there are none but their own.
async fn waiting(
    asked: &GatewayRequest,
    ticket: &TicketId,
) -> Result<(Caller, Option<ParkedCall>), HttpProblem> {
    let crib = asked.gateway.live.crib();
    let unread = |error| silent(asked, error);
    let owner = if decides_for_all(&asked.caller) {
        crib.owner(ticket).await.map_err(unread)?.filter(|owner| !owner.is(&asked.caller))
    } else {
        None
    };
    let owner = owner.unwrap_or_else(|| Caller::clone(&asked.caller));
    let parked = crib.ticket(&owner, ticket).await.map_err(unread)?;
    // With the scopes that the call was made with, where it is somebody else's.
    let made_by = parked.as_ref().map(|parked| parked.caller.clone());
    let owner = made_by.filter(|_| !owner.is(&asked.caller)).unwrap_or(owner);
    Ok((owner, parked))
}

fn in_short(parked: ParkedCall) -> Value {
    let mut row = shown(parked);
    if let Value::Object(fields) = &mut row
        && let Some(arguments) = fields.get("arguments").map(ToString::to_string)
        && arguments.len() > SHOWN
    {
        let begin = arguments.get(..arguments.floor_char_boundary(SHOWN)).unwrap_or_default();
        fields.insert("arguments".to_owned(), Value::Null);
        fields.insert("arguments_begin".to_owned(), exact_json(begin).into());
    }
    row
}

fn shown(parked: ParkedCall) -> Value {
    let question = parked.question;
    let mut row = json!({
        "ticket": parked.ticket,
        "tenant": parked.caller.tenant,
        "caller": parked.caller.subject,
        "tool": parked.tool,
        "source": parked.source,
        "fingerprint": parked.fingerprint,
        "digest": parked.arguments.digest(),
        "arguments": parked.arguments.into_value(),
        "reason": parked.reason,
        "session": parked.session,
        "profile": parked.profile,
        "call_id": parked.call_id,
        "lifetime_seconds": parked.lifetime.as_secs(),
    });
    if let (Some(question), Value::Object(fields)) = (question, &mut row) {
        fields.insert("question".to_owned(), *question);
    }
    row
}

pub(crate) fn decide(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let body: TicketBody = asked.json()?;
        let dialect = asked_dialect(body.dialect.as_deref())?;
        let ticket = TicketId::claimed(asked.segment());
        let (owner, parked) = waiting(&asked, &ticket).await?;
        let said = (body.profile.as_deref(), body.arguments.as_ref());
        let crib = crib_for(&asked, parked, said)?;
        let decision = match (body.decision, body.content) {
            (BodyDecision::Approve, None) => Decision::Approve,
            (BodyDecision::Approve, Some(content)) => Decision::Answer { content },
            // Whoever refuses may have begun to fill it in.
            (BodyDecision::Deny, _) => Decision::Deny {
                reason: body.reason.unwrap_or_else(|| "a person said no".to_owned()),
            },
        };
        let run = body.run.unwrap_or_default();
        let response = redeemed(&asked, crib, (owner, ticket), decision, run).await?;
        let mut answer = json!({ "response": told(&response, &asked.caller) });
        if let (Some(dialect), Value::Object(fields)) = (dialect, &mut answer) {
            fields.insert("messages".to_owned(), json!([dialect.late(&response)]));
        }
        Ok(written_out(&answer))
    })
}

/// Decides about a ticket of the caller's own, under the profile that its call was made under.
pub(crate) async fn decide_own(
    asked: &GatewayRequest,
    ticket: &TicketId,
    decision: Decision,
) -> Result<(), HttpProblem> {
    let parked = asked.gateway.live.crib().ticket(&asked.caller, ticket).await;
    let parked = parked.map_err(|error| silent(asked, error))?;
    let crib = crib_for(asked, parked, (None, None))?;
    let owner = Caller::clone(&asked.caller);
    redeemed(asked, crib, (owner, ticket.clone()), decision, Run::default()).await?;
    Ok(())
}

/// The same of one that somebody may have decided about already: then nothing is decided, and what
/// is on record is told. The call as it waited, if it did, and what came of it, if that is known.
///
/// `profile`: that of its call, where it waits no more.
pub(crate) async fn decide_once(
    asked: &GatewayRequest,
    ticket: &TicketId,
    decision: Decision,
    profile: Option<&str>,
) -> Result<(Option<ParkedCall>, Option<Response>), HttpProblem> {
    let parked = asked.gateway.live.crib().ticket(&asked.caller, ticket).await;
    let parked = parked.map_err(|error| silent(asked, error))?;
    let Some(parked) = parked else {
        let crib = asked.crib(profile)?;
        return Ok((None, recorded(&crib, &asked.caller, ticket).await));
    };
    let crib = crib_for(asked, Some(parked.clone()), (None, None))?;
    let owner = (Caller::clone(&asked.caller), ticket.clone());
    match redeemed(asked, crib.clone(), owner, decision, Run::default()).await {
        Ok(response) => Ok((Some(parked), Some(response))),
        Err(problem) => match recorded(&crib, &asked.caller, ticket).await {
            Some(response) => Ok((Some(parked), Some(response))),
            None => Err(problem),
        },
    }
}

async fn redeemed(
    asked: &GatewayRequest,
    crib: Crib,
    (owner, ticket): (Caller, TicketId),
    decision: Decision,
    run: Run,
) -> Result<Response, HttpProblem> {
    // A ticket is good for one run: who goes away meanwhile does not spoil it.
    let caller = asked.caller.clone();
    let options = BatchOptions {
        trace: Some(asked.trace),
        decider: Some(caller.clone()),
        ..BatchOptions::default()
    };
    let deciding = tokio::spawn(async move {
        let (owner, ticket, run) = (&owner, &ticket, &run);
        match crib.redeem(Redemption { caller: owner, ticket, decision, run, options }).await {
            Err(TicketError::Used) => {
                Err(used(recorded(&crib, owner, ticket).await.as_ref(), &caller))
            }
            decided => decided.map_err(|error| refused(&error)),
        }
    });
    deciding.await.map_err(|_| {
        HttpProblem::new(
            ProblemKind::OutcomeUnknown,
            "the call broke off: look before you repeat it",
        )
    })?
}

/// What came of a ticket that somebody redeemed before; whoever comes too late waits for the end of
/// the one that came first.
pub(crate) async fn recorded(crib: &Crib, owner: &Caller, ticket: &TicketId) -> Option<Response> {
    crib.redeemed(owner, ticket, PATIENCE).await.ok().flatten()
}

/// The crib under the profile that the request names, or else under that of the ticket. The
/// arguments that it says, if any, are those that wait.
fn crib_for(
    asked: &GatewayRequest,
    parked: Option<ParkedCall>,
    (profile, arguments): (Option<&str>, Option<&Value>),
) -> Result<Crib, HttpProblem> {
    // A token may be a program's, which decides about its own calls; a person who looks on does not.
    if asked.session.is_some() && !approves(&asked.caller) {
        return Err(lacking(&asked.gateway.guard.access(), ProtectedResource::Whole, APPROVE));
    }
    if let Some(parked) = &parked
        && !decides(asked.gateway.live.crib(), &asked.caller, parked)
    {
        let profile = parked.profile.as_deref();
        let resource = profile.map_or(ProtectedResource::Whole, ProtectedResource::Profile);
        return Err(lacking(&asked.gateway.guard.access(), resource, &needed(profile)));
    }
    if let (Some(parked), Some(arguments)) = (&parked, arguments)
        && !canonical::same(arguments, &parked.arguments.clone().into_value())
    {
        let detail = "these are not the arguments of the call that waits: look at it again";
        return Err(HttpProblem::new(ProblemKind::TicketRefused, detail));
    }
    if profile.is_some() {
        return asked.crib(profile);
    }
    let profile = parked.and_then(|parked| parked.profile);
    asked.permit(profile.as_deref())?;
    let gone = "the profile that the call was made under is gone: make the call again";
    asked.crib(profile.as_deref()).map_err(|_| HttpProblem::new(ProblemKind::TicketRefused, gone))
}

/// Whether a token gets into the profile of a ticket: the same person may have others that do.
pub(crate) fn enters(caller: &Caller, parked: &ParkedCall) -> bool {
    reach(caller, parked.profile.as_deref()) > AccessLevel::Nothing
}

/// Whether a token may say yes or no to a call, which uses the ticket up: only one that could have
/// made the call. What cannot be looked up any more is taken for a tool that writes.
pub(crate) fn decides(crib: &Crib, caller: &Caller, parked: &ParkedCall) -> bool {
    match reach(caller, parked.profile.as_deref()) {
        AccessLevel::Nothing => false,
        AccessLevel::All => true,
        AccessLevel::Reads => {
            let catalog = crib.catalog();
            let tool = catalog.get(parked.tool.as_str());
            tool.is_some_and(|tool| tool.spec.effect == Effect::Read)
        }
    }
}

/// A ticket that was redeemed before; who asks again is told what came of it.
fn used(recorded: Option<&Response>, caller: &Caller) -> HttpProblem {
    let problem = refused(&TicketError::Used);
    match recorded {
        Some(response) => problem.telling("recorded", told(response, caller)),
        None => problem,
    }
}

fn refused(error: &TicketError) -> HttpProblem {
    let kind = match error {
        TicketError::Unknown => ProblemKind::UnknownTicket,
        TicketError::Unfit(_) => ProblemKind::InvalidBody,
        TicketError::Expired
        | TicketError::NoQuestion
        | TicketError::Used
        | TicketError::Changed(_)
        | TicketError::Otherwise { .. } => ProblemKind::TicketRefused,
        TicketError::Away { kind: ErrorKind::SourceStarting, .. } => ProblemKind::SourceStarting,
        TicketError::Away { .. } => ProblemKind::Unavailable,
        TicketError::Ledger(fault) => {
            noted(fault.clone());
            ProblemKind::Unavailable
        }
    };
    if matches!(error, TicketError::Unknown) {
        // The rest of its words is the title.
        return HttpProblem::new(kind, "list the open ones, or make the call again");
    }
    let problem = HttpProblem::new(kind, error.to_string());
    if matches!(error, TicketError::Away { .. }) {
        return problem.with(header::RETRY_AFTER, HeaderValue::from_static("1"));
    }
    problem
}
