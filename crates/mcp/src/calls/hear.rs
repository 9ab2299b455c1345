//! What comes in, sorted: kept for its owner, told to the SDK, or of no interest.

use std::sync::Arc;

use rmcp::model::{
    CustomRequest, ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage, ServerRequest,
    ServerResult,
};
use serde::Deserialize;
use serde_json::{Map, Value};
use toolcrib_core::{LogEntry, LogLevel, Progress};
use toolcrib_json::number::guarded;

use super::{Asked, Calls, End, MOST_QUESTIONS, NO_PROTOCOL, Slot};
use crate::answer::Reply;
use crate::frame::{self, Unreadable};
use crate::list::{PROMPTS, RESOURCES, TOOLS};
use crate::task;

/// Longest text of a report of progress, in characters.
const LONGEST_REPORT: usize = 1_000;

/// Pages of lists beyond this many bytes are not made into trees.
pub(super) const LARGE: usize = 16 * 1024;

/// What tells whose answer a message is.
#[derive(Deserialize)]
struct Addressed {
    id: RequestId,
}

impl Calls {
    /// Reads a message. The entries of a large page of a list that was asked for stay text.
    pub(crate) fn read(&self, text: &[u8]) -> Result<Value, Unreadable> {
        let page = if text.len() > LARGE { self.page(text) } else { None };
        // A page of another shape is read like anything else, and found to be odd later.
        let read = page.and_then(|key| frame::read_page(text, key, self.bounds.depth).ok());
        read.map_or_else(|| frame::read(text, self.bounds.depth), Ok)
    }

    /// Under which key the entries stand, if this answers a request for a page.
    fn page(&self, text: &[u8]) -> Option<&'static str> {
        let Addressed { id } = serde_json::from_slice(text).ok()?;
        self.table().by_id.get(&as_sent(id))?.page()
    }

    /// Takes in one message and gives what the SDK must know of it. `stream`: the request on whose
    /// answer stream it came, where a transport has such streams.
    pub(crate) fn hear(
        &self,
        message: Value,
        stream: Option<&Arc<Slot>>,
    ) -> Option<ServerJsonRpcMessage> {
        let Value::Object(mut fields) = message else {
            return None;
        };
        let id = fields.get("id").and_then(|id| RequestId::deserialize(id).ok());
        match (fields.get("method").and_then(Value::as_str).map(str::to_owned), id) {
            (Some(method), Some(id)) => self.asked(&method, fields, id, stream),
            (Some(method), None) => self.noted(&method, fields, stream),
            (None, Some(id)) => self.answered(id, fields),
            // A server that could not read the id says so without one; only a handshake cares.
            (None, None) => {
                fields.remove("error").map(|error| ServerJsonRpcMessage::error(fault(&error), None))
            }
        }
    }

    /// Something came that is too large to be read, as `why` says. Where nobody can tell for whom,
    /// it was for the only one that waits; with several, the time of whoever it was for runs out.
    pub(crate) fn spoiled(
        &self,
        why: &'static str,
        stream: Option<&Arc<Slot>>,
    ) -> Option<ServerJsonRpcMessage> {
        let mut table = self.table();
        let is_only = table.by_id.len() == 1;
        let is_meant =
            |slot: &Arc<Slot>| stream.map_or(is_only, |stream| Arc::ptr_eq(stream, slot));
        let id = table.by_id.iter().find(|(_, slot)| is_meant(slot))?.0.clone();
        let slot = table.by_id.remove(&id)?;
        drop(table);
        if slot.is_direct() {
            slot.end(End::Odd(why));
            return None;
        }
        slot.is_unreadable(why);
        Some(unreadable(id))
    }

    fn answered(
        &self,
        id: RequestId,
        mut fields: Map<String, Value>,
    ) -> Option<ServerJsonRpcMessage> {
        let id = as_sent(id);
        let (of_the_sdk, slot) = {
            let mut table = self.table();
            (table.of_the_sdk.remove(&id), table.by_id.remove(&id))
        };
        let error = fields.remove("error");
        if let Some(slot) = slot.as_ref().filter(|slot| slot.is_direct()) {
            slot.end(match (error, fields.remove("result")) {
                (Some(error), _) => End::Refused(fault(&error)),
                (None, Some(Value::Object(result))) => End::Result(Reply::Fields(result)),
                (None, _) => End::Odd(NO_PROTOCOL),
            });
            return None;
        }
        if let Some(error) = error {
            if let Some(slot) = slot {
                slot.refused();
            }
            return Some(ServerJsonRpcMessage::error(fault(&error), Some(id)));
        }
        if of_the_sdk {
            let result = fields.remove("result").unwrap_or_default();
            if let Some(said) = result.as_object().filter(|said| said.contains_key("capabilities"))
            {
                self.greeted(said.clone());
            }
            return Some(match ServerResult::deserialize(guarded(result)) {
                Ok(result) => ServerJsonRpcMessage::response(result, id),
                Err(_) => unreadable(id),
            });
        }
        match (slot, fields.remove("result")) {
            (Some(slot), Some(Value::Object(result))) => slot.answer(result),
            (Some(slot), _) => {
                slot.is_unreadable(NO_PROTOCOL);
                return Some(unreadable(id));
            }
            // Too late: who asked has given up. The SDK forgets it too.
            (None, _) => {}
        }
        Some(ServerJsonRpcMessage::response(ServerResult::empty(()), id))
    }

    fn asked(
        &self,
        method: &str,
        mut fields: Map<String, Value>,
        id: RequestId,
        stream: Option<&Arc<Slot>>,
    ) -> Option<ServerJsonRpcMessage> {
        if method == "ping" {
            return told(fields);
        }
        let mut table = self.table();
        if table.questions.len() < MOST_QUESTIONS {
            let params = fields.remove("params").unwrap_or_default();
            let task = task::named_in(&params);
            let of = table.owner_of(task, stream);
            if let Some(of) = &of {
                of.notes_address(&params);
            }
            if of.is_none() && stream.is_none() && task.is_none() && table.has_calls() {
                self.turns.begin();
            }
            table.questions.insert(id.clone(), Asked { method: method.to_owned(), params, of });
        }
        let request = ServerRequest::CustomRequest(CustomRequest::new("toolcrib/asked", None));
        Some(ServerJsonRpcMessage::request(request, id))
    }

    fn noted(
        &self,
        method: &str,
        mut fields: Map<String, Value>,
        stream: Option<&Arc<Slot>>,
    ) -> Option<ServerJsonRpcMessage> {
        match method {
            "notifications/progress" => {
                self.progress(fields.remove("params")?.as_object()?, stream);
                None
            }
            "notifications/message" => {
                self.line(fields.remove("params")?, stream);
                None
            }
            "notifications/elicitation/complete" => {
                let Some(Value::Object(params)) = fields.remove("params") else { return None };
                let name = params.get("elicitationId")?;
                let asked =
                    self.table().by_id.values().find(|slot| slot.has_address(name)).cloned();
                asked?.context()?.opened(params);
                None
            }
            "notifications/tools/list_changed" => {
                self.news.announce(TOOLS);
                self.news.tools.send_modify(|count| *count += 1);
                told(fields)
            }
            "notifications/prompts/list_changed" | "notifications/resources/list_changed" => {
                let of_prompts = method == "notifications/prompts/list_changed";
                self.news.announce(if of_prompts { PROMPTS } else { RESOURCES });
                self.news.library.send_modify(|count| *count += 1);
                told(fields)
            }
            "notifications/resources/updated" => {
                if let Some(Value::Object(params)) = fields.get("params").cloned() {
                    // Nobody may be following.
                    let _ = self.news.updates.send(Arc::new(params));
                }
                told(fields)
            }
            "notifications/cancelled" | "notifications/subscriptions/acknowledged" => told(fields),
            _ => None,
        }
    }

    /// A line of log: of one call, or of none and for whom alone the connection has served.
    fn line(&self, params: Value, stream: Option<&Arc<Slot>>) -> Option<()> {
        let owner = self.table().owner_of(task::named_in(&params), stream);
        match (owner, params) {
            (Some(owner), params) => owner.context()?.log(log_entry(params)?),
            (None, Value::Object(params)) if stream.is_none() => {
                self.news.lines.tell(self.served.only()?, params);
            }
            (None, _) => {}
        }
        Some(())
    }

    fn progress(&self, params: &Map<String, Value>, stream: Option<&Arc<Slot>>) -> Option<()> {
        let token = rmcp::model::ProgressToken::deserialize(params.get("progressToken")?).ok()?;
        let slot = self.table().by_token.get(&token).cloned()?;
        // On the answer stream of one call nobody speaks for another.
        if stream.is_some_and(|stream| !Arc::ptr_eq(stream, &slot)) {
            return None;
        }
        slot.progressed.notify_one();
        let message = params.get("message").and_then(Value::as_str);
        slot.context()?.progress(Progress {
            done: params.get("progress")?.as_f64()?,
            total: params.get("total").and_then(Value::as_f64),
            message: message.map(|text| text.chars().take(LONGEST_REPORT).collect()),
        });
        Some(())
    }
}

