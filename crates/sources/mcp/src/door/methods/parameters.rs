//! Parameters of requests, read: which methods there are for whom, and what fits them.

use std::collections::BTreeMap;

use rmcp::model::{ErrorCode, ErrorData};
use serde_json::{Map, Value};

/// Whose clients have a method; to others it is one that is not there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MethodAudience {
    All,
    Older,
    Modern,
}

/// Methods, and what their parameters have to be.
const FITS: [(&str, MethodAudience, &str); 18] = [
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
    ("tools/list", MethodAudience::All, CURSOR),
    ("prompts/list", MethodAudience::All, CURSOR),
    ("resources/list", MethodAudience::All, CURSOR),
    ("resources/templates/list", MethodAudience::All, CURSOR),
    ("tasks/get", MethodAudience::All, TASK),
    ("tasks/update", MethodAudience::All, "`taskId` is a text, and `inputResponses` an object"),
    ("tasks/cancel", MethodAudience::All, TASK),
    ("server/discover", MethodAudience::All, ""),
    (
        "initialize",
        MethodAudience::Older,
        "`protocolVersion` is a text, `capabilities` an object, and `clientInfo` has `name` and \
         `version`",
    ),
    ("ping", MethodAudience::Older, ""),
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

const CURSOR: &str = "`cursor` is a text or left out";
const TASK: &str = "`taskId` is a text";

/// Whether a client has this method here.
pub(crate) fn is_there(method: &str, is_modern: bool) -> bool {
    let own = if is_modern { MethodAudience::Modern } else { MethodAudience::Older };
    let found = FITS.iter().find(|(known, ..)| *known == method);
    found.is_some_and(|(_, of, _)| *of == MethodAudience::All || *of == own)
}

/// The answer to parameters that do not fit.
pub(crate) fn misfit(method: &str) -> ErrorData {
    let fits = FITS.iter().find(|(known, ..)| *known == method).map_or("", |(_, _, fits)| fits);
    let told = format!("the parameters of `{method}` do not fit: {fits}");
    ErrorData::invalid_params(told, None)
}

/// The answer to a method that is not there.
pub(crate) fn no_method(method: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, method.to_owned(), None)
}

/// What a client brings back that was asked something: what it was asked about, and its answers.
pub(crate) type Resumed = (Option<String>, BTreeMap<String, Value>);

/// Takes a text out of the parameters.
pub(crate) fn text(
    method: &str,
    params: &mut Map<String, Value>,
    key: &str,
) -> Result<String, ErrorData> {
    match params.shift_remove(key) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(misfit(method)),
    }
}

/// The same of one that may be left out.
pub(crate) fn optional_text(
    method: &str,
    params: &mut Map<String, Value>,
    key: &str,
) -> Result<Option<String>, ErrorData> {
    match params.shift_remove(key) {
        Some(Value::String(text)) => Ok(Some(text)),
        None | Some(Value::Null) => Ok(None),
        Some(_) => Err(misfit(method)),
    }
}

/// The same of an object that may be left out.
pub(crate) fn optional_object(
    method: &str,
    params: &mut Map<String, Value>,
    key: &str,
) -> Result<Option<Map<String, Value>>, ErrorData> {
    match params.shift_remove(key) {
        Some(Value::Object(fields)) => Ok(Some(fields)),
        None | Some(Value::Null) => Ok(None),
        Some(_) => Err(misfit(method)),
    }
}

/// Takes out what a client brings back that was asked something.
pub(crate) fn resumed(method: &str, params: &mut Map<String, Value>) -> Result<Resumed, ErrorData> {
    let state = optional_text(method, params, "requestState")?;
    let answers = optional_object(method, params, "inputResponses")?;
    Ok((state, answers.unwrap_or_default().into_iter().collect()))
}
