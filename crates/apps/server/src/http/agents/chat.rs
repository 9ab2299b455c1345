//! `/v1/chat/completions`: a thread that the client keeps, and an agent's answer.

use bytes::Bytes;
use http::HeaderValue;
use serde_json::{Value, json};
use tokio::sync::mpsc::{Sender, channel};
use tokio_util::sync::CancellationToken;
use toolcrib_agent::{CallText, RunEnd, RunEvent, RunOrder, StopReason, Usage};
use uuid::Uuid;

use super::api_error::ApiError;
use super::chosen::{agent_of, check_names, choose};
use super::input;
use super::output::parts::annotations;
use super::output::{event, now};
use super::running::{self, FinishedRun};
use crate::http::routes::problem::HttpProblem;
use crate::http::routes::reply::{self, HttpReply};
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

/// Events that wait for a reader.
const WAITING: usize = 256;

pub(crate) fn complete(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let body: Value = asked.json()?;
        match order(&asked, &body)? {
            Ok((order, head)) => Ok(answer(&asked, order, head, &body).await),
            Err(error) => Ok(error.reply()),
        }
    })
}

/// What stands in every piece of an answer.
#[derive(Clone)]
struct CompletionHead {
    id: String,
    created: u64,
    model: String,
}

type Ordered = Result<(RunOrder, CompletionHead), ApiError>;

fn order(asked: &GatewayRequest, body: &Value) -> Result<Ordered, HttpProblem> {
    let read = || {
        if body.get("n").and_then(Value::as_u64).is_some_and(|count| count != 1) {
            return Err(ApiError::invalid("n", "an agent gives one answer: leave `n` out"));
        }
        Ok((input::messages(body)?, input::caller_tools(body)?))
    };
    let (thread, mut caller_tools) = match read() {
        Ok(read) => read,
        Err(error) => return Ok(Err(error)),
    };
    let name = body.get("model").and_then(Value::as_str);
    let most = body.get("max_completion_tokens").or_else(|| body.get("max_tokens"));
    let most = most.and_then(Value::as_u64).and_then(|most| u32::try_from(most).ok());
    let mut agent = match agent_of(asked, name, None, most)? {
        Ok(agent) => agent,
        Err(error) => return Ok(Err(error)),
    };
    let chosen = check_names(&agent, &asked.caller, &caller_tools)
        .and_then(|()| choose(body, &asked.caller, (&mut agent, None), &mut caller_tools));
    let choice = match chosen {
        Ok((choice, _)) => choice,
        Err(error) => return Ok(Err(error)),
    };
    let head = CompletionHead {
        id: format!("chatcmpl-{}", Uuid::new_v4().simple()),
        created: now(),
        model: agent.name.clone(),
    };
    let caller = std::sync::Arc::clone(&asked.caller);
    let (sources, waits_for_people) = (Vec::new(), false);
    let order = RunOrder { agent, caller, thread, sources, caller_tools, choice, waits_for_people };
    Ok(Ok((order, head)))
}

