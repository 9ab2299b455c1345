//! Arrays, and the tuples and sets of Python.

use serde_json::Value;

use super::lookahead::{GrammarPlace, opens_string};
use super::note::RepairKind;
use super::parser::{OpenContainer, RepairParser};
use super::unreadable::UnreadableJson;

/// The items of an open array.
#[derive(Default)]
pub(super) struct ArrayItems {
    pub(super) values: Vec<Value>,
    /// The comma behind the last item.
    comma: Option<usize>,
    any_comma: bool,
}

impl ArrayItems {
    pub(super) fn after(first: Value) -> Self {
        Self { values: vec![first], ..Self::default() }
    }
}

impl RepairParser<'_> {
    /// The array or tuple whose bracket stands here.
    pub(super) fn array(&mut self, frame: OpenContainer) -> Result<Value, UnreadableJson> {
        let start = self.cursor.at;
        self.enter(frame)?;
        self.cursor.at += 1;
        let mut open = ArrayItems::default();
        self.items(frame, &mut open)?;
        self.frames.pop();
        if frame == OpenContainer::Tuple {
            if open.values.len() == 1 && !open.any_comma {
                self.notes.add(RepairKind::Parentheses, start);
                return Ok(open.values.pop().unwrap_or_default());
            }
            self.notes.add(RepairKind::Tuple, start);
        }
        Ok(Value::Array(open.values))
    }

    /// The items up to and with the closing bracket of `frame`.
    pub(super) fn items(
        &mut self,
        frame: OpenContainer,
        open: &mut ArrayItems,
    ) -> Result<(), UnreadableJson> {
        while self.item(frame, open)? {}
        if let Some(comma) = open.comma
            && frame != OpenContainer::Tuple
        {
            self.notes.add(RepairKind::TrailingComma, comma);
        }
        Ok(())
    }

    /// Reads on by one item, comma or bracket; `false` at the end of the container.
    fn item(
        &mut self,
        frame: OpenContainer,
        open: &mut ArrayItems,
    ) -> Result<bool, UnreadableJson> {
        self.gap();
        let at = self.cursor.at;
        if self.ended() {
            self.notes.add(RepairKind::MissingBracket, at);
            return Ok(false);
        }
        match self.cursor.peek() {
            Some(closer) if closer == frame.closer() => {
                self.cursor.at += 1;
                return Ok(false);
            }
            Some(closer @ ('}' | ']' | ')')) => return Ok(!self.other_closer(closer)),
            Some(',') => {
                if open.comma.is_some() || open.values.is_empty() {
                    self.notes.add(RepairKind::ExtraComma, at);
                }
                open.comma = open.comma.or((!open.values.is_empty()).then_some(at));
                open.any_comma = true;
                self.cursor.at += 1;
                return Ok(true);
            }
            _ if self.ellipsis() => return Ok(true),
            _ => {}
        }
        let follows = !open.values.is_empty() && open.comma.is_none();
        if follows && self.is_stray_quote(at) {
            self.notes.add(RepairKind::StrayQuote, at);
            self.cursor.at = self.cursor.after(at);
            return Ok(true);
        }
        if follows {
            self.notes.add(RepairKind::MissingComma, at);
        }
        let quoted = self.cursor.peek().is_some_and(opens_string);
        let item = match self.value(GrammarPlace::Item)? {
            Some(Value::String(key)) if quoted && frame == OpenContainer::Array => {
                self.item_or_member(key, at)?
            }
            Some(item) => item,
            // A value that was only begun when the text ended.
            None if self.ended() => {
                open.comma = None;
                return Ok(true);
            }
            None => return Err(self.unexpected("a value")),
        };
        open.values.push(item);
        open.comma = None;
        Ok(true)
    }

    /// A string in an array; before a colon it is the first key of an object without its brace.
    fn item_or_member(&mut self, text: String, at: usize) -> Result<Value, UnreadableJson> {
        let colon = self.cursor.skip_space(self.cursor.at);
        if self.cursor.char(colon) != Some(':') {
            return Ok(Value::String(text));
        }
        self.notes.add(RepairKind::MissingBrace, at);
        self.cursor.at = colon;
        self.object_from(text, at)
    }

    /// Meets a closing bracket of another kind: whether this container ends here.
    ///
    /// It does if the bracket closes an outer one; a bracket that closes nothing is passed.
    pub(super) fn other_closer(&mut self, closer: char) -> bool {
        let at = self.cursor.at;
        if self.frame_closed_by(closer).is_some() && !self.is_doubled_closer(closer) {
            self.notes.add(RepairKind::MissingBracket, at);
            return true;
        }
        self.notes.add(RepairKind::StrayBracket, at);
        self.cursor.at += 1;
        false
    }

    /// Whether the bracket here repeats the one before it while the array goes on behind it.
    fn is_doubled_closer(&self, closer: char) -> bool {
        let comma = self.cursor.skip_space(self.cursor.at + 1);
        let next = self.cursor.skip_space(comma + 1);
        self.cursor.solid_before(self.cursor.at, 0).is_some_and(|(_, before)| before == closer)
            && self.cursor.char(comma) == Some(',')
            && self.cursor.char(next) == Some('{')
    }

    /// Passes `...` or `…` where an item or a member would stand.
    pub(super) fn ellipsis(&mut self) -> bool {
        let at = self.cursor.at;
        let end = self.cursor.skip(at, |character| matches!(character, '.' | '…'));
        let dots = self.cursor.slice(at, end);
        let whole = dots.len() >= 3 && self.separates(self.cursor.skip_space(end));
        if whole {
            self.notes.add(RepairKind::Ellipsis, at);
            self.cursor.at = end;
            // The comma behind it, if one, belongs to it.
            let comma = self.cursor.skip_space(end);
            if self.cursor.char(comma) == Some(',') {
                self.cursor.at = comma + 1;
            }
        }
        whole
    }
}
