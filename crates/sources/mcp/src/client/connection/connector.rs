//! Makes connections: starts or reaches the server, and says hello in the way it understands.

use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::ProtocolVersion;
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, RoleClient, RunningService,
    serve_client_with_lifecycle_and_ct,
};
use rmcp::transport::Transport;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use toolcrib_child::{Child, SpawnError, StderrTail};
use toolcrib_core::{CallContext, QuestionKind, SpanAttribute};

use super::backpressure::BoundedTransport;
use super::capabilities::EVERYTHING;
use super::direct::{DirectChannel, DirectTransport};
use super::outbound_span;
use super::server_info::McpServerInfo;
use super::{McpConnection, ServerProcess};
use crate::client::call::questions::ServerRequestHandler;
use crate::client::fault::{McpFault, McpTimeoutPhase, chain};
use crate::client::http::{self, HttpConnector};
use crate::client::inflight::asking_habits::AskingHabits;
use crate::client::inflight::{InFlight, ServerNotices};
use crate::client::settings::{
    ConnectionScope, HttpAuthorization, McpSourceSettings, McpTransport as Way, StdioSettings,
};
use crate::client::source::status::McpEra;
use crate::client::stdio::{self, StdioTransport};
use crate::protocol::mirrored_headers::MirroredArguments;

/// Opens connections to one server, and remembers which era it belongs to.
pub(crate) struct ServerConnector {
    pub(crate) settings: McpSourceSettings,
    inherited: Vec<(String, String)>,
    http: Option<Result<HttpConnector, String>>,
    way: Arc<[SpanAttribute]>,
    era: AtomicU8,
    /// What the program said that was started last, also if it never came to be a server.
    last_said: Mutex<Option<StderrTail>>,
    /// What its requests did until now, where questions do not say whose they are.
    pub(crate) askers: Arc<AskingHabits>,
}

/// What is known of the era of a server.
const UNKNOWN: u8 = 0;
const LEGACY: u8 = 1;
const MODERN: u8 = 2;
/// Over HTTP in the way of the first revision.
const OLDEST: u8 = 3;

/// A started server that has not said hello yet, and what to hear of its way.
struct StartedServer<T> {
    transport: T,
    calls: Arc<InFlight>,
}

impl ServerConnector {
    pub(crate) fn new(settings: McpSourceSettings, inherited: Vec<(String, String)>) -> Self {
        let http = match &settings.transport {
            Way::Http(http) => Some(HttpConnector::new(http)),
            Way::Stdio(_) => None,
        };
        let way = outbound_span::way(&settings.transport).into();
        let era = AtomicU8::new(at_first(&settings));
        let (last_said, askers) = (Mutex::default(), Arc::default());
        Self { settings, inherited, http, way, era, last_said, askers }
    }

