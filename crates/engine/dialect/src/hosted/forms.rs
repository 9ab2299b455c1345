//! What each API calls the tools of its provider, and which settings it takes.

use serde_json::{Map, Value, json};

use crate::{Gemini, OpenAiChat, OpenAiResponses};

/// A tool in one API.
#[derive(Debug)]
pub(super) struct HostedForm {
    pub(super) dialect: &'static str,
    /// `type` of the definition; Gemini and Chat: the key that it stands under.
    pub(super) kind: &'static str,
    /// The name by which a model calls it, where the API has one.
    pub(super) name: Option<&'static str>,
    pub(super) settings: &'static [&'static str],
    /// A setting without which the API does not take it.
    pub(super) needs: Option<&'static str>,
    /// It is there only where its dialect is named: not every model of the API has it.
    pub(super) only_if_named: bool,
}

/// Settings that bound what a tool may reach. An API that does not have one is not given the tool:
/// it would reach more than was meant.
const BOUNDS: [&str; 2] = ["allowed_domains", "blocked_domains"];

pub(super) const fn form(dialect: &'static str, kind: &'static str) -> HostedForm {
    HostedForm { dialect, kind, name: None, settings: &[], needs: None, only_if_named: false }
}

impl HostedForm {
    pub(super) fn has(&self, key: &str) -> bool {
        self.settings.contains(&key)
    }

    pub(super) fn settings(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.settings.iter().copied()
    }

    /// What it cannot be without, and in which API.
    pub(super) fn need(&self) -> Option<(&'static str, &'static str)> {
        self.needs.map(|key| (key, self.dialect))
    }

    /// `own`: what this API alone is told. `None`: it is not given the tool.
    pub(super) fn definition(
        &self,
        settings: &Map<String, Value>,
        own: Option<&Map<String, Value>>,
    ) -> Option<Value> {
        let is_unbounded = BOUNDS.iter().any(|key| settings.contains_key(*key) && !self.has(key));
        if own.is_none() && (is_unbounded || self.only_if_named) {
            return None;
        }
        let shared = settings.iter().filter(|(key, _)| self.has(key));
        let mut told: Map<String, Value> =
            shared.map(|(key, value)| (key.clone(), value.clone())).collect();
        told.extend(own.cloned().unwrap_or_default());
        if self.needs.is_some_and(|key| !told.contains_key(key)) {
            return None;
        }
        Some(self.written(told))
    }

    fn written(&self, mut told: Map<String, Value>) -> Value {
        if [Gemini::NAME, OpenAiChat::NAME].contains(&self.dialect) {
            return json!({ self.kind: told });
        }
        if self.dialect == OpenAiResponses::NAME {
            // This API has the domains one level deeper.
            if let Some(domains) = told.remove("allowed_domains") {
                let filters = told.entry("filters").or_insert_with(|| json!({}));
                if let Value::Object(filters) = filters {
                    filters.entry("allowed_domains").or_insert(domains);
                }
            }
            if self.kind == "code_interpreter" {
                told.entry("container").or_insert_with(|| json!({ "type": "auto" }));
            }
        }
        let mut definition = Map::from_iter([("type".to_owned(), self.kind.into())]);
        definition.extend(self.name.map(|name| ("name".to_owned(), name.into())));
        definition.extend(told);
        definition.into()
    }
}
