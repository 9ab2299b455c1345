//! A parked call, put to the person at the client: the question, and what an answer means.

use serde_json::{Value, json};
use toolcrib_core::{Decision, Parked, Pending};
use toolcrib_json::unseen::is_unseen;

/// The key of the question where several may be open.
pub(super) const KEY: &str = "approval";

/// Longest text of a foreign value in a question, in characters.
const LONGEST: usize = 1_000;

/// The question as a form. `parked` is what will run: that is shown and not what was sent.
pub(super) fn form(tool: &str, pending: &Pending, parked: Option<&Parked>) -> Value {
    let tool = parked.map_or(tool, |parked| parked.tool.as_str());
    let arguments = parked.map(|parked| parked.arguments.clone().into_value());
    let arguments = arguments.map(|arguments| shown(&arguments.to_string()));
    let message = format!(
        "May `{}` run? {}. Arguments: {}",
        shown(tool),
        shown(&pending.reason),
        arguments.as_deref().unwrap_or("(not shown)")
    );
    json!({
        "message": message,
        "requestedSchema": {
            "type": "object",
            "properties": {
                "approve": {
                    "type": "boolean",
                    "title": "Run it",
                    "description": "Yes runs this call once; no refuses it",
                },
            },
            "required": ["approve"],
        },
    })
}

/// What a person said. `None`: nothing that decides, so the call goes on waiting.
pub(super) fn decision(answer: &Value) -> Option<Decision> {
    let deny = || Decision::Deny { reason: "the user refused it".to_owned() };
    match answer.get("action")?.as_str()? {
        "accept" => {
            let approved = answer.get("content")?.get("approve")?.as_bool()?;
            Some(if approved { Decision::Approve } else { deny() })
        }
        "decline" => Some(deny()),
        _ => None,
    }
}

/// A foreign text on one line: no characters that are not seen or that turn the line around, and
/// nothing of it hidden behind its length but the middle.
pub(super) fn shown(text: &str) -> String {
    let seen: String = text.chars().take(100 * LONGEST).filter(|c| !is_unseen(*c)).collect();
    let count = seen.chars().count();
    if count <= LONGEST {
        return seen;
    }
    let half = LONGEST / 2;
    let begin: String = seen.chars().take(half).collect();
    let end: String = seen.chars().skip(count - half).collect();
    format!("{begin} […{} more…] {end}", count - 2 * half)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_yes_approves() {
        let yes = json!({ "action": "accept", "content": { "approve": true } });
        assert_eq!(decision(&yes), Some(Decision::Approve));
        let refused = Some(Decision::Deny { reason: "the user refused it".to_owned() });
        let no = json!({ "action": "accept", "content": { "approve": false } });
        assert_eq!(decision(&no), refused);
        assert_eq!(decision(&json!({ "action": "decline" })), refused);
        for nothing in [
            json!(null),
            json!({}),
            json!({ "action": "cancel" }),
            json!({ "action": "ACCEPT", "content": { "approve": true } }),
            json!({ "action": "accept" }),
            json!({ "action": "accept", "content": { "approve": "true" } }),
            json!({ "action": "accept", "content": { "approve": 1 } }),
            json!({ "content": { "approve": true } }),
        ] {
            assert_eq!(decision(&nothing), None, "{nothing}");
        }
    }

    #[test]
    fn a_foreign_text_is_one_line_that_reads_as_it_is() {
        assert_eq!(shown("a\u{202e}b\nc\u{200b}d\u{e0041}e"), "abcde");
        let long = shown(&format!("{}{}", "a".repeat(4_000), "end"));
        assert!(long.starts_with("aaa") && long.ends_with("aend") && long.contains("3003 more"));
    }
}
