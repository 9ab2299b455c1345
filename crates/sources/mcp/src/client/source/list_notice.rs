//! Lists of which a server says that they changed, and that are the same.

use std::sync::{Arc, Mutex, PoisonError};

use sha2::{Digest, Sha256};
use tokio::sync::watch;
use toolcrib_core::{BoxFuture, JsonFields};

/// Tells when a server says that a list changed, and it is the same.
#[derive(Default)]
pub(super) struct SameListNotice {
    /// How often it had been said when the last list was asked for, and what that was.
    last: Mutex<Option<(u64, [u8; 32])>>,
    pub(super) told: watch::Sender<()>,
}

impl SameListNotice {
    pub(super) fn look(&self, said: u64, lists: &[&[Arc<JsonFields>]]) {
        let digest = Sha256::digest(serde_json::to_vec(lists).unwrap_or_default()).into();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let before = last.replace((said, digest));
        if before.is_some_and(|before| before.0 != said && before.1 == digest) {
            self.told.send_replace(());
        }
    }
}

/// Resolves when something is told from now on; never, once nobody is left to tell it.
pub(super) fn next(told: &watch::Sender<()>) -> BoxFuture<'static, ()> {
    let mut told = told.subscribe();
    Box::pin(async move {
        if told.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}
