//! One model behind its address.

mod copies;
mod engine;
mod generate;
mod tool_words;

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use http::header::{CONTENT_TYPE, HeaderMap};
use http::{Method, StatusCode};
use serde_json::Value;
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep, timeout};
use toolcrib_core::{Call, Plan};
use toolcrib_dialect::{Dialect, NotAReply};
use toolcrib_egress::{Egress, EgressRoute, Network, StreamedResponse};

use self::engine::EngineRoutes;
use self::tool_words::{call_text, tool_dialect};
use super::answer::sampled::TokenReader;
use super::answer::{self, ModelAnswer, ModelDelta};
use super::chunk::{EventReader, drain};
use super::delta_filter::DeltaFilter;
use super::fault::{ModelFault, ModelFaultKind, retry_after};
use super::hosted::HostedTeller;
use super::messages;
use super::request::{self, ModelRequest};
use super::settings::{ModelApi, ModelSettings};
use super::text_calls::{self, TextCallFormat};
use crate::item::Echo;
use crate::usage::Usage;

/// Largest answer that is read, in bytes.
const LARGEST_ANSWER: usize = 64 << 20;
/// So much of what a server says about its refusal is read, in bytes.
const LARGEST_REFUSAL: usize = 64 << 10;
/// What an image or a file weighs, in bytes of text.
const MEDIA: usize = 4 * 1_000;
/// Before the second try, if the server does not say; then twice as long each time.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// Between tries of a patient client at the most.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// A client of one model; the only place that it reaches.
pub struct ModelClient {
    settings: ModelSettings,
    dialect: Box<dyn Dialect>,
    /// In which tools are named and results are told.
    tools: Box<dyn Dialect>,
    egress: Egress,
    route: EgressRoute,
    headers: HeaderMap,
    /// Where an engine takes tokens.
    engine: Option<EngineRoutes>,
    fallback: Vec<Self>,
    /// How many requests are on their way at the same time, with all who share it.
    places: Option<Arc<Semaphore>>,
}

/// How far an answer has come.
#[derive(Default)]
struct Progress {
    /// Bytes of words and calls.
    said: usize,
    /// Something of it was told.
    has_told: bool,
    usage: Option<Usage>,
    /// The API says that the answer is whole.
    has_ended: bool,
    /// Nothing follows any more.
    is_over: bool,
}

impl ModelClient {
    /// Nothing is sent yet.
    pub fn new(settings: ModelSettings) -> Result<Self, ModelFault> {
        let url = request::url(&settings);
        let headers = request::headers(&settings)?;
        let egress = Egress::only([url.clone()], Network::default());
        let route = egress.and_then(|egress| {
            let route = egress.route(&url)?;
            let wire = settings.wire();
            let engine = wire.map(|wire| EngineRoutes::new(wire, &settings.base, &egress));
            Ok((egress, route, engine.transpose()?))
        });
        let (egress, route, engine) =
            route.map_err(|error| ModelFault::of_line(&settings.name, &error))?;
        let dialect = settings.api.dialect();
        let tools = tool_dialect(&settings);
        let fallback = settings.fallback.iter().cloned().map(Self::new);
        let fallback = fallback.collect::<Result<_, _>>()?;
        let places = None;
        Ok(Self { settings, dialect, tools, egress, route, headers, engine, fallback, places })
    }

    pub fn settings(&self) -> &ModelSettings {
        &self.settings
    }

    /// In which the model is told of tools and results.
    pub fn dialect(&self) -> &dyn Dialect {
        &*self.tools
    }

    /// Bytes of a request, for an estimate of its tokens.
    pub fn weight(&self, request: &ModelRequest<'_>) -> usize {
        // Of an image or a file nobody counts the letters.
        let media = messages::media(request.items);
        let bytes = media.iter().fold(0_usize, |sum, one| sum.saturating_add(*one));
        self.body(request).len().saturating_sub(bytes) + media.len() * MEDIA
    }

    fn body(&self, request: &ModelRequest<'_>) -> Bytes {
        let body = Value::Object(request.body(&self.settings));
        serde_json::to_vec(&body).unwrap_or_default().into()
    }

