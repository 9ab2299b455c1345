//! The door over a pair of pipes: one client, known from the start.

pub(crate) mod operation;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use rmcp::model::RequestId;
use serde::Deserialize;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Semaphore, mpsc, oneshot};
use tokio::task::JoinHandle;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};
use toolcrib_core::{BoxFuture, Caller};
use uuid::Uuid;

use super::state::{McpRequestContext, McpServerState};
use crate::door::call::answer::MethodAnswer;
use crate::door::client::logs::LogListener;
use crate::door::client::outbound::{Outbound, OutboundKind};
use crate::door::client::subscriptions::ListChanges;
use crate::door::methods::dispatch::hear;
use crate::door::session::conversation::Conversation;
use crate::door::session::request::ConversationRequest;
use crate::protocol::frame::MessageOutline;
use crate::protocol::id::StrictRequestId;
use crate::protocol::lines::{BoundedLine, BoundedLines};
use crate::protocol::rpc::{self, INVALID_REQUEST, PARSE_ERROR, RpcMessage, RpcRequest};
use operation::McpOperationGuard;

/// How long a client that hung up may take to read what is left.
const LAST_WORDS: Duration = Duration::from_secs(5);
/// Messages of one batch.
const MOST_AT_ONCE: usize = 100;
/// Requests that run, or whose answers are not written: more than may run, so that what its client
/// answers is still read while all of those wait for it.
const MOST_UNWRITTEN: usize = 2_048;

/// Why a client at a pipe is not served any more.
#[derive(Debug, thiserror::Error)]
pub enum StdioServerError {
    #[error("there is no profile `{0}`: name one of the configuration")]
    NoProfile(String),
}

/// The way to the client; a message is one line. One task writes, so that nobody who waits for room
/// holds up the others, and a message that was taken is written whole.
struct PipeWriter(mpsc::UnboundedSender<PipedMessage>);

struct PipedMessage {
    text: Vec<u8>,
    written: oneshot::Sender<()>,
}

impl PipeWriter {
    fn begin(writer: impl AsyncWrite + Send + Unpin + 'static) -> (Arc<Self>, JoinHandle<()>) {
        let (messages, mut queue) = mpsc::unbounded_channel::<PipedMessage>();
        let mut writer = writer;
        let writing = tokio::spawn(async move {
            while let Some(PipedMessage { text, written }) = queue.recv().await {
                if writer.write_all(&text).await.is_err() || writer.flush().await.is_err() {
                    return;
                }
                // Whoever sent it may not wait any more.
                let _ = written.send(());
            }
            let _ = writer.shutdown().await;
        });
        (Arc::new(Self(messages)), writing)
    }
}

impl Outbound for PipeWriter {
    fn send(&self, mut text: Vec<u8>, _: OutboundKind) -> BoxFuture<'_, bool> {
        text.push(b'\n');
        let (written, is_written) = oneshot::channel();
        let is_taken = self.0.send(PipedMessage { text, written }).is_ok();
        Box::pin(async move { is_taken && is_written.await.is_ok() })
    }
}

impl LogListener for PipeWriter {
    fn listens(&self) -> bool {
        true
    }
}

/// One client.
struct StdioClient {
    server_state: Arc<McpServerState>,
    request_context: McpRequestContext,
    conversation: Arc<Conversation>,
    /// Its requests.
    running: TaskTracker,
    /// For those whose answers it has not read: who reads nothing is not read either.
    unwritten: Arc<Semaphore>,
    /// Tells it of changed lists, once it is known to be an older one.
    telling: OnceLock<AbortOnDropHandle<()>>,
}

pub(super) async fn serve(
    server_state: Arc<McpServerState>,
    (reader, writer): (
        impl AsyncRead + Send + Unpin + 'static,
        impl AsyncWrite + Send + Unpin + 'static,
    ),
    caller: Caller,
    profile: Option<&str>,
) -> Result<(), StdioServerError> {
    let Some(crib) = server_state.cribs.crib(profile) else {
        return Err(StdioServerError::NoProfile(profile.unwrap_or_default().to_owned()));
    };
    let session = Uuid::new_v4().simple().to_string();
    let request_context = McpRequestContext {
        caller: Arc::new(caller),
        profile: profile.map(Arc::from),
        crib,
        session: Some(session.into()),
        trace: None,
        trace_state: None,
        discovery: None,
        key: None,
    };
    let (writer, mut writing) = PipeWriter::begin(writer);
    let bounds = server_state.settings.request;
    let client = StdioClient {
        server_state,
        request_context,
        conversation: Arc::new(Conversation::new(writer)),
        running: TaskTracker::new(),
        unwritten: Arc::new(Semaphore::new(MOST_UNWRITTEN)),
        telling: OnceLock::new(),
    };
    let mut lines = BoundedLines::new(reader, bounds.bytes);
    loop {
        match lines.next().await {
            BoundedLine::End => break,
            BoundedLine::Whole(line) => client.line(line).await,
            BoundedLine::TooLong(outline) => {
                let told =
                    format!("a message is larger than {} bytes: send less at once", bounds.bytes);
                client.say(rpc::refusal(outline.id(), INVALID_REQUEST, &told)).await;
            }
        }
    }
    // What was asked before it hung up is still answered, as far as it ends soon and somebody
    // takes it.
    client.running.close();
    let _ = tokio::time::timeout(LAST_WORDS, client.running.wait()).await;
    client.conversation.over.cancel();
    let ended = async {
        client.running.wait().await;
        drop(client);
        (&mut writing).await
    };
    if tokio::time::timeout(LAST_WORDS, ended).await.is_err() {
        writing.abort();
    }
    Ok(())
}

