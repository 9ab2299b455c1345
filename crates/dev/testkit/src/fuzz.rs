//! What the fuzz targets do with their bytes; tests run the same over the seeds of `fuzz/corpus`.

mod agenda;
mod agents;
mod config_file;
mod embeddings;
mod google;
mod mail;
mod messages;
mod requests;
mod search;
mod times;
mod tokens;
mod two_tools;

use std::collections::HashSet;
use std::net::IpAddr;
use std::sync::OnceLock;

use serde_json::Value;
use toolcrib_dialect::{Dialect, OpenAiChat, dialect};
use toolcrib_egress::{Egress, Network, not_public};
use toolcrib_json::repair::{self, RepairBounds};
use toolcrib_json::schema::Schema;
use toolcrib_openapi::{ApiSettings, DocumentLocation, inspect};
use url::{Host, Url};

pub use self::agenda::{icalendar, webdav};
pub use self::agents::{cassette, rollout, team_calls, text_calls, toolset_split};
pub use self::config_file::config_file;
pub use self::embeddings::embeddings;
pub use self::google::google_answer;
pub use self::mail::mail;
pub use self::messages::{a2a_agent, a2a_request, mcp_messages};
pub use self::requests::openapi_request;
pub use self::search::search;
pub use self::times::times;
pub use self::tokens::tokens;
use self::two_tools::crib;

/// What a target does with the fuzzer's bytes; a panic is a find.
pub type FuzzTarget = fn(&[u8]);

/// Every target by its name.
pub const TARGETS: &[(&str, FuzzTarget)] = &[
    ("a2a_agent", a2a_agent),
    ("a2a_request", a2a_request),
    ("arguments", arguments),
    ("calls", calls),
    ("cassette", cassette),
    ("config_file", config_file),
    ("dialect_replies", dialect_replies),
    ("egress_address", egress_address),
    ("embeddings", embeddings),
    ("google_answer", google_answer),
    ("icalendar", icalendar),
    ("mail", mail),
    ("mcp_messages", mcp_messages),
    ("openapi_document", openapi_document),
    ("openapi_request", openapi_request),
    ("rollout", rollout),
    ("schemas", schemas),
    ("search", search),
    ("team_calls", team_calls),
    ("text_calls", text_calls),
    ("times", times),
    ("tokens", tokens),
    ("toolset_split", toolset_split),
    ("webdav", webdav),
];

/// Arguments as a model may write them: any text.
///
/// What was read can be written and read again, then with nothing left to repair; and what is
/// plain JSON within the bounds is read as it is.
pub fn arguments(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let strict = repair::read_strict(&text);
    let read = repair::read(&text);
    let Ok(read) = read else {
        assert_eq!(strict.ok(), None, "refused, though it is plain JSON");
        return;
    };
    if let Ok(value) = strict {
        assert_eq!((&read.value, read.repairs.len()), (&value, 0), "plain JSON was changed");
    }
    let written = read.value.to_string();
    if written.len() <= RepairBounds::default().bytes {
        let again = repair::read(&written).map(|again| (again.repairs, again.value));
        let value = again.as_ref().map_or(&Value::Null, |(_, value)| value).clone();
        // A fraction may come back changed in its last bit, which is a bound of the number reader.
        let expected = if has_fraction(&read.value) { value } else { read.value };
        assert_eq!(again, Ok((Vec::new(), expected)), "what was read is no plain JSON");
    }
}

/// A schema as a stranger may write it, on the first line, and a value for it on the others.
///
/// The ways to ask about a value agree, and what was coerced validates.
pub fn schemas(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (source, value) = text.split_once('\n').unwrap_or((&text, "null"));
    let Ok(source) = serde_json::from_str::<Value>(source) else {
        return;
    };
    let Ok(schema) = Schema::compile(&source) else {
        return;
    };
    assert!(!schema.signature("tool").contains('\n'), "a signature is one line");
    let Ok(value) = serde_json::from_str::<Value>(value) else {
        return;
    };
    let is_valid = schema.is_valid(&value);
    assert_eq!(schema.check(&value).is_ok(), is_valid, "`check` and `is_valid` disagree");
    let (coerced, coercions) = schema.coerce(value.clone());
    if coercions.is_empty() {
        assert_eq!(coerced, value, "changed without a word");
    } else {
        assert!(!is_valid && schema.is_valid(&coerced), "coerced in vain");
    }
}

