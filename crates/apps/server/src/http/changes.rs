//! What people change while it serves: single fields and sources over the file, and what is frozen.
//!
//! Read in this order: `overlay_door` (where changes are kept, and who follows them), `overlay` (the
//! routes), `overlay_edit` (how a change is made), `overlay_answer` (what is told of it), `effects`
//! (what a change would bring about), `export` (the changes as a text), `unified_diff`, `history`
//! (who changed what of a tool); `freeze`.

mod effects;
pub(crate) mod export;
pub(crate) mod freeze;
pub(crate) mod history;
pub(crate) mod overlay;
pub(crate) mod overlay_answer;
pub(crate) mod overlay_door;
pub(crate) mod overlay_edit;
mod unified_diff;
