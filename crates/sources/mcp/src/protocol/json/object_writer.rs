//! An object of JSON that is written field by field, of which some are texts already.
//!
//! What goes out with every call is written so: a tree of it costs more than its text.

use serde::Serialize;

pub(crate) struct ObjectWriter {
    text: Vec<u8>,
    /// It has no field yet, and no brace.
    is_empty: bool,
}

impl ObjectWriter {
    pub(crate) fn new() -> Self {
        Self { text: Vec::with_capacity(1024), is_empty: true }
    }

    /// What was written, without its braces.
    pub(crate) fn fields(mut self) -> Vec<u8> {
        self.text.drain(..self.text.len().min(1));
        self.text
    }

    /// Fields that were written before, by [`ObjectWriter::fields`].
    pub(crate) fn all(&mut self, fields: &[u8]) {
        if !fields.is_empty() {
            self.next();
            self.text.extend_from_slice(fields);
        }
    }

    /// A field whose name was not written before.
    pub(crate) fn field<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) {
        self.key(key);
        let begun = self.text.len();
        if serde_json::to_writer(&mut self.text, value).is_err() {
            // What cannot be JSON is nothing in it, as it is where a tree is made of it.
            self.text.truncate(begun);
            self.text.extend_from_slice(b"null");
        }
    }

    /// The same of what is JSON already.
    pub(crate) fn text(&mut self, key: &str, json: &[u8]) {
        self.key(key);
        self.text.extend_from_slice(json);
    }

    /// The same of an object that is written in place.
    pub(crate) fn object(&mut self, key: &str, write: impl FnOnce(&mut Self)) {
        self.key(key);
        Self::behind(&mut self.text, write);
    }

    /// The same of a list whose entries are written in place.
    pub(crate) fn list<T>(
        &mut self,
        key: &str,
        entries: impl IntoIterator<Item = T>,
        mut write: impl FnMut(&mut Vec<u8>, T),
    ) {
        self.key(key);
        let mut before = b'[';
        for entry in entries {
            self.text.push(before);
            write(&mut self.text, entry);
            before = b',';
        }
        self.text.extend_from_slice(if before == b'[' { b"[]" } else { b"]" });
    }

    /// An object behind what was written.
    pub(crate) fn behind(text: &mut Vec<u8>, write: impl FnOnce(&mut Self)) {
        let mut object = Self { text: std::mem::take(text), is_empty: true };
        write(&mut object);
        *text = object.end();
    }

    fn key(&mut self, key: &str) {
        self.next();
        if key.bytes().all(|letter| letter.is_ascii_alphanumeric()) {
            self.text.push(b'"');
            self.text.extend_from_slice(key.as_bytes());
            self.text.push(b'"');
        } else {
            // A string is always JSON.
            let _ = serde_json::to_writer(&mut self.text, key);
        }
        self.text.push(b':');
    }

    /// What stands before a field.
    fn next(&mut self) {
        self.text.push(if self.is_empty { b'{' } else { b',' });
        self.is_empty = false;
    }

    pub(crate) fn end(mut self) -> Vec<u8> {
        if self.is_empty {
            self.text.push(b'{');
        }
        self.text.push(b'}');
        self.text
    }
}
