//! `/v1/responses`: an agent's answer as items, kept for those who come back.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::mpsc::channel;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use toolcrib::{Caller, Catalog};
use uuid::Uuid;

use super::api_error::ApiError;
use super::chosen::{agent_of, check_names};
use super::input;
use super::output::{ResponseWriter, event};
use super::running::{self, FinishedRun, RunOrder};
use super::store::{ResponseState, StoredResponse};
use crate::http::routes::problem::HttpProblem;
use crate::http::routes::reply::{self, HttpReply};
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

/// Events that wait for a reader.
const WAITING: usize = 256;
/// Responses of one caller that are worked on in the background at the same time.
const MOST_WORKING: usize = 32;

pub(crate) fn create(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let body: Value = asked.json()?;
        match order(&asked, &body)? {
            Ok(order) => Ok(answer(&asked, order, &body).await),
            Err(error) => Ok(error.reply()),
        }
    })
}

/// What is asked, and the items that the request brought.
pub(super) type Ordered = Result<(RunOrder, Vec<Value>), ApiError>;

pub(super) fn order(asked: &GatewayRequest, body: &Value) -> Result<Ordered, HttpProblem> {
    let (responses, caller) = (&asked.gateway.responses, &asked.caller);
    let is = |key: &str| body.get(key).and_then(Value::as_bool);
    let read = || {
        if is("background") == Some(true) && is("store") == Some(false) {
            let message = "what works in the background is kept: leave `store` out";
            return Err(ApiError::invalid("store", message));
        }
        let mut thread = match body.get("previous_response_id").and_then(Value::as_str) {
            None => Vec::new(),
            Some(id) => {
                let before = responses.find(id, caller).ok_or_else(|| missing(id))?;
                let state = before.state.borrow();
                if !state.is_over {
                    let message = format!("`{id}` is not over yet: wait for it, or cancel it");
                    return Err(ApiError::invalid("previous_response_id", message));
                }
                state.thread.clone()
            }
        };
        let given = body.get("input").cloned().unwrap_or_default();
        let resolve = |wanted: &HashSet<String>| responses.items(wanted, caller);
        let goes_on = !thread.is_empty();
        thread.extend(input::items(&given, goes_on, &resolve)?);
        let brought = if let Value::Array(items) = given {
            items
        } else if given.is_null() {
            Vec::new()
        } else {
            vec![json!({
                "type": "message", "id": format!("msg_{}", Uuid::new_v4().simple()),
                "role": "user", "status": "completed",
                "content": [{ "type": "input_text", "text": given }],
            })]
        };
        Ok((thread, brought, input::caller_tools(body)?))
    };
    let (thread, brought, caller_tools) = match read() {
        Ok(read) => read,
        Err(error) => return Ok(Err(error)),
    };
    let name = body.get("model").and_then(Value::as_str);
    let instructions = body.get("instructions").and_then(Value::as_str);
    let most = body.get("max_output_tokens").and_then(Value::as_u64);
    let most = most.and_then(|most| u32::try_from(most).ok());
    let agent = match agent_of(asked, name, instructions, most)? {
        Ok(agent) => agent,
        Err(error) => return Ok(Err(error)),
    };
    if let Err(error) = check_names(&agent, caller, &caller_tools) {
        return Ok(Err(error));
    }
    let caller = Arc::clone(caller);
    Ok(Ok((RunOrder { agent, caller, thread, caller_tools }, brought)))
}

fn missing(id: &str) -> ApiError {
    let message = format!("there is no response `{id}`: it was not stored, or is forgotten");
    ApiError::not_found("previous_response_not_found", message)
}

async fn answer(
    asked: &GatewayRequest,
    (order, brought): (RunOrder, Vec<Value>),
    body: &Value,
) -> HttpReply {
    let is = |key: &str| body.get(key).and_then(Value::as_bool) == Some(true);
    let is_kept = body.get("store").and_then(Value::as_bool) != Some(false);
    let responses = &asked.gateway.responses;
    if is("background") && responses.working(&order.caller) >= MOST_WORKING {
        let message = format!("{MOST_WORKING} responses of yours are worked on: wait for one");
        return ApiError::too_many(message).reply();
    }
    let id = format!("resp_{}", Uuid::new_v4().simple());
    let names = order.caller_tools.iter().map(|tool| tool.name.clone()).collect();
    let writer = ResponseWriter::new(&id, &order.agent.name, body, names);
    let cancel = asked.gateway.stop.child_token();
    let state = ResponseState { response: writer.response(), ..ResponseState::default() };
    let stored = Arc::new(StoredResponse {
        id,
        caller: Arc::clone(&order.caller),
        weight: AtomicUsize::new(weight(&brought)),
        input: brought,
        state: watch::Sender::new(state),
        cancel: cancel.clone(),
    });
    if is_kept {
        responses.keep(Arc::clone(&stored));
    }
    // Who goes away gives the run up, unless it works in the background.
    let gone = (!is("background")).then(|| cancel.clone().drop_guard());
    let working = work(Arc::clone(&stored), writer, order, cancel);
    let gateway = Arc::clone(&asked.gateway);
    tokio::spawn(async move {
        working.await;
        gateway.responses.trim();
    });
    if is("stream") {
        return stream(stored, 0, gone);
    }
    if is("background") {
        return reply::json(&stored.state.borrow().response);
    }
    let mut state = stored.state.subscribe();
    // It cannot be dropped before it is over.
    let _ = state.wait_for(|state| state.is_over).await;
    drop(gone);
    reply::json(&stored.state.borrow().response)
}

