//! What a tool of a server says of its effect.

use serde_json::Value;
use toolcrib_core::Effect;

/// The hints of a tool's `annotations`; absent means the protocol's default.
///
/// Source: MCP schema, `ToolAnnotations` (`readOnlyHint` false, `destructiveHint` true,
/// `idempotentHint` false when silent).
#[derive(Debug, Clone, Copy)]
pub(crate) struct EffectHints {
    read_only: Option<bool>,
    destructive: Option<bool>,
    idempotent: Option<bool>,
}

impl EffectHints {
    /// One hint that is no flag must not make the others unsaid.
    pub(crate) fn of(annotations: Option<&Value>) -> Self {
        let flag = |name: &str| annotations?.get(name)?.as_bool();
        Self {
            read_only: flag("readOnlyHint"),
            destructive: flag("destructiveHint"),
            idempotent: flag("idempotentHint"),
        }
    }

    pub(crate) fn effect(self) -> Effect {
        match (self.read_only, self.destructive) {
            (Some(true), _) => Effect::Read,
            (_, Some(false)) => Effect::Write,
            _ => Effect::Destroy,
        }
    }

    /// Whether they say nothing of the effect, so that it is the protocol's default.
    pub(crate) fn are_silent(self) -> bool {
        self.read_only.is_none() && self.destructive.is_none()
    }

    pub(crate) fn idempotent(self) -> bool {
        self.idempotent == Some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_means_destroy_and_hints_map_as_the_protocol_says() {
        let hints = |text: &str| EffectHints::of(Some(&serde_json::from_str(text).unwrap()));
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
