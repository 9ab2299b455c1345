//! An object of JSON that is written field by field, of which some are texts already.
//!
//! What goes out with every call is written so: a tree of it costs more than its text.

use serde::Serialize;

pub(crate) struct Written(Vec<u8>);

impl Written {
    pub(crate) fn new() -> Self {
        Self(Vec::with_capacity(1024))
    }

    /// Begins with fields that were written before, by [`Written::fields`].
    pub(crate) fn with(fields: &[u8]) -> Self {
        let mut written = Vec::with_capacity(fields.len() + 1024);
        if !fields.is_empty() {
            written.push(b'{');
            written.extend_from_slice(fields);
        }
        Self(written)
    }

    /// What was written, without its braces.
    pub(crate) fn fields(mut self) -> Vec<u8> {
        self.0.drain(..self.0.len().min(1));
        self.0
    }

    /// A field whose name was not written before.
    pub(crate) fn field<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) {
        self.key(key);
        let begun = self.0.len();
        if serde_json::to_writer(&mut self.0, value).is_err() {
            // What cannot be JSON is nothing in it, as it is where a tree is made of it.
            self.0.truncate(begun);
            self.0.extend_from_slice(b"null");
        }
    }

    /// The same of what is JSON already.
    pub(crate) fn text(&mut self, key: &str, json: &[u8]) {
        self.key(key);
        self.0.extend_from_slice(json);
    }

    fn key(&mut self, key: &str) {
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
        // A string is always JSON.
        let _ = serde_json::to_writer(&mut self.0, key);
        self.0.push(b':');
    }

    pub(crate) fn end(mut self) -> Vec<u8> {
        if self.0.is_empty() {
            self.0.push(b'{');
        }
        self.0.push(b'}');
        self.0
    }
}
