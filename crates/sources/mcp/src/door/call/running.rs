//! A call under way, which outlives the request that began it while its client is asked.

use std::collections::BTreeMap;
use std::future::ready;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use serde_json::{Map, Value, json};
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};
use toolcrib_core::{
    BatchOptions, BoxFuture, Caller, Host, HostQuestion, JsonFields, QuestionError, Response,
    TicketError, ToolError,
};

use crate::door::client::channel::ClientChannel;
use crate::door::client::events::{
    ClientEvent, ClientEventReceiver, ClientEventSender, HostAnswer,
};
use crate::door::client::features::{ClientFeatures, method};

/// Whose call it is and which one: a client that comes back must tell the same again.
#[derive(Clone)]
pub(crate) struct CallIdentity {
    pub(crate) caller: Arc<Caller>,
    pub(crate) profile: Option<Arc<str>>,
    /// Of the tool's name and the arguments.
    pub(crate) digest: Arc<str>,
}

impl CallIdentity {
    pub(crate) fn is(&self, other: &Self) -> bool {
        self.caller.is(&other.caller)
            && self.profile == other.profile
            && self.digest == other.digest
    }
}

/// A server of an older revision asks each of its questions by itself: those that come within this
/// time of each other are put together.
const BREATH: Duration = Duration::from_millis(20);

/// What became of it.
pub(crate) enum McpCallEnd {
    Called(Box<Result<Response, TicketError>>),
    Read(Box<Result<JsonFields, ToolError>>),
}

impl McpCallEnd {
    pub(crate) fn of_call(ended: Result<Response, TicketError>) -> Self {
        Self::Called(Box::new(ended))
    }
}

/// Dropping it cancels the call.
pub(crate) struct RunningMcpCall {
    pub(crate) identity: CallIdentity,
    end: BoxFuture<'static, McpCallEnd>,
    events: ClientEventReceiver,
    open: BTreeMap<String, McpCallQuestion>,
    asked: usize,
    /// Ends the call, also one that goes on without its client.
    cancel: CancellationToken,
    /// Cancels the call with us.
    #[expect(dead_code, reason = "it acts when it is dropped")]
    gone: DropGuard,
}

/// A question without an answer yet.
struct McpCallQuestion {
    ask: HostQuestion,
    reply: oneshot::Sender<HostAnswer>,
}

/// Whether a call goes on without its client.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallLifetime {
    WithItsClient,
    OnItsOwn,
}

/// How far a call came while its client was listening.
pub(crate) enum McpCallStep {
    Ended(McpCallEnd),
    /// It waits for answers that the client brings with its next request.
    Asks(RunningMcpCall),
    /// The client has gone, and with it the call.
    Gone,
}

/// The same, with the call where it is.
enum McpCallStop {
    Ended(McpCallEnd),
    Asks,
    Gone,
}

/// What a call says.
pub(crate) enum McpCallSignal {
    Event(ClientEvent),
    Ended(McpCallEnd),
}

impl RunningMcpCall {
    /// Starts a call; `run` gets what the executor needs to reach us.
    pub(crate) fn start(
        identity: CallIdentity,
        client: &ClientFeatures,
        hold: CallLifetime,
        run: impl FnOnce(BatchOptions) -> BoxFuture<'static, McpCallEnd>,
    ) -> Self {
        let (voice, events) = ClientEventSender::of(client);
        let cancel = CancellationToken::new();
        let host = Some(Arc::new(voice) as Arc<dyn Host>);
        let mut end = run(BatchOptions { cancel: cancel.clone(), host, ..BatchOptions::default() });
        let mut gone = cancel.clone().drop_guard();
        if hold == CallLifetime::OnItsOwn {
            let going_on = tokio::spawn(end);
            end = Box::pin(async move {
                going_on.await.unwrap_or_else(|_| McpCallEnd::of_call(Err(TicketError::Unknown)))
            });
            drop(std::mem::replace(&mut gone, CancellationToken::new().drop_guard()).disarm());
        }
        let open = BTreeMap::new();
        Self { identity, end, events, open, asked: 0, cancel, gone }
    }

    /// Passes on what the call says until it ends, or until it asks what only the next request of
    /// its client can answer.
    pub(crate) async fn go_on(mut self, line: &ClientChannel) -> McpCallStep {
        let stop = self.listen(line).await;
        self.step(stop)
    }

    /// The same for a bounded time, after which the call is given back as it is.
    pub(crate) async fn go_on_for(
        mut self,
        line: &ClientChannel,
        limit: Duration,
    ) -> Result<McpCallStep, Self> {
        match timeout(limit, self.listen(line)).await {
            Ok(stop) => Ok(self.step(stop)),
            // It was about to ask.
            Err(_) if !self.open.is_empty() => Ok(McpCallStep::Asks(self)),
            Err(_) => Err(self),
        }
    }

    fn step(self, stop: McpCallStop) -> McpCallStep {
        match stop {
            McpCallStop::Ended(end) => McpCallStep::Ended(end),
            McpCallStop::Asks => McpCallStep::Asks(self),
            McpCallStop::Gone => McpCallStep::Gone,
        }
    }

