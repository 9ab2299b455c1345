//! What a server asks of us.

use std::sync::Arc;

use serde_json::Value;

use super::request::{CallQuestionGuard, UpstreamRequest};
use super::unclear_owner::UnclearQuestion;

/// A question of the server, and the call that it belongs to.
pub(crate) struct ServerQuestion {
    pub(crate) method: String,
    pub(crate) params: Value,
    pub(crate) of: QuestionOwner,
}

/// Whose a question is.
pub(crate) enum QuestionOwner {
    Call(Arc<UpstreamRequest>, CallQuestionGuard),
    /// It came while no call ran.
    Nobody,
    Unclear(UnclearQuestion),
}
