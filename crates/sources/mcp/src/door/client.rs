//! The connected client: what it can, and what it is told and asked.
pub(crate) mod channel;
pub(crate) mod early_subscription;
pub(crate) mod events;
pub(crate) mod features;
pub(crate) mod logs;
pub(crate) mod subscriptions;
