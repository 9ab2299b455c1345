//! `/v1/conversations`: threads of `/v1/responses` that their caller looks at and edits.
//!
//! A conversation is a thread, and its items are those of its runs: what each was given and what it
//! said. Whatever else is done to it is an edit (`edit`), which is written down as a run that no
//! agent drove, so that both stand in one order and outlive the process alike.

mod content;
mod edit;

use serde_json::{Map, Value, json};
use uuid::Uuid;

use super::super::api_error::ApiError;
use super::super::live::live_run::{ConversationNote, seconds};
use super::thread::{CONVERSATION, LastEntry, held, last_of};
use crate::http::routes::reply::{self, HttpReply};
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;
use content::Conversation;
use edit::ConversationEdit;

pub(crate) const LARGEST_PAGE: usize = 100;
const DEFAULT_PAGE: usize = 20;
/// Pairs of the metadata, and the letters of their names and of their values.
const METADATA: (usize, usize, usize) = (16, 64, 512);

pub(crate) fn create(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let body: Value = asked.json()?;
        Ok(told(make(&asked, &body).await))
    })
}

async fn make(asked: &GatewayRequest, body: &Value) -> Result<Value, ApiError> {
    let id = format!("{CONVERSATION}{}", Uuid::new_v4().simple());
    let note = ConversationNote {
        created: seconds(std::time::SystemTime::now()),
        metadata: metadata(body)?.unwrap_or_default(),
        ..ConversationNote::default()
    };
    let answer = shown(&id, &note);
    let mut edit = ConversationEdit::new(note);
    let last = LastEntry::default();
    if body.get("items").is_some_and(|items| !items.is_null()) {
        edit.add(asked, &last, list(body)?).await?;
    }
    edit.write(asked, &id, last).await?;
    Ok(answer)
}

pub(crate) fn show(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let found = Conversation::read(&asked, asked.segment()).await;
        Ok(told(found.map(|found| shown(&found.id, &found.note))))
    })
}

pub(crate) fn update(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let body: Value = asked.json()?;
        Ok(told(set_metadata(&asked, &body).await))
    })
}

async fn set_metadata(asked: &GatewayRequest, body: &Value) -> Result<Value, ApiError> {
    let metadata = metadata(body)?.ok_or_else(|| {
        ApiError::invalid("metadata", "`metadata` is what is updated: send an object, or null")
    })?;
    let (id, runs) = (asked.segment(), &asked.gateway.runs);
    let _hold = held(runs, &asked.caller, id)?;
    let found = Conversation::read(asked, id).await?;
    let last = last_of(runs, &asked.caller, id).await?;
    let note = ConversationNote { metadata, ..found.note };
    let answer = shown(id, &note);
    let mut edit = ConversationEdit::new(note);
    edit.keep(&last);
    edit.write(asked, id, last).await?;
    Ok(answer)
}

pub(crate) fn forget(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move { Ok(told(remove(&asked).await)) })
}

async fn remove(asked: &GatewayRequest) -> Result<Value, ApiError> {
    let (id, runs) = (asked.segment(), &asked.gateway.runs);
    let _hold = held(runs, &asked.caller, id)?;
    let found = Conversation::read(asked, id).await?;
    last_of(runs, &asked.caller, id).await?;
    found.forget(asked).await?;
    Ok(json!({ "id": id, "object": "conversation.deleted", "deleted": true }))
}

pub(crate) fn items(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let found = Conversation::read(&asked, asked.segment()).await;
        Ok(told(found.and_then(|found| page(&asked, found.items))))
    })
}

/// The items behind the one that is named, newest first unless it is said otherwise.
fn page(asked: &GatewayRequest, mut items: Vec<Value>) -> Result<Value, ApiError> {
    if asked.query.get("order") != Some("asc") {
        items.reverse();
    }
    if let Some(after) = asked.query.get("after").filter(|after| !after.is_empty()) {
        let place = items.iter().position(|item| has_id(item, after));
        let place = place.ok_or_else(|| missing_item(after).about("after"))?;
        items.drain(..=place);
    }
    let limit = asked.query.number("limit", DEFAULT_PAGE);
    let has_more = items.len() > limit;
    items.truncate(limit);
    Ok(listed(&items, has_more))
}

