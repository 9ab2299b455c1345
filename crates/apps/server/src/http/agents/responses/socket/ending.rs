//! How a socket ends: what is said last, and that it is heard.

use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::CloseFrame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::super::super::api_error::ApiError;

pub(super) type SocketStream = WebSocketStream<TokioIo<Upgraded>>;

/// How long the peer may take to say goodbye too.
const FAREWELL: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy)]
pub(super) enum SocketEnd {
    /// The peer closed it, went away, or does not read or say anything any more.
    Gone,
    /// What came is no WebSocket.
    Malformed,
    /// A text that is no text.
    NotText,
    /// A message of more bytes than these.
    TooLarge(usize),
    Stopping,
    TooOld,
    /// The token makes nobody the caller any more.
    Refused,
}

impl SocketEnd {
    /// `largest`: bytes of a message.
    pub(super) fn of(error: &Error, largest: usize) -> Self {
        if matches!(error, Error::Capacity(_)) {
            Self::TooLarge(largest)
        } else if matches!(error, Error::Utf8(_)) {
            Self::NotText
        } else if matches!(error, Error::Protocol(_)) {
            Self::Malformed
        } else {
            Self::Gone
        }
    }

    /// What the peer is told before.
    pub(super) fn error(self) -> Option<ApiError> {
        match self {
            Self::Gone | Self::Malformed | Self::NotText | Self::Stopping => None,
            Self::TooLarge(largest) => {
                let message = format!("send {largest} bytes at the most in a message");
                Some(ApiError::too_large(message))
            }
            Self::TooOld => {
                let message = "this socket has lived as long as one may: connect again";
                let error = ApiError::invalid("", message);
                Some(error.coded("websocket_connection_limit_reached"))
            }
            Self::Refused => Some(ApiError::unauthenticated()),
        }
    }

    fn frame(self) -> Option<CloseFrame> {
        let (code, reason) = match self {
            Self::Gone => return None,
            Self::Malformed => (CloseCode::Protocol, "this is no WebSocket"),
            Self::NotText => (CloseCode::Invalid, "a text must be UTF-8"),
            Self::TooLarge(_) => (CloseCode::Size, "the message is too large"),
            Self::Stopping => (CloseCode::Away, "the server stops"),
            Self::TooOld => (CloseCode::Away, "connect again"),
            Self::Refused => (CloseCode::Policy, "the token is not accepted any more"),
        };
        Some(CloseFrame { code, reason: reason.into() })
    }
}

/// Says goodbye, and waits a moment for the peer to do so.
pub(super) async fn close(mut stream: SocketStream, end: SocketEnd) {
    let closing = async {
        if let Some(frame) = end.frame() {
            stream.send(Message::Close(Some(frame))).await.ok()?;
        }
        // An answer to a goodbye of the peer goes out while it is listened to.
        while let Some(Ok(_)) = stream.next().await {}
        let mut raw = stream.into_inner();
        raw.shutdown().await.ok()?;
        // What was sent and not read would make the system take back what was said last.
        let mut rest = [0; 1024];
        while raw.read(&mut rest).await.ok()? > 0 {}
        Some(())
    };
    let _ = timeout(FAREWELL, closing).await;
}
