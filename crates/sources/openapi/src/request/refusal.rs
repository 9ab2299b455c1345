//! Arguments that cannot be sent.

use toolcrib_core::{ErrorKind, ToolError};

/// Arguments that cannot be sent: nothing was.
pub(crate) fn refused(argument: &str, why: &str) -> ToolError {
    let argument: String = argument.chars().take(80).collect();
    ToolError::new(ErrorKind::InvalidArguments, format!("`{argument}` {why}"))
}
