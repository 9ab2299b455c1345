//! A query in Gmail's language of searches: <https://support.google.com/mail/answer/7190>.

use super::labels::GmailSearchScope;
use crate::backend::{MailQuery, MessageHead};

/// `None`: nothing that needs words is asked for.
pub(super) fn text(query: &MailQuery, place: &GmailSearchScope) -> Option<String> {
    let mut terms = Vec::new();
    terms.extend(query.text.as_deref().into_iter().flat_map(words).map(|word| quoted(&word)));
    let named = [("from", &query.from), ("to", &query.to), ("subject", &query.subject)];
    for (name, value) in named {
        let words = value.as_deref().into_iter().flat_map(words);
        terms.extend(words.map(|word| format!("{name}:{}", quoted(&word))));
    }
    match query.unread {
        Some(true) => terms.push("is:unread".to_owned()),
        Some(false) => terms.push("-is:unread".to_owned()),
        None => {}
    }
    match query.has_attachments {
        Some(true) => terms.push("has:attachment".to_owned()),
        Some(false) => terms.push("-has:attachment".to_owned()),
        None => {}
    }
    // A second more on both sides: nothing says whether the bounds are part of it. We look again.
    terms.extend(query.after.map(|at| format!("after:{}", at.as_second().saturating_sub(1))));
    terms.extend(query.before.map(|at| format!("before:{}", at.as_second().saturating_add(1))));
    if matches!(place, GmailSearchScope::Archive) {
        terms.extend(["inbox", "sent", "drafts"].map(|place| format!("-in:{place}")));
    }
    (!terms.is_empty()).then(|| terms.join(" "))
}

/// Whether a message lies between the bounds, the first of them included.
pub(super) fn is_in_time(head: &MessageHead, query: &MailQuery) -> bool {
    query.after.is_none_or(|after| head.date >= after)
        && query.before.is_none_or(|before| head.date < before)
}

/// Words without what could end their quotes.
fn words(text: &str) -> Vec<String> {
    let plain = |it: char| if it == '"' || it == '\\' || it.is_control() { ' ' } else { it };
    let plain: String = text.chars().map(plain).collect();
    plain.split_whitespace().map(str::to_owned).collect()
}

/// In quotes nothing is an operator.
fn quoted(word: &str) -> String {
    format!("\"{word}\"")
}
