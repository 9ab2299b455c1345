//! The door over a pair of pipes: one client, known from the start.

pub(crate) mod input_filter;
pub(crate) mod operation;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use rmcp::ServiceExt as _;
use tokio::io::{
    AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader, duplex,
};
use tokio::sync::Mutex;
use tokio_util::task::AbortOnDropHandle;
use toolcrib_core::Caller;
use uuid::Uuid;

use super::state::{McpRequestContext, McpServerState};
use crate::door::client::early_subscription::StdioHandler;
use crate::door::messages::open_requests::SharedOpenRequests;
use crate::door::sdk::handler::RmcpHandler;
use input_filter::screen;

/// Bytes on their way out that the client has not taken yet.
const BUFFER: usize = 64 * 1024;

/// How long a client that hung up may take to read what is left.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// Why a client at a pipe is not served any more.
#[derive(Debug, thiserror::Error)]
pub enum StdioServerError {
    #[error("there is no profile `{0}`: name one of the configuration")]
    NoProfile(String),
    #[error("the client did not begin as the protocol says")]
    Handshake(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("serving the client broke off")]
    Broken(#[source] Box<dyn std::error::Error + Send + Sync>),
}

pub(super) async fn serve(
    server_state: Arc<McpServerState>,
    pipes: (impl AsyncRead + Send + Unpin + 'static, impl AsyncWrite + Send + Unpin + 'static),
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
    let (reader, writer) = pipes;
    let (writer, unanswered) = (Arc::new(Mutex::new(writer)), Arc::<SharedOpenRequests>::default());
    // Of each end one way is used; a dropped end is the end of the messages at the other.
    let (messages, sent) = duplex(BUFFER);
    let back = (Arc::clone(&writer), Arc::clone(&unanswered));
    let out = tokio::spawn(pass_on(Arc::clone(&server_state), messages, back));
    let (onward, screened) = duplex(BUFFER);
    let bounds = server_state.settings.request;
    let screening = async move { screen(reader, onward, (&writer, &unanswered), &bounds).await };
    let _screening = AbortOnDropHandle::new(tokio::spawn(screening));
    let handler = StdioHandler(RmcpHandler::new(server_state, Some(request_context)));
    let served = Box::pin(handler.serve((screened, sent))).await;
    let served = match served {
        Ok(served) => served,
        // It hung up before it said anything.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(StdioServerError::Handshake(Box::new(error))),
    };
    served.waiting().await.map_err(|error| StdioServerError::Broken(Box::new(error)))?;
    // What was said before it hung up is still passed on, as far as somebody takes it.
    let _ = tokio::time::timeout(LAST_WORDS, out).await;
    Ok(())
}

/// Passes on each message as a whole, with what went around the SDK in its place.
async fn pass_on(
    server_state: Arc<McpServerState>,
    messages: impl AsyncRead + Unpin,
    (writer, unanswered): (Arc<Mutex<impl AsyncWrite + Unpin>>, Arc<SharedOpenRequests>),
) -> std::io::Result<()> {
    let mut messages = BufReader::new(messages);
    loop {
        let mut line = Vec::new();
        let read = messages.read_until(b'\n', &mut line).await?;
        // Before the client has it and may ask under its id again.
        unanswered.says(&line);
        let mut writer = writer.lock().await;
        if read == 0 {
            return writer.shutdown().await;
        }
        writer.write_all(&server_state.whole.restore(Bytes::from(line))).await?;
        writer.flush().await?;
    }
}
