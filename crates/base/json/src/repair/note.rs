//! What the repair changed, and where.

use std::fmt;

/// One kind of change, where it was first made and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repair {
    /// What was done.
    pub change: RepairKind,
    /// Line of the first place, from 1.
    pub line: usize,
    /// Column of the first place in characters, from 1.
    pub column: usize,
    /// At how many places it was done.
    pub times: usize,
}

impl fmt::Display for Repair {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} at {}:{}", self.change.words(), self.line, self.column)?;
        match self.times {
            0 | 1 => Ok(()),
            times => write!(out, " and {} more", times - 1),
        }
    }
}

macro_rules! changes {
    ($($(#[doc = $doc:literal])+ $name:ident = $words:literal,)+) => {
        /// A kind of repair.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum RepairKind { $($(#[doc = $doc])+ $name,)+ }

        impl RepairKind {
            const fn words(self) -> &'static str {
                match self { $(Self::$name => $words,)+ }
            }
        }
    };
}

changes! {
    /// The whole text was escaped as if for a string; places count in the unescaped text.
    EscapedText = "unescaped the whole text",
    /// Text before, between or after the JSON.
    Prose = "removed text around the JSON",
    /// A byte order mark, or white space that JSON does not know.
    Space = "removed unusual white space",
    /// Backticks of a code fence.
    Fence = "removed a code fence",
    /// `//`, `/* */` or `#`.
    Comment = "removed a comment",
    /// Several documents became an array; empty ones and repetitions were left out.
    Documents = "put several documents into an array",
    /// A document that says nothing new beside another.
    SpareDocument = "removed an empty or repeated document",
    /// A comma before a closing bracket or the end.
    TrailingComma = "removed a trailing comma",
    /// A comma with nothing before it.
    ExtraComma = "removed an extra comma",
    /// Two values side by side.
    MissingComma = "added a missing comma",
    /// A key and its value side by side, or joined by `=`.
    MissingColon = "added a missing colon",
    /// A key with nothing after its colon.
    MissingValue = "read a missing value as an empty string",
    /// The text ends where a value has begun: it may have been cut off.
    Unfinished = "removed an unfinished value at the end",
    /// A `{` that was never written.
    MissingBrace = "added a missing opening brace",
    /// A closing bracket that was never written: the text may have been cut off.
    MissingBracket = "closed an open bracket",
    /// A closing bracket that closes nothing.
    StrayBracket = "removed a stray closing bracket",
    /// A closing bracket before the last members or items.
    EarlyBracket = "removed an early closing bracket",
    /// `{{` and `}}`.
    DoubledBrace = "removed doubled braces",
    /// A closing quote that was never written: the text may have been cut off.
    MissingQuote = "closed an open string",
    /// A quote that delimits nothing.
    StrayQuote = "removed a stray quote",
    /// Two or three quotes where one is meant.
    DoubledQuote = "read repeated quotes as one",
    /// A quote inside a string without a backslash.
    InnerQuote = "escaped a quote inside a string",
    /// `'` or a backtick as quotes.
    SingleQuote = "read single quotes as double quotes",
    /// `“` and its like as quotes.
    TypographicQuote = "read typographic quotes as double quotes",
    /// A line break, a tab or another control character inside a string.
    RawControl = "escaped a raw control character",
    /// A backslash that begins no escape and is kept as a character.
    StrayBackslash = "kept a stray backslash",
    /// An escape of another language, or half a surrogate pair.
    OddEscape = "rewrote an escape",
    /// A key without quotes.
    BareKey = "quoted a bare key",
    /// A text without quotes.
    BareText = "quoted a bare value",
    /// Words between members that belong to nothing.
    StrayText = "removed stray text",
    /// `True`, `False`, `None` and their like.
    Literal = "rewrote a literal",
    /// `.5`, `1.`, `+1`, `0x1F`, `1_000`.
    Number = "rewrote a number",
    /// `NaN` or `Infinity`, which JSON cannot say.
    NotFinite = "read a number that is not finite as text",
    /// A Python tuple or set.
    Tuple = "read a tuple or set as an array",
    /// Parentheses around one value.
    Parentheses = "removed parentheses",
    /// `...` in place of items or members.
    Ellipsis = "removed an ellipsis",
}

/// The changes of one text, one entry a kind, with byte offsets.
#[derive(Default)]
pub(super) struct RepairNotes {
    entries: Vec<(RepairKind, usize, usize)>,
}

impl RepairNotes {
    pub(super) fn add(&mut self, change: RepairKind, at: usize) {
        match self.entries.iter_mut().find(|(kind, ..)| *kind == change) {
            Some((_, first, times)) => {
                *first = at.min(*first);
                *times += 1;
            }
            None => self.entries.push((change, at, 1)),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn contains(&self, change: RepairKind) -> bool {
        self.entries.iter().any(|(kind, ..)| *kind == change)
    }

    /// A mark to go back to when a reading is given up.
    pub(super) fn mark(&self) -> Self {
        Self { entries: self.entries.clone() }
    }

    pub(super) fn finish(mut self, text: &str) -> Vec<Repair> {
        self.entries.sort_by_key(|(change, at, _)| (*at, *change));
        let repair = |(change, at, times)| {
            let (line, column) = place(text, at);
            Repair { change, line, column, times }
        };
        self.entries.into_iter().map(repair).collect()
    }
}

/// Line and column (in characters) of a byte offset, both from 1.
pub(super) fn place(text: &str, at: usize) -> (usize, usize) {
    let before = text.get(..at).unwrap_or(text);
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
    (line, column)
}
