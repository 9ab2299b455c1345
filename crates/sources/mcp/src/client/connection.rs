//! One live connection to a server, and single requests over it.

mod backpressure;
pub(crate) mod capabilities;
pub(crate) mod connector;
pub(crate) mod direct;
pub(crate) mod handshake;
mod outbound_span;
pub(crate) mod server_info;

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientNotification, ClientRequest,
    CustomNotification, CustomRequest, RequestId, RequestMetaObject,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, ServiceError};
use serde_json::{Map, Value, json};
use tokio::runtime::Handle;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep_until, timeout};
use tokio_util::sync::CancellationToken;
use toolcrib_child::{Child, ExitWatcher, StderrTail};
use toolcrib_core::{CallContext, OutboundSpan, SpanAttribute, Trace};

use super::fault::{McpFault, McpTimeoutPhase};
use super::http;
use super::inflight::{InFlight, UpstreamRequest};
use super::settings::McpTimeouts;
use crate::client::call::params::RequestParams;
use crate::client::call::reply::ServerReply;
use crate::client::call::task_words::is_about;
use crate::client::inflight::asking_habits::CallSubject;
use crate::client::list_kind::key;
use capabilities::capabilities;
use direct::DirectChannel;
use server_info::McpServerInfo;

/// A server that has said hello.
pub(crate) struct McpConnection {
    pub(crate) facts: McpServerInfo,
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) calls: Arc<InFlight>,
    /// Of what goes around the SDK, where something may.
    pub(crate) direct: Option<DirectChannel>,
    /// Where the server is, for whoever records what is asked of it.
    pub(crate) way: Arc<[SpanAttribute]>,
    /// Ends the connection when it is cancelled, and is cancelled when it has ended.
    pub(crate) stop: CancellationToken,
    pub(crate) program: Option<ServerProcess>,
    /// It refuses to tell when its list changes.
    pub(crate) is_mute: AtomicBool,
    /// We have ended it, and nothing is wrong.
    pub(crate) was_stopped: AtomicBool,
    /// Requests under way, and the calls and lists that they are of.
    pub(crate) in_flight: AtomicUsize,
}

/// Something counts for as long as this lives.
pub(crate) struct CountGuard<'a>(&'a AtomicUsize);

impl<'a> CountGuard<'a> {
    pub(crate) fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(count)
    }
}

impl Drop for CountGuard<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The child behind a connection.
pub(crate) struct ServerProcess {
    pub(crate) pid: u32,
    pub(crate) stderr: StderrTail,
    pub(crate) ending: ExitWatcher,
    pub(crate) child: Mutex<Option<Child>>,
}

impl ServerProcess {
    pub(crate) fn new(child: Child) -> Self {
        let (pid, stderr, ending) = (child.id(), child.stderr(), child.ending());
        Self { pid, stderr, ending, child: Mutex::new(Some(child)) }
    }
}

/// How long the end of a child may take to be known after its output has ended.
const END: Duration = Duration::from_millis(200);

/// How long one request may take.
pub(crate) struct UpstreamTimeouts {
    /// Without a sign of life.
    pub(crate) idle: (McpTimeoutPhase, Duration),
    /// In all.
    pub(crate) until: (McpTimeoutPhase, Instant, Duration),
    /// What it is about, where questions do not say whose they are.
    pub(crate) subject: Option<CallSubject>,
}

impl UpstreamTimeouts {
    /// A call that begins now.
    pub(crate) fn of_call(timeouts: McpTimeouts) -> Self {
        let whole = timeouts.longest_call;
        let until = (McpTimeoutPhase::LongestCall, Instant::now() + whole, whole);
        Self { idle: (McpTimeoutPhase::Call, timeouts.call), until, subject: None }
    }
}

/// A method and its parameters.
type MethodAndParams<'a> = (&'a str, &'a RequestParams);

impl McpConnection {
    /// Nothing more is begun on it, though what is under way may still be answered.
    pub(crate) fn is_closed(&self) -> bool {
        let has_ended = |program: &ServerProcess| program.ending.has_ended();
        self.is_over()
            || self.calls.deaf.is_cancelled()
            || self.program.as_ref().is_some_and(has_ended)
    }

