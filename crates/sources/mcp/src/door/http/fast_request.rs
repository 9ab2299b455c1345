//! Which requests are plain in every respect, and what they say.
//!
//! Only what is plain is read here. Whatever is not (a wish for progress in 2026-07-28, a header
//! that is missing, a field that is unknown, a name that is written with escapes) goes the SDK's
//! way, which answers or refuses it, so that nothing is let in here that is refused there. No tree
//! is made of what only has to be as expected.

mod headers;

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use http::HeaderMap;
use rmcp::model::{ClientCapabilities, ProtocolVersion, RequestId};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;
use toolcrib_json::repair::RepairBounds;

use super::allowed_hosts::AllowedHosts;
use crate::door::call::idempotency;
use crate::protocol::id::StrictRequestId;
use crate::protocol::raw_fields::RawFields;
use crate::protocol::strict_object::StrictObject;
pub(in crate::door) use headers::EVENTS;
use headers::{are_of_latest, are_of_session, are_plain};
#[cfg(any(test, feature = "fuzz"))]
use headers::{sent_in_session, sent_with};

/// What the names in `_meta` begin with that the protocol gives a meaning.
const RESERVED: &str = "io.modelcontextprotocol/";

/// In a longer text there may be more than is read of a whole one, though of each part all is read.
const SHORT: usize = 128 * 1024;

/// A request that is plain in every respect.
pub(crate) struct FastRequest {
    pub(crate) id: RequestId,
    pub(crate) wanted: FastMethod,
    /// Where the client says that the call stands in a trace.
    pub(crate) trace: Option<String>,
    /// The client's name for the call.
    pub(crate) key: Option<Value>,
    pub(crate) capabilities: Value,
}

pub(crate) enum FastMethod {
    /// A call of this tool.
    Call(String, Option<Value>),
    /// The tools, from the cursor on.
    Tools(Option<String>),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FastRequestMessage<'a> {
    jsonrpc: &'a str,
    id: StrictRequestId,
    method: &'a str,
    #[serde(borrow)]
    params: Option<StrictObject<FastRequestParams<'a>>>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FastRequestParams<'a> {
    name: Option<&'a str>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    cursor: Option<&'a str>,
    #[serde(borrow, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

/// What was read of a message, and what its client says of it beside that.
struct FastRequestParts<'a> {
    id: RequestId,
    method: &'a str,
    name: Option<&'a str>,
    wanted: FastMethod,
    meta: Option<&'a str>,
}

impl<'a> FastRequestParts<'a> {
    fn read(body: &'a [u8], bounds: &RepairBounds) -> Option<Self> {
        let text = str::from_utf8(body).ok()?;
        // Of two bytes a value has one at the least.
        if text.len() > SHORT.min(bounds.values) {
            bounds.read_strict(text).ok()?;
        }
        let StrictObject(message) = serde_json::from_str(text).ok()?;
        let FastRequestMessage { jsonrpc, id: StrictRequestId(id), method, params } = message;
        let params = params.map_or_else(FastRequestParams::default, |StrictObject(params)| params);
        let FastRequestParams { name, arguments, cursor, meta } = params;
        let wanted = match (method, name) {
            _ if jsonrpc != "2.0" => return None,
            ("tools/call", Some(tool)) if cursor.is_none() => {
                // It stands in the parameters, and those in the message.
                let arguments = match arguments {
                    Some(arguments) => Some(bounds.read_part(arguments.get(), 2).ok()?),
                    None => None,
                };
                arguments.as_ref().is_none_or(Value::is_object).then_some(())?;
                FastMethod::Call(tool.to_owned(), arguments)
            }
            ("tools/list", None) if arguments.is_none() => {
                FastMethod::Tools(cursor.map(str::to_owned))
            }
            _ => return None,
        };
        Some(Self { id, method, name, wanted, meta: meta.map(RawValue::get) })
    }
}

/// The request of its session that a client cancels, where it says so in a plain way.
pub(crate) fn cancelled(
    hosts: &AllowedHosts,
    headers: &HeaderMap,
    message: &Value,
) -> Option<RequestId> {
    let cancels = message.get("method").is_some_and(|is| is == "notifications/cancelled");
    let is_said = cancels && message.get("id").is_none();
    let id = message.pointer("/params/requestId").filter(|_| is_said)?;
    (are_of_session(headers) && are_plain(headers) && hosts.admit(headers)).then_some(())?;
    RequestId::deserialize(id).ok()
}

/// What the last client said of itself, and the capabilities that stood in it: most clients say the
/// same with each request.
#[derive(Default)]
pub(crate) struct ClientMetaCache(ArcSwapOption<(Box<str>, Value)>);

/// Bytes of it that are remembered.
const MOST_REMEMBERED: usize = 2_048;

impl ClientMetaCache {
    fn read(&self, meta: &str, bounds: &RepairBounds) -> Option<ClientMeta> {
        if let Some(last) = &*self.0.load()
            && *last.0 == *meta
        {
            return Some((last.1.clone(), None, None));
        }
        let said = said(&RawFields::read(meta)?, bounds)?;
        if let ((capabilities, None, None), true) = (&said, meta.len() <= MOST_REMEMBERED) {
            self.0.store(Some(Arc::new((meta.into(), capabilities.clone()))));
        }
        Some(said)
    }
}

impl FastRequest {
    /// One of 2026-07-28. `None`: there is something about it that the SDK has to look at. `hosts`:
    /// those that a request may be addressed to.
    pub(crate) fn read(
        (hosts, remembered): (&AllowedHosts, &ClientMetaCache),
        headers: &HeaderMap,
        (body, bounds): (&[u8], &RepairBounds),
    ) -> Option<Self> {
        let FastRequestParts { id, method, name, wanted, meta } =
            FastRequestParts::read(body, bounds)?;
        let (capabilities, trace, key) = remembered.read(meta?, bounds)?;
        (are_of_latest(headers, (method, name)) && are_plain(headers) && hosts.admit(headers))
            .then_some(Self { id, wanted, trace, key, capabilities })
    }

