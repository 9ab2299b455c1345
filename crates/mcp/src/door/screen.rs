//! What a client at a pipe says, before the SDK reads it: that passes over in silence what it
//! cannot read, and whoever asked would wait for ever.

use std::io;

use rmcp::model::RequestId;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Mutex;
use toolcrib_json::repair::{Unreadable, read_strict};

use crate::pipes::{Line, Lines};

/// Codes of JSON-RPC 2.0, section 5.1.
pub(super) const PARSE_ERROR: i32 = -32700;
pub(super) const INVALID_REQUEST: i32 = -32600;

/// Passes on what is one message and means one thing only; says of all else what is wrong with it.
pub(super) async fn screen(
    reader: impl AsyncRead + Unpin,
    mut onward: impl AsyncWrite + Unpin,
    back: &Mutex<impl AsyncWrite + Unpin>,
    largest: usize,
) -> io::Result<()> {
    let mut lines = Lines::new(reader);
    loop {
        let refused = match lines.next().await {
            Line::End => return onward.shutdown().await,
            Line::Whole(line) if line.len() <= largest => match judged(line) {
                Ok(()) => {
                    onward.write_all(line).await?;
                    onward.write_all(b"\n").await?;
                    continue;
                }
                Err(refused) => refused,
            },
            Line::Whole(_) | Line::TooLong => {
                let told = format!("a message is larger than {largest} bytes: send less at once");
                refusal(None, INVALID_REQUEST, &told)
            }
        };
        let mut back = back.lock().await;
        back.write_all(&refused).await?;
        back.flush().await?;
    }
}

/// The answer to a line that is not let through.
fn judged(line: &[u8]) -> Result<(), Vec<u8>> {
    // A byte order mark is allowed to be there, and to be ignored.
    let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
    let Ok(text) = str::from_utf8(line) else {
        return Err(refusal(None, PARSE_ERROR, "a message is no UTF-8"));
    };
    match read_strict(text) {
        Ok(Value::Object(_) | Value::Array(_)) => Ok(()),
        Ok(_) => Err(refusal(None, INVALID_REQUEST, "a message is one JSON object a line")),
        Err(error) => Err(refusal(id(text).as_ref(), code(&error), &error.to_string())),
    }
}

/// What is no JSON, and what is some that is not taken.
pub(super) fn code(error: &Unreadable) -> i32 {
    if matches!(error, Unreadable::Syntax { .. }) { PARSE_ERROR } else { INVALID_REQUEST }
}

#[derive(Deserialize)]
struct Addressed {
    id: RequestId,
}

/// Who asked, where that can be read for certain.
fn id(text: &str) -> Option<RequestId> {
    serde_json::from_str(text).ok().map(|Addressed { id }| id)
}

fn refusal(id: Option<&RequestId>, code: i32, told: &str) -> Vec<u8> {
    let error = json!({ "code": code, "message": told });
    format!("{}\n", json!({ "jsonrpc": "2.0", "id": id, "error": error })).into_bytes()
}
