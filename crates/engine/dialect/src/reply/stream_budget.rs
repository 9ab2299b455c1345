//! Bounds for replies that come in pieces.

use serde_json::Value;

/// Most bytes that one streamed reply may hold.
const MOST_BYTES: usize = 16 << 20;
/// Most items of one streamed reply.
const MOST_ITEMS: usize = 10_000;

/// What a stream may still keep. A stream that asks for more was cut there.
pub(crate) struct StreamBudget {
    bytes: usize,
    items: usize,
    full: bool,
}

impl Default for StreamBudget {
    fn default() -> Self {
        Self { bytes: MOST_BYTES, items: MOST_ITEMS, full: false }
    }
}

impl StreamBudget {
    pub(crate) fn append(&mut self, text: &mut String, more: &str) {
        if self.takes_bytes(more.len()) {
            text.push_str(more);
        }
    }

    /// Appends to a field of an object that holds text, or makes it.
    pub(crate) fn append_to(&mut self, object: &mut Value, field: &str, more: &str) {
        let Value::Object(fields) = object else {
            return;
        };
        let text = fields.entry(field).or_insert_with(|| "".into());
        if !text.is_string() {
            *text = "".into();
        }
        if let Value::String(text) = text {
            self.append(text, more);
        }
    }

    pub(crate) fn takes_bytes(&mut self, bytes: usize) -> bool {
        match self.bytes.checked_sub(bytes) {
            Some(left) if !self.full => self.bytes = left,
            _ => self.full = true,
        }
        !self.full
    }

    pub(crate) fn takes_item(&mut self) -> bool {
        match self.items.checked_sub(1) {
            Some(left) if !self.full => self.items = left,
            _ => self.full = true,
        }
        !self.full
    }

    pub(crate) fn is_full(&self) -> bool {
        self.full
    }
}
