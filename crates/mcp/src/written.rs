//! An object of JSON that is written field by field, of which some are texts already.
//!
//! What goes out with every call is written so: a tree of it costs more than its text.

use serde::Serialize;

pub(crate) struct Written {
    text: Vec<u8>,
    /// It has no field yet, and no brace.
    is_empty: bool,
}

impl Written {
    pub(crate) fn new() -> Self {
        Self { text: Vec::with_capacity(1024), is_empty: true }
    }

    /// What was written, without its braces.
    pub(crate) fn fields(mut self) -> Vec<u8> {
        self.text.drain(..self.text.len().min(1));
        self.text
    }

    /// Fields that were written before, by [`Written::fields`].
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
        let mut inner = Self { text: std::mem::take(&mut self.text), is_empty: true };
        write(&mut inner);
        self.text = inner.end();
    }

    fn key(&mut self, key: &str) {
        self.next();
        // A string is always JSON.
        let _ = serde_json::to_writer(&mut self.text, key);
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
