//! One value: what opens decides what it is.

use serde_json::Value;

use super::lookahead::{GrammarPlace, opens_string};
use super::note::{RepairKind, place};
use super::parser::{OpenContainer, RepairParser};
use super::unreadable::{UnreadableJson, excerpt};

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
}
