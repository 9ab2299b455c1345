//! Objects: members, and what stands between them.

use serde_json::map::Entry;
use serde_json::{Map, Value};

use super::array::ArrayItems;
use super::lookahead::{GrammarPlace, opens_string};
use super::note::{RepairKind, place};
use super::parser::{OpenContainer, RepairParser};
use super::unquoted::scalar;
use super::unreadable::UnreadableJson;

/// Characters that a key without quotes may have.
const BARE_KEY: usize = 128;

/// The members of an open object.
#[derive(Default)]
struct ObjectMembers {
    map: Map<String, Value>,
    /// The comma behind the last member.
    comma: Option<usize>,
    /// Whether a member was read.
    begun: bool,
    /// Whether the array of the last member was read on behind its bracket.
    joined: bool,
}

enum MemberStep {
    On,
    Done,
    /// It was no object: this stands in its place, and its bracket is closed.
    Instead(Value),
}

impl RepairParser<'_> {
    /// The object, or the set, whose brace stands here.
    pub(super) fn object(&mut self) -> Result<Value, UnreadableJson> {
        self.enter(OpenContainer::Object)?;
        self.cursor.at += 1;
        self.members(ObjectMembers::default())
    }

    /// The object whose brace was never written and whose first key stands before the colon here.
    pub(super) fn object_from(&mut self, key: String, at: usize) -> Result<Value, UnreadableJson> {
        self.enter(OpenContainer::Object)?;
        self.cursor.at += 1;
        let mut open = ObjectMembers::default();
        self.member_value(&mut open, key, at)?;
        self.members(open)
    }

    fn members(&mut self, mut open: ObjectMembers) -> Result<Value, UnreadableJson> {
        let value = loop {
            match self.member(&mut open)? {
                MemberStep::On => {}
                MemberStep::Done => break Value::Object(open.map),
                MemberStep::Instead(value) => break value,
            }
        };
        self.frames.pop();
        Ok(value)
    }

    /// Reads on by one member, comma or bracket.
    fn member(&mut self, open: &mut ObjectMembers) -> Result<MemberStep, UnreadableJson> {
        self.gap();
        let at = self.cursor.at;
        if self.ended() {
            self.notes.add(RepairKind::MissingBracket, at);
            return Ok(self.done(open));
        }
        match self.cursor.peek() {
            Some('}') => Ok(self.close(open)),
            // Then it was the bracket before the joined items that closed nothing, or it was not.
            Some(']') if open.joined => Err(self.unexpected("a key in double quotes")),
            Some(closer @ (']' | ')')) => {
                Ok(if self.other_closer(closer) { self.done(open) } else { MemberStep::On })
            }
            Some(',') => {
                if open.comma.is_some() || !open.begun {
                    self.notes.add(RepairKind::ExtraComma, at);
                }
                open.comma = open.comma.or(open.begun.then_some(at));
                self.cursor.at += 1;
                Ok(MemberStep::On)
            }
            Some('[') if open.comma.is_some() => self.more_items(open),
            Some('{') if !open.begun => self.doubled_brace(),
            Some(quote) if opens_string(quote) => self.quoted_member(open),
            _ if self.ellipsis() => Ok(MemberStep::On),
            _ if self.is_prefixed() => {
                self.notes.add(RepairKind::Literal, at);
                self.cursor.at += 1;
                self.quoted_member(open)
            }
            _ => self.bare_member(open),
        }
    }

    fn done(&mut self, open: &ObjectMembers) -> MemberStep {
        if let Some(comma) = open.comma {
            self.notes.add(RepairKind::TrailingComma, comma);
        }
        MemberStep::Done
    }

    /// The closing brace; one that comes before the last members of the object is passed.
    fn close(&mut self, open: &ObjectMembers) -> MemberStep {
        let at = self.cursor.at;
        self.cursor.at += 1;
        let outer = self.frames.iter().rev().nth(1);
        let comma = self.cursor.skip_space(self.cursor.at);
        let next = self.cursor.skip_space(comma + 1);
        let early = self.cursor.char(comma) == Some(',')
            && match outer {
                None => self.quoted_member_begins(next),
                Some(OpenContainer::Array) => self.quoted_key_colon(next).is_some(),
                Some(OpenContainer::Object | OpenContainer::Tuple | OpenContainer::Set) => false,
            };
        if !early {
            return self.done(open);
        }
        self.notes.add(RepairKind::EarlyBracket, at);
        MemberStep::On
    }

    /// `{{"a": 1}}`: the braces were doubled, as templates ask for it.
    fn doubled_brace(&mut self) -> Result<MemberStep, UnreadableJson> {
        self.notes.add(RepairKind::DoubledBrace, self.cursor.at);
        let inner = self.object()?;
        self.gap();
        if self.cursor.peek() == Some('}') {
            self.cursor.at += 1;
        }
        Ok(MemberStep::Instead(inner))
    }

    /// `"key": [1], [2]`: the array before was closed too early.
    fn more_items(&mut self, open: &mut ObjectMembers) -> Result<MemberStep, UnreadableJson> {
        let Some(Value::Array(_)) = open.map.values().next_back() else {
            return Err(self.unexpected("a key in double quotes"));
        };
        self.notes.add(RepairKind::EarlyBracket, self.cursor.at);
        if let Value::Array(more) = self.array(OpenContainer::Array)?
            && let Some(Value::Array(items)) = open.map.values_mut().next_back()
        {
            items.extend(more);
        }
        open.comma = None;
        open.joined = true;
        Ok(MemberStep::On)
    }

    fn quoted_member(&mut self, open: &mut ObjectMembers) -> Result<MemberStep, UnreadableJson> {
        let at = self.cursor.at;
        if open.begun
            && let Some(end) = self.stray_quotes_end(at, open.comma.is_some())
        {
            self.notes.add(RepairKind::StrayQuote, at);
            self.cursor.at = end;
            return Ok(MemberStep::On);
        }
        if open.begun && open.comma.is_none() {
            self.notes.add(RepairKind::MissingComma, at);
        }
        let key = self.string(GrammarPlace::Key)?;
        self.gap();
        if self.ended() {
            self.notes.add(RepairKind::Unfinished, at);
            open.comma = None;
            return Ok(MemberStep::On);
        }
        match self.cursor.peek() {
            Some(':') => self.cursor.at += 1,
            Some('=') => {
                self.notes.add(RepairKind::MissingColon, self.cursor.at);
                self.cursor.at = self.cursor.skip(self.cursor.at, |sign| matches!(sign, '=' | '>'));
            }
            Some(',' | '}') if !open.begun => return self.set(Value::String(key), at),
            Some(',' | '}' | ']') => {}
            _ => self.notes.add(RepairKind::MissingColon, self.cursor.at),
        }
        self.member_value(open, key, at)?;
        Ok(MemberStep::On)
    }

    /// The end of quotes that begin no key: one before a comma or a bracket, or several.
    fn stray_quotes_end(&self, at: usize, after_comma: bool) -> Option<usize> {
        if !after_comma && self.is_stray_quote(at) {
            return Some(self.cursor.after(at));
        }
        let quote = self.cursor.char(at)?;
        let end = self.cursor.skip(at, |character| character == quote);
        let next = self.cursor.char(self.cursor.skip_space(end));
        let several = end > self.cursor.after(at);
        (several && next.is_none_or(|next| next == ',' || opens_string(next))).then_some(end)
    }

    fn member_value(
        &mut self,
        open: &mut ObjectMembers,
        key: String,
        key_at: usize,
    ) -> Result<(), UnreadableJson> {
        let value = self.value(GrammarPlace::Member)?;
        open.begun = true;
        open.joined = false;
        open.comma = None;
        let value = match value {
            Some(value) => value,
            None if self.ended() => {
                self.notes.add(RepairKind::Unfinished, key_at);
                return Ok(());
            }
            None if self.cursor.peek() == Some(':') => return Err(self.unexpected("a value")),
            None => {
                self.notes.add(RepairKind::MissingValue, self.cursor.at);
                Value::String(String::new())
            }
        };
        match open.map.entry(key) {
            Entry::Vacant(free) => {
                free.insert(value);
            }
            Entry::Occupied(taken) if *taken.get() == value => {}
            Entry::Occupied(taken) => {
                let (line, column) = place(self.cursor.text, self.cursor.at);
                return Err(UnreadableJson::duplicate(taken.key(), line, column));
            }
        }
        Ok(())
    }

    /// `{1, 2}`: the first value was no key.
    fn set(&mut self, first: Value, at: usize) -> Result<MemberStep, UnreadableJson> {
        self.notes.add(RepairKind::Tuple, at);
        if let Some(frame) = self.frames.last_mut() {
            *frame = OpenContainer::Set;
        }
        let mut open = ArrayItems::after(first);
        self.items(OpenContainer::Set, &mut open)?;
        Ok(MemberStep::Instead(Value::Array(open.values)))
    }

    /// A key without quotes and its value; words that turn out to be no key are passed.
    fn bare_member(&mut self, open: &mut ObjectMembers) -> Result<MemberStep, UnreadableJson> {
        let at = self.cursor.at;
        let mut end = at;
        for _ in 0..BARE_KEY {
            match self.cursor.char(end) {
                Some(':' | '=' | ',' | '{' | '}' | '[' | ']' | '(' | ')' | '\n') | None => break,
                Some(quote) if opens_string(quote) => break,
                Some(character) => end += character.len_utf8(),
            }
        }
        let words = self.cursor.slice(at, end).trim_end();
        if words.is_empty() {
            return Err(self.unexpected("a key in double quotes"));
        }
        let mut sign = self.cursor.skip_space(end);
        let quote_behind = self.cursor.char(end).is_some_and(opens_string);
        if quote_behind {
            let behind = self.cursor.skip_space(self.cursor.after(end));
            if self.cursor.char(behind) == Some(':') {
                self.notes.add(RepairKind::StrayQuote, end);
                sign = behind;
            }
        }
        self.cursor.at = sign;
        match self.cursor.char(sign) {
            Some(':' | '=') => {
                if open.begun && open.comma.is_none() {
                    self.notes.add(RepairKind::MissingComma, at);
                }
                self.notes.add(RepairKind::BareKey, at);
                self.cursor.at = self.cursor.skip(sign + 1, |sign| sign == '>');
                self.member_value(open, words.to_owned(), at)?;
            }
            Some(',' | '}') if !open.begun => {
                if let Some((value, change)) = scalar(words) {
                    if let Some(change) = change {
                        self.notes.add(change, at);
                    }
                    return self.set(value, at);
                }
                self.cursor.at = at;
                return Err(self.unexpected("a key in double quotes"));
            }
            None => {
                self.notes.add(RepairKind::Unfinished, at);
                open.comma = None;
            }
            Some(_) if open.begun || quote_behind => self.notes.add(RepairKind::StrayText, at),
            Some(_) => {
                self.cursor.at = at;
                return Err(self.unexpected("a key in double quotes"));
            }
        }
        Ok(MemberStep::On)
    }
}
