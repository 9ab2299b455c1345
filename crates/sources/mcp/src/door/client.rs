//! The client: what it can, and what it is told and asked beside its answers.

pub(crate) mod channel;
pub(crate) mod events;
pub(crate) mod features;
pub(crate) mod logs;
pub(crate) mod outbound;
pub(crate) mod subscriptions;
