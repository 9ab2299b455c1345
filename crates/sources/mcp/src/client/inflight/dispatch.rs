//! What comes in, sorted: kept for its owner, told to the SDK, or of no interest.

use std::sync::Arc;

use rmcp::model::{
    CustomRequest, ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage, ServerRequest,
    ServerResult,
};
use serde::Deserialize;
use serde_json::{Map, Value};
use toolcrib_core::{LogEntry, Progress};
use toolcrib_json::number::guarded;

use super::InFlight;
use super::question::{QuestionOwner, ServerQuestion};
use super::request::{NO_PROTOCOL, UpstreamRequest, UpstreamRequestEnd};
use super::table::InFlightTable;
use super::unclear_owner::UnclearQuestion;
use crate::client::call::reply::ServerReply;
use crate::client::call::task_words::named_in;
use crate::client::connection::handshake;
use crate::client::list_kind::{PROMPTS, RESOURCES, TOOLS};
use crate::protocol::frame::{self, MessageOutline, UnreadableMessage};
use crate::protocol::levels::level;

/// Questions of one server that may wait for an answer at the same time.
const MOST_QUESTIONS: usize = 32;

/// Longest text of a report of progress, in characters.
const LONGEST_REPORT: usize = 1_000;

/// Pages of lists beyond this many bytes are not made into trees.
pub(super) const LARGE: usize = 16 * 1024;

/// What is said of an answer that came in the place of another.
const STRAYED: &str = "it answers another request";

/// What tells whose answer a message is.
#[derive(Deserialize)]
struct AnswerEnvelope {
    id: RequestId,
}

impl InFlight {
    /// Reads a message. The entries of a large page of a list that was asked for stay text, as do
    /// those of a page that is nested too deep: one of them alone may be.
    pub(crate) fn read(&self, text: &[u8]) -> Result<Value, UnreadableMessage> {
        let page = || frame::read_page(text, self.page(text)?).ok();
        // A page of another shape is read like anything else, and found to be odd later.
        if text.len() > LARGE
            && let Some(page) = page()
        {
            return Ok(page);
        }
        let read = frame::read(text, self.bounds.depth);
        if read == Err(UnreadableMessage::TooDeep) {
            page().ok_or(UnreadableMessage::TooDeep)
        } else {
            read
        }
    }

