//! One renewal at a time, however many wait for it.

use std::future::Future;
use std::sync::Mutex;

use tokio::sync::watch;
use toolcrib_core::Secret;

use crate::client::oauth::error::OAuthError;
use crate::client::oauth::shared::locked;

pub(crate) type RenewalOutcome = Result<Secret, OAuthError>;

/// The renewal under way, if there is one. It runs on a task of its own: whoever waits may go
/// away, and the next one finds it done.
#[derive(Default)]
pub(crate) struct SingleFlight(Mutex<Option<watch::Receiver<Option<RenewalOutcome>>>>);

impl SingleFlight {
    /// Waits for the renewal under way, or starts this one. Also says whether it was this one.
    pub(crate) async fn join<F>(&self, start: impl FnOnce() -> F) -> (RenewalOutcome, bool)
    where
        F: Future<Output = RenewalOutcome> + Send + 'static,
    {
        let (mut landing, own) = self.board(start);
        let outcome = match landing.wait_for(Option::is_some).await {
            Ok(landed) => landed.clone(),
            // The task fell over.
            Err(_) => None,
        };
        (outcome.unwrap_or(Err(OAuthError::Broken)), own)
    }

    fn board<F>(&self, start: impl FnOnce() -> F) -> (watch::Receiver<Option<RenewalOutcome>>, bool)
    where
        F: Future<Output = RenewalOutcome> + Send + 'static,
    {
        let mut place = locked(&self.0);
        let flying = place.as_ref().filter(|it| it.borrow().is_none() && it.has_changed().is_ok());
        if let Some(flying) = flying {
            return (flying.clone(), false);
        }
        let (land, landing) = watch::channel(None);
        let work = start();
        tokio::spawn(async move {
            // Nobody may be left to hear it.
            let _ = land.send(Some(work.await));
        });
        *place = Some(landing.clone());
        (landing, true)
    }
}
