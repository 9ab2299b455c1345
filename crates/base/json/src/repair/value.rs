//! One value: what opens decides what it is.

use serde_json::Value;

use super::RepairBounds;
use super::cursor::TextCursor;
use super::escape;
use super::lookahead::{GrammarPlace, opens_string};
use super::note::{RepairKind, RepairNotes, place};
use super::string_end::{StringClosing, StringOpening};
use super::unreadable::{UnreadableJson, excerpt};

/// An open container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenContainer {
    Object,
    Array,
    /// Python's `(1, 2)`.
    Tuple,
    /// Python's `{1, 2}`.
    Set,
}

impl OpenContainer {
    pub(super) const fn closer(self) -> char {
        match self {
            Self::Object | Self::Set => '}',
            Self::Array => ']',
            Self::Tuple => ')',
        }
    }
}

pub(super) struct RepairParser<'t> {
    pub(super) cursor: TextCursor<'t>,
    pub(super) notes: RepairNotes,
    /// The open containers, outermost first.
    pub(super) frames: Vec<OpenContainer>,
    pub(super) bounds: RepairBounds,
    /// How many were read.
    pub(super) values: usize,
}

impl RepairParser<'_> {
    /// The value that begins here; `None` if none does.
    pub(super) fn value(&mut self, place: GrammarPlace) -> Result<Option<Value>, UnreadableJson> {
        let value = self.begun(place)?;
        self.values += usize::from(value.is_some());
        self.is_within()?;
        Ok(value)
    }

    /// Refuses more values than are read.
    pub(super) fn is_within(&self) -> Result<(), UnreadableJson> {
        if self.values <= self.bounds.values {
            return Ok(());
        }
        let (line, column) = place(self.cursor.text, self.cursor.at);
        Err(UnreadableJson::TooMany { most: self.bounds.values, line, column })
    }

    fn begun(&mut self, place: GrammarPlace) -> Result<Option<Value>, UnreadableJson> {
        self.cursor.at = self.cursor.skip_space(self.cursor.at);
        if !self.is_colour(place) {
            self.gap();
        }
        if self.is_fence(self.cursor.at) {
            return Ok(None);
        }
        match self.cursor.peek() {
            None | Some(',' | '}' | ']' | ':') => Ok(None),
            Some(')') if self.frames.contains(&OpenContainer::Tuple) => Ok(None),
            Some('{') => self.object().map(Some),
            Some('[') => self.array(OpenContainer::Array).map(Some),
            Some('(') => self.array(OpenContainer::Tuple).map(Some),
            Some(quote) if opens_string(quote) && self.only_begins(place) => {
                self.notes.add(RepairKind::Unfinished, self.cursor.at);
                self.cursor.at = self.cursor.text.len();
                Ok(None)
            }
            Some(quote) if opens_string(quote) => Ok(Some(Value::String(self.string(place)?))),
            Some(_) if self.is_prefixed() => {
                self.notes.add(RepairKind::Literal, self.cursor.at);
                self.cursor.at += 1;
                Ok(Some(Value::String(self.string(place)?)))
            }
            Some(_) => Ok(self.bare(place)),
        }
    }

    /// Whether the text ends behind the opening quote here.
    fn only_begins(&self, place: GrammarPlace) -> bool {
        place != GrammarPlace::Top && self.cursor.char(self.cursor.after(self.cursor.at)).is_none()
    }

    /// Whether a Python string such as `u'text'` or `b'text'` stands here.
    pub(super) fn is_prefixed(&self) -> bool {
        matches!(self.cursor.peek(), Some('u' | 'b'))
            && matches!(self.cursor.char(self.cursor.at + 1), Some('"' | '\''))
    }

    /// Whether a value such as `#fff` begins here, and no comment.
    fn is_colour(&self, place: GrammarPlace) -> bool {
        let next = self.cursor.char(self.cursor.at + 1);
        place == GrammarPlace::Member
            && self.cursor.peek() == Some('#')
            && next.is_some_and(char::is_alphanumeric)
    }

    /// Passes white space and comments.
    pub(super) fn gap(&mut self) {
        loop {
            let at = self.cursor.skip_space(self.cursor.at);
            self.cursor.at = at;
            let Some(end) = self.cursor.comment_end(at).filter(|end| *end > at) else {
                return;
            };
            self.notes.add(RepairKind::Comment, at);
            self.cursor.at = end;
        }
    }

    /// Whether nothing follows that could belong to the document.
    pub(super) fn ended(&self) -> bool {
        self.cursor.peek().is_none() || self.is_fence(self.cursor.at)
    }

    pub(super) fn enter(&mut self, frame: OpenContainer) -> Result<(), UnreadableJson> {
        let most = self.bounds.depth;
        if self.frames.len() >= most {
            let (line, column) = place(self.cursor.text, self.cursor.at);
            return Err(UnreadableJson::TooDeep { most, line, column });
        }
        self.frames.push(frame);
        Ok(())
    }

    pub(super) fn unexpected(&self, expected: &'static str) -> UnreadableJson {
        let (line, column) = place(self.cursor.text, self.cursor.at);
        let rest = self.cursor.slice(self.cursor.at, self.cursor.text.len());
        UnreadableJson::Unexpected { expected, found: excerpt(rest), line, column }
    }

    /// The string whose opening quote stands here.
    pub(super) fn string(&mut self, place: GrammarPlace) -> Result<String, UnreadableJson> {
        let start = self.cursor.at;
        let quote = self.cursor.peek().unwrap_or('"');
        match quote {
            '"' => {}
            '\'' | '`' => self.notes.add(RepairKind::SingleQuote, start),
            _ => self.notes.add(RepairKind::TypographicQuote, start),
        }
        let behind = self.cursor.skip(start, |character| character == quote);
        let run = (behind - start) / quote.len_utf8();
        let count = match run {
            2 if self.empty_ends(behind) => 0,
            1..=3 => run,
            _ => 0,
        };
        if run > 2 || count == 2 {
            self.notes.add(RepairKind::DoubledQuote, start);
        }
        if count == 0 {
            self.cursor.at = behind;
            return Ok(String::new());
        }
        let span = self.string_end(StringOpening { content: behind, quote, count, place });
        match span.closing {
            StringClosing::Quote => {}
            StringClosing::Repeated => self.notes.add(RepairKind::DoubledQuote, span.content_end),
            StringClosing::Missing => self.notes.add(RepairKind::MissingQuote, span.content_end),
            StringClosing::Lost => {
                self.cursor.at = self.cursor.after(span.resume);
                return Err(self.unexpected("a comma or a closing bracket"));
            }
        }
        self.cursor.at = span.resume;
        let mut content = self.cursor.slice(behind, span.content_end);
        let solid = content.trim_end();
        if place == GrammarPlace::Key
            && content.get(solid.len()..).is_some_and(|end| end.contains('\n'))
        {
            // A line break between a key and its closing quote is layout.
            self.notes.add(RepairKind::RawControl, behind + solid.len());
            content = solid;
        }
        Ok(escape::decode(content, quote, behind, &mut self.notes))
    }

    /// Whether two quotes that end at `behind` are an empty string.
    fn empty_ends(&self, behind: usize) -> bool {
        let solid = self.cursor.skip_space(behind);
        self.separates(solid)
            || self.cursor.char(solid).is_some_and(|next| {
                matches!(next, ':' | '=') || opens_string(next) || self.key_begins(solid)
            })
    }
}
