//! Finds the JSON in a text: as the whole of it, in code fences, or between prose.

use serde_json::Value;

use super::RepairedJson;
use super::bounds::RepairBounds;
use super::cursor::TextCursor;
use super::lookahead::{GrammarPlace, opens_string};
use super::note::{Repair, RepairKind, RepairNotes};
use super::parser::RepairParser;
use super::string::escape;
use super::unquoted::scalar;
use super::unreadable::UnreadableJson;

/// Reads what is not valid JSON.
pub(super) fn read(text: &str, bounds: &RepairBounds) -> Result<RepairedJson, UnreadableJson> {
    let Some(unescaped) = unescaped(text) else {
        return DocumentFinder::new(text, bounds).read();
    };
    let mut read = bounds
        .read_strict(&unescaped)
        .map(|value| RepairedJson { value, repairs: Vec::new() })
        .or_else(|_| DocumentFinder::new(&unescaped, bounds).read())?;
    let repair = Repair { change: RepairKind::EscapedText, line: 1, column: 1, times: 1 };
    read.repairs.insert(0, repair);
    Ok(read)
}

/// The text that was escaped as a whole: its first quote has a backslash, and none has not.
fn unescaped(text: &str) -> Option<String> {
    let text = text.trim();
    let mut inside = text.strip_prefix(['{', '['])?.trim_start();
    while let Some(rest) = inside.strip_prefix("\\n").or_else(|| inside.strip_prefix("\\t")) {
        inside = rest.trim_start();
    }
    if !inside.starts_with("\\\"") {
        return None;
    }
    let mut notes = RepairNotes::default();
    let unescaped = escape::decode(text, '"', 0, &mut notes);
    (!notes.contains(RepairKind::InnerQuote)).then_some(unescaped)
}

struct DocumentFinder<'t> {
    parser: RepairParser<'t>,
    documents: Vec<Value>,
}

impl<'t> DocumentFinder<'t> {
    fn new(text: &'t str, bounds: &RepairBounds) -> Self {
        let cursor = TextCursor::new(text);
        let (notes, frames) = (RepairNotes::default(), Vec::new());
        let parser = RepairParser { cursor, notes, frames, bounds: *bounds, values: 0 };
        Self { parser, documents: Vec::new() }
    }

    fn read(mut self) -> Result<RepairedJson, UnreadableJson> {
        let found = self.find();
        if self.parser.cursor.exhausted() {
            return Err(UnreadableJson::TooDamaged);
        }
        found?;
        // Where it came about behind a document, that was taken for prose.
        self.parser.is_within()?;
        let text = self.parser.cursor.text;
        if text.trim().is_empty() {
            return Err(UnreadableJson::Empty);
        }
        let value = self.combined()?.ok_or_else(|| UnreadableJson::no_json(text))?;
        if self.parser.notes.is_empty() {
            self.parser.notes.add(RepairKind::Space, 0);
        }
        Ok(RepairedJson { value, repairs: self.parser.notes.finish(text) })
    }

    fn find(&mut self) -> Result<(), UnreadableJson> {
        self.parser.gap();
        let start = self.parser.cursor.at;
        let opens = matches!(self.parser.cursor.peek(), Some('{' | '['));
        if opens && self.json_begins(start) {
            return self.documents(start);
        }
        let notes = self.parser.notes.mark();
        let document = self.next_document(start);
        // A fence behind the first bracket may be part of a string.
        if self.next_fence(start).is_some_and(|fence| document.is_none_or(|at| fence < at)) {
            self.fenced()?;
        }
        if self.documents.is_empty() {
            self.restart(start, notes.mark());
            self.parser.values = 0;
            self.whole(start)?;
        }
        if let Some(at) = document.filter(|_| self.documents.is_empty()) {
            self.restart(start, notes);
            self.parser.values = 0;
            self.parser.notes.add(RepairKind::Prose, start);
            return self.documents(at);
        }
        Ok(())
    }

    fn restart(&mut self, at: usize, notes: RepairNotes) {
        self.parser.notes = notes;
        self.parser.frames.clear();
        self.parser.cursor.at = at;
    }

    /// The documents from `at` on, with whatever stands between and behind them.
    fn documents(&mut self, at: usize) -> Result<(), UnreadableJson> {
        self.parser.cursor.at = at;
        self.documents.extend(self.parser.value(GrammarPlace::Top)?);
        loop {
            self.trimmings();
            let at = self.parser.cursor.at;
            let Some(character) = self.parser.cursor.peek() else {
                return Ok(());
            };
            let next = match character {
                '{' | '[' if self.json_begins(at) => at,
                _ => {
                    self.parser.notes.add(RepairKind::Prose, at);
                    match self.next_document(at) {
                        Some(next) => next,
                        None => return Ok(()),
                    }
                }
            };
            // What cannot be read behind a document is prose.
            let notes = self.parser.notes.mark();
            self.parser.cursor.at = next;
            let Ok(document) = self.parser.value(GrammarPlace::Top) else {
                self.restart(next, notes);
                self.parser.notes.add(RepairKind::Prose, next);
                return Ok(());
            };
            self.documents.extend(document);
        }
    }

    /// Passes what stands between documents: space, commas, fences, brackets that close nothing.
    fn trimmings(&mut self) {
        loop {
            self.parser.gap();
            let at = self.parser.cursor.at;
            let (change, end) = match self.parser.cursor.peek() {
                Some(',' | ';') => (RepairKind::ExtraComma, at + 1),
                Some('}' | ']' | ')') => (RepairKind::StrayBracket, at + 1),
                Some(_) if self.parser.is_fence(at) => (RepairKind::Fence, self.fence_end(at)),
                _ => return,
            };
            self.parser.notes.add(change, at);
            self.parser.cursor.at = end;
        }
    }

