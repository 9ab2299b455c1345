//! What is followed, and how its subscription stands.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;
use tokio::task::AbortHandle;

use crate::client::fault::McpFault;

/// What is followed over one connection, by address.
#[derive(Default)]
pub(crate) struct UpstreamSubscriptions(Mutex<HashMap<String, UpstreamSubscription>>);

pub(super) struct UpstreamSubscription {
    pub(super) followers: usize,
    pub(super) state: watch::Receiver<SubscriptionState>,
    pub(super) task: AbortHandle,
}

#[derive(Clone)]
pub(super) enum SubscriptionState {
    Pending,
    Ready,
    Refused(Arc<McpFault>),
}

impl UpstreamSubscriptions {
    pub(super) fn all(&self) -> MutexGuard<'_, HashMap<String, UpstreamSubscription>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.all().is_empty()
    }
}
