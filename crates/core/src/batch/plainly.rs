//! What is said of a call whose outcome nobody knows, as data beside the words.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::call::CallKey;
use crate::content::Content;
use crate::name::ToolName;
use crate::outcome::ToolError;
use crate::ticket::TicketId;

/// Adds to an error that the call may have taken effect: what a program reads to know that it
/// must not send it again.
pub(super) fn unknown(error: &mut ToolError, call: CallKey, tool: &ToolName, sent: SystemTime) {
    let told = json!({
        "status": "outcome_unknown",
        "call_id": call,
        "tool": tool,
        "dispatched_at": rfc3339(sent),
        "safe_to_retry": false,
        "next": [{ "look_up": format!("/v1/calls/{call}") }, { "ask": "the user" }],
    });
    put(error, told);
}

/// The same of a call that nothing more is known of.
pub(super) fn lost(error: &mut ToolError) {
    let next = json!([{ "look_up": "/v1/calls" }, { "ask": "the user" }]);
    put(error, json!({ "status": "outcome_unknown", "safe_to_retry": false, "next": next }));
}

/// The same of a call that was held back for its likeness to one of those.
pub(super) fn duplicate(
    error: &mut ToolError,
    of: Option<&str>,
    tool: &ToolName,
    by: Option<&TicketId>,
) {
    let calls = of.map_or_else(|| "/v1/calls".to_owned(), |of| format!("/v1/calls/{of}"));
    let told = json!({
        "status": "duplicate_of_unknown",
        "call_id": of,
        "tool": tool,
        "safe_to_retry": false,
        "ticket": by,
        "next": [{ "look_up": calls }, { "ask": "the user" }],
    });
    put(error, told);
}

/// What the other side said as data goes along.
fn put(error: &mut ToolError, mut told: Value) {
    let content = error.content.get_or_insert_with(|| Box::new(Content::default()));
    if let (Value::Object(fields), Some(said)) = (&mut told, content.structured.take()) {
        fields.insert("answered".to_owned(), said);
    }
    content.structured = Some(told);
}

/// Seconds of UTC as RFC 3339 writes them.
fn rfc3339(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Days since the first of March of the year 0, in whose years February is the last month.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (month, after) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year + era * 400 + after;
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_moment_is_written_as_the_calendar_has_it() {
        let at = |seconds| rfc3339(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_795_219_199), "2026-11-20T23:59:59Z");
        assert_eq!(at(4_107_542_400), "2100-03-01T00:00:00Z");
    }
}
