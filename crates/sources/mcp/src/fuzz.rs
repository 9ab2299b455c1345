//! The readers of what strangers send, for the fuzz targets.

use serde::Deserialize as _;
use serde_json::{Map, Value};
use toolcrib_json::broken_strings;
use toolcrib_json::repair::RepairBounds;

use crate::client::settings::McpBounds;
use crate::protocol::frame::{self, MessageOutline};
use crate::protocol::id::StrictRequestId;
use crate::protocol::rpc::{self, RpcMessage, RpcNotification, RpcRequest};

/// A body or a line of a client: what is taken for a message says what all of it says, and its
/// answer goes to whoever asked.
pub fn request(body: &[u8]) {
    let Ok(text) = str::from_utf8(body) else { return };
    let Ok(read) = rpc::read(text, &RepairBounds::default()) else { return };
    let Value::Object(whole) = read else {
        // One of a batch, each by itself.
        if let Value::Array(pieces) = read {
            for piece in pieces {
                drop(rpc::of_batch(piece));
            }
        }
        return;
    };
    let at = |key: &str| whole.get(key).cloned().unwrap_or_default();
    let params = || whole.get("params").and_then(Value::as_object).cloned().unwrap_or_default();
    match RpcMessage::of(whole.clone()) {
        Ok(RpcMessage::Request(RpcRequest { id, method, params: read })) => {
            assert_eq!((Value::from(method), read), (at("method"), params()), "it wants another");
            let answer = rpc::answer(&id, Ok(b"{}".to_vec()));
            let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
            assert_eq!(answer.get("id"), whole.get("id"), "somebody else is answered");
        }
        Ok(RpcMessage::Notification(RpcNotification { method, params: read })) => {
            assert_eq!((Value::from(method), read), (at("method"), params()), "it says another");
            assert!(!whole.contains_key("id"), "it wants an answer");
        }
        Ok(RpcMessage::Response(_)) => {
            assert!(!whole.contains_key("method"), "it asks for something");
        }
        Err(_) => {}
    }
}

/// A line or a body of a server.
pub fn answer(text: &[u8]) {
    crate::client::inflight::fast_result::means_the_same(text);
    let depth = McpBounds::default().depth;
    let whole = frame::read(text, depth).ok();
    if frame::read_page(text, "tools").is_ok() {
        assert!(whole.is_some_and(|whole| whole.is_object()), "its page is read and it is not");
    }
    outline(text);
    strings(text);
}

/// What an outline tells of a message is what reading it tells, in whatever pieces it comes.
fn outline(text: &[u8]) {
    let seen = MessageOutline::of(text);
    let mut by_bytes = MessageOutline::default();
    for byte in text {
        by_bytes.take(&[*byte]);
    }
    let both = (seen.id(), seen.is_answer());
    assert_eq!(both, (by_bytes.id(), by_bytes.is_answer()), "its pieces say something else");
    // A key may be written with escapes, which an outline does not follow.
    let is_plain = !text.contains(&b'\\');
    let read = serde_json::from_slice::<Map<String, Value>>(text).ok().filter(|_| is_plain);
    let Some(read) = read else { return };
    let is_long = |value: &Value| value.to_string().len() > 200;
    if read.get("id").is_some_and(is_long) {
        return;
    }
    let id = read.get("id").and_then(|id| StrictRequestId::deserialize(id).ok());
    let answers = ["result", "error"].iter().any(|key| read.contains_key(*key));
    let expected =
        (id.as_ref().map(|StrictRequestId(id)| id), answers && !read.contains_key("method"));
    assert_eq!(both, expected, "reading it says something else");
}

/// What can be read is not mended, and what was mended has nothing left to mend.
fn strings(text: &[u8]) {
    let mended = broken_strings::mended(text);
    if serde_json::from_slice::<Value>(text).is_ok() {
        assert_eq!(mended, None, "it can be read as it is");
    }
    if let Some(mended) = mended {
        assert_eq!(broken_strings::mended(&mended), None, "something was left");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    /// What messages are made of, and what breaks them.
    const WORDS: &[&str] = &[
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"",
        " ",
        "\n",
        "\\",
        "\"id\"",
        "\"id\":5",
        "\"id\":\"q\"",
        "\"result\"",
        "\"result\":{}",
        "\"error\"",
        "\"method\"",
        "{\"id\":3,\"result\":[1]}",
        "\"a\":1",
        "\"x y\"",
        "1",
        "1.0",
        "-7",
        "9007199254740993",
        "null",
        "true",
        "NaN",
        "e",
        "\\u0069",
        "\\ud83d",
        "é",
        "\u{1}",
    ];

    fn text() -> impl Strategy<Value = Vec<u8>> {
        let words = prop::collection::vec(prop::sample::select(WORDS), 0..14);
        (words, any::<bool>(), prop::option::of(any::<prop::sample::Index>())).prop_map(
            |(words, is_object, broken)| {
                let mut text = words.concat().into_bytes();
                if is_object {
                    text.insert(0, b'{');
                    text.push(b'}');
                }
                if let Some(at) = broken {
                    // No UTF-8.
                    text.insert(at.index(text.len() + 1), 0xff);
                }
                text
            },
        )
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(CASES))]
        #[test]
        fn a_message_of_a_server_says_one_thing_however_it_is_read(text in text()) {
            super::answer(&text);
        }
    }

    const CASES: u32 = 4_000;
}