/// Some servers give a number back as a string.
pub(super) fn as_sent(id: RequestId) -> RequestId {
    match &id {
        RequestId::String(text) => text.parse().map_or(id, RequestId::Number),
        RequestId::Number(_) => id,
    }
}

/// A message that the SDK reads itself.
fn told(fields: Map<String, Value>) -> Option<ServerJsonRpcMessage> {
    serde_json::from_value(guarded(Value::Object(fields))).ok()
}

fn unreadable(id: RequestId) -> ServerJsonRpcMessage {
    let error = ErrorData::internal_error("the answer is not one of the protocol", None);
    ServerJsonRpcMessage::error(error, Some(id))
}

/// An error as the protocol has it, or whatever a server made of it.
fn fault(error: &Value) -> ErrorData {
    let code = error.get("code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    let message = error.get("message").and_then(Value::as_str).unwrap_or("no reason given");
    let message = message.to_owned();
    let data = error.get("data").cloned();
    ErrorData::new(code.map_or(ErrorCode::INTERNAL_ERROR, ErrorCode), message, data)
}

fn log_entry(params: Value) -> Option<LogEntry> {
    let Value::Object(mut params) = params else {
        return None;
    };
    let level = level(params.get("level")?.as_str()?)?;
    let logger = params.get("logger").and_then(Value::as_str).map(str::to_owned);
    Some(LogEntry { level, logger, data: params.remove("data").unwrap_or_default() })
}

/// A level by its name in the protocol.
pub(crate) fn level(name: &str) -> Option<LogLevel> {
    Some(match name {
        "debug" => LogLevel::Debug,
        "info" => LogLevel::Info,
        "notice" => LogLevel::Notice,
        "warning" => LogLevel::Warning,
        "error" => LogLevel::Error,
        "critical" => LogLevel::Critical,
        "alert" => LogLevel::Alert,
        "emergency" => LogLevel::Emergency,
        _ => return None,
    })
}
