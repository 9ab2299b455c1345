//! What replicas compare of their files, so that one with another file is seen.

use serde_json::{Map, Value};
use toolcrib_core::Fingerprint;

use super::ASSIGN;

/// What is of one machine, and may be another at each replica: the keys of a table, and one in it.
const OF_THE_MACHINE: [(&str, &str); 6] = [
    ("server", "listen"),
    ("server", "tls"),
    ("page", "listen"),
    ("cluster", "address"),
    ("audit", "file"),
    ("log", "level"),
];

/// The keys that say who may do what.
const POLICY: [&str; 8] =
    ["allow", "ask", "deny", "rule", "confirm", "profile", "toolset", "unlisted_agents"];

/// Digests of a file, whatever its comments and the order of its keys; of references to secrets,
/// and of no secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfigDigests {
    /// Of all of it, but for what is of one machine.
    pub configuration: Fingerprint,
    /// Of what says who may do what.
    pub policy: Fingerprint,
}

impl Default for ConfigDigests {
    fn default() -> Self {
        Self::of(&Value::Object(Map::new()))
    }
}

impl ConfigDigests {
    pub(crate) fn of(file: &Value) -> Self {
        let mut whole = file.clone();
        for (table, key) in OF_THE_MACHINE {
            if let Some(Value::Object(table)) = whole.get_mut(table) {
                table.remove(key);
            }
        }
        let says = POLICY.iter().chain(&ASSIGN);
        let policy: Map<_, _> =
            says.filter_map(|key| Some(((*key).to_owned(), file.get(*key)?.clone()))).collect();
        Self {
            configuration: Fingerprint::of(&whole),
            policy: Fingerprint::of(&Value::Object(policy)),
        }
    }
}
