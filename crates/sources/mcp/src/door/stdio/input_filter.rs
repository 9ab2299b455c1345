//! What a client at a pipe says, before the SDK reads it: that passes over in silence what it
//! cannot read, and whoever asked would wait for ever.

use std::io;

use rmcp::model::RequestId;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Mutex;
use toolcrib_json::repair::{RepairBounds, UnreadableJson};

use crate::client::stdio::{BoundedLine, BoundedLines};
use crate::door::messages::batch::{self, RpcBatchEntry};
use crate::door::messages::open_requests::SharedOpenRequests;
use crate::door::messages::validation;
use crate::protocol::frame::MessageOutline;
use crate::protocol::id::StrictRequestId;

/// Codes of JSON-RPC 2.0, section 5.1.
pub(crate) const PARSE_ERROR: i32 = -32700;
pub(crate) const INVALID_REQUEST: i32 = -32600;

pub(crate) const TWICE: &str =
    "a request under this `id` has no answer yet: give each one of its own";

/// Passes on what is one message and means one thing only; says of all else what is wrong with it.
pub(crate) async fn screen(
    reader: impl AsyncRead + Unpin,
    mut onward: impl AsyncWrite + Unpin,
    (back, unanswered): (&Mutex<impl AsyncWrite + Unpin>, &SharedOpenRequests),
    bounds: &RepairBounds,
) -> io::Result<()> {
    let largest = bounds.bytes;
    let mut lines = BoundedLines::new(reader, largest);
    let mut has_batches = false;
    loop {
        let judged = match lines.next().await {
            BoundedLine::End => return onward.shutdown().await,
            BoundedLine::Whole(line) => judged(line, bounds, (&mut has_batches, unanswered)),
            BoundedLine::TooLong(outline) => {
                let told = format!("a message is larger than {largest} bytes: send less at once");
                Err(refusal(outline.id(), INVALID_REQUEST, &told))
            }
        };
        let pieces = match &judged {
            Ok(ScreenedLine::Message(line)) => {
                pass(&mut onward, line).await?;
                continue;
            }
            Ok(ScreenedLine::Batch(pieces)) => pieces.as_slice(),
            Err(refused) => {
                tell(back, refused).await?;
                continue;
            }
        };
        for piece in pieces {
            match piece {
                RpcBatchEntry::Message { text, .. } => pass(&mut onward, text.as_bytes()).await?,
                RpcBatchEntry::Refused(answer) => {
                    tell(back, format!("{answer}\n").as_bytes()).await?;
                }
            }
        }
    }
}

async fn pass(onward: &mut (impl AsyncWrite + Unpin), line: &[u8]) -> io::Result<()> {
    onward.write_all(line).await?;
    onward.write_all(b"\n").await
}

async fn tell(back: &Mutex<impl AsyncWrite + Unpin>, answer: &[u8]) -> io::Result<()> {
    let mut back = back.lock().await;
    back.write_all(answer).await?;
    back.flush().await
}

/// What a line is that is let through.
enum ScreenedLine<'a> {
    Message(&'a [u8]),
    Batch(Vec<RpcBatchEntry>),
}

/// `has_batches`: whether the greeting was of the revision that has them. `Err`: the answer to a
/// line that is not let through.
fn judged<'a>(
    line: &'a [u8],
    bounds: &RepairBounds,
    (has_batches, unanswered): (&mut bool, &SharedOpenRequests),
) -> Result<ScreenedLine<'a>, Vec<u8>> {
    // A byte order mark is allowed to be there, and to be ignored.
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    let Ok(text) = str::from_utf8(line) else {
        let outline = MessageOutline::of(line);
        return Err(refusal(outline.id(), PARSE_ERROR, "a message is no UTF-8"));
    };
    match bounds.read_strict(text) {
        Ok(Value::Object(message)) => {
            if message.get("method").is_some_and(|method| method == "initialize") {
                let revision = message.get("params").and_then(|it| it.get("protocolVersion"));
                *has_batches = revision.is_some_and(|revision| revision == batch::REVISION);
            }
            let checked = validation::check(&message)
                .and_then(|()| if unanswered.hears(&message) { Ok(()) } else { Err(TWICE) });
            checked
                .map(|()| ScreenedLine::Message(line))
                .map_err(|told| refusal(validation::id(&message).as_ref(), INVALID_REQUEST, told))
        }
        Ok(Value::Array(_)) if *has_batches => batch::split(text)
            .map(|pieces| pieces.into_iter().map(|piece| once(piece, unanswered)).collect())
            .map(ScreenedLine::Batch)
            .map_err(|told| refusal(None, INVALID_REQUEST, &told)),
        Ok(_) => Err(refusal(None, INVALID_REQUEST, "a message is one JSON object a line")),
        Err(error) => Err(refusal(id(text).as_ref(), code(&error), &error.to_string())),
    }
}

/// A piece of a batch, if no other request has its id.
fn once(piece: RpcBatchEntry, unanswered: &SharedOpenRequests) -> RpcBatchEntry {
    let RpcBatchEntry::Message { text, .. } = &piece else { return piece };
    let message = serde_json::from_str(text).unwrap_or_default();
    if unanswered.hears(&message) {
        return piece;
    }
    RpcBatchEntry::Refused(batch::refusal(validation::id(&message).as_ref(), TWICE))
}

/// What is no JSON, and what is some that is not taken.
pub(crate) fn code(error: &UnreadableJson) -> i32 {
    if matches!(error, UnreadableJson::Syntax { .. }) { PARSE_ERROR } else { INVALID_REQUEST }
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

fn refusal(id: Option<&RequestId>, code: i32, told: &str) -> Vec<u8> {
    let error = json!({ "code": code, "message": told });
    format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "error": error })).into_bytes()
}
