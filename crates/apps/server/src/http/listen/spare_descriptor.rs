//! A descriptor that is kept back: where no other is left, one who waits is told so by it.

#[cfg(unix)]
use std::os::fd::{AsFd as _, OwnedFd};

use tokio::net::TcpListener;

#[cfg(unix)]
type OwnedDescriptor = OwnedFd;
/// Elsewhere they do not run out.
#[cfg(not(unix))]
type Kept = std::convert::Infallible;

/// Of nothing that anybody needs.
pub(crate) struct SpareDescriptor(Option<OwnedDescriptor>);

impl SpareDescriptor {
    pub(crate) fn of(listener: &TcpListener) -> Self {
        let mut spare = Self(None);
        spare.keep(listener);
        spare
    }

    /// Keeps one back, if there is one again.
    pub(crate) fn keep(&mut self, listener: &TcpListener) {
        #[cfg(unix)]
        if self.0.is_none() {
            self.0 = listener.as_fd().try_clone_to_owned().ok();
        }
        #[cfg(not(unix))]
        let _ = listener;
    }

    /// Gives it free; `false`: there was none.
    pub(crate) fn give(&mut self) -> bool {
        self.0.take().is_some()
    }
}
