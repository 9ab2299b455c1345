//! What lets several servers share one record.

use schemars::JsonSchema;
use serde::Deserialize;

use super::scalar::{PauseText, SecretText};

/// Lets several servers, the replicas, share the database of `[store]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Cluster")]
pub(crate) struct ClusterTable {
    /// The secret that all replicas have: `${file:PATH}` or `${env:NAME}`, 32 bytes at the least.
    pub(crate) secret: SecretText,
    /// Where other replicas reach this one: `https://10.0.3.7:7411`.
    #[serde(default)]
    pub(crate) address: Option<String>,
    /// How long a replica counts as one that lives after it was last heard of, from `2s` to `60s`.
    /// `6s` if not set.
    #[serde(default)]
    pub(crate) lease: Option<PauseText>,
}