    /// May be dropped at any point: what was heard until then was passed on or is open.
    async fn listen(&mut self, line: &ClientChannel) -> McpCallStop {
        self.events.is_of(&line.client);
        // Most calls ask nothing.
        let mut asking: Option<FuturesUnordered<_>> = None;
        loop {
            tokio::select! {
                biased;
                () = line.gone() => return McpCallStop::Gone,
                heard = self.hear() => match heard {
                    // These are rare, and large.
                    McpCallSignal::Event(ClientEvent::Progress(progress)) => {
                        Box::pin(line.progress(progress)).await;
                    }
                    McpCallSignal::Event(ClientEvent::Log(entry)) => Box::pin(line.log(entry)).await,
                    McpCallSignal::Event(ClientEvent::Opened(said)) => Box::pin(line.opened(said)).await,
                    McpCallSignal::Event(ClientEvent::Ask(ask, reply)) if line.client.is_modern => {
                        self.open(ask, reply);
                        Box::pin(self.open_more(line)).await;
                        return McpCallStop::Asks;
                    }
                    McpCallSignal::Event(ClientEvent::Ask(ask, reply)) => {
                        let asking = asking.get_or_insert_with(FuturesUnordered::new);
                        asking.push(async move {
                            let _ = reply.send(line.ask(ask).await);
                        });
                    }
                    McpCallSignal::Ended(end) => return McpCallStop::Ended(end),
                },
                () = answered(&mut asking) => {}
            }
        }
    }

    /// What the call says next; the last is its end.
    pub(crate) async fn hear(&mut self) -> McpCallSignal {
        loop {
            let heard = tokio::select! {
                biased;
                event = self.events.hear() => McpCallSignal::Event(event),
                // What it said last may have come after the look at its events.
                end = &mut self.end => match self.events.heard() {
                    Some(event) => {
                        self.end = Box::pin(ready(end));
                        McpCallSignal::Event(event)
                    }
                    None => McpCallSignal::Ended(end),
                },
            };
            // Of a call that is over nobody waits for an answer.
            if !matches!(&heard, McpCallSignal::Event(event) if event.is_taken_back()) {
                return heard;
            }
        }
    }

    /// Tells the call that nobody wants its end any more; what it says to that is its end.
    pub(crate) fn cancel(&self) {
        self.cancel.cancel();
    }

    fn open(&mut self, ask: HostQuestion, reply: oneshot::Sender<HostAnswer>) {
        self.asked += 1;
        let key = ask.name.as_deref().or_else(|| only_field(&ask.params));
        let key = key.filter(|key| !self.open.contains_key(*key));
        let key = key.map_or_else(|| format!("question_{}", self.asked), str::to_owned);
        self.open.insert(key, McpCallQuestion { ask, reply });
    }

    /// What was asked in the same breath goes out with the first question.
    async fn open_more(&mut self, line: &ClientChannel) {
        while let Ok(event) = timeout(BREATH, self.events.hear()).await {
            match event {
                ClientEvent::Progress(progress) => line.progress(progress).await,
                ClientEvent::Log(entry) => line.log(entry).await,
                ClientEvent::Opened(said) => line.opened(said).await,
                ClientEvent::Ask(ask, reply) => self.open(ask, reply),
            }
        }
    }

    /// The open questions as the protocol has them, under their keys.
    pub(crate) fn questions(&self) -> Map<String, Value> {
        let questions = self.open.iter().map(|(key, open)| (key.clone(), posed(&open.ask)));
        questions.collect()
    }

    /// What was said around them by whoever asks.
    pub(crate) fn around(&self) -> Map<String, Value> {
        let said = self.open.values().flat_map(|open| open.ask.around.iter());
        said.map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// Hands in what the client brought; `false`: some questions are still open.
    pub(crate) fn answer(&mut self, mut answers: BTreeMap<String, Value>) -> bool {
        let (answered, open): (BTreeMap<_, _>, _) = std::mem::take(&mut self.open)
            .into_iter()
            .partition(|(key, _)| answers.contains_key(key));
        for (key, McpCallQuestion { reply, .. }) in answered {
            let _ = reply.send(answers.remove(&key).ok_or(QuestionError::Unable));
        }
        self.open = open;
        self.open.is_empty()
    }

    /// There is no way to ask.
    pub(crate) fn decline(&mut self) {
        for (_, McpCallQuestion { reply, .. }) in std::mem::take(&mut self.open) {
            let _ = reply.send(Err(QuestionError::Unable));
        }
    }
}

/// Resolves when one of the questions is answered.
async fn answered(asking: &mut Option<FuturesUnordered<impl Future<Output = ()>>>) {
    match asking {
        Some(open) if !open.is_empty() => _ = open.next().await,
        Some(_) | None => std::future::pending().await,
    }
}

/// A question of a call as it was asked.
pub(crate) fn posed(ask: &HostQuestion) -> Value {
    let mut posed = request(ask.question, &ask.params);
    if let Value::Object(fields) = &mut posed {
        fields.extend(ask.besides.clone());
    }
    posed
}

/// A question as a request inside of a result.
pub(crate) fn request(question: toolcrib_core::QuestionKind, params: &Value) -> Value {
    // Not every question has parameters, and `null` would be some.
    if params.is_null() {
        return json!({ "method": method(question) });
    }
    json!({ "method": method(question), "params": params })
}

/// A form of one field is called as the field is, which says more than a number.
pub(crate) fn only_field(params: &Value) -> Option<&str> {
    let fields = params.get("requestedSchema")?.get("properties")?.as_object()?;
    let (name, _) = fields.iter().next().filter(|_| fields.len() == 1)?;
    let is_plain = name.len() <= 64 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    (is_plain && !name.starts_with("question_")).then_some(name)
}
