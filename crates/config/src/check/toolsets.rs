//! Toolsets: each under a name of its own, by patterns that can match.

use std::collections::BTreeMap;

use toolcrib_core::{TOOLSET_SELECTOR, ToolsetInfo};
use toolcrib_engine::rules::{NamedToolset, PatternProblem, ToolsetNames};
use toolcrib_engine::toolsets::{ToolsetBy, ToolsetGrouping, ToolsetSplit};

use super::ConfigChecker;
use super::source::{MOST_SOURCES, is_word};
use crate::config::requirement::RequirementKind;
use crate::file::document::TomlTable;
use crate::file::toml_path::TomlPath;
use crate::raw;

/// As many as anybody keeps in mind; each tool is held against all of them.
const MOST_TOOLSETS: usize = 256;

fn top() -> TomlPath {
    TomlPath::default()
}

impl ConfigChecker<'_, '_, '_> {
    /// Reads them; from then on patterns may name them.
    pub(super) fn toolsets(
        &mut self,
        sources: &[raw::SourceTable],
        raw: &BTreeMap<String, raw::ToolsetTable>,
    ) {
        self.toolsets.stems = self.stems(sources);
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

    /// How the ids of sources with groups begin. No two begin alike, so that no two groups have one
    /// id.
    fn stems(&mut self, sources: &[raw::SourceTable]) -> Vec<String> {
        let is_grouped = |raw: &&raw::SourceTable| {
            raw.toolsets.as_ref().is_some_and(|toolsets| toolsets.by != raw::GroupingWord::None)
        };
        let grouped = sources.iter().filter(is_grouped).take(MOST_SOURCES);
        let stems: Vec<String> = grouped.map(|source| format!("{}_", source.id)).collect();
        // Sorted, what begins like another one comes behind it.
        let mut sorted: Vec<&String> = stems.iter().collect();
        sorted.sort();
        for pair in sorted.windows(2) {
            let [first, second] = pair else { continue };
            if first != second && second.starts_with(first.as_str()) {
                let (first, second) = (first.trim_end_matches('_'), second.trim_end_matches('_'));
                let message =
                    format!("toolsets of the sources `{first}` and `{second}` could have one name");
                let place = TomlPath::default().key("source");
                self.problem(&place, message, "rename one of them, as in `a-b` for `a_b`");
            }
        }
        stems
    }

    /// What is wished of the groups of a source; `None`: it has none.
    pub(super) fn grouping(
        &mut self,
        raw: &raw::ToolsetsTable,
        place: &TomlPath,
    ) -> Option<ToolsetGrouping> {
        if raw.split == Some(raw::SplitWord::Model) && !self.document().has(&top().key("model")) {
            let cure = "add a `[model]`, or write `split = \"cluster\"`";
            self.problem(&place.key("split"), "there is no model to ask", cure);
        }
        let by = match raw.by {
            raw::GroupingWord::Tag => ToolsetBy::Tag,
            raw::GroupingWord::All => ToolsetBy::All,
            raw::GroupingWord::Path => ToolsetBy::Path,
            raw::GroupingWord::Cluster => ToolsetBy::Cluster,
            raw::GroupingWord::None => return None,
        };
        let split = match raw.split {
            Some(raw::SplitWord::Cluster) | None => ToolsetSplit::Cluster,
            Some(raw::SplitWord::Model) => ToolsetSplit::Model,
            Some(raw::SplitWord::None) => ToolsetSplit::None,
        };
        let most = raw.max_tools.and_then(|most| usize::try_from(most).ok());
        Some(ToolsetGrouping { by, split, max_tools: most.unwrap_or(ToolsetGrouping::MAX_TOOLS) })
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
        let stem = self.toolsets.stems.iter().find(|stem| id.starts_with(stem.as_str()));
        if let Some(source) = stem.map(|stem| stem.trim_end_matches('_').to_owned()) {
            let message = format!("the toolsets that the source `{source}` makes begin so");
            self.problem(&place, message, "choose another name");
        }
        if raw.tools.is_empty() {
            let cure = "add `tools = [\"PATTERN\"]`, or remove it";
            self.findings.warning(&place, "no tool is in this toolset", cure);
        } else {
            self.point(&place, RequirementKind::Toolset { id: id.to_owned(), for_rules: false });
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

    /// Notes which toolsets rules go by, so that those are told which they do not.
    pub(super) fn toolsets_of_rules(&mut self, table: &TomlTable<'_>, place: &TomlPath) {
        for list in ["allow", "ask", "deny"] {
            let items = table.get(list).and_then(|item| item.get_ref().as_array());
            for (index, item) in items.into_iter().flat_map(|items| items.iter()).enumerate() {
                let words = item.get_ref().as_str().unwrap_or_default().split_whitespace();
                let ids = words.filter_map(|word| word.strip_prefix(TOOLSET_SELECTOR));
                // A glob may come to match.
                for id in ids.filter(|id| !id.contains(['*', '?'])) {
                    let thing = RequirementKind::Toolset { id: id.to_owned(), for_rules: true };
                    self.point(&place.key(list).index(index), thing);
                }
            }
        }
        let rules = table.get("rule").and_then(|item| item.get_ref().as_array());
        for (index, item) in rules.into_iter().flat_map(|rules| rules.iter()).enumerate() {
            if let Some(rule) = item.get_ref().as_table() {
                self.toolsets_of_rules(rule, &place.key("rule").index(index));
            }
        }
    }
}
