//! What keeps a file from being served, as `check` tells it: by what `serve` itself starts with,
//! but nothing is started, made or changed.

use anyhow::Error;
use toolcrib_config::ApplyError;

use super::startup;
use crate::cli::args::{GlobalArgs, ServeArgs};
use crate::cli::context::rules;
use crate::config::{self, record};
use crate::gateway::listen_address::ListenAddress;
use crate::gateway::serve_config::{self, ServeConfig};
use crate::http::listen::accept::most_connections;
use crate::sources;
use crate::telemetry::Telemetry;

/// All for which `serve` would not start with this file and these words, in the order in which it
/// would come to it; and the sources that would give no tools, whatever is tried, in its words.
pub(crate) fn refusals(
    global: &GlobalArgs,
    words: &ServeArgs,
    file: &ServeConfig,
) -> (Vec<Error>, Vec<String>) {
    let front = &file.checked.front;
    let mut refusals: Vec<Error> = Vec::new();
    refusals.extend(ListenAddress::try_out(&startup::wishes(words), front).err());
    refusals.extend(Telemetry::try_out(&file.checked));
    refusals.extend(serve_config::own_tls(front).err());
    refusals.extend(serve_config::own_card_key(front).err());
    refusals.extend(most_connections(file.checked.bounds.connections).err());
    refusals.extend(record::try_store(&file.path, &file.checked).err());
    refusals.extend(startup::pins(&file.path).err());
    refusals.extend(global.policy.as_deref().and_then(|path| rules(path).err()));
    let built = file.checked.build(&config::ProcessLookup, &sources::ours());
    if let Some(profile) = global.profile.as_ref().filter(|name| !built.views.contains_key(*name)) {
        refusals.push(ApplyError::Profile(profile.clone()).into());
    }
    let failed = built.failed.iter();
    let failed = failed
        .map(|failed| format!("the source `{}` gives no tools: {}", failed.id, failed.reason));
    (refusals, failed.collect())
}
