//! What is asked of the rows of runs.

use toolcrib_core::{Caller, RunLedgerError};

use super::awaited::WriteRequest;
use crate::rows::runs::{NewRunRow, NewStep};

/// Writes a run with its first step.
pub struct CreateRun(pub NewRunRow);

impl WriteRequest for CreateRun {
    type Answer = Result<(), RunLedgerError>;
}

/// Writes a step of a run behind the one before it.
pub struct AdvanceRun {
    pub run: String,
    pub step: NewStep,
}

impl WriteRequest for AdvanceRun {
    type Answer = Result<(), RunLedgerError>;
}

/// Removes a run of a caller that has ended. Answers whether there was one.
pub struct ForgetRun {
    pub caller: Caller,
    pub run: String,
}

impl WriteRequest for ForgetRun {
    type Answer = bool;
}

/// Writes a note of a run, or takes it away where there is no text. Answers whether it did.
pub struct WriteNote {
    pub run: String,
    pub name: String,
    pub text: Option<String>,
}

impl WriteRequest for WriteNote {
    type Answer = bool;
}
