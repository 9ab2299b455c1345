//! Questions that a running call asks a person: they wait, they are answered, and the call goes on.
pub(crate) mod asker;
mod form;
pub(crate) mod pause;
pub(crate) mod registry;
mod resume;
