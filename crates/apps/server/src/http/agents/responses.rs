//! `/v1/responses`: an agent's answer as items, which is a run that is written down.

mod approvals;
pub(crate) mod conversations;
mod early;
mod feed;
mod open_calls;
mod request;
mod socket;
mod thread;

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::mpsc::{Sender, channel};
use tokio_util::sync::DropGuard;
use toolcrib_core::{Caller, LedgerError, RunStage};

use super::api_error::ApiError;
use super::live::live_run::{LiveRun, is_edit};
use super::live::recovery;
use super::output::{event, response_id, response_of};
use crate::http::routes::reply::{self, HttpReply};
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;
use feed::ResponseFeed;
pub(in crate::http) use request::{not_begun, order, order_as};
pub(crate) use socket::connect;
pub(super) use thread::before;
use thread::{missing, run_id, unreadable};

/// Events that wait for a reader.
const WAITING: usize = 256;

pub(crate) fn create(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let body: Value = asked.json()?;
        let ordered = match order(&asked, &body, None).await? {
            Ok(ordered) => ordered,
            Err(error) => return Ok(error.reply()),
        };
        let is = |key: &str| body.get(key).and_then(Value::as_bool) == Some(true);
        let (is_background, is_streamed) = (is("background"), is("stream"));
        if is_streamed && ordered.decides() {
            return early::create(asked, body, ordered).await;
        }
        let ordered = match ordered.decided(&asked).await? {
            Ok(ordered) => ordered,
            Err(error) => return Ok(error.reply()),
        };
        let live = match ordered.begin(&asked, &body, None).await {
            Ok(live) => live,
            Err(error) => return Ok(not_begun(&error).reply()),
        };
        let gone = gone_with(&live, is_background);
        if is_streamed {
            return Ok(stream(live, 0, gone));
        }
        if !is_background {
            live.ended().await;
        }
        drop(gone);
        Ok(reply::json(&response_of(&live)))
    })
}

/// Who goes away gives the run up with this, unless it works in the background.
fn gone_with(live: &LiveRun, is_background: bool) -> Option<DropGuard> {
    (!is_background).then(|| live.cancel.clone().drop_guard())
}

/// The events from one on, those that were there and those that come.
fn stream(live: Arc<LiveRun>, from: u64, gone: Option<DropGuard>) -> HttpReply {
    let (sender, waiting) = channel(WAITING);
    tokio::spawn(async move { tell(live, from, &sender).await });
    reply::events(waiting, gone)
}

async fn tell(live: Arc<LiveRun>, from: u64, reader: &Sender<Bytes>) {
    let mut feed = ResponseFeed::new(live);
    loop {
        let told = tokio::select! {
            told = feed.next() => told,
            () = reader.closed() => return,
        };
        let Some(told) = told else { break };
        for told in told {
            let number = told.get("sequence_number").and_then(Value::as_u64);
            if number.is_some_and(|number| number < from) {
                continue;
            }
            let name = told.get("type").and_then(Value::as_str);
            if reader.send(event(name, &told)).await.is_err() {
                return;
            }
        }
    }
    if feed.is_over() {
        let _ = reader.send(Bytes::from_static(b"data: [DONE]\n\n")).await;
    }
}

/// The run that an id stands for. `follows`: what is still to come is listened to.
async fn found(
    asked: &GatewayRequest,
    caller: &Caller,
    follows: bool,
) -> Result<Arc<LiveRun>, ApiError> {
    let id = asked.segment();
    let run = run_id(id).ok_or_else(|| missing(id))?;
    let runs = &asked.gateway.runs;
    let live: Result<_, LedgerError> =
        if follows { runs.follow(run, caller).await } else { runs.find(run, caller).await };
    let live = live.map_err(|error| unreadable(&error))?;
    live.filter(|live| !is_edit(&live.meta.agent)).ok_or_else(|| missing(id))
}

pub(crate) fn show(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let is_streamed = asked.query.get("stream") == Some("true");
        let live = match found(&asked, &asked.caller, is_streamed).await {
            Ok(live) => live,
            Err(error) => return Ok(error.reply()),
        };
        if is_streamed {
            let after = asked.query.get("starting_after");
            let after = after.and_then(|after| after.parse::<u64>().ok());
            return Ok(stream(live, after.map_or(0, |after| after.saturating_add(1)), None));
        }
        Ok(reply::json(&response_of(&live)))
    })
}

pub(crate) fn forget(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let live = match found(&asked, &asked.caller, true).await {
            Ok(live) => live,
            Err(error) => return Ok(error.reply()),
        };
        let forgotten = match end(&asked, &live).await {
            Ok(()) => asked.gateway.runs.ledger.forget(&asked.caller, &live.meta.id).await,
            Err(error) => Err(error),
        };
        match forgotten {
            Ok(true) => {}
            Ok(false) => return Ok(missing(asked.segment()).reply()),
            Err(error) => return Ok(unreadable(&error).reply()),
        }
        let id = response_id(&live.meta.id);
        Ok(reply::json(&json!({ "id": id, "object": "response", "deleted": true })))
    })
}

/// Cancels a run that has not ended, and waits for its end.
pub(in crate::http) async fn end(
    asked: &GatewayRequest,
    live: &Arc<LiveRun>,
) -> Result<(), LedgerError> {
    if live.stage() == RunStage::Ended {
        return Ok(());
    }
    live.cancel.cancel();
    // One that waits is driven by nobody. As long as it is held here, it is the one that is taken up.
    recovery::take_up(&asked.gateway, &live.meta.id).await?;
    live.ended().await;
    Ok(())
}

pub(crate) fn cancel(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let live = match found(&asked, &asked.caller, true).await {
            Ok(live) => live,
            Err(error) => return Ok(error.reply()),
        };
        if let Err(error) = end(&asked, &live).await {
            return Ok(unreadable(&error).reply());
        }
        Ok(reply::json(&response_of(&live)))
    })
}

pub(crate) fn input_items(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let live = match found(&asked, &asked.caller, false).await {
            Ok(live) => live,
            Err(error) => return Ok(error.reply()),
        };
        let items = &live.meta.request.input;
        let id = |item: Option<&Value>| item.and_then(|item| item.get("id")).cloned();
        Ok(reply::json(&json!({
            "object": "list", "data": items, "first_id": id(items.first()),
            "last_id": id(items.last()), "has_more": false,
        })))
    })
}
