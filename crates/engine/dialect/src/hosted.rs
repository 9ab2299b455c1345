//! Tools that the providers of models run themselves: what each API calls them, and what a reply
//! tells of their work.
//!
//! The APIs: <https://platform.openai.com/docs/guides/tools>,
//! <https://platform.claude.com/docs/en/agents-and-tools/tool-use/server-tools>,
//! <https://ai.google.dev/gemini-api/docs/tools>.

pub(crate) mod calls;
mod forms;

use serde_json::{Map, Value};
use toolcrib_core::{Effect, HostedTool, InvalidName, ToolName, ToolSpec, messages};

use crate::{Anthropic, Gemini, NAMES, OpenAiChat, OpenAiResponses};
use forms::{HostedForm, form};

/// A tool that providers run, under the name that it has here.
#[derive(Debug)]
pub struct HostedKind {
    pub name: &'static str,
    /// What it does, as a sentence.
    pub summary: &'static str,
    pub effect: Effect,
    /// What it has in each API.
    forms: &'static [HostedForm],
    /// Other names of it, by which people look for it.
    known_as: &'static [&'static str],
}

/// A setting that cannot be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostedFault {
    /// The keys that lead to it within the settings; none: the tool as a whole.
    pub path: Vec<String>,
    pub message: String,
    pub cure: String,
}

/// Of Anthropic the first version that needs no other tool beside it; a table of the settings may
/// name another `type`.
const ALL: &[HostedKind] = &[
    HostedKind {
        name: "web_search",
        summary: "Searches the web.",
        effect: Effect::Read,
        known_as: &["google_search", "web_search_preview", "googleSearch", "web_search_options"],
        forms: &[
            HostedForm {
                settings: &[
                    "search_context_size",
                    "user_location",
                    "filters",
                    "allowed_domains",
                    "external_web_access",
                ],
                ..form(OpenAiResponses::NAME, "web_search")
            },
            HostedForm {
                name: Some("web_search"),
                settings: &["max_uses", "allowed_domains", "blocked_domains", "user_location"],
                ..form(Anthropic::NAME, "web_search_20250305")
            },
            form(Gemini::NAME, "googleSearch"),
            HostedForm { only_if_named: true, ..form(OpenAiChat::NAME, "web_search_options") },
        ],
    },
    HostedKind {
        name: "web_fetch",
        summary: "Reads pages and files at addresses on the web.",
        effect: Effect::Read,
        known_as: &["url_context", "urlContext"],
        forms: &[
            HostedForm {
                name: Some("web_fetch"),
                settings: &[
                    "max_uses",
                    "allowed_domains",
                    "blocked_domains",
                    "citations",
                    "max_content_tokens",
                ],
                ..form(Anthropic::NAME, "web_fetch_20250910")
            },
            form(Gemini::NAME, "urlContext"),
        ],
    },
    HostedKind {
        name: "code_interpreter",
        summary: "Writes and runs code in a closed container of the provider.",
        effect: Effect::Write,
        known_as: &["code_execution", "codeExecution", "python"],
        forms: &[
            HostedForm {
                settings: &["container"],
                ..form(OpenAiResponses::NAME, "code_interpreter")
            },
            HostedForm {
                name: Some("code_execution"),
                ..form(Anthropic::NAME, "code_execution_20250825")
            },
            form(Gemini::NAME, "codeExecution"),
        ],
    },
    HostedKind {
        name: "file_search",
        summary: "Searches files that were given to the provider.",
        effect: Effect::Read,
        known_as: &["fileSearch", "retrieval"],
        forms: &[
            HostedForm {
                settings: &["vector_store_ids", "max_num_results", "ranking_options", "filters"],
                needs: Some("vector_store_ids"),
                ..form(OpenAiResponses::NAME, "file_search")
            },
            HostedForm {
                settings: &["fileSearchStoreNames", "metadataFilter", "topK"],
                needs: Some("fileSearchStoreNames"),
                ..form(Gemini::NAME, "fileSearch")
            },
        ],
    },
    HostedKind {
        name: "image_generation",
        summary: "Draws an image, or changes one.",
        effect: Effect::Write,
        known_as: &["dalle", "gpt-image"],
        forms: &[HostedForm {
            settings: &[
                "action",
                "background",
                "input_fidelity",
                "model",
                "moderation",
                "output_compression",
                "output_format",
                "quality",
                "size",
            ],
            ..form(OpenAiResponses::NAME, "image_generation")
        }],
    },
    HostedKind {
        name: "google_maps",
        summary: "Looks places up on the maps of Google.",
        effect: Effect::Read,
        known_as: &["googleMaps", "maps"],
        forms: &[HostedForm { settings: &["enableWidget"], ..form(Gemini::NAME, "googleMaps") }],
    },
];