    pub(crate) fn is_over(&self) -> bool {
        self.calls.closed.is_cancelled() || self.stop.is_cancelled()
    }

    /// Nothing is sent any more over a connection that has ended, so that another may be tried.
    fn is_still_open(&self) -> Result<(), McpFault> {
        if self.is_closed() {
            Err(McpFault::unreachable("the connection has ended"))
        } else {
            Ok(())
        }
    }

    /// Whether something runs on it.
    pub(crate) fn is_busy(&self) -> bool {
        self.in_flight.load(Ordering::Acquire) > 0
    }

    pub(crate) fn tells_changes(&self) -> bool {
        self.facts.can("tools", "listChanged") && !self.is_mute.load(Ordering::Acquire)
    }

    pub(crate) fn tells_updates(&self) -> bool {
        self.facts.can("resources", "subscribe")
    }

    /// Whether it says by itself when its prompts and resources change.
    pub(crate) fn tells_of_library(&self) -> bool {
        let has = |what: &str| self.facts.said.capabilities.contains_key(what);
        let tells = |what: &str| !has(what) || self.facts.can(what, "listChanged");
        tells("prompts") && tells("resources") && !self.is_mute.load(Ordering::Acquire)
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        self.program.as_ref().map(|program| program.pid)
    }

    pub(crate) fn stderr(&self) -> Option<StderrTail> {
        self.program.as_ref().map(|program| program.stderr.clone())
    }

    /// How its program ended, if it has one and that ended by itself.
    pub(crate) async fn last_words(&self) -> Option<String> {
        let child = self.program.as_ref()?.child.lock().await;
        let exit = timeout(END, child.as_ref()?.ended()).await.ok()?;
        Some(format!("its program {exit}"))
    }

    /// Ends it, and waits until its program is gone.
    pub(crate) async fn close(&self) {
        self.was_stopped.store(true, Ordering::Release);
        self.calls.closed.cancel();
        self.stop.cancel();
        let Some(program) = &self.program else {
            return;
        };
        if let Some(child) = program.child.lock().await.take() {
            child.stop().await;
        }
    }

    /// Sends one request and waits for its result, whole as it came.
    pub(crate) async fn request(
        &self,
        method: &str,
        params: &RequestParams,
        context: Option<&CallContext>,
        waits: &UpstreamTimeouts,
    ) -> Result<ServerReply, McpFault> {
        let asked = (method, params);
        let server = (self.facts.revision.as_str(), &*self.way);
        let outbound = context.map(|context| outbound_span::begin(server, asked, context));
        let trace = outbound.as_ref().and_then(OutboundSpan::trace);
        let direct = self.direct.as_ref().filter(|direct| direct.takes(method, params));
        let answered = match direct {
            Some(direct) => self.around(direct, asked, (context, trace), waits).await,
            // Rare by now, and large.
            None => Box::pin(self.by_sdk(asked, (context, trace), waits)).await,
        };
        if let Some(outbound) = outbound {
            outbound_span::end(outbound, &answered);
        }
        answered
    }

    /// Says something to which there is no answer.
    pub(crate) async fn notify(
        &self,
        method: &str,
        params: Map<String, Value>,
    ) -> Result<(), McpFault> {
        let notice = CustomNotification::new(method, Some(Value::Object(params)));
        let notice = ClientNotification::CustomNotification(notice);
        let sent = self.peer.send_notification(notice).await;
        sent.map_err(|error| McpFault::broken("it does not take a notification").because(error))
    }