fn listed(items: &[Value], has_more: bool) -> Value {
    let id = |item: Option<&Value>| item.and_then(|item| item.get("id")).cloned();
    json!({
        "object": "list", "data": items, "first_id": id(items.first()),
        "last_id": id(items.last()), "has_more": has_more,
    })
}

pub(crate) fn add(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let body: Value = asked.json()?;
        Ok(told(append(&asked, &body).await))
    })
}

async fn append(asked: &GatewayRequest, body: &Value) -> Result<Value, ApiError> {
    let given = list(body)?;
    let (id, runs) = (asked.segment(), &asked.gateway.runs);
    let _hold = held(runs, &asked.caller, id)?;
    let found = Conversation::read(asked, id).await?;
    let last = last_of(runs, &asked.caller, id).await?;
    let mut edit = ConversationEdit::new(found.note);
    let added = edit.add(asked, &last, given).await?;
    edit.write(asked, id, last).await?;
    Ok(listed(&added, false))
}

pub(crate) fn item(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let found = Conversation::read(&asked, asked.segment()).await;
        let wanted = second(&asked);
        Ok(told(found.and_then(|found| {
            let item = found.items.into_iter().find(|item| has_id(item, wanted));
            item.ok_or_else(|| missing_item(wanted))
        })))
    })
}

pub(crate) fn forget_item(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move { Ok(told(remove_item(&asked).await)) })
}

async fn remove_item(asked: &GatewayRequest) -> Result<Value, ApiError> {
    let (id, wanted, runs) = (asked.segment(), second(asked), &asked.gateway.runs);
    let _hold = held(runs, &asked.caller, id)?;
    let found = Conversation::read(asked, id).await?;
    if !found.items.iter().any(|item| has_id(item, wanted)) {
        return Err(missing_item(wanted));
    }
    let last = last_of(runs, &asked.caller, id).await?;
    let answer = shown(id, &found.note);
    let mut edit = ConversationEdit::new(found.note);
    edit.delete(wanted, &found.items)?;
    edit.write(asked, id, last).await?;
    Ok(answer)
}

fn told(answer: Result<Value, ApiError>) -> HttpReply {
    match answer {
        Ok(answer) => reply::json(&answer),
        Err(error) => error.reply(),
    }
}

fn shown(id: &str, note: &ConversationNote) -> Value {
    let ConversationNote { created, metadata, .. } = note;
    json!({ "id": id, "object": "conversation", "created_at": created, "metadata": metadata })
}

fn has_id(item: &Value, id: &str) -> bool {
    item.get("id").is_some_and(|own| own == id)
}

fn second(asked: &GatewayRequest) -> &str {
    asked.segments.get(1).map_or("", String::as_str)
}

fn missing_item(id: &str) -> ApiError {
    let id: String = id.chars().take(80).collect();
    let message = format!("the conversation has no item `{id}`: `GET .../items` lists them");
    ApiError::not_found("item_not_found", message)
}

/// The items of a body.
fn list(body: &Value) -> Result<&[Value], ApiError> {
    let items = body.get("items").and_then(Value::as_array).filter(|items| !items.is_empty());
    let items = items.map(Vec::as_slice);
    items.ok_or_else(|| ApiError::invalid("items", "`items` must be a list with at least one item"))
}

/// The metadata of a body; `None`: it says nothing of it.
fn metadata(body: &Value) -> Result<Option<Map<String, Value>>, ApiError> {
    let (pairs, name, value) = METADATA;
    let fields = match body.get("metadata") {
        None => return Ok(None),
        Some(Value::Null) => return Ok(Some(Map::new())),
        Some(Value::Object(fields)) => fields,
        Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
            return Err(ApiError::invalid("metadata", "`metadata` must be an object"));
        }
    };
    let fits = |(key, said): (&String, &Value)| {
        let said = said.as_str().map(|said| said.chars().count());
        key.chars().count() <= name && said.is_some_and(|letters| letters <= value)
    };
    if fields.len() > pairs || !fields.iter().all(fits) {
        let message = format!(
            "`metadata` may have {pairs} pairs, of names with {name} letters and texts with {value}"
        );
        return Err(ApiError::invalid("metadata", message));
    }
    Ok(Some(fields.clone()))
}
