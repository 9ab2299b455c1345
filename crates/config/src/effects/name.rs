//! What the name of a tool tells.

use super::verbs::{CHANGES, DESTROYS, EITHER, NAMES_READ, VerbForm, of};

/// Words by which a name says two things at once.
const JOINS: [&str; 8] = ["also", "and", "else", "if", "or", "plus", "then", "unless"];

/// Words behind one of reading with which it makes, uses up or shows something to a person, and
/// does not only read.
const DOUBTFUL: [&str; 22] = [
    "checkbox",
    "credential",
    "credentials",
    "cypher",
    "graphql",
    "new",
    "once",
    "otp",
    "password",
    "passwords",
    "raise",
    "rid",
    "sale",
    "script",
    "secret",
    "secrets",
    "shell",
    "sql",
    "token",
    "tokens",
    "upload",
    "uploads",
];

/// The same behind one word alone.
const DOUBTFUL_BEHIND: [(&str, &[&str]); 5] = [
    (
        "show",
        &[
            "alert",
            "banner",
            "dialog",
            "message",
            "modal",
            "notification",
            "popup",
            "prompt",
            "toast",
            "window",
        ],
    ),
    ("check", &["box", "in", "item", "items", "off", "out", "task", "todo"]),
    ("next", &["command", "event", "item", "job", "message", "task", "ticket"]),
    ("git", &["fetch"]),
    ("query", &["data", "database", "databases", "db", "source", "table", "tables"]),
];

/// What makes a link that did not exist before.
const MADE_LINKS: [&str; 12] = [
    "billing",
    "checkout",
    "download",
    "invitation",
    "invite",
    "magic",
    "payment",
    "portal",
    "presigned",
    "share",
    "sharing",
    "signed",
];

/// The words of a name or a text, in small letters: `getPullRequest` and `get_pull_request` have
/// the same.
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    toolcrib_search::each_word(text, |word| words.push(word.to_owned()));
    words
}

/// What a tool is named after that shows something.
const VIEWS: [&str; 15] = [
    "diff",
    "forecast",
    "history",
    "info",
    "log",
    "logs",
    "overview",
    "schema",
    "stats",
    "statistics",
    "status",
    "summary",
    "tree",
    "version",
    "weather",
];

/// Words that may be done, and that name a thing more often.
#[rustfmt::skip]
const THINGS: [&str; 16] = [
    "book", "build", "comment", "email", "file", "issue", "log", "mail", "map", "message", "order",
    "record", "report", "tag", "track", "type",
];

/// What a name tells.
pub(super) enum NameEvidence {
    /// This word says that it reads, as far as the description says so too.
    Reads { word: &'static str, if_said: DescriptionOpening },
    /// This word says that it takes away what cannot be had back.
    Destroys(&'static str),
    /// Nothing, and why.
    Nothing(String),
}

/// What the description must begin with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DescriptionOpening {
    /// Whatever it is: the name itself begins with the word.
    Anything,
    /// A word of reading.
    Reading,
    /// The very word: without it the name may mean something else.
    Same,
}

/// `source`: whose tool it is, which the name may begin with.
pub(super) fn told(name: &str, source: &str) -> NameEvidence {
    let (words, of_source) = (words(name), words(source));
    let is_mark = |word: &String| word == "api" || word == "mcp" || of_source.contains(word);
    let marks = words.iter().take_while(|word| is_mark(word) && !leads(word)).count();
    let nothing = |word: &str| NameEvidence::Nothing(format!("its name has `{word}`"));
    if !name.is_ascii() {
        return NameEvidence::Nothing("its name is not understood here".to_owned());
    }
    let is_base =
        |found: (&'static str, VerbForm)| Some(found.0).filter(|_| found.1 == VerbForm::Base);
    let lead = words.iter().position(|word| leads(word));
    if let Some(word) = lead.and_then(|at| words.get(at))
        && let Some(base) = of(DESTROYS, word).and_then(is_base)
    {
        return NameEvidence::Destroys(base);
    }
    if let Some(word) = words.iter().find(|word| {
        JOINS.contains(&word.as_str()) || DOUBTFUL.contains(&word.as_str()) || is_change(word)
    }) {
        return nothing(word);
    }
    if let Some(doubtful) = made(&words) {
        return nothing(doubtful);
    }
    let known = |word: &String| NAMES_READ.iter().find(|known| **known == *word).copied();
    let reads = words.iter().enumerate().find_map(|(at, word)| Some((at, known(word)?)));
    let (at, word) = reads.unwrap_or((words.len(), ""));
    let is_view = |word: &String| VIEWS.contains(&word.as_str());
    let is_either = |word: &&String| matches!(of(EITHER, word), Some((_, VerbForm::Base)));
    let either = words.iter().take(at).find(|word| is_either(word) && !is_view(word));
    match (reads, either) {
        (Some(_), None) if at == marks => {
            NameEvidence::Reads { word, if_said: DescriptionOpening::Anything }
        }
        (Some(_), None) => NameEvidence::Reads { word, if_said: DescriptionOpening::Reading },
        // `copy_list` copies, and `order_list` lists orders.
        (Some(_), Some(either)) if at + 1 == words.len() && THINGS.contains(&either.as_str()) => {
            NameEvidence::Reads { word, if_said: DescriptionOpening::Same }
        }
        (_, Some(either)) => nothing(either),
        (None, None) => match VIEWS.iter().find(|view| words.iter().any(|word| word == *view)) {
            Some(word) => NameEvidence::Reads { word, if_said: DescriptionOpening::Reading },
            None => NameEvidence::Nothing("its name has no word that tells of reading".to_owned()),
        },
    }
}

/// The word of a title that tells of a change.
pub(super) fn change(title: &str) -> Option<String> {
    words(title).into_iter().find(|word| is_change(word))
}

/// A word that may be what the tool does.
fn leads(word: &str) -> bool {
    let is = |list| matches!(of(list, word), Some((_, VerbForm::Base)));
    is(NAMES_READ) || is(CHANGES) || is(EITHER) || is(DESTROYS)
}

/// `update`, `sending`; not `updated`. More than one update may be a thing.
fn is_change(word: &str) -> bool {
    match of(CHANGES, word) {
        Some((base, VerbForm::Third)) => !matches!(base, "update" | "duplicate"),
        Some((_, form)) => form != VerbForm::Past,
        None => false,
    }
}

/// The word by which a name of reading tells of more.
fn made(words: &[String]) -> Option<&str> {
    let has = |wanted: &str| words.iter().any(|word| word == wanted);
    let behind = DOUBTFUL_BEHIND.iter().find_map(|(first, behind)| {
        let at = words.iter().position(|word| word == first)?;
        let mut rest = words.iter().skip(at + 1);
        rest.find(|word| behind.contains(&word.as_str()))
    });
    let is_link = ["link", "links", "uri", "url", "urls"].into_iter().any(has);
    let made = words.iter().find(|word| is_link && MADE_LINKS.contains(&word.as_str()));
    let key = words.iter().find(|word| {
        matches!(word.as_str(), "key" | "keys") && ["access", "api", "private"].into_iter().any(has)
    });
    behind.or(made).or(key).map(String::as_str)
}
