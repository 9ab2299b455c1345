//! The methods besides `tools/call` that a client may ask for.
pub(crate) mod extension;
pub(crate) mod initialize;
pub(crate) mod resources;
pub(crate) mod tools_list;