    /// Under which key the entries stand, if this answers a request for a page.
    fn page(&self, text: &[u8]) -> Option<&'static str> {
        let AnswerEnvelope { id } = serde_json::from_slice(text).ok()?;
        self.table().by_id.get(&as_sent(id))?.page()
    }

    /// Takes in one message and gives what the SDK must know of it. `stream`: the request on whose
    /// answer stream it came, where a transport has such streams.
    pub(crate) fn hear(
        &self,
        message: Value,
        stream: Option<&Arc<UpstreamRequest>>,
    ) -> Option<ServerJsonRpcMessage> {
        let Value::Object(fields) = message else {
            return None;
        };
        let id = fields.get("id").and_then(|id| RequestId::deserialize(id).ok());
        match (fields.get("method").and_then(Value::as_str).map(str::to_owned), id) {
            (Some(method), Some(id)) => self.asked(&method, fields, id, stream),
            (Some(method), None) => self.noted(&method, fields, stream),
            (None, Some(id)) => self.answered(id, fields, stream),
            (None, None) => self.nameless(fields, stream),
        }
    }

    /// What has no id: a server that could not read the one of a request says so without. Where
    /// nobody can tell which one, only a handshake cares.
    fn nameless(
        &self,
        mut fields: Map<String, Value>,
        stream: Option<&Arc<UpstreamRequest>>,
    ) -> Option<ServerJsonRpcMessage> {
        let answers = fields.contains_key("error") || fields.contains_key("result");
        let (Some(stream), true) = (stream, answers) else {
            let error = fields.remove("error")?;
            return Some(ServerJsonRpcMessage::error(fault(&error), None));
        };
        match said(&mut fields) {
            refused @ UpstreamRequestEnd::Refused(_) => {
                let (id, slot) = self.table().take_of(stream)?;
                Self::ended(id, &slot, refused)
            }
            UpstreamRequestEnd::Result(_) | UpstreamRequestEnd::Odd(_) => self.strayed(stream),
        }
    }

    /// Something came that cannot be read, as `why` says, and of which no more is known. If it is
    /// an answer, whoever it is for is told at once; where nobody can tell whom, the one who is
    /// left when all others of that moment have theirs.
    pub(crate) fn spoiled(
        &self,
        why: &'static str,
        outline: &MessageOutline,
        stream: Option<&Arc<UpstreamRequest>>,
    ) -> Option<ServerJsonRpcMessage> {
        if !outline.is_answer() {
            return None;
        }
        let id = outline.id().cloned().map(as_sent);
        let mut table = self.table();
        let (id, slot) = match (stream, id) {
            (Some(stream), _) => table.take_of(stream)?,
            (None, Some(id)) if table.of_the_sdk.remove(&id) => {
                drop(table);
                return Some(self.misfit(id, format!("its answer cannot be read: {why}")));
            }
            (None, Some(id)) => (id.clone(), table.take(&id)?),
            (None, None) => {
                let id = table.suspect(why)?;
                (id.clone(), table.take(&id)?)
            }
        };
        drop(table);
        Self::ended(id, &slot, UpstreamRequestEnd::Odd(why))
    }

    /// Ends a request with what came of it.
    fn ended(
        id: RequestId,
        slot: &UpstreamRequest,
        end: UpstreamRequestEnd,
    ) -> Option<ServerJsonRpcMessage> {
        if slot.is_direct() {
            slot.end(end);
            return None;
        }
        match end {
            UpstreamRequestEnd::Refused(error) => {
                slot.refused();
                return Some(ServerJsonRpcMessage::error(error, Some(id)));
            }
            UpstreamRequestEnd::Odd(why) => {
                slot.is_unreadable(why);
                return Some(unreadable(id));
            }
            UpstreamRequestEnd::Result(reply) => {
                _ = reply.fields().map(|fields| slot.answer(fields));
            }
        }
        Some(ServerJsonRpcMessage::response(ServerResult::empty(()), id))
    }

    fn answered(
        &self,
        id: RequestId,
        mut fields: Map<String, Value>,
        stream: Option<&Arc<UpstreamRequest>>,
    ) -> Option<ServerJsonRpcMessage> {
        let id = as_sent(id);
        let (of_the_sdk, slot, is_late, was_abandoned) = {
            let mut table = self.table();
            let is_late = table.newest.as_ref().is_some_and(|newest| is_before(&id, newest));
            let is_of = |stream: &Arc<UpstreamRequest>| {
                table.by_id.get(&id).is_some_and(|slot| Arc::ptr_eq(slot, stream))
            };
            // On the answer stream of one request no other is answered.
            if let Some(stream) = stream.filter(|stream| !is_of(stream)) {
                drop(table);
                return self.strayed(stream);
            }
            (table.of_the_sdk.remove(&id), table.take(&id), is_late, table.abandoned.end(&id))
        };
        if was_abandoned {
            self.doubts.tell_end();
        }
        let said = said(&mut fields);
        if of_the_sdk {
            return Some(self.of_the_sdk(id, said));
        }
        let Some(slot) = slot else {
            // Too late: who asked has given up. The SDK forgets it too; what it never asked for
            // would cost it a handshake.
            return is_late.then(|| ServerJsonRpcMessage::response(ServerResult::empty(()), id));
        };
        Self::ended(id, &slot, said)
    }

    /// The answer to another request came where only that of this one may.
    fn strayed(&self, stream: &Arc<UpstreamRequest>) -> Option<ServerJsonRpcMessage> {
        let (id, slot) = self.table().take_of(stream)?;
        Self::ended(id, &slot, UpstreamRequestEnd::Odd(STRAYED))
    }

    /// The answer to a request that the SDK made by itself.
    fn of_the_sdk(&self, id: RequestId, said: UpstreamRequestEnd) -> ServerJsonRpcMessage {
        let mut result = match said {
            UpstreamRequestEnd::Result(reply) => Value::Object(reply.fields().unwrap_or_default()),
            UpstreamRequestEnd::Refused(error) => {
                return ServerJsonRpcMessage::error(error, Some(id));
            }
            UpstreamRequestEnd::Odd(why) => {
                return self.misfit(id, format!("its answer cannot be read: {why}"));
            }
        };
        let read = match handshake::read(&mut result) {
            Some(Ok(read)) => {
                self.greeted(result.as_object().cloned().unwrap_or_default());
                read
            }
            Some(Err(why)) => return self.misfit(id, why),
            None => result,
        };
        match ServerResult::deserialize(guarded(read)) {
            Ok(result) => ServerJsonRpcMessage::response(result, id),
            Err(_) => unreadable(id),
        }
    }

    fn asked(
        &self,
        method: &str,
        mut fields: Map<String, Value>,
        id: RequestId,
        stream: Option<&Arc<UpstreamRequest>>,
    ) -> Option<ServerJsonRpcMessage> {
        if method == "ping" {
            return told(fields);
        }
        let mut table = self.table();
        if table.questions.len() < MOST_QUESTIONS {
            let params = fields.remove("params").unwrap_or_default();
            let task = named_in(&params);
            let of = match (table.owner_of(task, stream), task.or(stream.map(|_| ""))) {
                (Some(of), Some(_)) => {
                    let asking = of.is_asked();
                    QuestionOwner::Call(of, asking)
                }
                (None, Some(_)) => QuestionOwner::Nobody,
                (_, None) => self.whose(&table),
            };
            table
                .questions
                .insert(id.clone(), ServerQuestion { method: method.to_owned(), params, of });
        }
        let request = ServerRequest::CustomRequest(CustomRequest::new("toolcrib/asked", None));
        Some(ServerJsonRpcMessage::request(request, id))
    }

    /// Whose a question is that does not say so.
    fn whose(&self, table: &InFlightTable) -> QuestionOwner {
        let mut calls: Vec<_> = table.calls().map(Arc::clone).collect();
        match (calls.pop(), calls.is_empty()) {
            (None, _) => QuestionOwner::Nobody,
            (Some(only), true) if !only.is_moving() && !table.may_be_of_another(&only) => {
                self.is_known_to_ask(&only);
                let asking = only.is_asked();
                QuestionOwner::Call(only, asking)
            }
            (Some(last), _) => {
                calls.push(last);
                QuestionOwner::Unclear(UnclearQuestion::of(&self.askers, calls))
            }
        }
    }

    fn noted(
        &self,
        method: &str,
        mut fields: Map<String, Value>,
        stream: Option<&Arc<UpstreamRequest>>,
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
    fn line(&self, params: Value, stream: Option<&Arc<UpstreamRequest>>) -> Option<()> {
        let owner = self.table().owner_of(named_in(&params), stream);
        match (owner, params) {
            (Some(owner), params) => owner.context()?.log(log_entry(params)?),
            (None, Value::Object(params)) if stream.is_none() => {
                self.news.lines.tell(self.served.only()?, params);
            }
            (None, _) => {}
        }
        Some(())
    }

    fn progress(
        &self,
        params: &Map<String, Value>,
        stream: Option<&Arc<UpstreamRequest>>,
    ) -> Option<()> {
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

/// Whether a request was made before this one, where they are counted.
fn is_before(id: &RequestId, newest: &RequestId) -> bool {
    match (id, newest) {
        (RequestId::Number(id), RequestId::Number(newest)) => (0..=*newest).contains(id),
        (RequestId::Number(_) | RequestId::String(_), _) => false,
    }
}

/// What an answer says. One that has neither a result nor an error, or both, leaves open whether
/// the request was done.
fn said(fields: &mut Map<String, Value>) -> UpstreamRequestEnd {
    let mut field = |key: &str| fields.remove(key).filter(|value| !value.is_null());
    match (field("error"), field("result")) {
        (Some(error), None) if tells(&error) => UpstreamRequestEnd::Refused(fault(&error)),
        (None, Some(Value::Object(result))) => {
            UpstreamRequestEnd::Result(ServerReply::Fields(result))
        }
        // What PHP makes of an object without fields.
        (None, Some(Value::Array(result))) if result.is_empty() => {
            UpstreamRequestEnd::Result(ServerReply::Fields(Map::new()))
        }
        _ => UpstreamRequestEnd::Odd(NO_PROTOCOL),
    }
}

/// Whether an error says anything at all.
fn tells(error: &Value) -> bool {
    match error {
        Value::Object(fields) => fields.contains_key("code") || fields.contains_key("message"),
        Value::String(text) => !text.trim().is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) => false,
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
    let message = error.get("message").unwrap_or(error);
    let message = message.as_str().unwrap_or("no reason given");
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
