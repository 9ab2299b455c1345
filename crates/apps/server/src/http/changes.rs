//! What people change while it serves: single fields over the file, and what is frozen.
//!
//! Read in this order: `overlay_door` (where changes are kept, and who follows them), `overlay` (the
//! routes), `effects` (what a change would bring about), `export` (the changes as a text),
//! `unified_diff`, `history` (who changed what of a tool); `freeze`.

mod effects;
pub(crate) mod export;
pub(crate) mod freeze;
pub(crate) mod history;
pub(crate) mod overlay;
pub(crate) mod overlay_door;
mod unified_diff;
