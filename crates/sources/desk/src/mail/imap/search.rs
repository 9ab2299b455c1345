//! What a server is asked to look for.

use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

use super::session::ImapCommand;
use crate::backend::{BackendError, BackendErrorKind, MailQuery};

const MOST_WORDS: usize = 30;
const LONGEST_TEXT: usize = 1000;

/// Appends the conditions of a query. Dates are asked for with a day to spare, since servers
/// compare days and leave out the zone; what is more than asked is taken out afterwards.
pub(super) fn conditions(
    mut command: ImapCommand,
    query: &MailQuery,
    keyword: Option<&str>,
    until: Option<Timestamp>,
) -> Result<ImapCommand, BackendError> {
    let asked = [
        ("TEXT", &query.text),
        ("FROM", &query.from),
        ("TO", &query.to),
        ("SUBJECT", &query.subject),
    ];
    let mut all = 0;
    for (field, text) in asked {
        let Some(text) = text else { continue };
        let says = |word: &&str| word.chars().any(char::is_alphanumeric);
        // Quotes around words are a habit of people, and no part of them.
        let words: Vec<&str> = text
            .split_whitespace()
            .filter(says)
            .map(|word| word.trim_matches(|one: char| "\"'*()".contains(one)))
            .collect();
        all += words.len();
        if words.is_empty() || text.len() > LONGEST_TEXT || all > MOST_WORDS {
            let message = "a search is 1 to 30 words with letters or digits in them";
            return Err(BackendError::new(BackendErrorKind::Invalid, message));
        }
        for word in words {
            let word: String = word.chars().filter(|one| !one.is_control()).collect();
            command = command.words(field).string(word.as_bytes());
        }
    }
    match query.unread {
        Some(true) => command = command.words("UNSEEN"),
        Some(false) => command = command.words("SEEN"),
        None => {}
    }
    if let Some(keyword) = keyword {
        command = command.words("KEYWORD").words(keyword);
    }
    if let Some(after) = query.after {
        command = command.words("SINCE").words(&day(after, -1));
    }
    for before in [query.before, until].into_iter().flatten() {
        command = command.words("BEFORE").words(&day(before, 2));
    }
    Ok(command.words("UNDELETED"))
}

/// `24-Nov-2026`, some days later.
fn day(date: Timestamp, days: i64) -> String {
    let date = date.to_zoned(TimeZone::UTC).date().saturating_add(days.days());
    date.strftime("%-d-%b-%Y").to_string()
}
