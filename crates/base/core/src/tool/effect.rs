//! What a call does to the world, and what follows for repeating and ordering it.

use serde::{Deserialize, Serialize};

/// What running a tool may do. A tool that does not say is `Destroy`.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Effect {
    /// Changes nothing.
    Read,
    /// Adds or changes, and can be undone by ordinary means.
    Write,
    /// May remove or overwrite what cannot be had back.
    #[default]
    Destroy,
}

impl Effect {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Destroy => "destroy",
        }
    }
}

/// The hints of an MCP tool's `annotations`; absent means the protocol's default.
///
/// Source: MCP schema, `ToolAnnotations` (`readOnlyHint` false, `destructiveHint` true,
/// `idempotentHint` false when silent).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct EffectHints {
    pub read_only_hint: Option<bool>,
    pub destructive_hint: Option<bool>,
    pub idempotent_hint: Option<bool>,
}

impl EffectHints {
    pub fn effect(self) -> Effect {
        match (self.read_only_hint, self.destructive_hint) {
            (Some(true), _) => Effect::Read,
            (_, Some(false)) => Effect::Write,
            _ => Effect::Destroy,
        }
    }

    /// Whether they say nothing of the effect, so that it is the protocol's default.
    pub fn are_silent(self) -> bool {
        self.read_only_hint.is_none() && self.destructive_hint.is_none()
    }

    pub fn idempotent(self) -> bool {
        self.idempotent_hint == Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_means_destroy_and_hints_map_as_the_protocol_says() {
        let hints = |text: &str| serde_json::from_str::<EffectHints>(text).unwrap();
        assert_eq!(hints("{}").effect(), Effect::Destroy);
        assert_eq!(hints(r#"{"readOnlyHint":true,"destructiveHint":true}"#).effect(), Effect::Read);
        assert_eq!(hints(r#"{"destructiveHint":false}"#).effect(), Effect::Write);
        assert!(hints(r#"{"idempotentHint":true}"#).idempotent());
        assert!(!hints("{}").idempotent());
        assert!(hints("{}").are_silent() && hints(r#"{"idempotentHint":true}"#).are_silent());
        assert!(!hints(r#"{"readOnlyHint":false}"#).are_silent());
        assert!(!hints(r#"{"destructiveHint":true}"#).are_silent());
    }
}
