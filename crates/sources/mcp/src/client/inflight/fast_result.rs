//! Answers to calls in the shape that most have, read without a tree of them: texts, perhaps data,
//! perhaps the word that the tool failed. A tree of as little takes twenty allocations.

use std::sync::Arc;

use rmcp::model::RequestId;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use toolcrib_core::Part;

use super::InFlight;
use super::dispatch::{LARGE, as_sent};
use super::request::{UpstreamRequest, UpstreamRequestEnd};
use crate::client::call::reply::{FastCallResult, ServerReply};
use crate::protocol::frame;
use crate::protocol::id::StrictRequestId;
use crate::protocol::json::strict_object::StrictObject;

/// A message with any other field, or with one of another kind, is read like all others.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FastAnswer<'a> {
    #[serde(rename = "jsonrpc")]
    _protocol: &'a str,
    id: StrictRequestId,
    #[serde(borrow)]
    result: StrictObject<FastResultBody<'a>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct FastResultBody<'a> {
    result_type: Option<&'a str>,
    #[serde(borrow)]
    content: Vec<StrictObject<FastTextBlock<'a>>>,
    #[serde(default, deserialize_with = "said")]
    structured_content: Option<Value>,
    #[serde(default)]
    is_error: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FastTextBlock<'a> {
    r#type: &'a str,
    text: String,
}

/// `null` is said too.
fn said<'de, D: Deserializer<'de>>(source: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(source).map(Some)
}

/// A call that ended so.
pub(crate) struct FastCompletion {
    /// Where it was asked from, if its answer may be read there.
    pub(crate) asker: Option<Handle>,
    /// No other was under way on its connection.
    pub(crate) was_alone: bool,
}

impl InFlight {
    /// Takes in a message if it is such an answer, and somebody waits for it around the SDK; else
    /// nothing is done with it.
    /// `stream`: the request that alone may be answered there, where a transport has such places.
    pub(crate) fn take_usual(
        &self,
        text: &[u8],
        stream: Option<&Arc<UpstreamRequest>>,
    ) -> Option<FastCompletion> {
        let (id, usual) = read(text, self.bounds.depth)?;
        let (slot, was_alone) = {
            let mut table = self.table();
            let slot = table.by_id.get(&id).filter(|slot| slot.takes_usual())?;
            stream.is_none_or(|stream| Arc::ptr_eq(stream, slot)).then_some(())?;
            (table.take(&id)?, table.by_id.is_empty())
        };
        let asker = slot.asker().cloned();
        slot.end(UpstreamRequestEnd::Result(ServerReply::Usual(usual)));
        Some(FastCompletion { asker, was_alone })
    }
}

/// `depth`: levels of objects and arrays.
fn read(text: &[u8], depth: usize) -> Option<(RequestId, FastCallResult)> {
    if text.len() > LARGE {
        return None;
    }
    let StrictObject(message) = serde_json::from_slice(frame::readable(text, depth).ok()?).ok()?;
    let FastAnswer { id: StrictRequestId(id), result: StrictObject(result), .. } = message;
    let FastResultBody { result_type, content, structured_content: structured, is_error: failed } =
        result;
    let is_text = |StrictObject(block): &StrictObject<FastTextBlock<'_>>| block.r#type == "text";
    let is_usual = matches!(result_type, None | Some("complete")) && content.iter().all(is_text);
    is_usual.then_some(())?;
    let part = |StrictObject(block): StrictObject<FastTextBlock<'_>>| Part::Text {
        text: block.text,
        extra: Map::new(),
    };
    let parts = content.into_iter().map(part).collect();
    Some((as_sent(id), FastCallResult { parts, structured, failed }))
}