    /// One of a session, whose client said at its beginning what it can.
    pub(crate) fn read_of_session(
        hosts: &AllowedHosts,
        headers: &HeaderMap,
        (body, bounds): (&[u8], &RepairBounds),
    ) -> Option<Self> {
        let FastRequestParts { id, wanted, meta, .. } = FastRequestParts::read(body, bounds)?;
        let (trace, key) = match meta {
            Some(meta) => said_in_session(&RawFields::read(meta)?, bounds)?,
            None => (None, None),
        };
        (are_of_session(headers) && are_plain(headers) && hosts.admit(headers)).then_some(Self {
            id,
            wanted,
            trace,
            key,
            capabilities: Value::Null,
        })
    }
}

/// What the client can, where the call stands in a trace, and what the client calls it.
type ClientMeta = (Value, Option<String>, Option<Value>);

/// What a request says of itself. `None`: it does not say all it must, or wants to hear something
/// on the way.
fn said(meta: &RawFields<'_>, bounds: &RepairBounds) -> Option<ClientMeta> {
    let (mut revision, mut capabilities, mut trace, mut key) = (None, None, None, None);
    for (name, raw) in &meta.0 {
        // Also what nobody here needs must mean one thing only.
        let said = bounds.read_part(raw.get(), 3).ok()?;
        match *name {
            "io.modelcontextprotocol/protocolVersion" => revision = Some(said),
            "io.modelcontextprotocol/clientCapabilities" => capabilities = Some(able(said)?),
            "progressToken" | "io.modelcontextprotocol/logLevel" | idempotency::AGAIN => {
                return None;
            }
            "traceparent" => trace = said.as_str().map(str::to_owned),
            idempotency::KEY => key = Some(said),
            _ => {}
        }
    }
    let is_latest = revision? == ProtocolVersion::V_2026_07_28.as_str();
    is_latest.then_some((capabilities?, trace, key))
}

/// The same of a request that belongs to a session. What it says of progress, only what the call
/// says on the way makes use of.
fn said_in_session(
    meta: &RawFields<'_>,
    bounds: &RepairBounds,
) -> Option<(Option<String>, Option<Value>)> {
    let (mut trace, mut key) = (None, None);
    for (name, raw) in &meta.0 {
        let said = bounds.read_part(raw.get(), 3).ok()?;
        match *name {
            "progressToken" if !(said.is_string() || said.is_i64()) => return None,
            "traceparent" => trace = said.as_str().map(str::to_owned),
            idempotency::KEY => key = Some(said),
            idempotency::AGAIN => return None,
            _ if name.starts_with(RESERVED) => return None,
            _ => {}
        }
    }
    Some((trace, key))
}

/// What the client can. What is an extension, the SDK's way knows.
fn able(said: Value) -> Option<Value> {
    if said.as_object().is_some_and(serde_json::Map::is_empty) {
        return Some(said);
    }
    let said = ClientCapabilities::deserialize(said).ok()?;
    said.extensions.is_none().then(|| serde_json::to_value(said).unwrap_or_default())
}

/// Holds what is read of a plain request against what stands in the whole of it.
#[cfg(feature = "fuzz")]
pub(crate) fn means_one_thing(body: &[u8]) {
    for (method, tool) in [("tools/call", Some("look")), ("tools/list", None)] {
        let (hosts, headers) = sent_with(method, tool);
        let remembered = ClientMetaCache::default();
        let read =
            || FastRequest::read((&hosts, &remembered), &headers, (body, &RepairBounds::default()));
        let Some(plain) = read() else { continue };
        let again = read().map(|again| (again.capabilities, again.trace, again.key));
        let first = (plain.capabilities.clone(), plain.trace.clone(), plain.key.clone());
        assert_eq!(again, Some(first), "the second time it says something else");
        assert_eq!(plain.held_against(body), method, "it wants something else");
    }
    let (hosts, headers) = sent_in_session("2025-11-25");
    if let Some(plain) =
        FastRequest::read_of_session(&hosts, &headers, (body, &RepairBounds::default()))
    {
        plain.held_against(body);
    }
}

#[cfg(feature = "fuzz")]
impl FastRequest {
    /// The method, of which the whole says the same.
    fn held_against(self, body: &[u8]) -> &'static str {
        let text = String::from_utf8_lossy(body);
        let whole = RepairBounds::default().read_strict(&text).unwrap_or_default();
        let at = |path: &str| whole.pointer(path).cloned().unwrap_or_default();
        let (method, name, arguments, cursor) = match self.wanted {
            FastMethod::Call(tool, arguments) => {
                ("tools/call", tool.into(), arguments.unwrap_or_default(), Value::Null)
            }
            FastMethod::Tools(cursor) => ("tools/list", Value::Null, Value::Null, cursor.into()),
        };
        assert_eq!(at("/method"), method, "it is refused as a whole, or wants something else");
        let said = (at("/params/name"), at("/params/arguments"), at("/params/cursor"));
        assert_eq!((name, arguments, cursor), said, "its parameters are others");
        let key = at("/params/_meta").get(idempotency::KEY).cloned();
        assert_eq!(self.key, key, "its key is another");
        method
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(body: &str) -> Option<FastRequest> {
        let (hosts, headers) = sent_with("tools/call", Some("look"));
        FastRequest::read(
            (&hosts, &ClientMetaCache::default()),
            &headers,
            (body.as_bytes(), &RepairBounds::default()),
        )
    }

