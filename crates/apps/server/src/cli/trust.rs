//! Asks a person whether a file that was found may do what it says.

use std::path::Path;

use anyhow::{Result, bail};
use toolcrib_config::Config;

use super::output::Output;
use crate::config;
use crate::config::trust::{OverFile, TrustRequest};

/// Passes a file that was found if it is trusted, or if a person says so now; see
/// [`TrustRequest::untrusted`].
pub(super) fn pass(
    path: &Path,
    file: &mut Config,
    over: OverFile<'_>,
    output: &Output,
) -> Result<()> {
    let Some(wishes) = TrustRequest::untrusted(path, file, over) else { return Ok(()) };
    if !config::person_is_there() {
        bail!("{}\n{}", wishes.told(), wishes.cure());
    }
    config::forget_typed();
    // Who decides has to see all of it.
    output.note(&wishes.whole());
    output.prompt("Trust it, from now on? [y/N]");
    let said = config::line();
    output.answered();
    if !matches!(said?.trim(), "y" | "Y" | "yes") {
        bail!("nothing was started: {}", wishes.cure());
    }
    wishes.trust()
}
