//! Why tools cannot be selected or shared out.

use toolcrib_core::PlanError;

/// Why tools cannot be selected or shared out; its words tell the cure.
#[derive(Debug, thiserror::Error)]
pub enum SelectionError {
    /// A tool is asked for by a name that the caller does not see.
    #[error("{0}")]
    UnknownTool(String),
    /// What is asked for contradicts itself, or there is no room for it.
    #[error("{0}")]
    Request(String),
    #[error("nothing can be planned for this caller")]
    Plan(#[from] PlanError),
}
