//! An object of JSON that is written field by field, of which some are texts already.

use serde::Serialize;

pub(super) struct Written(Vec<u8>);

impl Written {
    pub(super) fn new() -> Self {
        Self(Vec::with_capacity(1024))
    }

    /// A field whose name was not written before.
    pub(super) fn field<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) {
        self.key(key);
        let begun = self.0.len();
        if serde_json::to_writer(&mut self.0, value).is_err() {
            // What cannot be JSON is nothing in it, as it is where a tree is made of it.
            self.0.truncate(begun);
            self.0.extend_from_slice(b"null");
        }
    }

    /// The same of what is JSON already.
    pub(super) fn text(&mut self, key: &str, json: &[u8]) {
        self.key(key);
        self.0.extend_from_slice(json);
    }

    fn key(&mut self, key: &str) {
        self.0.push(if self.0.is_empty() { b'{' } else { b',' });
        // A string is always JSON.
        let _ = serde_json::to_writer(&mut self.0, key);
        self.0.push(b':');
    }

    pub(super) fn end(mut self) -> Vec<u8> {
        if self.0.is_empty() {
            self.0.push(b'{');
        }
        self.0.push(b'}');
        self.0
    }
}