/// A list of calls as a model may write it: every item is answered once, in call order.
pub fn calls(data: &[u8]) {
    let Ok(Value::Array(items)) = serde_json::from_slice(data) else { return };
    let (crib, plan) = crib();
    let calls = OpenAiChat::default().read_calls(&plan, &Value::Array(items.clone()));
    let ids: Vec<_> = calls.iter().map(|call| call.id.clone()).collect();
    assert_eq!(ids.len(), items.len(), "an item was dropped");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let Ok(runtime) = runtime else { return };
    let report = runtime.block_on(crib.run(&plan, calls));
    let answered: Vec<_> = report.responses.iter().map(|response| response.id.clone()).collect();
    assert_eq!(answered, ids, "not every call was answered in its place");
}

/// The name of a dialect on the first line, and a reply of its API on the others: it is read
/// without a panic, whole or as a chunk of a stream, and every call of it can be answered; what the
/// provider did for it is told within bounds.
pub fn dialect_replies(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (name, reply) = text.split_once('\n').unwrap_or((&text, "null"));
    let (Some(dialect), Ok(reply)) = (dialect(name), serde_json::from_str::<Value>(reply)) else {
        return;
    };
    let (_, plan) = crib();
    let calls = dialect.calls(&plan, &reply);
    let again = dialect.calls(&plan, &reply);
    assert_eq!(calls, again, "read twice, it says two things");
    let mut stream = dialect.stream();
    stream.push(&reply);
    let finished = stream.finish(&plan);
    assert_eq!(finished.err(), stream.not_a_reply(), "its end says another thing");
    dialect.echo(&reply);
    let work = dialect.hosted(Some(&plan), &reply);
    let is_bounded = work.calls.len() <= 256 && work.citations.len() <= 256;
    assert!(is_bounded, "more is told of it than anybody reads");
}

/// An address as a stranger may write it: if it may be reached without a lookup to come, it is
/// public however it is written, and it says the same when it is read again.
pub fn egress_address(data: &[u8]) {
    static EGRESS: OnceLock<Option<Egress>> = OnceLock::new();
    let egress = EGRESS.get_or_init(|| Egress::open([], Network::default()).ok());
    let (Some(egress), Ok(url)) = (egress, Url::parse(&String::from_utf8_lossy(data))) else {
        return;
    };
    let is_admitted = egress.check(&url).is_ok();
    let again = Url::parse(url.as_str());
    assert_eq!(again.as_ref(), Ok(&url), "written and read again, it is another");
    let is_admitted_again = again.is_ok_and(|again| egress.check(&again).is_ok());
    assert_eq!(is_admitted, is_admitted_again, "read again, it is judged otherwise");
    if !is_admitted {
        return;
    }
    assert!(matches!(url.scheme(), "http" | "https"), "no scheme of ours");
    assert!(url.username().is_empty() && url.password().is_none(), "it carries a password");
    let address = match url.host() {
        Some(Host::Ipv4(address)) => IpAddr::V4(address),
        Some(Host::Ipv6(address)) => IpAddr::V6(address),
        Some(Host::Domain(name)) => {
            assert!(!name.ends_with('.') && name != "localhost", "a name for private networks");
            return;
        }
        None => unreachable!("every URL of HTTP has a host"),
    };
    assert_eq!(not_public(address), None, "the table denies it");
    assert!(!is_special(address.to_canonical()), "the standard library calls it special");
}

/// What the standard library knows of addresses, apart from our own table.
fn is_special(address: IpAddr) -> bool {
    let is_local = match address {
        IpAddr::V4(address) => {
            address.is_private() || address.is_link_local() || address.is_broadcast()
        }
        IpAddr::V6(address) => address.is_unique_local() || address.is_unicast_link_local(),
    };
    is_local || address.is_loopback() || address.is_unspecified() || address.is_multicast()
}

/// A document of an API as a stranger may write it, JSON or YAML: every operation is a tool or is
/// refused, no two tools share a name, and what the catalog would compile compiles.
pub fn openapi_document(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let settings = ApiSettings::new(DocumentLocation::Text(String::new()));
    let Ok((tools, report)) = inspect(&text, &settings) else {
        return;
    };
    assert_eq!(tools.len() + report.refused.len(), report.operations, "an operation was dropped");
    let names: HashSet<_> = tools.iter().map(|tool| tool.name.as_str().to_lowercase()).collect();
    assert_eq!(names.len(), tools.len(), "two tools share a name");
    for tool in &tools {
        for schema in [Some(&tool.input), tool.output.as_ref()].into_iter().flatten() {
            assert_eq!(
                Schema::compile(&schema.value()).err(),
                None,
                "a schema that nobody can use"
            );
        }
    }
}

fn has_fraction(value: &Value) -> bool {
    let mut waiting = vec![value];
    while let Some(value) = waiting.pop() {
        match value {
            Value::Number(number) if number.is_f64() => return true,
            Value::Array(items) => waiting.extend(items),
            Value::Object(members) => waiting.extend(members.values()),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    false
}