    /// Asks, again where that may help, and tells what comes while it comes. Where the model gives no
    /// answer and nothing was told, the next of `fallback` is asked. Whoever does not want the answer
    /// any more drops the future.
    ///
    /// # Errors
    /// The last fault, once no further try is left or may help. `used` counts what every try cost.
    pub async fn answer(
        &self,
        asked: &ModelRequest<'_>,
        used: &mut Usage,
        tell: &mut (dyn FnMut(ModelDelta) + Send),
    ) -> Result<ModelAnswer, ModelFault> {
        let mut client = self;
        for next in &self.fallback {
            let mut has_told = false;
            let mut watch = |delta| {
                has_told = true;
                tell(delta);
            };
            let answered = client.own_answer(asked, used, &mut watch).await;
            match answered {
                Err(fault) if fault.may_pass() && !has_told => {
                    let name = &next.settings.name;
                    let told = format!("{}; the model `{name}` is asked instead", fault.message);
                    tell(ModelDelta::OtherModel(told));
                    client = next;
                }
                ended => return ended,
            }
        }
        client.own_answer(asked, used, tell).await
    }

    async fn own_answer(
        &self,
        asked: &ModelRequest<'_>,
        used: &mut Usage,
        tell: &mut (dyn FnMut(ModelDelta) + Send),
    ) -> Result<ModelAnswer, ModelFault> {
        let body = self.body(asked);
        let (mut pause, began) = (FIRST_PAUSE, Instant::now());
        let mut repeats = 0;
        loop {
            let mut progress = Progress::default();
            let sent = body.len();
            let place = self.place().await;
            let tried = self.once(asked, body.clone(), &mut progress, tell);
            let tried = timeout(self.settings.timeouts.total, tried).await;
            // Others are asked while this one waits for its next try.
            drop(place);
            let tried = tried.unwrap_or_else(|_| Err(self.late("the whole answer took too long")));
            // A stream that broke cost tokens too, though nobody says how many.
            let estimated = || Usage::estimated(sent, progress.said);
            let fault = match tried {
                Ok(mut answer) => {
                    answer.usage = progress.usage.unwrap_or_else(estimated);
                    used.add(answer.usage);
                    return Ok(answer);
                }
                Err(fault) => fault,
            };
            if progress.said > 0 || progress.usage.is_some() {
                let seen = estimated();
                // What was reported before the stream broke is less than what was written.
                used.add(progress.usage.map_or(seen, |told| Usage {
                    input_tokens: told.input_tokens.max(seen.input_tokens),
                    output_tokens: told.output_tokens.max(seen.output_tokens),
                    source: seen.source,
                    ..told
                }));
            }
            let wait = fault.retry_after.unwrap_or(pause);
            let is_patient = wait <= self.settings.timeouts.retry_after;
            let may_repeat = repeats < self.settings.retries
                || began.elapsed().saturating_add(wait) < self.settings.patience;
            if !may_repeat || !fault.may_pass() || !is_patient {
                return Err(fault);
            }
            if progress.has_told {
                tell(ModelDelta::Retracted(fault.message));
            }
            sleep(wait).await;
            repeats += 1;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    async fn once(
        &self,
        asked: &ModelRequest<'_>,
        body: Bytes,
        progress: &mut Progress,
        tell: &mut (dyn FnMut(ModelDelta) + Send),
    ) -> Result<ModelAnswer, ModelFault> {
        if let Some(engine) = &self.engine {
            // Boxed, so that no other turn carries its size.
            return Box::pin(self.generated(engine, asked, body, progress, tell)).await;
        }
        let response = self.sent(&self.route, body).await?;
        if response.status != StatusCode::OK {
            return Err(self.refusal(response).await);
        }
        let kind = response.headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        if kind.is_some_and(|kind| kind.starts_with("application/json")) {
            return self.whole(asked, response, progress, tell).await;
        }
        self.streamed(asked, response, progress, tell).await
    }

    /// The head of what comes back.
    async fn sent(&self, to: &EgressRoute, body: Bytes) -> Result<StreamedResponse, ModelFault> {
        let exchange = self.egress.exchange(to, Method::POST, self.headers.clone(), body);
        let head = timeout(self.settings.timeouts.first_byte, exchange).await;
        head.map_err(|_| self.late("no answer began in time"))?
            .map_err(|error| ModelFault::of_line(&self.settings.name, &error))
    }

    /// A server that does not stream.
    async fn whole(
        &self,
        asked: &ModelRequest<'_>,
        response: StreamedResponse,
        progress: &mut Progress,
        tell: &mut (dyn FnMut(ModelDelta) + Send),
    ) -> Result<ModelAnswer, ModelFault> {
        let bytes = self.read(response, LARGEST_ANSWER).await?;
        progress.said = bytes.len();
        let reply: Value = serde_json::from_slice(&bytes)
            .map_err(|error| self.broken("it answered with no JSON").because(error.to_string()))?;
        answer::note_usage(self.settings.api, &reply, &mut progress.usage);
        let mut answered = self.turn(&reply, |plan| self.dialect.calls(plan, &reply), asked)?;
        let mut tokens = TokenReader::of(self.settings.engine);
        tokens.hear(&reply);
        answered.sampled = tokens.finish();
        progress.has_told |= HostedTeller::default().tell_rest(&answered.hosted.calls, tell);
        if !answered.text.is_empty() {
            progress.has_told = true;
            tell(ModelDelta::Text(answered.text.clone()));
        }
        Ok(answered)
    }

    async fn streamed(
        &self,
        asked: &ModelRequest<'_>,
        response: StreamedResponse,
        progress: &mut Progress,
        tell: &mut (dyn FnMut(ModelDelta) + Send),
    ) -> Result<ModelAnswer, ModelFault> {
        let api = self.settings.api;
        let mut stream = self.dialect.stream();
        let mut reader = EventReader::default();
        let mut total = 0_usize;
        let mut response = pin!(response);
        let tools = asked.text_tools(&self.settings);
        let mut filter = DeltaFilter::new(self.settings.text_calls, asked.plan, &tools);
        let mut hosted = HostedTeller::default();
        let mut tokens = TokenReader::of(self.settings.engine);
        let mut take = |event: &[u8], progress: &mut Progress| {
            // Some servers of the chat API end with this word and no reason.
            progress.is_over |= event == b"[DONE]";
            progress.has_ended |= progress.is_over && api == ModelApi::OpenAiChat;
            let Ok(event) = serde_json::from_slice::<Value>(event) else { return };
            answer::note_usage(api, &event, &mut progress.usage);
            let ends = answer::ends(api, &event);
            progress.has_ended |= ends;
            // Behind the last piece of a chat comes its usage; Gemini tells no end.
            let is_named = matches!(api, ModelApi::OpenAiResponses | ModelApi::Anthropic);
            progress.is_over |= ends && is_named;
            progress.said += answer::call_bytes(api, &event);
            stream.push(&event);
            tokens.hear(&event);
            let by = (&*self.dialect, asked.plan);
            progress.has_told |= hosted.hear(by, &event, || stream.reply(), tell);
            if let Some(delta) = answer::delta(api, &event) {
                progress.said += delta.words().len();
                let told = filter.pass(delta);
                progress.has_told |= !told.is_empty();
                told.into_iter().for_each(&mut *tell);
            }
        };
        while !progress.is_over {
            let next = self.next_bytes(response.as_mut(), progress.has_ended).await?;
            let Some(bytes) = next else { break };
            total = total.saturating_add(bytes.len());
            let events = reader.push(&bytes).ok().filter(|_| total <= LARGEST_ANSWER);
            let events = events.ok_or_else(|| self.broken("its answer is too large"))?;
            for event in events {
                take(&event, progress);
            }
        }
        if progress.is_over {
            drain(response.as_mut()).await;
        }
        if let Some(event) = reader.finish() {
            take(&event, progress);
        }
        let fault = stream.not_a_reply();
        if !progress.has_ended && fault.is_none() {
            return Err(self.broken("its answer broke off"));
        }
        let held = filter.finish();
        progress.has_told |= !held.is_empty();
        held.into_iter().for_each(&mut *tell);
        let reply = stream.reply();
        let mut answered = self.turn(&reply, |plan| stream.finish(plan), asked)?;
        answered.sampled = tokens.finish();
        progress.has_told |= hosted.tell_rest(&answered.hosted.calls, tell);
        Ok(answered)
    }

    /// What comes next of a stream; `None`: there is no more.
    async fn next_bytes(
        &self,
        mut response: Pin<&mut StreamedResponse>,
        has_ended: bool,
    ) -> Result<Option<Bytes>, ModelFault> {
        match timeout(self.settings.timeouts.between, response.next()).await {
            // What is whole needs no end of the line.
            Err(_) | Ok(Some(Err(_))) if has_ended => Ok(None),
            Err(_) => Err(self.late("the answer stopped half-way")),
            Ok(next) => {
                next.transpose().map_err(|error| ModelFault::of_line(&self.settings.name, &error))
            }
        }
    }

    /// A turn out of a whole reply.
    fn turn(
        &self,
        reply: &Value,
        calls: impl FnOnce(&Plan) -> Result<Vec<Call>, NotAReply>,
        asked: &ModelRequest<'_>,
    ) -> Result<ModelAnswer, ModelFault> {
        if let Some(fault) = self.dialect.not_a_reply(reply) {
            return Err(self.not_a_reply(&fault));
        }
        // A turn may be empty: the model has nothing to add.
        let messages = self.dialect.echo(reply);
        let text = answer::text(self.settings.api, &messages);
        let was_cut = answer::was_cut(self.settings.api, reply);
        let (text, calls, echo) = match (self.settings.text_calls, asked.plan) {
            (Some(format), Some(plan)) => self.text_turn((format, plan), asked, &text, messages),
            (_, Some(plan)) => {
                let calls = calls(plan).map_err(|fault| self.not_a_reply(&fault))?;
                (text, calls, Echo { dialect: self.dialect.name().to_owned(), messages })
            }
            (_, None) => {
                (text, Vec::new(), Echo { dialect: self.dialect.name().to_owned(), messages })
            }
        };
        let call_texts = calls.iter().map(call_text).collect();
        let is_paused = answer::is_paused(self.settings.api, reply);
        let hosted = self.dialect.hosted(asked.plan, reply);
        let usage = Usage::default();
        let sampled = None;
        Ok(ModelAnswer {
            text,
            calls,
            call_texts,
            echo,
            usage,
            was_cut,
            hosted,
            is_paused,
            sampled,
        })
    }

    /// A turn whose calls stand in its words.
    fn text_turn(
        &self,
        (format, plan): (TextCallFormat, &Plan),
        asked: &ModelRequest<'_>,
        said: &str,
        messages: Vec<Value>,
    ) -> (String, Vec<Call>, Echo) {
        let turn = text_calls::read(format, &asked.text_tools(&self.settings), said);
        // What it thought is not told to it again.
        let messages = match said.get(turn.begin..).filter(|_| turn.begin > 0) {
            Some(rest) => messages::turn(self.settings.api, rest, &[]),
            None => messages,
        };
        let echo = Echo { dialect: text_calls::echo_name(self.dialect.name(), format), messages };
        (turn.text, text_calls::calls(plan, turn.calls, asked.items.len()), echo)
    }

    fn not_a_reply(&self, fault: &NotAReply) -> ModelFault {
        let kind = match fault {
            NotAReply::ApiError { .. } => ModelFaultKind::Unavailable,
            NotAReply::Blocked { .. } => ModelFaultKind::Blocked,
            NotAReply::OtherDialect { .. } => ModelFaultKind::Refused,
        };
        let model = &self.settings.name;
        ModelFault::new(kind, format!("the model `{model}` gave no answer: {fault}"))
    }

    async fn refusal(&self, response: StreamedResponse) -> ModelFault {
        let status = response.status;
        let wait = retry_after(&response.headers);
        let said = self.read(response, LARGEST_REFUSAL).await.unwrap_or_default();
        let said = match serde_json::from_slice::<Value>(&said) {
            Ok(told) => {
                let message =
                    ["/error/message", "/message", "/error", "/detail", "/0/error/message"]
                        .into_iter()
                        .find_map(|place| told.pointer(place).and_then(Value::as_str));
                message.map_or_else(|| told.to_string(), str::to_owned)
            }
            Err(_) => String::from_utf8_lossy(&said).into_owned(),
        };
        ModelFault::of_status(&self.settings.name, status, &said, wait)
    }

    async fn read(&self, response: StreamedResponse, most: usize) -> Result<Vec<u8>, ModelFault> {
        let mut read = Vec::new();
        let mut response = pin!(response);
        loop {
            let next = timeout(self.settings.timeouts.between, response.next()).await;
            let next = next.map_err(|_| self.late("the answer stopped half-way"))?;
            let Some(bytes) = next else { return Ok(read) };
            let bytes = bytes.map_err(|error| ModelFault::of_line(&self.settings.name, &error))?;
            if read.len() + bytes.len() > most {
                return Err(self.broken("its answer is too large"));
            }
            read.extend_from_slice(&bytes);
        }
    }

    fn late(&self, what: &str) -> ModelFault {
        let message = format!("the model `{}`: {what}", self.settings.name);
        ModelFault::new(ModelFaultKind::Timeout, message)
    }

    fn broken(&self, what: &str) -> ModelFault {
        let message = format!("the model `{}`: {what}", self.settings.name);
        ModelFault::new(ModelFaultKind::Broken, message)
    }
}