    /// The end of the backticks at `at` and of the language behind them.
    fn fence_end(&self, at: usize) -> usize {
        let cursor = &self.parser.cursor;
        let ticks = cursor.skip(at, |character| character == '`');
        cursor.skip(ticks, |character| character.is_ascii_alphanumeric())
    }

    /// The documents that stand in code fences.
    fn fenced(&mut self) -> Result<(), UnreadableJson> {
        let mut at = self.parser.cursor.at;
        if self.next_fence(at).is_some_and(|fence| fence > at) {
            self.parser.notes.add(RepairKind::Prose, at);
        }
        while let Some(fence) = self.next_fence(at) {
            let content = self.parser.cursor.skip_space(self.fence_end(fence));
            self.parser.cursor.at = content;
            let opens = matches!(self.parser.cursor.peek(), Some('{' | '[' | '('));
            if opens && self.json_begins(content) {
                self.parser.notes.add(RepairKind::Fence, fence);
                self.documents.extend(self.parser.value(GrammarPlace::Top)?);
            }
            let Some(closing) = self.next_fence(self.parser.cursor.at) else {
                break;
            };
            at = self.parser.cursor.skip(closing, |character| character == '`');
        }
        Ok(())
    }

    fn next_fence(&self, from: usize) -> Option<usize> {
        self.parser.cursor.text.get(from..)?.find("```").map(|found| from + found)
    }

    /// The text as one value without an opening bracket: a tuple, a string, a literal, a number,
    /// or members without their braces.
    fn whole(&mut self, start: usize) -> Result<(), UnreadableJson> {
        let json_begins = self.json_begins(start);
        let parser = &mut self.parser;
        let value = match parser.cursor.peek() {
            Some('(') if !json_begins => None,
            Some('(' | '[') => parser.value(GrammarPlace::Top)?,
            Some(quote) if opens_string(quote) && !parser.is_fence(start) => {
                let text = parser.string(GrammarPlace::Top)?;
                parser.gap();
                let value = parser.cursor.skip_space(parser.cursor.at + 1);
                if parser.cursor.peek() == Some(':') && parser.value_begins(value) {
                    parser.notes.add(RepairKind::MissingBrace, start);
                    Some(parser.object_from(text, start)?)
                } else {
                    // A row of quotes says nothing.
                    (!text.is_empty() || parser.cursor.at <= start + 2).then_some(text.into())
                }
            }
            _ => {
                let end = parser.cursor.text.len();
                let words = parser.cursor.slice(start, end).trim_end();
                parser.cursor.at = end;
                let (value, change) = scalar(words).unzip();
                if let Some(change) = change.flatten() {
                    parser.notes.add(change, start);
                }
                value
            }
        };
        self.trimmings();
        if self.parser.cursor.peek().is_none() {
            self.documents.extend(value);
        }
        Ok(())
    }

    /// Whether the bracket at `at` opens JSON and not a remark.
    fn json_begins(&self, at: usize) -> bool {
        let cursor = &self.parser.cursor;
        let next = cursor.skip_space(cursor.after(at));
        let Some(character) = cursor.char(next) else {
            return true;
        };
        if opens_string(character) || cursor.begins_comment(next) {
            return true;
        }
        match cursor.char(at) {
            Some('{') => {
                matches!(character, '}' | '{' | ',' | '.' | '\\' | '0'..='9')
                    || self.parser.key_begins(next)
            }
            _ => matches!(character, ']' | ')' | ',' | '.' | '(') || self.parser.value_begins(next),
        }
    }

    /// The next bracket from `from` on that opens JSON; a `[` must begin a line or follow a colon.
    fn next_document(&self, from: usize) -> Option<usize> {
        let cursor = &self.parser.cursor;
        let mut at = from;
        let mut solid = '\n';
        while let Some(character) = cursor.char(at) {
            let begins = match character {
                '{' => self.json_begins(at),
                '[' => matches!(solid, '\n' | ':' | '`' | '}' | ']') && self.json_begins(at),
                _ => false,
            };
            if begins {
                return Some(at);
            }
            if character == '\n' || !character.is_whitespace() {
                solid = character;
            }
            at += character.len_utf8();
        }
        None
    }

    /// The one document, or an array of those that say something.
    fn combined(&mut self) -> Result<Option<Value>, UnreadableJson> {
        let documents = std::mem::take(&mut self.documents);
        let found = documents.len();
        let says_nothing = |value: &Value| match value {
            Value::Array(items) => items.is_empty(),
            Value::Object(members) => members.is_empty(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
        };
        let all_empty = documents.iter().all(says_nothing);
        let mut kept: Vec<Value> = Vec::new();
        for document in documents {
            let spare = if all_empty {
                !kept.is_empty()
            } else {
                says_nothing(&document) || kept.last() == Some(&document)
            };
            if !spare {
                kept.push(document);
            }
        }
        if kept.len() < found {
            self.parser.notes.add(RepairKind::SpareDocument, 0);
        }
        if kept.len() > 1 {
            // The array around them is one level more than any of them was checked for.
            let most = self.parser.bounds.depth;
            if kept.iter().any(|document| depth(document) >= most) {
                return Err(UnreadableJson::TooDeep { most, line: 1, column: 1 });
            }
            self.parser.notes.add(RepairKind::Documents, 0);
            return Ok(Some(Value::Array(kept)));
        }
        Ok(kept.pop())
    }
}

/// The levels of a document; none is deeper than the parser lets it be.
fn depth(value: &Value) -> usize {
    let deepest = match value {
        Value::Array(items) => items.iter().map(depth).max(),
        Value::Object(members) => members.values().map(depth).max(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return 0,
    };
    1 + deepest.unwrap_or(0)
}
