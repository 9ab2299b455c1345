//! The question whether something may happen, as it is put to a person, and what an answer means.
//!
//! Both have the shapes of the Model Context Protocol (`elicitation/create`), as [`Ask`] has them.
//!
//! [`Ask`]: crate::Ask

use serde_json::{Value, json};
use toolcrib_json::unseen::is_unseen;

use crate::ticket::Decision;

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

/// A foreign text on one line: no characters that are not seen or that turn the line around, and
/// nothing of it hidden behind its length but the middle.
pub fn shown(text: &str) -> String {
    let seen = || text.chars().filter(|c| !is_unseen(*c));
    let count = seen().count();
    if count <= LONGEST {
        return seen().collect();
    }
    let half = LONGEST / 2;
    let begin: String = seen().take(half).collect();
    let mut end: Vec<char> = seen().rev().take(half).collect();
    end.reverse();
    let end = String::from_iter(end);
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
        let longest = shown(&format!("{}\u{202e}e\u{200b}nd", "a".repeat(4_000_000)));
        assert!(longest.ends_with("aend") && longest.contains("3999003 more"));
    }
}