async fn answer(
    asked: &GatewayRequest,
    order: RunOrder,
    head: CompletionHead,
    body: &Value,
) -> HttpReply {
    let cancel = asked.gateway.stop.child_token();
    if body.get("stream").and_then(Value::as_bool) == Some(true) {
        let with_usage = body.pointer("/stream_options/include_usage").and_then(Value::as_bool);
        return stream(order, head, with_usage == Some(true), cancel);
    }
    // Dropped with the request, which ends the run.
    let _gone = cancel.clone().drop_guard();
    let mut text = AnswerText { is_whole: true, ..AnswerText::default() };
    let mut tell = |event| drop(text.hear(&event));
    let finished = Box::pin(running::finish(order, &mut tell, &cancel)).await;
    if let Some(fault) = &finished.end.fault {
        let mut reply = ApiError::of_model(fault).reply();
        if text.has_called {
            // Clients try again by themselves, and what ran would run once more.
            let no = HeaderValue::from_static("false");
            reply.headers_mut().insert("x-should-retry", no);
        }
        return reply;
    }
    let FinishedRun { end, usage, .. } = finished;
    let mut message = json!({ "role": "assistant", "content": text.whole(&end), "refusal": null });
    if let Value::Object(fields) = &mut message {
        if !end.calls.is_empty() {
            fields.insert("tool_calls".to_owned(), calls(&end.calls).into());
        }
        let cited = text.annotations(&end);
        if !cited.is_empty() {
            fields.insert("annotations".to_owned(), cited.into());
        }
    }
    let choice = json!({
        "index": 0, "message": message, "finish_reason": reason(end.stop), "logprobs": null,
    });
    let CompletionHead { id, created, model } = head;
    reply::json(&json!({
        "id": id, "object": "chat.completion", "created": created, "model": model,
        "choices": [choice], "usage": usage_told(&usage),
    }))
}

fn stream(
    order: RunOrder,
    head: CompletionHead,
    with_usage: bool,
    cancel: CancellationToken,
) -> HttpReply {
    let (sender, waiting) = channel(WAITING);
    // Who goes away gives the run up.
    let gone = cancel.clone().drop_guard();
    tokio::spawn(async move {
        let (mut events, running) = running::begin(order, cancel);
        let mut text = AnswerText::default();
        let writer = ChunkWriter { sender, head };
        writer.chunk(&json!({ "role": "assistant", "content": "" }), None).await;
        while let Some(told) = events.recv().await {
            if let Some(piece) = text.hear(&told) {
                writer.chunk(&json!({ "content": piece }), None).await;
            }
        }
        // A run that broke is over too.
        let finished = running.await.unwrap_or_else(|_| FinishedRun::broken());
        writer.end(&text, &finished, with_usage).await;
    });
    reply::events(waiting, Some(gone))
}

struct ChunkWriter {
    sender: Sender<Bytes>,
    head: CompletionHead,
}

impl ChunkWriter {
    async fn chunk(&self, delta: &Value, reason: Option<&str>) {
        let choices = json!([{
            "index": 0, "delta": delta, "finish_reason": reason, "logprobs": null,
        }]);
        self.send(&choices, &Value::Null).await;
    }

    async fn send(&self, choices: &Value, usage: &Value) {
        let CompletionHead { id, created, model } = &self.head;
        let mut chunk = json!({
            "id": id, "object": "chat.completion.chunk", "created": created, "model": model,
            "choices": choices,
        });
        if let (Value::Object(fields), false) = (&mut chunk, usage.is_null()) {
            fields.insert("usage".to_owned(), usage.clone());
        }
        // Whoever listened has gone.
        let _ = self.sender.send(event(None, &chunk)).await;
    }

    async fn end(&self, text: &AnswerText, finished: &FinishedRun, with_usage: bool) {
        if let Some(fault) = &finished.end.fault {
            let error = json!({ "error": ApiError::of_model(fault).json() });
            let _ = self.sender.send(event(None, &error)).await;
        } else {
            if let Some(rest) = text.rest(&finished.end) {
                self.chunk(&json!({ "content": rest }), None).await;
            }
            let cited = text.annotations(&finished.end);
            if !cited.is_empty() {
                self.chunk(&json!({ "annotations": cited }), None).await;
            }
            if !finished.end.calls.is_empty() {
                let mut calls = calls(&finished.end.calls);
                for (index, call) in calls.iter_mut().enumerate() {
                    if let Value::Object(fields) = call {
                        fields.insert("index".to_owned(), index.into());
                    }
                }
                self.chunk(&json!({ "tool_calls": calls }), None).await;
            }
            self.chunk(&json!({}), Some(reason(finished.end.stop))).await;
            if with_usage {
                self.send(&json!([]), &usage_told(&finished.usage)).await;
            }
        }
        let _ = self.sender.send(Bytes::from_static(b"data: [DONE]\n\n")).await;
    }
}

