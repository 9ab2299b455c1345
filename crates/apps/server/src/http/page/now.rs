//! `GET /v1/now`: what needs a person, of all that this caller may see, and the calls of the last
//! hour.

use std::sync::atomic::Ordering;

use jiff::Timestamp;
use serde_json::{Value, json};
use toolcrib_auth::is_operator;
use toolcrib_config::effects::told_of_undeclared;
use toolcrib_config::{OverlayRow, OverlayStanding, set_aside};
use toolcrib_core::ParkedCall;
use toolcrib_store::{CallFilter, CallState};

use crate::http::changes::freeze;
use crate::http::changes::overlay_answer::time;
use crate::http::rest::health::unready;
use crate::http::rest::records::listing::{shown_whole, silent};
use crate::http::rest::tickets::{decides_for_all, enters};
use crate::http::routes::problem::HttpProblem;
use crate::http::routes::reply::json as reply;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

/// Rows of each list; `more` says whether there are others.
const MOST: usize = 20;
/// Changes over the file that are told.
const LATEST: usize = 5;
/// Calls that wait and are looked at for those that go first.
const LOOKED_AT: usize = 500;

pub(crate) fn now(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let ready = unready(&asked.gateway).unwrap_or_else(|| json!({ "status": "ready" }));
        let tickets = tickets(&asked).await?;
        let unknown = unknown(&asked).await?;
        let mut told = json!({
            "at": Timestamp::now().to_string(),
            "ready": ready,
            "tickets": tickets,
            "unknown": unknown,
            "frozen": frozen(&asked),
            "overlay": null,
            "sources": null,
            "drift": null,
            "problems": null,
            "minutes": null,
        });
        if let (true, Value::Object(fields)) = (is_operator(&asked.caller), &mut told) {
            fields.insert("overlay".to_owned(), overlay(&asked));
            fields.insert("sources".to_owned(), sources(&asked));
            fields.insert("drift".to_owned(), drift(&asked));
            fields.insert("problems".to_owned(), problems(&asked).into());
            fields.insert("minutes".to_owned(), asked.gateway.telemetry.minutes.to_json());
        }
        Ok(reply(&told))
    })
}

/// The calls that wait, those that go first at the front.
async fn tickets(asked: &GatewayRequest) -> Result<Value, HttpProblem> {
    let of = (!decides_for_all(&asked.caller)).then_some(&*asked.caller);
    // They come by their numbers, and the one that goes first may be the last of them.
    let page = asked.gateway.live.crib().open_tickets(of, 0, LOOKED_AT).await;
    let page = page.map_err(|error| silent(asked, error))?;
    let entered = page.tickets.into_iter().filter(|parked| enters(&asked.caller, parked));
    let mut rows: Vec<_> = entered.collect();
    rows.sort_by_key(|parked| parked.lifetime);
    let more = rows.len() > MOST || page.next.is_some();
    rows.truncate(MOST);
    Ok(json!({ "rows": rows.iter().map(ticket).collect::<Vec<_>>(), "more": more }))
}

fn ticket(parked: &ParkedCall) -> Value {
    json!({
        "ticket": parked.ticket,
        "tenant": parked.caller.tenant,
        "caller": parked.caller.subject,
        "tool": parked.tool,
        "source": parked.source,
        "reason": parked.reason,
        "profile": parked.profile,
        "lifetime_seconds": parked.lifetime.as_secs(),
        "is_question": parked.question.is_some(),
    })
}

/// The calls of whose end nobody knows; null where no record is kept.
async fn unknown(asked: &GatewayRequest) -> Result<Value, HttpProblem> {
    let Some(store) = &asked.gateway.store else { return Ok(Value::Null) };
    let states = [CallState::OutcomeUnknown, CallState::Interrupted].into();
    let filter = CallFilter { states, ..CallFilter::default() };
    let page = if is_operator(&asked.caller) {
        store.calls_of_all(filter, None, MOST).await
    } else {
        store.calls(&asked.caller, filter, None, MOST).await
    };
    let page = page.map_err(|error| silent(asked, error))?;
    let rows: Vec<_> = page.calls.iter().map(short).collect();
    Ok(json!({ "rows": rows, "more": page.next.is_some() }))
}

