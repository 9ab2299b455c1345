//! From an answer to an outcome.

mod content;
mod failure;
mod json;
mod retry_after;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use toolcrib_core::ToolOutcome;
use url::Url;

/// An answer that has come as a whole.
#[derive(Debug, Clone)]
pub(crate) struct ApiResponse {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// Where the request went.
    pub(crate) url: Url,
    /// Whether it could not have changed anything.
    pub(crate) only_reads: bool,
}

impl ApiResponse {
    pub(crate) fn outcome(&self) -> ToolOutcome {
        let is_done = self.status.is_success() || self.status == StatusCode::NOT_MODIFIED;
        if is_done {
            ToolOutcome::Done(content::content(self))
        } else {
            ToolOutcome::Failed(failure::failure(self))
        }
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// `404 Not Found`.
    fn status_line(&self) -> String {
        let reason = self.status.canonical_reason().unwrap_or_default();
        format!("{} {reason}", self.status.as_u16()).trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests;
