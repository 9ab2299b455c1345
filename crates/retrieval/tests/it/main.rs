//! What was measured and committed still holds.

#![expect(clippy::unwrap_used, reason = "a test stops at what it cannot read")]

mod holds;
