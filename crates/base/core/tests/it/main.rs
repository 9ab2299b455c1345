//! What no door of the gate can show by itself.

mod redact;
