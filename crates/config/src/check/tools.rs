//! What is changed of single tools, and who may use which.

use std::collections::BTreeMap;
use std::sync::Arc;

use toolcrib_core::{Effect, Validation, Verify};
use toolcrib_engine::selection::{AgentRules, UnlistedAgents};
use toolcrib_engine::source::{GuidanceOverride, ToolOverride};

use super::ConfigChecker;
use crate::config::{Profile, SourceEntry, agent_view};
use crate::file::toml_path::TomlPath;
use crate::import::MOST_ASSIGNED;
use crate::raw::{self, EffectWord, ValidationWord};

impl ConfigChecker<'_, '_, '_> {
    pub(super) fn overrides(
        &mut self,
        raw: &BTreeMap<String, raw::ToolTable>,
    ) -> BTreeMap<String, ToolOverride> {
        let top = TomlPath::default().key("tool");
        let mut overrides = BTreeMap::new();
        for (name, tool) in raw {
            let place = top.key(name);
            if let Some(name) = self.tool_name(name, &place) {
                self.names_tool(&name, &place);
            }
            let over = self.changes(tool, &place);
            overrides.insert(name.clone(), over);
        }
        overrides
    }

    fn changes(&mut self, raw: &raw::ToolTable, place: &TomlPath) -> ToolOverride {
        let companions = raw.companions.as_ref();
        ToolOverride {
            enabled: raw.enabled,
            exclusive: raw.exclusive,
            capability: raw.capability,
            takes_control: raw.takes_control,
            companions: companions.map(|names| self.tool_names(names, &place.key("companions"))),
            effect: raw.effect.map(Effect::from),
            idempotent: raw.idempotent,
            timeout: self.timeout(raw.timeout.as_ref(), &place.key("timeout")),
            max_result_bytes: self.size(raw.max_result.as_ref(), &place.key("max_result")),
            retries: raw.retries,
            title: raw.title.clone(),
            summary: raw.summary.clone(),
            description: raw.description.clone(),
            category: raw.category.clone(),
            actions: raw.actions.clone(),
            tags: raw.tags.clone(),
            aliases: raw.aliases.clone(),
            examples: raw.examples.clone(),
            checks: raw.checks.clone(),
            approval: raw.approval.clone(),
            verify: raw.verify.as_ref().and_then(|raw| self.verify(raw, &place.key("verify"))),
            validation: raw.validation.map(Validation::from),
            guidance: GuidanceOverride {
                system: raw.guidance.system.clone(),
                user: raw.guidance.user.clone(),
                system_format: raw.guidance.system_format.clone(),
                user_format: raw.guidance.user_format.clone(),
                reminder: raw.guidance.reminder.clone(),
            },
        }
    }

    fn verify(&mut self, raw: &raw::VerifyTable, place: &TomlPath) -> Option<Arc<Verify>> {
        let at = place.key("tool");
        let tool = self.tool_name(&raw.tool, &at)?;
        self.looks_up_by(&tool, &at);
        if !raw.at.is_empty() && !raw.at.starts_with('/') {
            let cure = "write a JSON pointer, as in `/payments/0/status`, or leave it out";
            self.problem(&place.key("at"), "this leads to no place in data", cure);
            return None;
        }
        let (arguments, at, is) = (raw.arguments.clone(), raw.at.clone(), raw.is.clone());
        Some(Arc::new(Verify { tool, arguments, at, is }))
    }

    pub(super) fn assign(
        &mut self,
        raw: &BTreeMap<String, Vec<String>>,
        unlisted: Option<raw::UnlistedWord>,
        (sources, profiles): (&[SourceEntry], &BTreeMap<String, Profile>),
    ) -> AgentRules {
        let top = TomlPath::default().key("assign");
        if raw.len() > MOST_ASSIGNED {
            let message = format!("there are more than {MOST_ASSIGNED} agents");
            self.problem(&top, message, "split the file");
            return AgentRules::default();
        }
        let stems: Vec<_> = sources.iter().map(SourceEntry::stem).collect();
        // A source that was refused may own what seems to be nobody's.
        let is_known = self.findings.problems.is_empty();
        let mut rows = BTreeMap::new();
        for (agent, names) in raw {
            let place = top.key(agent);
            let legal = self.tool_names(names, &place);
            for (index, name) in names.iter().enumerate().filter(|_| is_known) {
                if !stems.iter().any(|stem| name.starts_with(stem.as_str())) {
                    self.ownerless(&stems, &place.index(index));
                }
            }
            let view = agent_view(agent);
            if profiles.contains_key(&view) {
                let message = format!("`{view}` is the view of this agent, and a profile too");
                self.problem(&place, message, "give the profile another name");
            }
            rows.insert(agent.clone(), legal.into_iter().collect());
        }
        let unlisted = match unlisted {
            None | Some(raw::UnlistedWord::Selection) => UnlistedAgents::Selection,
            Some(raw::UnlistedWord::Nothing) => UnlistedAgents::Nothing,
        };
        AgentRules { listed: rows, unlisted }
    }

    fn ownerless(&mut self, stems: &[String], place: &TomlPath) {
        let message = "no source has tools whose names begin so";
        let cure = match stems {
            [] => "add a `[[source]]` that has it".to_owned(),
            // Of many sources nobody reads the names.
            [first, .., _] if stems.len() > 8 => {
                format!("write it with the prefix of its source, as in `{first}NAME`")
            }
            stems => format!("write it with the prefix of its source: `{}`", stems.join("`, `")),
        };
        self.findings.warning(place, message, cure);
    }
}

impl From<EffectWord> for Effect {
    fn from(word: EffectWord) -> Self {
        match word {
            EffectWord::Read => Self::Read,
            EffectWord::Write => Self::Write,
            EffectWord::Destroy => Self::Destroy,
        }
    }
}

impl From<ValidationWord> for Validation {
    fn from(word: ValidationWord) -> Self {
        match word {
            ValidationWord::Strict => Self::Strict,
            ValidationWord::Coerce => Self::Coerce,
            ValidationWord::Off => Self::Off,
        }
    }
}
