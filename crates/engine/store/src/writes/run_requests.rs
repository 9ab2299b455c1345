//! What is asked of the rows of runs.

use toolcrib_core::{Caller, RunLedgerError};

use super::awaited::WriteRequest;
use crate::rows::runs::{NewRunRow, NewStep};

/// Writes a run with its first step.
pub(crate) struct CreateRun(pub(crate) NewRunRow);

impl WriteRequest for CreateRun {
    type Answer = Result<(), RunLedgerError>;
}

/// Writes a step of a run behind the one before it.
pub(crate) struct AdvanceRun {
    pub(crate) run: String,
    pub(crate) step: NewStep,
}

impl WriteRequest for AdvanceRun {
    type Answer = Result<(), RunLedgerError>;
}

/// Removes a run of a caller that has ended. Answers whether there was one.
pub(crate) struct ForgetRun {
    pub(crate) caller: Caller,
    pub(crate) run: String,
}

impl WriteRequest for ForgetRun {
    type Answer = bool;
}

/// Writes a note of a run, or takes it away where there is no text. Answers whether it did.
pub(crate) struct WriteNote {
    pub(crate) run: String,
    pub(crate) name: String,
    pub(crate) text: Option<String>,
}

impl WriteRequest for WriteNote {
    type Answer = bool;
}