fn short(call: &toolcrib_store::CallRecord) -> Value {
    let mut row = shown_whole(call);
    if let Value::Object(fields) = &mut row {
        let kept = ["key", "tool", "source", "effect", "planned", "state", "tenant", "caller"];
        fields.retain(|name, _| kept.contains(&name.as_str()));
    }
    row
}

/// What is frozen, as `GET /v1/freeze` tells it; null for whoever has no tools that could be.
fn frozen(asked: &GatewayRequest) -> Value {
    let Ok(Value::Object(mut told)) = freeze::told(asked) else { return Value::Null };
    let Some(Value::Array(rows)) = told.remove("freezes") else { return Value::Null };
    let more = rows.len() > MOST;
    // Those of now are at the end.
    let rows: Vec<_> = rows.into_iter().rev().take(MOST).collect();
    json!({ "rows": rows, "more": more, "unreadable": told.remove("unreadable") })
}

/// How many fields are changed over the file, and the last of them; null where none can be, and
/// where they cannot be read.
fn overlay(asked: &GatewayRequest) -> Value {
    let Ok(Some(served)) = asked.gateway.overlay.served() else { return Value::Null };
    let rows = served.overlay.rows.iter().zip(&served.standings);
    let holds = |standing: &OverlayStanding| {
        matches!(standing, OverlayStanding::InForce | OverlayStanding::FileDiffers)
    };
    let held: Vec<_> = rows.filter(|(_, own)| holds(own)).map(|(row, _)| row).collect();
    let row = |row: &&OverlayRow| {
        json!({
            "id": row.id,
            "path": row.path,
            "by": row.by,
            "at": time(row.at),
            "why": row.why,
            "until": row.until.map(time),
        })
    };
    let latest: Vec<_> = held.iter().rev().take(LATEST).map(row).collect();
    json!({ "n": held.len(), "latest": latest })
}

/// How many sources are well, and those that are not.
fn sources(asked: &GatewayRequest) -> Value {
    let all = asked.gateway.live.crib().sources();
    let has_started = asked.gateway.started.load(Ordering::Relaxed);
    let is_well = |state: &toolcrib_engine::catalog::SourceState| {
        state.error.is_none() && !state.stale && (state.age_seconds.is_some() || !has_started)
    };
    let count = all.iter().filter(|state| is_well(state)).count();
    let rows: Vec<_> = all.iter().filter(|state| !is_well(state)).take(MOST).collect();
    let more = all.len() - count > rows.len();
    json!({ "well": count, "rows": rows, "more": more })
}

/// The tools that are kept out since they are not what somebody looked at.
fn drift(asked: &GatewayRequest) -> Value {
    let catalog = asked.gateway.live.crib().catalog();
    let row = |tool: &toolcrib_core::QuarantinedTool| {
        json!({
            "tool": tool.spec.name,
            "source": tool.spec.origin.source,
            "reason": tool.reason.to_string(),
        })
    };
    let of_pins = catalog
        .quarantined()
        .iter()
        .filter(|tool| !matches!(tool.reason, toolcrib_core::QuarantineReason::NameTaken { .. }));
    let rows: Vec<_> = of_pins.clone().take(MOST).map(row).collect();
    json!({ "rows": rows, "more": of_pins.count() > MOST })
}

/// What is not right with the configuration, in words.
fn problems(asked: &GatewayRequest) -> Vec<String> {
    let live = &asked.gateway.live;
    let mut told = asked.gateway.refused_file();
    if asked.gateway.started.load(Ordering::Relaxed) {
        let catalog = live.crib().catalog();
        told.extend(set_aside(&catalog, &live.profiles()));
        told.extend(live.unknown_assigned().iter().map(ToString::to_string));
        told.extend(told_of_undeclared(&catalog));
    }
    told.truncate(MOST);
    told
}
