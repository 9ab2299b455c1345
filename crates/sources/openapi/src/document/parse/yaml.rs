//! YAML documents by the core schema of YAML 1.2.2 (section 10.3.2), as `OpenAPI` wants them.
//!
//! Reading order: `compose` makes nodes of the text, `scalar` says what a plain word is, `convert`
//! makes the tree. Where only text may stand (names, ids, versions) a word is the text that was
//! written, whatever else it could be. Words that readers of YAML 1.1 read otherwise are told.

mod compose;
mod convert;
mod scalar;

use serde_json::Value;

/// The tree of a document, and what is to be told of it.
///
/// `limit`: the bytes that all aliases together may unfold to.
pub(crate) fn read(text: &str, limit: usize) -> Result<(Value, Vec<String>), String> {
    let root = compose::compose(text, limit)?;
    Ok(convert::convert(&root))
}
