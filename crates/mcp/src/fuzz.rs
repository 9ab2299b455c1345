//! The readers of what strangers send, for the fuzz targets.

use crate::client::settings::McpBounds;
use crate::protocol::frame;

/// A body that comes to the door over HTTP: one that is plain says what all of it says to whoever
/// reads it whole.
pub fn request(body: &[u8]) {
    crate::door::means_one_thing(body);
}

/// A line or a body of a server.
pub fn answer(text: &[u8]) {
    crate::client::inflight::means_the_same(text);
    let depth = McpBounds::default().depth;
    let whole = frame::read(text, depth).ok();
    if frame::read_page(text, "tools").is_ok() {
        assert!(whole.is_some_and(|whole| whole.is_object()), "its page is read and it is not");
    }
}
