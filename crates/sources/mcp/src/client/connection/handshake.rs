//! What a server says of itself in the handshake, held against the protocol before the SDK reads
//! it: what does not fit is told in words that name the member.
//!
//! Source: `InitializeResult` of the revisions up to 2025-11-25, `DiscoverResult` of 2026-07-28.

use serde_json::{Map, Value, json};

use crate::protocol::text::clean;

/// Where 2026-07-28 says which server it is.
const SERVER: &str = "io.modelcontextprotocol/serverInfo";

/// What a member has to be.
#[derive(Clone, Copy)]
enum HandshakeShape {
    Text,
    Flag,
    Texts,
    /// An object; of these members more is known.
    Fields(&'static [HandshakeMember]),
}

type HandshakeMember = (&'static str, HandshakePresence, HandshakeShape);

#[derive(Clone, Copy, PartialEq, Eq)]
enum HandshakePresence {
    Demanded,
    Optional,
}

use HandshakePresence::{Demanded, Optional};
use HandshakeShape::{Fields, Flag, Text, Texts};

const ANY: HandshakeShape = Fields(&[]);
const LISTED: HandshakeShape = Fields(&[("listChanged", Optional, Flag)]);
const CAPABILITIES: HandshakeShape = Fields(&[
    ("experimental", Optional, ANY),
    ("extensions", Optional, ANY),
    ("logging", Optional, ANY),
    ("completions", Optional, ANY),
    ("prompts", Optional, LISTED),
    (
        "resources",
        Optional,
        Fields(&[("subscribe", Optional, Flag), ("listChanged", Optional, Flag)]),
    ),
    ("tools", Optional, LISTED),
]);
const SERVER_INFO: HandshakeShape =
    Fields(&[("name", Demanded, Text), ("version", Demanded, Text), ("title", Optional, Text)]);
const INITIALIZED: HandshakeShape = Fields(&[
    ("protocolVersion", Demanded, Text),
    ("capabilities", Demanded, CAPABILITIES),
    ("serverInfo", Demanded, SERVER_INFO),
    ("instructions", Optional, Text),
    ("_meta", Optional, ANY),
]);
const DISCOVERED: HandshakeShape = Fields(&[
    ("supportedVersions", Demanded, Texts),
    ("capabilities", Demanded, CAPABILITIES),
    ("instructions", Optional, Text),
    ("_meta", Optional, Fields(&[(SERVER, Optional, SERVER_INFO)])),
]);

/// A result as the SDK reads it, with nothing in it that nobody needs there; the result itself gets
/// an object wherever PHP wrote an empty list for one. `Err`: what does not fit, for the operator.
/// `None`: it is no answer to a greeting at all.
pub(crate) fn read(result: &mut Value) -> Option<Result<Value, String>> {
    let has = |key: &str| result.get(key).is_some();
    let (method, shape) = match (has("supportedVersions"), has("protocolVersion")) {
        (true, _) => ("server/discover", DISCOVERED),
        (false, true) => ("initialize", INITIALIZED),
        (false, false) if has("capabilities") || has("serverInfo") => ("initialize", INITIALIZED),
        (false, false) => return None,
    };
    let fitted = fit(result, shape, "");
    let told = |what: String| format!("its answer to `{method}` does not fit: {what}");
    Some(fitted.map(|()| reduced(result)).map_err(told))
}

/// Mends what can mean one thing only, and says what else does not fit.
fn fit(value: &mut Value, shape: HandshakeShape, at: &str) -> Result<(), String> {
    if let (Fields(_), Value::Array(items)) = (shape, &*value)
        && items.is_empty()
    {
        *value = json!({});
    }
    match (shape, &mut *value) {
        (Text, Value::String(_)) | (Flag, Value::Bool(_)) => Ok(()),
        (Texts, Value::Array(items)) if items.iter().all(Value::is_string) => Ok(()),
        (Fields(members), Value::Object(fields)) => members.iter().try_for_each(|member| {
            let (name, need, shape) = *member;
            let at = if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
            match fields.get_mut(name) {
                None | Some(Value::Null) if need == Optional => Ok(()),
                None => Err(format!("`{at}` is missing")),
                Some(value) => fit(value, shape, &at),
            }
        }),
        _ => Err(misfit(value, shape, at)),
    }
}

fn misfit(value: &Value, shape: HandshakeShape, at: &str) -> String {
    let is = match value {
        Value::Null => "null",
        Value::Bool(_) => "a truth value",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    };
    let has_to_be = match shape {
        Text => "a text",
        Flag => "`true` or `false`",
        Texts => "a list of texts",
        Fields(_) => "an object",
    };
    format!("`{}` is {is}, and has to be {has_to_be}", clean(at))
}

/// Those members alone that were looked at: the SDK refuses the whole for any other that it knows
/// in another shape.
fn reduced(result: &Value) -> Value {
    let some = |of: &Value, names: &[&str]| -> Map<String, Value> {
        let own = |name: &&str| Some(((*name).to_owned(), of.get(*name)?.clone()));
        names.iter().filter_map(own).filter(|(_, value)| !value.is_null()).collect()
    };
    let mut reduced = some(result, &["protocolVersion", "supportedVersions", "instructions"]);
    let capabilities = result.get("capabilities").unwrap_or(&Value::Null);
    let mut known = some(capabilities, &["prompts", "resources", "tools"]);
    for flags in known.values_mut().filter_map(Value::as_object_mut) {
        flags.retain(|_, flag| flag.is_boolean());
    }
    for own in ["logging", "completions"] {
        if capabilities.get(own).is_some_and(Value::is_object) {
            known.insert(own.to_owned(), json!({}));
        }
    }
    // Each of them is an object of its own to the SDK.
    for others in ["experimental", "extensions"] {
        if let Some(Value::Object(others_said)) = capabilities.get(others) {
            let objects = others_said.iter().filter(|(_, value)| value.is_object());
            let objects = objects.map(|(key, value)| (key.clone(), value.clone())).collect();
            known.insert(others.to_owned(), Value::Object(objects));
        }
    }
    reduced.insert("capabilities".to_owned(), Value::Object(known));
    let server = |of: &Value| Value::Object(some(of, &["name", "version", "title"]));
    if let Some(info) = result.get("serverInfo").filter(|info| info.is_object()) {
        reduced.insert("serverInfo".to_owned(), server(info));
    }
    if let Some(info) = result.pointer("/_meta").and_then(|meta| meta.get(SERVER)) {
        reduced.insert("_meta".to_owned(), json!({ SERVER: server(info) }));
    }
    if reduced.contains_key("supportedVersions") {
        // Of how long it may be kept nothing is made here.
        for (key, value) in [("resultType", json!("complete")), ("ttlMs", json!(0))] {
            reduced.insert(key.to_owned(), value);
        }
        reduced.insert("cacheScope".to_owned(), json!("private"));
    }
    Value::Object(reduced)
}

#[cfg(test)]
mod tests {
    use rmcp::model::ServerResult;
    use serde::Deserialize as _;

    use super::*;

    fn initialized() -> Value {
        json!({
            "protocolVersion": "2025-06-18",
            "capabilities": {"tools": {"listChanged": true}, "logging": {}, "x": 1},
            "serverInfo": {"name": "a", "version": "1", "icons": 7},
            "instructions": "Be kind.", "_meta": {},
        })
    }

    fn discovered() -> Value {
        json!({
            "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}},
            "_meta": {SERVER: {"name": "a", "version": "1"}},
        })
    }

    fn told(mut result: Value) -> String {
        read(&mut result).unwrap().unwrap_err()
    }

    #[test]
    fn what_fits_is_read_by_the_sdk_whatever_stands_beside_it() {
        for (result, what) in [(initialized(), "initialize"), (discovered(), "discover")] {
            let mut odd = result.clone();
            odd["capabilities"] = json!({
                "tools": [], "prompts": null, "resources": {"subscribe": null, "y": "z"},
                "experimental": {"a": 1, "b": {}}, "tasks": 7, "extensions": [],
            });
            odd["instructions"] = Value::Null;
            for mut result in [result, odd] {
                let read = read(&mut result).unwrap().unwrap();
                let read = ServerResult::deserialize(read).unwrap();
                let is_read = match what {
                    "initialize" => matches!(read, ServerResult::InitializeResult(_)),
                    _ => matches!(read, ServerResult::DiscoverResult(_)),
                };
                assert!(is_read, "{what}: {result}");
            }
        }
    }

    #[test]
    fn every_member_that_does_not_fit_is_named() {
        for (pointer, value, words) in [
            ("/protocolVersion", json!([]), "`protocolVersion` is a list, and has to be a text"),
            (
                "/protocolVersion",
                json!(2025),
                "`protocolVersion` is a number, and has to be a text",
            ),
            ("/capabilities", json!("tools"), "`capabilities` is a text, and has to be an object"),
            (
                "/capabilities",
                json!(["tools"]),
                "`capabilities` is a list, and has to be an object",
            ),
            ("/capabilities", Value::Null, "`capabilities` is null, and has to be an object"),
            (
                "/capabilities/tools",
                json!(true),
                "`capabilities.tools` is a truth value, and has to be an object",
            ),
            (
                "/capabilities/tools/listChanged",
                json!("yes"),
                "`capabilities.tools.listChanged` is a text, and has to be `true` or `false`",
            ),
            ("/capabilities/logging", json!(1), "`capabilities.logging` is a number"),
            ("/serverInfo", json!([]), "`serverInfo.name` is missing"),
            ("/serverInfo/version", json!(1), "`serverInfo.version` is a number"),
            ("/serverInfo/name", Value::Null, "`serverInfo.name` is null"),
            ("/instructions", json!({}), "`instructions` is an object, and has to be a text"),
            ("/_meta", json!("x"), "`_meta` is a text, and has to be an object"),
        ] {
            let mut result = initialized();
            *result.pointer_mut(pointer).unwrap() = value;
            let told = told(result);
            assert!(told.starts_with("its answer to `initialize` does not fit: "), "{told}");
            assert!(told.contains(words), "{told}");
        }
        for missing in ["protocolVersion", "capabilities", "serverInfo"] {
            let mut result = initialized();
            result.as_object_mut().unwrap().remove(missing);
            assert!(told(result).ends_with(&format!("`{missing}` is missing")), "{missing}");
        }
        let mut result = discovered();
        result["supportedVersions"] = json!("2026-07-28");
        let words = "`supportedVersions` is a text, and has to be a list of texts";
        assert!(told(result).ends_with(words));
    }

    #[test]
    fn an_empty_list_of_php_is_read_as_the_object_that_it_stands_for() {
        let mut result = initialized();
        result["capabilities"] = json!({ "tools": [], "logging": [] });
        result["_meta"] = json!([]);
        assert!(read(&mut result).unwrap().is_ok());
        assert_eq!(result["capabilities"], json!({ "tools": {}, "logging": {} }));
        assert_eq!(read(&mut json!({})), None);
    }
}