    /// A call with these arguments and more of `_meta`.
    fn call(arguments: &str, more: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"name":"look","arguments":{arguments},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{"sampling":{{}}}}{more}}}}}}}"#
        )
    }

    #[test]
    fn a_plain_call_is_read_whole() {
        let more = r#","traceparent":"00-a","toolcrib/idempotencyKey":"k","com.example/x":[1]"#;
        let plain = read(&call(r#"{"a":[1.5,"é"]}"#, more)).unwrap();
        let FastMethod::Call(tool, arguments) = plain.wanted else { panic!("it is a call") };
        assert_eq!((plain.id, tool.as_str()), (RequestId::Number(7), "look"));
        assert_eq!(arguments, Some(json!({"a": [1.5, "é"]})));
        assert_eq!((plain.trace.as_deref(), plain.key), (Some("00-a"), Some(json!("k"))));
        assert_eq!(plain.capabilities, json!({"sampling": {}}));
        assert!(read(&call("null", "")).is_some());
    }

    #[test]
    fn what_a_client_says_of_itself_with_each_request_is_read_once_and_means_the_same() {
        let (hosts, headers) = sent_with("tools/call", Some("look"));
        let remembered = ClientMetaCache::default();
        let read = |body: &str| {
            FastRequest::read(
                (&hosts, &remembered),
                &headers,
                (body.as_bytes(), &RepairBounds::default()),
            )
        };
        let last = || remembered.0.load().as_ref().map(|last| last.1.clone());
        let said = |plain: FastRequest| (plain.capabilities, plain.trace, plain.key);
        let sampling = (json!({"sampling": {}}), None, None);
        for arguments in ["{}", r#"{"a":1}"#] {
            assert_eq!(read(&call(arguments, "")).map(said).as_ref(), Some(&sampling));
            assert_eq!(last(), Some(json!({"sampling": {}})));
        }
        // What belongs to one request is never another one's.
        let traced = (json!({"sampling": {}}), Some("00-a".to_owned()), Some(json!("k")));
        let more = r#","traceparent":"00-a","toolcrib/idempotencyKey":"k""#;
        assert_eq!(read(&call("{}", more)).map(said), Some(traced));
        assert_eq!(read(&call("{}", "")).map(said), Some(sampling));
        let other = call("{}", "").replace("sampling", "roots");
        assert_eq!(read(&other).map(said), Some((json!({"roots": {}}), None, None)));
        assert_eq!(last(), Some(json!({"roots": {}})));
        assert!(read(&call("{}", r#","progressToken":1"#)).is_none());
    }

    #[test]
    fn what_could_mean_two_things_or_asks_for_more_is_not_plain() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        let deep = |levels: usize| format!(r#"{{"a":{}}}"#, nested(levels));
        // Beside the arguments, these stand in the message and its parameters.
        assert!(read(&call(&deep(61), "")).is_some());
        let whole = call("{}", "");
        let meta = whole.split_once("\"_meta\":").and_then(|(_, rest)| rest.strip_suffix("}}"));
        let listed = format!(r#"["look",{{}},null,{}]"#, meta.unwrap());
        for odd in [
            call(&deep(62), ""),
            call(r#"{"a":1,"a":2}"#, ""),
            call("[]", ""),
            call(r#""{}""#, ""),
            call("{}", r#","progressToken":1"#),
            call("{}", r#","traceparent":"a","traceparent":"b""#),
            call("{}", r#","com.example/x":{"a":1,"a":2}"#),
            whole.replace(r#""id":7"#, r#""id":7,"id":8"#),
            whole.replace(r#""id":7"#, r#""id":1.5"#),
            whole.replace(r#""id":7"#, r#""id":null"#),
            whole.replace(r#""id":7"#, r#""id":7,"more":1"#),
            whole.replace(r#""name":"look""#, r#""name":"look","name":"other""#),
            whole.replace(r#""name":"look""#, r#""name":"look","task":{}"#),
            whole.replace(r#""name":"look""#, r#""name":"l\u006fok""#),
            whole.replace(r#""name":"look""#, r#""name":"other""#),
            whole.replace("2.0", "1.0"),
            whole.replace("2026-07-28", "2025-11-25"),
            whole.replace(r#"{"sampling":{}}"#, r#"{"extensions":{"a":{}}}"#),
            whole.replace("tools/call", "tools/list"),
            whole.clone() + "{}",
            format!("[{whole}]"),
            // The fields in their order, as a list.
            format!(r#"["2.0",7,"tools/call",{listed}]"#),
            format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{listed}}}"#),
        ] {
            assert!(read(&odd).is_none(), "{odd}");
        }
    }

    #[test]
    fn a_plain_call_of_a_session_says_no_more_than_its_tool_its_arguments_and_its_marks() {
        let read_as = |revision, body: &str| {
            let (hosts, headers) = sent_in_session(revision);
            FastRequest::read_of_session(
                &hosts,
                &headers,
                (body.as_bytes(), &RepairBounds::default()),
            )
        };
        let whole = |meta: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{{"name":"look","arguments":{{"a":1}}{meta}}}}}"#
            )
        };
        let said = |plain: FastRequest| {
            let FastMethod::Call(tool, arguments) = plain.wanted else { panic!("it is a call") };
            (tool, arguments, plain.trace, plain.key)
        };
        let (look, one) = ("look".to_owned(), Some(json!({"a": 1})));
        let marks = r#","_meta":{"traceparent":"00-a","toolcrib/idempotencyKey":"k","progressToken":7,"com.example/x":[1]}"#;
        for revision in ["2025-03-26", "2025-06-18", "2025-11-25"] {
            assert_eq!(
                read_as(revision, &whole("")).map(said),
                Some((look.clone(), one.clone(), None, None))
            );
            let marked = read_as(revision, &whole(marks)).map(said);
            let trace = Some("00-a".to_owned());
            assert_eq!(marked, Some((look.clone(), one.clone(), trace, Some(json!("k")))));
        }
        let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        let listed = read_as("2025-11-25", list);
        assert!(listed.is_some_and(|plain| matches!(plain.wanted, FastMethod::Tools(None))));
        for odd in [
            whole(r#","_meta":{"progressToken":{}}"#),
            whole(r#","_meta":{"progressToken":1.5}"#),
            whole(r#","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"a"}}"#),
            whole(r#","_meta":{"a":1,"a":2}"#),
            whole(r#","_meta":[]"#),
            whole(r#","task":{}"#),
            whole(r#","cursor":"a""#),
            whole("").replace(r#"{"a":1}"#, "[]"),
            whole("").replace(r#""id":"a","#, ""),
            whole("").replace("tools/call", "prompts/get"),
            format!("[{}]", whole("")),
        ] {
            assert!(read_as("2025-11-25", &odd).is_none(), "{odd}");
        }
        for unknown in ["2026-07-28", "2024-11-05", "2099-01-01"] {
            assert!(read_as(unknown, &whole("")).is_none(), "{unknown}");
        }
        let (hosts, headers) = sent_with("tools/call", Some("look"));
        assert!(
            FastRequest::read_of_session(
                &hosts,
                &headers,
                (whole("").as_bytes(), &RepairBounds::default())
            )
            .is_none()
        );
    }
}
