//! Results made into the SDK's types, or sent around them where those would lose something.

use rmcp::model::{
    CallToolResponse, CallToolResult, CreateTaskResult, ErrorCode, ErrorData, InputRequiredResult,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use toolcrib_json::number::guarded;

use crate::door::client::channel::ClientChannel;
use crate::door::client::features::ClientFeatures;
use crate::door::state::McpServerState;
use crate::door::stdio::operation::McpOperationMark;
use crate::protocol::borrowed_json::BorrowedJson;

/// A result, or questions instead of one.
pub(crate) enum MethodAnswer<T> {
    Complete(T),
    Asks(InputRequiredResult),
}

/// The answer to a call, as it goes out.
pub(crate) enum CallAnswer {
    Result(Value),
    /// The same as text, for whoever writes the answer himself.
    Written(Vec<u8>),
    /// Questions instead of the result.
    Asks(Value),
    /// The name of what goes on without the request.
    Task(CreateTaskResult),
}

/// What stands for the result of a call that went around the SDK.
fn no_result() -> Value {
    let gone = "the result of this call is not kept any more; do not take it for a failure of the \
                call";
    json!({ "content": [{ "type": "text", "text": gone }], "isError": true })
}

/// The answer to a call as the SDK has it.
pub(crate) fn called(
    server_state: &McpServerState,
    line: &ClientChannel,
    answer: CallAnswer,
) -> Result<CallToolResponse, ErrorData> {
    let result = |whole: Value| {
        let has_failed = whole.get("isError").and_then(Value::as_bool).unwrap_or_default();
        let context = line.context.as_ref().filter(|_| has_failed);
        if let Some(mark) = context.and_then(|context| McpOperationMark::of(&context.extensions)) {
            mark.fails();
        }
        typed::<CallToolResult>(server_state, line, whole, no_result)
            .map(CallToolResponse::Complete)
    };
    match answer {
        CallAnswer::Result(whole) => result(whole),
        CallAnswer::Written(text) => {
            result(serde_json::from_slice(&text).map_err(|_| unsendable())?)
        }
        CallAnswer::Task(task) => Ok(CallToolResponse::Task(task)),
        CallAnswer::Asks(asked) => {
            Ok(match asks::<CallToolResult>(server_state, line, &asked, no_result)? {
                MethodAnswer::Asks(asks) => CallToolResponse::InputRequired(asks),
                MethodAnswer::Complete(stand_in) => CallToolResponse::Complete(stand_in),
            })
        }
    }
}

/// A result as the SDK's types are made of it.
pub(crate) fn tree(said: &BorrowedJson<'_>) -> Value {
    // Texts, values and the fields of both are always JSON.
    serde_json::to_value(said).unwrap_or_default()
}

/// A result as it goes out.
pub(crate) fn text(said: &BorrowedJson<'_>) -> Vec<u8> {
    serde_json::to_vec(said).unwrap_or_else(|_| b"null".to_vec())
}

/// Questions in place of a result; `around`: what is said besides.
pub(crate) fn asking(
    questions: Map<String, Value>,
    state: &str,
    around: Map<String, Value>,
) -> Value {
    let mut asking = around;
    asking.insert("resultType".to_owned(), json!("input_required"));
    asking.insert("inputRequests".to_owned(), Value::Object(questions));
    asking.insert("requestState".to_owned(), json!(state));
    Value::Object(asking)
}

/// Questions as the SDK has them; `empty` is the least that it takes for a result.
pub(crate) fn asks<T: DeserializeOwned>(
    server_state: &McpServerState,
    line: &ClientChannel,
    whole: &Value,
    empty: impl FnOnce() -> Value,
) -> Result<MethodAnswer<T>, ErrorData> {
    if let Some(asks) = lossless::<InputRequiredResult>(whole) {
        return Ok(MethodAnswer::Asks(asks));
    }
    let id = line.id.to_string();
    let stand_in = server_state.whole.stand_in(&id, whole, true).ok_or_else(unsendable)?;
    let sent = guarded(with(empty(), stand_in));
    serde_json::from_value(sent).map(MethodAnswer::Complete).map_err(|_| unsendable())
}

/// Any result; `empty` is the least that the SDK takes for one.
pub(crate) fn typed<T: Serialize + DeserializeOwned>(
    server_state: &McpServerState,
    line: &ClientChannel,
    result: Value,
    empty: impl FnOnce() -> Value,
) -> Result<T, ErrorData> {
    if let Some(typed) = lossless(&result) {
        return Ok(typed);
    }
    let id = line.id.to_string();
    let stand_in = server_state.whole.stand_in(&id, &result, line.client.is_modern);
    let sent = stand_in.map_or(result, |stand_in| with(empty(), stand_in));
    serde_json::from_value(guarded(sent)).map_err(|_| unsendable())
}

fn with(mut empty: Value, stand_in: Map<String, Value>) -> Value {
    if let Value::Object(fields) = &mut empty {
        fields.extend(stand_in);
    }
    empty
}

/// The typed value, if it serialises to what it was made of.
fn lossless<T: Serialize + DeserializeOwned>(whole: &Value) -> Option<T> {
    let typed: T = serde_json::from_value(guarded(whole.clone())).ok()?;
    (serde_json::to_value(&typed).ok()? == *whole).then_some(typed)
}

/// Whose clients have a method; to others it is one that is not there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MethodAudience {
    All,
    Older,
    Modern,
}

/// Methods whose parameters can be wrong, and what is right.
const FITS: [(&str, MethodAudience, &str); 8] = [
    ("tools/call", MethodAudience::All, "`name` is a text, and `arguments` an object or left out"),
    (
        "prompts/get",
        MethodAudience::All,
        "`name` is a text, and `arguments` an object of texts or left out",
    ),
    ("resources/read", MethodAudience::All, "`uri` is a text"),
    (
        "completion/complete",
        MethodAudience::All,
        "`ref` names a prompt or a template, and `argument` has `name` and `value`",
    ),
    ("resources/subscribe", MethodAudience::Older, "`uri` is a text"),
    ("resources/unsubscribe", MethodAudience::Older, "`uri` is a text"),
    (
        "logging/setLevel",
        MethodAudience::Older,
        "`level` is `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` or \
         `emergency`",
    ),
    (
        "subscriptions/listen",
        MethodAudience::Modern,
        "`notifications` is an object that says what to hear of",
    ),
];

/// The answer to a request that the SDK could not read.
pub(crate) fn misfit(method: String, client: &ClientFeatures) -> ErrorData {
    let own = if client.is_modern { MethodAudience::Modern } else { MethodAudience::Older };
    let is_there = |of: MethodAudience| of == MethodAudience::All || of == own;
    match FITS.into_iter().find(|(known, of, _)| *known == method && is_there(*of)) {
        Some((_, _, fits)) => {
            let told = format!("the parameters of `{method}` do not fit: {fits}");
            ErrorData::invalid_params(told, None)
        }
        None => ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method, None),
    }
}

fn unsendable() -> ErrorData {
    ErrorData::internal_error("the result has a shape that cannot be sent: tell the operator", None)
}