/// Runs, and writes down what comes of it.
async fn work(
    stored: Arc<StoredResponse>,
    mut writer: ResponseWriter,
    order: RunOrder,
    cancel: CancellationToken,
) {
    let catalog: Arc<Catalog> = order.agent.crib.catalog();
    let note = |writer: &ResponseWriter, events: Vec<Value>| {
        if events.is_empty() {
            return;
        }
        // What is written comes in many pieces, and is seen once it is whole.
        let is_piece = |event: &Value| {
            let kind = event.get("type").and_then(Value::as_str);
            kind.and_then(|kind| kind.rsplit('.').next()) == Some("delta")
        };
        let response = (!events.iter().all(is_piece)).then(|| writer.response());
        stored.state.send_modify(|state| {
            state.response = response.unwrap_or_else(|| std::mem::take(&mut state.response));
            state.events.extend(events);
        });
    };
    let began = writer.begin();
    note(&writer, began);
    let (mut events, running) = running::begin(order, cancel);
    while let Some(told) = events.recv().await {
        let events = writer.hear(&told, &catalog);
        note(&writer, events);
    }
    // A run that broke is over too.
    let finished = running.await.unwrap_or_else(|_| FinishedRun::broken());
    let events = writer.end(&finished.end, &finished.usage);
    let thread = serde_json::to_vec(&finished.thread).map_or(0, |thread| thread.len());
    let told = stored.state.borrow().events.iter().chain(&events).map(size).sum::<usize>();
    stored.weight.fetch_add(thread.saturating_add(told), Ordering::Relaxed);
    stored.state.send_modify(|state| {
        state.response = writer.response();
        state.events.extend(events);
        state.thread = finished.thread;
        state.is_over = true;
    });
}

/// What the items of a request weigh.
fn weight(items: &[Value]) -> usize {
    items.iter().map(size).sum::<usize>() + 4096
}

fn size(value: &Value) -> usize {
    value.to_string().len()
}

/// The events from one on, those that were there and those that come.
fn stream(
    stored: Arc<StoredResponse>,
    from: usize,
    gone: Option<tokio_util::sync::DropGuard>,
) -> HttpReply {
    let (sender, waiting) = channel(WAITING);
    tokio::spawn(async move {
        let mut state = stored.state.subscribe();
        let mut sent = from;
        loop {
            let (events, is_over) = {
                let now = state.borrow_and_update();
                (now.events.get(sent..).unwrap_or_default().to_vec(), now.is_over)
            };
            sent += events.len();
            for told in events {
                let name = told.get("type").and_then(Value::as_str);
                if sender.send(event(name, &told)).await.is_err() {
                    return;
                }
            }
            if is_over {
                let _ = sender.send(Bytes::from_static(b"data: [DONE]\n\n")).await;
                return;
            }
            tokio::select! {
                changed = state.changed() => if changed.is_err() { return },
                () = sender.closed() => return,
            }
        }
    });
    reply::events(waiting, gone)
}

fn found(asked: &GatewayRequest, caller: &Caller) -> Result<Arc<StoredResponse>, ApiError> {
    let id = asked.segment();
    asked.gateway.responses.find(id, caller).ok_or_else(|| missing(id))
}

pub(crate) fn show(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let stored = match found(&asked, &asked.caller) {
            Ok(stored) => stored,
            Err(error) => return Ok(error.reply()),
        };
        if asked.query.get("stream") == Some("true") {
            let from = asked.query.get("starting_after").and_then(|after| after.parse().ok());
            return Ok(stream(
                stored,
                from.map_or(0, |after: usize| after.saturating_add(1)),
                None,
            ));
        }
        Ok(reply::json(&stored.state.borrow().response))
    })
}

pub(crate) fn forget(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let id = asked.segment().to_owned();
        if !asked.gateway.responses.forget(&id, &asked.caller) {
            return Ok(missing(&id).reply());
        }
        Ok(reply::json(&json!({ "id": id, "object": "response", "deleted": true })))
    })
}

pub(crate) fn cancel(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let stored = match found(&asked, &asked.caller) {
            Ok(stored) => stored,
            Err(error) => return Ok(error.reply()),
        };
        stored.cancel.cancel();
        let mut state = stored.state.subscribe();
        let _ = state.wait_for(|state| state.is_over).await;
        Ok(reply::json(&stored.state.borrow().response))
    })
}

pub(crate) fn input_items(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let stored = match found(&asked, &asked.caller) {
            Ok(stored) => stored,
            Err(error) => return Ok(error.reply()),
        };
        let id = |item: Option<&Value>| item.and_then(|item| item.get("id")).cloned();
        Ok(reply::json(&json!({
            "object": "list", "data": stored.input, "first_id": id(stored.input.first()),
            "last_id": id(stored.input.last()), "has_more": false,
        })))
    })
}
