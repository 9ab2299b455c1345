//! Gmail's way of searching, as far as the desk asks: words in quotes, `from:`, `is:`, `after:`.
//!
//! <https://support.google.com/mail/answer/7190>

use super::mail::stored_message::StoredMessage;

/// Whether a message is among those that a query is about; what is not understood finds nothing.
pub(super) fn is_about(message: &StoredMessage, query: &str) -> bool {
    terms(query).iter().all(|term| {
        // What begins with a quote is a word and nothing else.
        if let Some(word) = term.strip_prefix('"') {
            return has_word(message, word);
        }
        let denied = term.strip_prefix('-');
        holds(message, denied.unwrap_or(term)) == Some(denied.is_none())
    })
}

fn has_word(message: &StoredMessage, word: &str) -> bool {
    message.words().to_lowercase().contains(&word.to_lowercase())
}

/// Pieces between spaces; what is in quotes is one piece, and the first quote stays.
fn terms(query: &str) -> Vec<String> {
    let mut all = vec![String::new()];
    let mut in_quotes = false;
    for character in query.chars() {
        match character {
            '"' => {
                in_quotes = !in_quotes;
                let begins = all.last_mut().filter(|term| term.is_empty() && in_quotes);
                if let Some(term) = begins {
                    term.push('"');
                }
            }
            ' ' if !in_quotes => all.push(String::new()),
            _ => {
                if let Some(last) = all.last_mut() {
                    last.push(character);
                }
            }
        }
    }
    all.retain(|term| !term.is_empty());
    all
}

fn holds(message: &StoredMessage, term: &str) -> Option<bool> {
    let header = |name: &str, value: &str| {
        message.header(name).to_lowercase().contains(&value.to_lowercase())
    };
    let seconds = message.date / 1000;
    let Some((name, value)) = term.split_once(':') else {
        return Some(has_word(message, term));
    };
    Some(match (name, value) {
        ("from", value) => header("From", value),
        ("to", value) => header("To", value) || header("Cc", value),
        ("subject", value) => header("Subject", value),
        ("is", "unread") => message.has("UNREAD"),
        ("is", "read") => !message.has("UNREAD"),
        ("has", "attachment") => message.has_attachments(),
        ("in", place) => message.has(match place {
            "drafts" => "DRAFT",
            "inbox" => "INBOX",
            "sent" => "SENT",
            "trash" => "TRASH",
            "spam" => "SPAM",
            _ => return None,
        }),
        ("after", value) => seconds >= value.parse().ok()?,
        ("before", value) => seconds < value.parse().ok()?,
        _ => has_word(message, term),
    })
}