    async fn by_sdk(
        &self,
        (method, params): MethodAndParams<'_>,
        (context, trace): (Option<&CallContext>, Option<Trace>),
        waits: &UpstreamTimeouts,
    ) -> Result<ServerReply, McpFault> {
        let slot = UpstreamRequest::new(context.cloned()).of_page(key(method));
        let slot = slot.of_subject(waits.subject.as_ref());
        let slot = Arc::new(slot.of_look(is_about(method)));
        let mut request = CustomRequest::new(method, Some(params.whole()));
        request.extensions.insert(Arc::clone(&slot));
        let mut options = PeerRequestOptions::default();
        if let Some(meta) = self.meta(context, trace) {
            options = options.with_meta(meta);
        }
        let _counted = CountGuard::new(&self.in_flight);
        let mut sent = SentRequestGuard { connection: self, slot: &slot, id: None };
        self.is_still_open()?;
        let request = ClientRequest::CustomRequest(request);
        let sending = self.peer.send_request_with_option(request, options);
        let mut handle = sending.await.map_err(|error| fault(error, &slot))?;
        sent.id = Some(handle.id.clone());
        // The SDK knows only that there is an end; the answer itself stands in the slot.
        let answer = async {
            let end = (&mut handle.rx).await;
            match (slot.take_answer(), end) {
                (Some(answer), _) => Ok(ServerReply::Fields(answer)),
                (None, Ok(Ok(_))) => Err(McpFault::Unreadable("it is no object")),
                (None, Ok(Err(error))) => Err(fault(error, &slot)),
                (None, Err(_)) => Err(fault(ServiceError::TransportClosed, &slot)),
            }
        };
        let answered = self.wait(pin!(answer), &slot, context, waits).await;
        if !matches!(answered, Err(McpFault::TooLong(..) | McpFault::Cancelled | McpFault::Moved)) {
            sent.id = None;
        }
        answered
    }

    /// The same around the SDK.
    async fn around(
        &self,
        direct: &DirectChannel,
        asked: MethodAndParams<'_>,
        (context, trace): (Option<&CallContext>, Option<Trace>),
        waits: &UpstreamTimeouts,
    ) -> Result<ServerReply, McpFault> {
        let (slot, end) = UpstreamRequest::direct(context.cloned());
        let slot = slot.of_page(key(asked.0)).of_call(asked.0 == "tools/call");
        let slot = slot.of_subject(waits.subject.as_ref());
        let slot = Arc::new(slot.of_look(is_about(asked.0)));
        let (id, text) = direct.text(asked, context, trace);
        let _counted = CountGuard::new(&self.in_flight);
        let mut sent = SentRequestGuard { connection: self, slot: &slot, id: Some(id.clone()) };
        self.is_still_open()?;
        let answer = direct.exchange(asked, (id, text), &slot, end);
        let answered = self.wait(pin!(answer), &slot, context, waits).await;
        if !matches!(answered, Err(McpFault::TooLong(..) | McpFault::Cancelled | McpFault::Moved)) {
            sent.id = None;
        }
        answered
    }

    async fn wait(
        &self,
        mut answer: Pin<&mut impl Future<Output = Result<ServerReply, McpFault>>>,
        slot: &UpstreamRequest,
        context: Option<&CallContext>,
        waits: &UpstreamTimeouts,
    ) -> Result<ServerReply, McpFault> {
        let (last, until, in_all) = waits.until;
        let (phase, idle) = waits.idle;
        let cancelled = async {
            match context {
                Some(context) => context.cancelled().await,
                None => std::future::pending().await,
            }
        };
        let mut cancelled = pin!(cancelled);
        let mut closed = pin!(self.calls.closed.cancelled());
        let mut silence = pin!(sleep_until((Instant::now() + idle).min(until)));
        loop {
            tokio::select! {
                biased;
                // What comes of it by now is no answer of the question that moved it.
                () = slot.moved.notified() => return Err(McpFault::Moved),
                answer = &mut answer => return answer,
                () = &mut cancelled => return Err(cancelled_at(slot)),
                // What came in before the end was read is still on its way through the SDK.
                () = &mut closed => return match (slot.take_answer(), answer.now_or_never()) {
                    (Some(answer), _) => Ok(ServerReply::Fields(answer)),
                    (None, Some(answered)) => answered,
                    (None, None) => Err(fault(ServiceError::TransportClosed, slot)),
                },
                () = slot.progressed.notified() => {
                    silence.as_mut().reset((Instant::now() + idle).min(until));
                }
                () = &mut silence => match Instant::now() {
                    now if now >= until => return Err(McpFault::TooLong(last, in_all)),
                    // A person may take the time that a person takes.
                    now if slot.waits_for_us() => silence.as_mut().reset((now + idle).min(until)),
                    _ => return Err(McpFault::TooLong(phase, idle)),
                },
            }
        }
    }