impl HostedKind {
    /// All of them.
    pub const ALL: &'static [Self] = ALL;

    pub fn find(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().find(|kind| kind.name == name)
    }

    /// The one that some API calls so.
    pub fn known_as(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().find(|kind| kind.known_as.contains(&name))
    }

    /// The dialects that have it, by their names.
    pub fn dialects(&self) -> impl Iterator<Item = &'static str> {
        self.forms.iter().map(|form| form.dialect)
    }

    /// Its definitions by dialect. A setting goes to each API that has it; what stands in a table
    /// of the name of a dialect goes to that API alone, whatever it is.
    ///
    /// # Errors
    /// Every setting that no API is known to have, and what is missing.
    pub fn definitions(
        &self,
        settings: &Map<String, Value>,
    ) -> Result<Map<String, Value>, Vec<HostedFault>> {
        let mut faults = Vec::new();
        for (key, value) in settings {
            faults.extend(self.fault(key, value));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let written = self.forms.iter().filter_map(|form| {
            let own = settings.get(form.dialect).and_then(Value::as_object);
            Some((form.dialect.to_owned(), form.definition(settings, own)?))
        });
        let written: Map<String, Value> = written.collect();
        if written.is_empty() { Err(vec![self.nowhere()]) } else { Ok(written) }
    }

    /// The tool with these definitions.
    ///
    /// # Errors
    /// Never: its name is one.
    pub fn spec(
        &self,
        definitions: Map<String, Value>,
        hosted: HostedTool,
    ) -> Result<ToolSpec, InvalidName> {
        let name = ToolName::new(self.name)?;
        let mut spec = ToolSpec::named(name, messages::on_demand(self.summary), self.effect);
        self.summary.clone_into(&mut spec.summary);
        spec.summary = spec.summary.trim_end_matches('.').to_owned();
        spec.aliases = self.known_as.iter().map(|name| (*name).to_owned()).collect();
        // What is called is the function in its place, which does nothing but to ask for it.
        spec.idempotent = true;
        spec.traits.capability = true;
        spec.builtin = definitions;
        spec.hosted = Some(hosted.into());
        Ok(spec)
    }

    fn fault(&self, key: &str, value: &Value) -> Option<HostedFault> {
        let fault = |message: String, cure: String| {
            Some(HostedFault { path: vec![key.to_owned()], message, cure })
        };
        if NAMES.contains(&key) {
            if !self.dialects().any(|dialect| dialect == key) {
                let those: Vec<_> = self.dialects().collect();
                let message = format!("the API `{key}` has no `{}`", self.name);
                return fault(message, format!("remove it: `{}` have it", those.join("`, `")));
            }
            let cure = format!("write a table of what `{key}` is told: `{key} = {{ .. }}`");
            return if value.is_object() { None } else { fault("no table".to_owned(), cure) };
        }
        if self.forms.iter().any(|form| form.has(key)) {
            return None;
        }
        let known: Vec<_> = self.forms.iter().flat_map(HostedForm::settings).collect();
        let cure = match known.as_slice() {
            [] => String::new(),
            known => format!("it has `{}`; ", known.join("`, `")),
        };
        let first = self.dialects().next().unwrap_or_default();
        let cure = format!(
            "{cure}what only one API knows is written under its name, as in `{first} = {{ {key} = \
             .. }}`"
        );
        fault(format!("no API is known to have this setting of `{}`", self.name), cure)
    }

    fn nowhere(&self) -> HostedFault {
        let needs = self.forms.iter().filter_map(HostedForm::need);
        let needs: Vec<_> =
            needs.map(|(key, dialect)| format!("`{key}` for `{dialect}`")).collect();
        HostedFault {
            path: Vec::new(),
            message: format!("no API can have `{}` with these settings", self.name),
            cure: format!("add to `settings` {}", needs.join(", or ")),
        }
    }
}