    /// What the program said that was started last.
    pub(crate) fn last_said(&self) -> Option<StderrTail> {
        self.last_said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Another way to the same server: that of 2026-07-28, for its clients. `None`: the way is
    /// settled, or it is no program, which is spoken to in the older way if it has it.
    pub(crate) fn newer(&self) -> Option<Self> {
        let is_program = self.http.is_none() && self.settings.revision.is_none();
        let settings =
            McpSourceSettings { revision: Some(McpEra::Modern), ..self.settings.clone() };
        is_program.then(|| Self::new(settings, self.inherited.clone()))
    }

    /// Another way to the same server: that of before 2026-07-28. `None`: the way is settled, or it
    /// is a program, which is spoken to in that way by itself.
    pub(crate) fn older(&self) -> Option<Self> {
        self.http.as_ref().filter(|_| self.settings.revision.is_none())?;
        let settings =
            McpSourceSettings { revision: Some(McpEra::Legacy), ..self.settings.clone() };
        Some(Self::new(settings, self.inherited.clone()))
    }

    /// A new connection. `context`: of the call that it is opened for.
    pub(crate) async fn open(
        &self,
        context: Option<&CallContext>,
        news: &Arc<ServerNotices>,
    ) -> Result<McpConnection, McpFault> {
        let patience = self.settings.timeouts.connect;
        match timeout(patience, self.open_in_time(context, news)).await {
            Ok(opened) => opened,
            Err(_) => Err(McpFault::TooLong(McpTimeoutPhase::Connect, patience)),
        }
    }

    async fn open_in_time(
        &self,
        context: Option<&CallContext>,
        news: &Arc<ServerNotices>,
    ) -> Result<McpConnection, McpFault> {
        let known = self.era.load(Ordering::Acquire);
        let mut opened = self.try_open(context, news, known).await;
        let doubted = self.era.load(Ordering::Acquire);
        if opened.is_err() && known != doubted {
            let again = self.try_open(context, news, doubted).await;
            // A program that refuses the older way says why; the other was no more than a guess.
            opened = if self.http.is_none() { again.or(opened) } else { again };
        }
        let era = match &opened {
            Ok(_) if doubted == OLDEST => OLDEST,
            Ok(connection) if connection.facts.is_modern => MODERN,
            Ok(_) => LEGACY,
            // It may have been replaced by a server of the other era.
            Err(_) => at_first(&self.settings),
        };
        self.era.store(era, Ordering::Release);
        opened
    }

    async fn try_open(
        &self,
        context: Option<&CallContext>,
        news: &Arc<ServerNotices>,
        era: u8,
    ) -> Result<McpConnection, McpFault> {
        let answers = self.answers(context);
        let calls = InFlight::new(news, self.settings.bounds, &self.askers);
        match (&self.settings.transport, &self.http) {
            (Way::Stdio(settings), _) => {
                let (mut child, (stdin, stdout)) = self.start(settings).await?;
                stdio::follow(child.ending(), Arc::clone(&calls));
                let transport = StdioTransport::new((stdin, stdout), Arc::clone(&calls));
                let transport = transport
                    .map_err(|error| McpFault::unreachable("its pipes broke").because(error))?;
                let line =
                    DirectTransport::Pipe { writer: transport.writer(), calls: Arc::clone(&calls) };
                let started = StartedServer { transport, calls };
                match self.greet(started, era, answers).await {
                    Ok(mut connection) => {
                        connection.program = Some(ServerProcess::new(child));
                        connection.direct = DirectChannel::of(line, &connection.facts);
                        Ok(connection)
                    }
                    Err(fault) => {
                        Err(last_words(fault, &mut child, settings.folder.is_none()).await)
                    }
                }
            }
            (Way::Http(_), Some(Ok(http))) => {
                let _attended = context.and_then(|context| http.attended_by(context));
                if era == OLDEST {
                    let transport = http.old_transport(Arc::clone(&calls), context).await?;
                    return self.greet(StartedServer { transport, calls }, LEGACY, answers).await;
                }
                let transport = http.transport(Arc::clone(&calls), context, era == UNKNOWN);
                let (wire, url) = http.direct(&calls, context);
                let line = DirectTransport::Http { wire, url };
                let mut opened = self.greet(StartedServer { transport, calls }, era, answers).await;
                if let Ok(connection) = &mut opened {
                    connection.direct = DirectChannel::of(line, &connection.facts);
                }
                if era == UNKNOWN && matches!(opened, Err(McpFault::Http { status: 400..=499, .. }))
                {
                    // What servers of the first revision say to a POST.
                    self.doubt(OLDEST);
                }
                opened
            }
            (Way::Http(_), Some(Err(why))) => Err(McpFault::unreachable(why.clone())),
            (Way::Http(_), None) => Err(McpFault::unreachable("it has no address")),
        }
    }

    /// Who shares a connection: whoever has tokens of his own has a connection of his own too.
    pub(crate) fn share(&self) -> ConnectionScope {
        let Way::Http(http) = &self.settings.transport else {
            return self.settings.share;
        };
        match (&http.authorization, self.settings.share) {
            (HttpAuthorization::OAuth(oauth), ConnectionScope::Shared) if !oauth.machine => {
                ConnectionScope::Caller
            }
            (_, share) => share,
        }
    }

    /// Takes in what the transport must know of the tools.
    pub(crate) fn learn(&self, mirrored: MirroredArguments) {
        if let Some(Ok(http)) = &self.http {
            http.learn(mirrored);
        }
    }

    /// While the guard lives, the host of this call may be asked to authorize us.
    pub(crate) fn attended_by(&self, context: &CallContext) -> Option<Box<dyn Send + Sync>> {
        self.http.as_ref()?.as_ref().ok()?.attended_by(context)
    }

    /// What a connection may declare: on one for several callers, each may be able to answer.
    fn answers(&self, context: Option<&CallContext>) -> Vec<QuestionKind> {
        match (self.share(), context) {
            (ConnectionScope::Shared, _) => EVERYTHING.to_vec(),
            (_, None) => Vec::new(),
            // All calls of a conversation have one client.
            (ConnectionScope::Session, Some(context)) if context.session().is_some() => {
                context.answers().to_vec()
            }
            (ConnectionScope::Session | ConnectionScope::Caller, Some(_)) => EVERYTHING.to_vec(),
        }
    }

    /// Says hello, and follows the connection to its end.
    async fn greet<T>(
        &self,
        started: StartedServer<T>,
        era: u8,
        answers: Vec<QuestionKind>,
    ) -> Result<McpConnection, McpFault>
    where
        T: Transport<RoleClient> + 'static,
    {
        let StartedServer { transport, calls } = started;
        let transport = BoundedTransport::new(transport, &calls);
        let stop = CancellationToken::new();
        let modern = vec![ProtocolVersion::LATEST];
        let lifecycle = match era {
            LEGACY => ClientLifecycleMode::Initialize,
            MODERN => ClientLifecycleMode::Discover { preferred_versions: modern },
            _ => ClientLifecycleMode::Auto {
                preferred_versions: modern,
                legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
            },
        };
        let ear = ServerRequestHandler { calls: Arc::clone(&calls), answers };
        // Dropped half-way, the guard ends whatever was begun.
        let guard = stop.clone().drop_guard();
        let running = serve_client_with_lifecycle_and_ct(ear, transport, lifecycle, stop.clone())
            .await
            .map_err(|error| {
                if let Some(Err(why)) = calls.greeting() {
                    return McpFault::unreachable(why);
                }
                // It knows of the new way, and offers old revisions alone.
                if matches!(error, ClientInitializeError::NoCompatibleProtocolVersion { .. }) {
                    self.doubt(LEGACY);
                }
                // It may know the new way alone.
                let is_refused = matches!(error, ClientInitializeError::JsonRpcError(_));
                if is_refused && self.http.is_none() && era == LEGACY {
                    self.doubt(MODERN);
                }
                refused(error)
            })?;
        let peer = running.peer().clone();
        let facts = peer.peer_info().map(|info| {
            let said = calls.greeting().and_then(Result::ok).unwrap_or_default();
            McpServerInfo::of(&info, said)
        });
        let facts = facts.unwrap_or_default();
        guard.disarm();
        tokio::spawn(follow(running, Arc::clone(&calls), stop.clone()));
        Ok(McpConnection {
            facts,
            peer,
            calls,
            direct: None,
            way: Arc::clone(&self.way),
            stop,
            program: None,
            is_mute: AtomicBool::new(false),
            was_stopped: AtomicBool::new(false),
            in_flight: AtomicUsize::new(0),
        })
    }

    /// It may be of this era, unless another one is settled.
    fn doubt(&self, era: u8) {
        if self.settings.revision.is_none() {
            self.era.store(era, Ordering::Release);
        }
    }

    async fn start(
        &self,
        settings: &StdioSettings,
    ) -> Result<(Child, (toolcrib_child::ChildStdin, toolcrib_child::ChildStdout)), McpFault> {
        let mut program =
            toolcrib_child::Program::new(settings.command.clone(), settings.arguments.clone());
        let exposed = |(name, value): &(String, toolcrib_core::Secret)| {
            (name.clone(), value.expose().to_owned())
        };
        program.environment = settings.environment.iter().map(exposed).collect();
        program.inherited.clone_from(&self.inherited);
        program.folder.clone_from(&settings.folder);
        program.limits = self.settings.program;
        let mut child = Child::spawn(&program).await.map_err(|error| not_started(&error))?;
        *self.last_said.lock().unwrap_or_else(PoisonError::into_inner) = Some(child.stderr());
        let pipes = child.take_pipes().ok_or_else(|| McpFault::unreachable("it has no pipes"))?;
        Ok((child, pipes))
    }
}

/// The era that a server is first taken for. A program that has both says hello in the older way:
/// the handlers of today ask while they run, which the new way has not. For clients of the new way
/// another one of it is started.
fn at_first(settings: &McpSourceSettings) -> u8 {
    match (settings.revision, &settings.transport) {
        (Some(McpEra::Modern), _) => MODERN,
        (Some(McpEra::Legacy), _) | (None, Way::Stdio(_)) => LEGACY,
        (None, Way::Http(_)) => UNKNOWN,
    }
}

/// The error in words, and only what lies behind it as the cause: it would be told twice.
fn not_started(error: &SpawnError) -> McpFault {
    let fault = McpFault::unreachable(error.to_string());
    match error.source() {
        Some(cause) => fault.because(chain(String::new(), cause)),
        None => fault,
    }
}

/// Adds how the program ended, if it did, and what it said last.
async fn last_words(fault: McpFault, child: &mut Child, in_scratch: bool) -> McpFault {
    let ended = timeout(std::time::Duration::from_millis(50), child.ended()).await.ok();
    let stderr = child.stderr().text();
    let last = stderr.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let mut why = fault.words();
    if let Some(exit) = ended {
        why = format!("it {exit} before it was ready");
    }
    // What a program writes may be anything: it is for the operator alone.
    let said = Some(format!("its last line was `{}`", crate::protocol::text::cut(last, 200)));
    let said = said.filter(|_| !last.is_empty()).map(|said| {
        let hint = "it ran in an empty folder of its own: give whole paths, or set `cwd`";
        if in_scratch && ended.is_some() { format!("{said} ({hint})") } else { said }
    });
    if ended.is_some_and(|exit| exit.code == Some(0)) {
        // A launcher that leaves the server in the background: nobody would see that one's end.
        why.push_str(": its command has to stay, since what it leaves behind is ended with it");
    }
    let cause = if let McpFault::Unreachable { cause, .. } = fault { cause } else { None };
    let cause = said.map(Into::into).or(cause);
    McpFault::Unreachable { why, next_try: None, retry_after: None, cause }
}

async fn follow(
    running: RunningService<RoleClient, ServerRequestHandler>,
    calls: Arc<InFlight>,
    stop: CancellationToken,
) {
    let _ = running.waiting().await;
    calls.closed.cancel();
    stop.cancel();
}

#[expect(clippy::wildcard_enum_match_arm, reason = "the SDK's errors grow with every release")]
fn refused(error: ClientInitializeError) -> McpFault {
    match error {
        ClientInitializeError::TransportError { error, .. } => {
            http::fault::of_transport(error, false)
        }
        ClientInitializeError::ConnectionClosed(_) => {
            McpFault::unreachable("it closed the connection during the handshake")
        }
        ClientInitializeError::JsonRpcError(error) => McpFault::unreachable(format!(
            "it refuses the handshake: {} ({})",
            crate::protocol::text::clean(&error.message),
            error.code.0
        )),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => refused(*fallback),
        // Their texts are dumps of the SDK's own types.
        ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ExpectedInitResult(_) => {
            McpFault::unreachable("its answer to the handshake is none of the protocol")
        }
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
            let offered: Vec<_> = server_supported.iter().map(ProtocolVersion::as_str).collect();
            let offered = crate::protocol::text::clean(&offered.join(", "));
            McpFault::unreachable(format!("it speaks no revision of ours: it offers {offered}"))
        }
        other => McpFault::unreachable("the handshake failed").because(other),
    }
}
