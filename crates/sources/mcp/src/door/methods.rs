//! What a client asks for, method by method.

pub(crate) mod dispatch;
pub(crate) mod initialize;
mod lists;
pub(crate) mod parameters;
pub(crate) mod resources;
pub(crate) mod tools_list;
