//! The words that tell the server how to behave.

use std::fmt::Write as _;

/// Each word, the value it has when none is given, and what it does.
///
/// A word is written `name`, `name=value`, `name@moment` or `name@moment=value`.
/// The moments are `connect` (`initialize` and `server/discover`), `list`, `call` and `any`;
/// without one, a word means `call`, and settings and words about the list mean what they say.
pub const WORDS: &[(&str, &str, &str)] = &[
    // Settings.
    ("era", "both", "which protocol it speaks: `legacy`, `modern` or `both`"),
    ("version", "2025-11-25", "the version that it answers to `initialize`"),
    ("tools", "0", "how many tools it lists beside its own"),
    ("page", "0", "how many tools a page holds; 0 for all"),
    ("record", "", "a file that gets each line it receives"),
    ("stays", "", "goes on when its input closes"),
    ("stderr", "10000000", "writes as many bytes of noise to its error output first"),
    // What it lists.
    ("twice", "", "lists `echo` twice"),
    ("names", "", "lists tools with bidirectional marks, spaces, 10,000 letters, or no name"),
    ("texts", "", "lists tools whose texts, and one whose values, hide characters"),
    ("bomb", "all", "lists a tool with a bad schema: `ref file self loop chain deep wide pattern`"),
    ("endless-pages", "", "each page names another one, with new tools"),
    ("repeat-cursor", "", "each page names the first one as the next"),
    ("changes", "text", "the list differs from the second time on: `text`, `more`, `fewer`"),
    // How it answers.
    ("slow", "300", "waits as many milliseconds"),
    ("hang", "", "never answers"),
    ("exit", "", "ends instead of answering"),
    ("crash", "20", "ends after as many bytes of the answer"),
    ("half", "", "pauses in the middle of the line"),
    ("unfinished", "", "stops in the middle of the line, and lives"),
    ("wrong-id", "", "answers to an id that nobody used"),
    ("null-id", "", "answers to the id `null`"),
    ("text-id", "", "answers to the id as a string"),
    ("again", "", "answers twice"),
    ("duplicate-keys", "", "answers with two ids and two results"),
    ("unknown-id", "", "answers somebody else first"),
    ("garbage", "", "says several lines that are no messages first"),
    ("batch", "", "answers with a list of one answer"),
    ("shape", "", "answers with a result of another shape"),
    ("error", "-32603", "answers with an error of this code"),
    ("huge", "67108864", "answers with as many bytes of text"),
    ("endless", "", "answers with a line that never ends"),
    ("deep", "100000", "answers with as many lists in each other"),
    ("bad-utf8", "", "answers with bytes that are no text"),
    ("asks", "sampling", "asks first: `sampling`, `elicitation`, `roots`, or any method"),
    ("progress", "100000", "tells its progress as often first"),
    ("list-changed", "100000", "says as often first that its list changed; `@connect`: after it"),
    // How it answers over HTTP.
    ("status", "500", "http: answers with this status"),
    ("redirect", "http://127.0.0.1:9/", "http: sends the client elsewhere"),
    ("type", "text/html", "http: names another type of content"),
    ("sse", "", "http: answers as a stream of events also where one message is all"),
    ("cut", "", "http: closes before the answer is whole"),
    ("drip", "50", "http: sends a byte, waits as many milliseconds, and so on"),
    ("long", "1000", "http: promises as many bytes more than it sends"),
    ("session", "", "http: demands the session id that it gave"),
    ("forget", "3", "http: knows no session after as many requests"),
];

/// What a request is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScriptMoment {
    Connect,
    List,
    Call,
    Other,
    /// Only in a script.
    Any,
}

/// How the server behaves.
#[derive(Clone, Debug, Default)]
pub(super) struct HostileScript(Vec<ScriptWord>);

#[derive(Clone, Debug)]
struct ScriptWord {
    name: String,
    moment: ScriptMoment,
    value: String,
}

impl HostileScript {
    pub(super) fn parse<W: AsRef<str>>(words: &[W]) -> Result<Self, String> {
        words
            .iter()
            .map(|word| ScriptWord::parse(word.as_ref()))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Whether a word is there, whatever its moment.
    pub(super) fn has(&self, name: &str) -> bool {
        self.text(name).is_some()
    }

    /// The value of a word, whatever its moment.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|word| word.name == name).map(|word| word.value.as_str())
    }

    /// The value of a word for this moment.
    pub(super) fn at(&self, name: &str, moment: ScriptMoment) -> Option<&str> {
        let is_meant = |word: &&ScriptWord| {
            word.name == name && [moment, ScriptMoment::Any].contains(&word.moment)
        };
        self.0.iter().find(is_meant).map(|word| word.value.as_str())
    }

    /// The value of a word for this moment, as a number.
    pub(super) fn number(&self, name: &str, moment: ScriptMoment) -> Option<u64> {
        self.at(name, moment).and_then(|value| value.parse().ok())
    }

    /// The value of a setting, as a number.
    pub(super) fn setting(&self, name: &str) -> Option<u64> {
        self.text(name).and_then(|value| value.parse().ok())
    }
}

impl ScriptWord {
    fn parse(word: &str) -> Result<Self, String> {
        let (place, value) = word.split_once('=').unwrap_or((word, ""));
        let (name, moment) = place.split_once('@').unwrap_or((place, "call"));
        let Some((_, usual, _)) = WORDS.iter().find(|(known, ..)| *known == name) else {
            return Err(format!("unknown word `{name}`"));
        };
        let moment = match moment {
            "connect" => ScriptMoment::Connect,
            "list" => ScriptMoment::List,
            "call" => ScriptMoment::Call,
            "any" => ScriptMoment::Any,
            other => return Err(format!("unknown moment `{other}`")),
        };
        let value = if place == word { usual } else { value };
        let is_number = |value: &str| value.parse::<i64>().is_ok();
        if is_number(usual) && !is_number(value) {
            return Err(format!("the value of `{name}` is a number"));
        }
        Ok(Self { name: name.to_owned(), moment, value: value.to_owned() })
    }
}

/// All words, for the terminal.
pub(super) fn page() -> String {
    let mut page = "usage: hostile [stdio|http] [WORD[@MOMENT][=VALUE]..]\n\n".to_owned();
    for (name, usual, effect) in WORDS {
        let value = if usual.is_empty() { String::new() } else { format!("={usual}") };
        let _ = writeln!(page, "  {name}{value}\n        {effect}");
    }
    page
}
