//! One call of an agent: a message, and whatever comes until there is an end.

pub(crate) mod agent;
pub(crate) mod artifacts;
pub(crate) mod checkpoint;
pub(crate) mod content;
mod evidence;
mod follow;
pub(crate) mod message;
pub(crate) mod notification;
mod open_task;
mod question;
pub(crate) mod talk;
pub(crate) mod view;
