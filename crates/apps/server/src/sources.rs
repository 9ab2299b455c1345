//! The sources that a configuration made, for those who want to know how each is doing.

use std::sync::Arc;

#[cfg(feature = "cli")]
pub(crate) use toolcrib_config::SourceHandle;
pub(crate) use toolcrib_config::SourceRegistry;

use crate::{config, secrets};

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