/// The text of an answer: what the model says in each of its turns, with an empty line between.
#[derive(Default)]
struct AnswerText {
    said: String,
    /// A turn has ended since something was said last.
    is_behind_turn: bool,
    /// Where the turn begins that is being said.
    turn_at: usize,
    /// What is taken back can be taken out: nobody has read it yet.
    is_whole: bool,
    /// Tools were called.
    has_called: bool,
}

impl AnswerText {
    /// The piece that an event adds.
    fn hear(&mut self, told: &RunEvent) -> Option<String> {
        match told {
            RunEvent::Text { delta } => {
                let gap = std::mem::take(&mut self.is_behind_turn) && !self.said.is_empty();
                let piece = if gap { format!("\n\n{delta}") } else { delta.clone() };
                self.said.push_str(&piece);
                Some(piece)
            }
            RunEvent::TurnStarted { .. } => {
                self.is_behind_turn = true;
                self.turn_at = self.said.len();
                None
            }
            RunEvent::Retracted { .. } => {
                if self.is_whole {
                    self.said.truncate(self.turn_at);
                }
                self.is_behind_turn = true;
                None
            }
            RunEvent::Calls { .. } => {
                self.has_called = true;
                None
            }
            RunEvent::Reasoning { .. }
            | RunEvent::CallDone { .. }
            | RunEvent::Progress { .. }
            | RunEvent::Notice { .. }
            | RunEvent::Compacted { .. }
            | RunEvent::Checked { .. }
            | RunEvent::Waiting { .. }
            | RunEvent::ChildStarted { .. }
            | RunEvent::Child { .. }
            | RunEvent::Usage { .. }
            | RunEvent::Ended { .. } => None,
        }
    }

    /// What the end adds: the words of a tool that took over.
    fn rest(&self, end: &RunEnd) -> Option<String> {
        let is_said = self.said.ends_with(&end.text);
        (!end.text.is_empty() && !is_said).then(|| {
            if self.said.is_empty() { end.text.clone() } else { format!("\n\n{}", end.text) }
        })
    }

    fn all(&self, end: &RunEnd) -> String {
        format!("{}{}", self.said, self.rest(end).unwrap_or_default())
    }

    /// Where all of it cites a source.
    fn annotations(&self, end: &RunEnd) -> Vec<Value> {
        let cited = annotations(&self.all(end), &end.references).into_iter();
        cited.map(|cited| json!({ "type": "url_citation", "url_citation": cited })).collect()
    }

    /// `null` where nothing is said and the caller has calls to run.
    fn whole(&self, end: &RunEnd) -> Value {
        let whole = self.all(end);
        if whole.is_empty() && !end.calls.is_empty() { Value::Null } else { whole.into() }
    }
}

fn calls(calls: &[CallText]) -> Vec<Value> {
    let told = calls.iter().map(|call| {
        let function = json!({ "name": call.name, "arguments": call.arguments });
        json!({ "id": call.id, "type": "function", "function": function })
    });
    told.collect()
}

fn reason(stop: StopReason) -> &'static str {
    match stop {
        StopReason::CallerCalls => "tool_calls",
        StopReason::Length
        | StopReason::Turns
        | StopReason::Calls
        | StopReason::Tokens
        | StopReason::Cost
        | StopReason::Time => "length",
        StopReason::Withheld => "content_filter",
        StopReason::Done
        | StopReason::HandedOver
        | StopReason::Approval
        | StopReason::Cancelled
        | StopReason::Fault => "stop",
    }
}

fn usage_told(usage: &Usage) -> Value {
    json!({
        "prompt_tokens": usage.input_tokens, "completion_tokens": usage.output_tokens,
        "total_tokens": usage.total(),
        "prompt_tokens_details": { "cached_tokens": usage.cached_tokens },
        "completion_tokens_details": { "reasoning_tokens": usage.reasoning_tokens },
    })
}
