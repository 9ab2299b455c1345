//! Toolsets: each under a name of its own, by patterns that can match.

use std::collections::BTreeMap;

use toolcrib_core::ToolsetInfo;
use toolcrib_engine::rules::{NamedToolset, PatternProblem, ToolsetNames};

use super::ConfigChecker;
use super::source::is_word;
use crate::config::requirement::RequirementKind;
use crate::file::toml_path::TomlPath;
use crate::raw;

/// As many as anybody keeps in mind; each tool is held against all of them.
const MOST_TOOLSETS: usize = 256;

impl ConfigChecker<'_, '_, '_> {
    /// Reads them; from then on patterns may name them.
    pub(super) fn toolsets(&mut self, raw: &BTreeMap<String, raw::ToolsetTable>) {
        let top = TomlPath::default().key("toolset");
        if raw.len() > MOST_TOOLSETS {
            let message = format!("there are more than {MOST_TOOLSETS} toolsets");
            self.problem(&top, message, "let sources group their tools: `toolsets`");
            return;
        }
        let withheld = raw.keys().cloned().collect();
        let known = ToolsetNames { withheld, ..self.toolsets.clone() };
        let mut named = Vec::new();
        for (id, table) in raw {
            named.extend(self.toolset(id, table, &known));
        }
        self.toolsets.named = named;
    }

    fn toolset(
        &mut self,
        id: &str,
        raw: &raw::ToolsetTable,
        known: &ToolsetNames,
    ) -> Option<NamedToolset> {
        let place = TomlPath::default().key("toolset").key(id);
        if !is_word(id, 64) {
            let cure = "use 1 to 64 letters, digits, `_` and `-`";
            self.problem(&place, "this cannot name a toolset", cure);
            return None;
        }
        if raw.tools.is_empty() {
            let cure = "add `tools = [\"PATTERN\"]`, or remove it";
            self.findings.warning(&place, "no tool is in this toolset", cure);
        } else {
            self.point(&place, RequirementKind::Toolset(id.to_owned()));
        }
        let toolset = ToolsetInfo {
            id: id.to_owned(),
            title: raw.title.clone().unwrap_or_else(|| id.to_owned()),
            summary: raw.summary.clone().unwrap_or_default(),
            for_rules: true,
            ..ToolsetInfo::default()
        };
        match NamedToolset::new(toolset.clone(), &raw.tools, known) {
            Ok(named) => Some(named),
            Err(wrong) => {
                for PatternProblem { index, what, cure } in wrong {
                    self.problem(&place.key("tools").index(index), what, cure);
                }
                // There is a set of this name, so that whoever names it has no second fault.
                NamedToolset::new(toolset, &[], known).ok()
            }
        }
    }
}