    /// What a request says of itself besides what the SDK says for all of them: in the new era what
    /// can be answered, and where it stands in a trace.
    fn meta(
        &self,
        context: Option<&CallContext>,
        trace: Option<Trace>,
    ) -> Option<RequestMetaObject> {
        let context = context?;
        let mut meta = RequestMetaObject::new();
        if self.facts.is_modern {
            meta.set_client_capabilities(capabilities(context.answers()));
            if let Some(level) = context.hears() {
                meta.insert("io.modelcontextprotocol/logLevel".to_owned(), json!(level));
            }
        }
        if let Some(trace) = trace {
            meta.set_traceparent(trace.to_string());
            if let Some(state) = context.trace_state() {
                meta.insert("tracestate".to_owned(), json!(state.as_str()));
            }
        }
        (!meta.is_empty()).then_some(meta)
    }

    fn tell_cancelled(&self, id: RequestId, why: &str) {
        let params = CancelledNotificationParam::new(Some(id), Some(why.to_owned()));
        let peer = self.peer.clone();
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        // A server that does not read keeps this waiting until the connection ends.
        runtime.spawn(async move {
            let notification = CancelledNotification::new(params);
            let _ = peer.send_notification(notification.into()).await;
        });
    }
}

/// A request that is under way. Dropped before its answer came, it is given up: the server is told
/// so, and what it still says is nobody's.
struct SentRequestGuard<'a> {
    connection: &'a McpConnection,
    slot: &'a UpstreamRequest,
    /// `None`: there is nothing to give up.
    id: Option<RequestId>,
}

impl Drop for SentRequestGuard<'_> {
    fn drop(&mut self) {
        // What went around the SDK and never left is nothing to the server.
        let is_known = !self.slot.is_direct() || self.slot.was_sent();
        let given_up = self.id.take().filter(|_| is_known);
        // Before it is forgotten: a question that comes in between is not of who is left.
        if let Some(id) = &given_up {
            self.connection.calls.abandon(id.clone(), self.slot);
        }
        self.connection.calls.forget(self.slot);
        if let Some(subject) = self.slot.subject().filter(|_| self.slot.was_silent()) {
            self.connection.calls.askers.was_silent(subject);
        }
        if let Some(id) = given_up {
            self.connection.tell_cancelled(id, "nobody waits for the result any more");
        }
    }
}

/// What the SDK was given it may still send; what goes around it is dropped with whoever waits.
fn cancelled_at(slot: &UpstreamRequest) -> McpFault {
    if slot.is_direct() && !slot.was_sent() { McpFault::Withdrawn } else { McpFault::Cancelled }
}

/// What the SDK's error means for a request.
#[expect(clippy::wildcard_enum_match_arm, reason = "the SDK's errors grow with every release")]
fn fault(error: ServiceError, slot: &UpstreamRequest) -> McpFault {
    let gone = |why: &str| {
        if slot.was_sent() { McpFault::broken(why) } else { McpFault::unreachable(why) }
    };
    // The SDK says it, or we do: what came back cannot be read.
    if let (ServiceError::McpError(_), Some(why)) = (&error, slot.odd()) {
        return McpFault::Unreadable(why);
    }
    match error {
        ServiceError::McpError(error) if slot.was_refused() => {
            let (message, data) = (error.message.into_owned(), error.data);
            McpFault::Refused { code: error.code.0, message, data }
        }
        ServiceError::McpError(error) => gone(&error.message),
        ServiceError::TransportSend(error) => http::fault::of_transport(error, slot.was_sent()),
        ServiceError::Cancelled { .. } => McpFault::Cancelled,
        other => gone("the server closed it").because(other),
    }
}
