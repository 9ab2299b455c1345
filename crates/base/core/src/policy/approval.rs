//! The question whether something may happen, as it is put to a person, and what an answer means.
//!
//! Both have the shapes of a form that [`HostQuestion`] has.
//!
//! [`HostQuestion`]: crate::HostQuestion

use serde_json::{Value, json};
use toolcrib_json::invisible::{exact, exact_json};

use crate::ledger::ticket::Decision;

/// Longest text of a foreign value in a question, in characters.
const LONGEST: usize = 1_000;

/// A form with one question. `yes`: what the field is called; `means`: what each answer does.
pub fn form(message: &str, yes: &str, means: &str) -> Value {
    json!({
        "message": message,
        "requestedSchema": {
            "type": "object",
            "properties": {
                "approve": { "type": "boolean", "title": yes, "description": means },
            },
            "required": ["approve"],
        },
    })
}

/// What a person said. `None`: nothing that decides.
pub fn decision(answer: &Value) -> Option<Decision> {
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

/// A foreign text on one line, exactly as it is: what is not seen or turns the line around is
/// written out, and nothing of it is hidden behind its length but the middle.
pub fn shown(text: &str) -> String {
    cut(text.chars().count(), text, |part| exact(part).into_owned())
}

/// The same of JSON, which stays JSON as far as it is shown.
pub fn shown_json(value: &Value) -> String {
    let json = value.to_string();
    cut(json.chars().count(), &json, |part| exact_json(part).into_owned())
}

fn cut(count: usize, text: &str, written: impl Fn(&str) -> String) -> String {
    if count <= LONGEST {
        return written(text);
    }
    let half = LONGEST / 2;
    let begin: String = text.chars().take(half).collect();
    let mut end: Vec<char> = text.chars().rev().take(half).collect();
    end.reverse();
    let (begin, end) = (written(&begin), written(&String::from_iter(end)));
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
        assert_eq!(
            shown("a\u{202e}b\nc\u{200b}d\u{e0041}e"),
            "a\\u{202e}b\\nc\\u{200b}d\\u{e0041}e"
        );
        let value = json!({ "a\u{200b}": "\u{2028}\n  \u{e0041}" });
        let told = shown_json(&value);
        assert_eq!(told, r#"{"a\u200b":"\u2028\n  \udb40\udc41"}"#);
        assert_eq!(told.parse::<Value>().unwrap(), value);
        let long = shown(&format!("{}{}", "a".repeat(4_000), "end"));
        assert!(long.starts_with("aaa") && long.ends_with("aend") && long.contains("3003 more"));
        let longest = shown(&format!("{}\u{202e}e\u{200b}nd", "a".repeat(4_000_000)));
        let end = "aa\\u{202e}e\\u{200b}nd";
        assert!(longest.ends_with(end) && longest.contains("3999005 more"), "{longest}");
    }
}