impl StdioClient {
    async fn say(&self, message: Vec<u8>) {
        // Who does not read any more has hung up, or will.
        self.conversation.unrelated.send(message, OutboundKind::Awaited).await;
    }

    async fn line(&self, line: &[u8]) {
        // A byte order mark is allowed to be there, and to be ignored.
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        let Ok(text) = str::from_utf8(line) else {
            let outline = MessageOutline::of(line);
            let told = "a message is no UTF-8";
            return self.say(rpc::refusal(outline.id(), PARSE_ERROR, told)).await;
        };
        let refusal = match rpc::read(text, &self.server_state.settings.request) {
            Ok(Value::Object(message)) => match RpcMessage::of(message) {
                Ok(message) => return self.message(message).await,
                Err(none) => rpc::refusal(none.id.as_ref(), INVALID_REQUEST, none.told),
            },
            Ok(Value::Array(messages)) if self.conversation.has_batches() => {
                if !messages.is_empty() && messages.len() <= MOST_AT_ONCE {
                    for piece in messages {
                        match rpc::of_batch(piece) {
                            Ok(message) => self.message(message).await,
                            Err(refusal) => self.say(refusal).await,
                        }
                    }
                    return;
                }
                rpc::refusal(None, INVALID_REQUEST, "a batch has 1 to 100 messages")
            }
            Ok(_) => rpc::refusal(None, INVALID_REQUEST, "a message is one JSON object a line"),
            Err(error) => rpc::refusal(id(text).as_ref(), rpc::code(&error), &error.to_string()),
        };
        self.say(refusal).await;
    }

    async fn message(&self, message: RpcMessage) {
        match message {
            RpcMessage::Request(asked) => self.request(asked).await,
            RpcMessage::Response(answer) => {
                self.conversation.questions.answered(answer);
            }
            RpcMessage::Notification(said) => {
                if said.method == "notifications/initialized" {
                    self.tell_of_changes();
                }
                let Some(request_context) = self.now() else { return };
                hear(&self.conversation, &request_context, said);
            }
        }
    }

    /// The context of a request. `None`: the profile is gone.
    fn now(&self) -> Option<McpRequestContext> {
        // The program may have put another one in its place since the client came.
        let crib = self.server_state.cribs.crib(self.request_context.profile.as_deref())?;
        Some(McpRequestContext { crib, ..self.request_context.clone() })
    }

    async fn request(&self, asked: RpcRequest) {
        let Some(request_context) = self.now() else {
            let told = "the profile is gone";
            return self.say(rpc::refusal(Some(&asked.id), INVALID_REQUEST, told)).await;
        };
        let out = Arc::clone(&self.conversation.unrelated) as Arc<dyn Outbound>;
        let begun = ConversationRequest::begin(
            &self.server_state,
            &self.conversation,
            request_context,
            Arc::clone(&out),
            asked,
        );
        let mut begun = match begun {
            Ok(begun) => begun,
            Err((_, refusal)) => return self.say(refusal).await,
        };
        let place = Arc::clone(&self.unwritten).acquire_owned().await;
        let operation = McpOperationGuard::begin(&self.server_state, &mut begun);
        let is_greeting = begun.asked.method == "initialize";
        let answering = async move {
            let hears = |answer: &MethodAnswer| {
                if let Some(operation) = operation {
                    operation.answered(answer);
                }
            };
            if let Some(answer) = begun.answer(hears).await {
                out.send(answer, OutboundKind::Awaited).await;
            }
            drop(place);
        };
        // What comes behind a greeting is read by what that said.
        if is_greeting {
            Box::pin(answering).await;
        } else {
            self.running.spawn(answering);
        }
    }

    fn tell_of_changes(&self) {
        self.telling.get_or_init(|| {
            let mut changes = ListChanges::begin(&self.server_state.cribs, &self.request_context);
            let out = Arc::clone(&self.conversation.unrelated);
            AbortOnDropHandle::new(tokio::spawn(async move {
                while out.send(changes.next().await, OutboundKind::Notification).await {}
            }))
        });
    }
}

#[derive(Deserialize)]
struct RequestEnvelope {
    id: StrictRequestId,
}

/// Who asked, where that can be read for certain, or seen in what is no JSON.
fn id(text: &str) -> Option<RequestId> {
    match serde_json::from_str(text) {
        Ok(RequestEnvelope { id: StrictRequestId(id) }) => Some(id),
        Err(error) if error.is_data() => None,
        Err(_) => MessageOutline::of(text.as_bytes()).id().cloned(),
    }
}
