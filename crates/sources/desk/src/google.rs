//! Google Calendar, Tasks and Gmail over REST, each behind its trait.
//!
//! Paths, parameters and fields are those of the discovery documents: Calendar v3, Tasks v1 and
//! Gmail v1, <https://developers.google.com/workspace>. One [`GoogleBackend`] is one account, so `owner`
//! is ignored throughout.
//!
//! Read in this order: `settings`, `wire` (one request and what its failure means), `tokens`
//! (who we are, and how that is renewed), `sign_in`, then `calendar`, `tasks` and `mail`.
//!
//! Nothing that comes back is trusted: answers are bounded in bytes, depth and pages, and what
//! cannot be read is `Broken`.

mod calendar;
mod client;
mod error;
#[cfg(feature = "fuzz")]
pub mod fuzz;
mod mail;
mod settings;
mod sign_in;
mod tasks;
mod token_file;
mod tokens;
mod way_out;

use std::future::Future;
use std::sync::Arc;

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};
use tokio::sync::OnceCell;
use tokio::time::timeout;
use toolcrib_core::Secret;

use crate::backend::{BackendError, BackendErrorKind, Person};

use client::GoogleClient;
pub use settings::{GoogleSettings, RefreshTokenLocation};

/// One account at Google. Cheap to clone; clones share connections and tokens.
#[derive(Clone)]
pub struct GoogleBackend {
    shared: Arc<GoogleShared>,
}

struct GoogleShared {
    wire: GoogleClient,
    /// The id of the account's first calendar, which never changes.
    primary: OnceCell<String>,
    /// The account's address, which never changes either.
    address: OnceCell<Person>,
}

/// Requests of one operation that are under way together: Google counts them for each user.
const FEW: usize = 4;

/// What an operation that takes too long may have done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GoogleOperationEffect {
    Reading,
    Writing,
}

impl GoogleBackend {
    /// Sends nothing yet. Settings that cannot be right are `Invalid`.
    pub fn new(settings: GoogleSettings) -> Result<Self, BackendError> {
        let wire = GoogleClient::new(settings)?;
        let (primary, address) = (OnceCell::new(), OnceCell::new());
        Ok(Self { shared: Arc::new(GoogleShared { wire, primary, address }) })
    }

    /// Lets a person sign in: `open` shows them an address, and their browser then comes back to
    /// this machine. Waits five minutes for that. The refresh token that is given stands in the
    /// file of the settings afterwards, which nobody else can read, if they name one.
    pub async fn sign_in(
        settings: &GoogleSettings,
        open: impl FnOnce(&str),
    ) -> Result<Secret, BackendError> {
        sign_in::sign_in(settings, open).await
    }

    fn wire(&self) -> &GoogleClient {
        &self.shared.wire
    }

    /// A whole operation within its time, however many requests it is made of.
    async fn within<T>(
        &self,
        doing: GoogleOperationEffect,
        work: impl Future<Output = Result<T, BackendError>>,
    ) -> Result<T, BackendError> {
        let deadline = self.wire().settings().deadline;
        timeout(deadline, work).await.unwrap_or_else(|_| {
            let seconds = deadline.as_secs();
            Err(match doing {
                GoogleOperationEffect::Reading => BackendError::new(
                    BackendErrorKind::Interrupted,
                    format!("Google took longer than {seconds} s: ask for less, or try again"),
                ),
                GoogleOperationEffect::Writing => BackendError::new(
                    BackendErrorKind::Unknown,
                    format!(
                        "Google took longer than {seconds} s and may have done it: look before \
                         you repeat it"
                    ),
                ),
            })
        })
    }
}

/// Does several things, few at a time, and gives their results in their order.
async fn few<T, F>(work: Vec<F>) -> Result<Vec<T>, BackendError>
where
    F: Future<Output = Result<T, BackendError>>,
{
    stream::iter(work).buffered(FEW).try_collect().await
}
