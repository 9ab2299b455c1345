//! What lets several servers share one record.

use schemars::JsonSchema;
use serde::Deserialize;

use super::scalar::{PauseText, SecretText};

/// One secret, or two while one takes the place of the other.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(rename = "ClusterSecret")]
pub(crate) enum ClusterSecretValue {
    One(SecretText),
    Several(Vec<SecretText>),
}

/// Lets several servers, the replicas, share the database of `[store]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Cluster")]
pub(crate) struct ClusterTable {
    /// The secret that all replicas have: `${file:PATH}` or `${env:NAME}`, 32 bytes at the least. Of
    /// two, while one takes the place of the other, the first seals, and both open.
    pub(crate) secret: ClusterSecretValue,
    /// Where other replicas reach this one: `https://10.0.3.7:7412`. It goes with `listen`.
    #[serde(default)]
    pub(crate) address: Option<String>,
    /// Where this one listens for the other replicas, and for nobody else: `10.0.3.7:7412`. Beyond
    /// this machine it needs the certificate of `[server.tls]`.
    #[serde(default)]
    pub(crate) listen: Option<String>,
    /// How long a replica counts as one that lives after it was last heard of, from `2s` to `60s`.
    /// `6s` if not set.
    #[serde(default)]
    pub(crate) lease: Option<PauseText>,
}