/// Holds what is read in this way against what the tree says.
#[cfg(any(test, feature = "fuzz"))]
pub(crate) fn means_the_same(text: &[u8]) -> bool {
    use rmcp::model::RequestId as Named;

    use crate::client::settings::McpBounds;

    let depth = McpBounds::default().depth;
    let Some((id, usual)) = read(text, depth) else { return false };
    let mut whole = frame::read(text, depth).unwrap_or_default();
    let named = whole.get("id").and_then(|id| Named::deserialize(id).ok()).map(as_sent);
    assert_eq!(named, Some(id), "it answers another request");
    let fields = whole.get_mut("result").and_then(Value::as_object_mut).map(std::mem::take);
    assert!(fields.is_some(), "its result is no object");
    let fields = fields.unwrap_or_default();
    let told = |reply: ServerReply| format!("{:?}", reply.outcome());
    assert_eq!(
        told(ServerReply::Usual(usual)),
        told(ServerReply::Fields(fields)),
        "it says something else"
    );
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the result of an answer is read in this way, and then as the tree has it.
    fn is_usual(result: &str) -> bool {
        means_the_same(format!(r#"{{"jsonrpc":"2.0","id":7,"result":{result}}}"#).as_bytes())
    }

    #[test]
    fn the_usual_answers_say_what_their_trees_say() {
        for usual in [
            r#"{"content":[]}"#,
            r#"{"content":[{"type":"text","text":"a \"b\" \u00e9\n"}]}"#,
            r#"{"resultType":"complete","content":[{"text":"a","type":"text"}],"isError":false}"#,
            r#"{"content":[{"type":"text","text":"no"},{"type":"text","text":""}],"isError":true}"#,
            r#"{"content":[],"structuredContent":{"a":[1,2.5,null]},"isError":true}"#,
            r#"{"structuredContent":null,"content":[]}"#,
            r#"{"structuredContent":[1],"content":[{"type":"text","text":"x"}]}"#,
        ] {
            assert!(is_usual(usual), "{usual}");
        }
        let told = |id: &str| format!(r#"{{"id":{id},"result":{{"content":[]}},"jsonrpc":"2.0"}}"#);
        for id in ["7", "\"7\"", "\"x\"", "-1"] {
            assert!(means_the_same(told(id).as_bytes()), "{id}");
        }
    }

    #[test]
    fn all_others_are_left_to_the_tree() {
        let deep = format!(
            r#"{{"content":[],"structuredContent":{}1{}}}"#,
            "[".repeat(70),
            "]".repeat(70)
        );
        let large = format!(r#"{{"content":[{{"type":"text","text":"{}"}}]}}"#, "x".repeat(LARGE));
        for other in [
            r"{}",
            r#"{"content":[],"content":[]}"#,
            r#"{"content":[],"_meta":{}}"#,
            r#"{"content":[{"type":"text","text":"a","annotations":{}}]}"#,
            r#"{"content":[{"type":"image","data":"","mimeType":"a/b"}]}"#,
            r#"{"content":[{"type":"image","text":""}]}"#,
            r#"{"content":[],"isError":null}"#,
            r#"{"content":[],"isError":1}"#,
            r#"{"content":null}"#,
            r#"{"resultType":"input_required","content":[]}"#,
            r#"{"resultType":"task","content":[]}"#,
            r"[]",
            r"[null,[]]",
            r#"[null,[],{"a":1},true]"#,
            r#"{"content":[["text","hi"]]}"#,
            &deep,
            &large,
        ] {
            assert!(!is_usual(other), "{other}");
        }
        for other in [
            r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]},"error":{"code":1,"message":"no"}}"#,
            r#"{"jsonrpc":"2.0","id":7,"method":"ping","result":{"content":[]}}"#,
            r#"{"jsonrpc":"2.0","result":{"content":[]}}"#,
            r#"["2.0",7,{"content":[]}]"#,
            r#"[{"jsonrpc":"2.0","id":7,"result":{"content":[]}}]"#,
            r#"{"jsonrpc":"2.0","id":null,"result":{"content":[]}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}"#,
        ] {
            assert!(!means_the_same(other.as_bytes()), "{other}");
        }
    }
}
