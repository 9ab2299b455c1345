//! The sources that a configuration made, for those who want to know how each is doing.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use toolcrib_config::Config;
#[cfg(feature = "cli")]
pub(crate) use toolcrib_config::SourceHandle;
pub(crate) use toolcrib_config::SourceRegistry;

use crate::config::record;
use crate::{config, secrets};

/// The same for the file there: replicas keep what people are given when they sign in together.
pub(crate) fn of(path: &Path, checked: &Config) -> Result<SourceRegistry> {
    Ok(ours().sharing(record::shared_tokens(path, checked)?))
}

/// The sources of this program: what their children inherit, and where they keep what they keep.
pub(crate) fn ours() -> SourceRegistry {
    let state = config::state_folder();
    let within = |name| state.as_ref().map(|state| state.join(name));
    SourceRegistry::new(config::inherited_variables(), within("tokens"))
        .keeping(within("desks"))
        .in_zone(config::time_zone())
        .learning(secrets::learned())
        .asking(Arc::default())
}
