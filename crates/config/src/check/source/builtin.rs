//! A source of tools that the providers of models run.

use std::collections::HashSet;

use serde_json::Map;
use toolcrib_core::{HostedTool, ToolSpec};
use toolcrib_dialect::HostedKind;
use toolcrib_engine::rules::instead;

use super::super::ConfigChecker;
use crate::config::SourceEntry;
use crate::file::toml_path::TomlPath;
use crate::raw::BuiltinValue;
use crate::settings::SourceTemplate;

impl ConfigChecker<'_, '_, '_> {
    pub(super) fn builtin(&mut self, raw: &[BuiltinValue], place: &TomlPath) -> SourceTemplate {
        if raw.is_empty() {
            let cure = "name one, write `enabled = false`, or remove the source";
            self.problem(place, "a source without tools is none", cure);
        }
        let mut seen = HashSet::new();
        let mut specs = Vec::new();
        for (index, tool) in raw.iter().enumerate() {
            let at = place.index(index);
            if !seen.insert(tool.name()) {
                let message = "this tool of the provider is there already";
                self.problem(&at, message, "remove one of them");
                continue;
            }
            specs.extend(self.hosted(tool, &at));
        }
        SourceTemplate::Builtin(specs)
    }

    fn hosted(&mut self, raw: &BuiltinValue, place: &TomlPath) -> Option<ToolSpec> {
        let (name_at, name) = match raw {
            BuiltinValue::Named(name) => (place.clone(), name),
            BuiltinValue::Table(table) => (place.key("name"), &table.name),
        };
        let Some(kind) = HostedKind::find(name) else {
            let known: Vec<_> = HostedKind::ALL.iter().map(|kind| kind.name).collect();
            let cure = match HostedKind::known_as(name) {
                Some(kind) => format!("it is called `{}` here, in every API", kind.name),
                None => instead(name, &known),
            };
            self.problem(&name_at, "no provider is known to have such a tool", cure);
            return None;
        };
        let none = Map::new();
        let (settings, local, on_demand) = match raw {
            BuiltinValue::Named(_) => (&none, None, false),
            BuiltinValue::Table(table) => (&table.settings, table.local.as_ref(), table.on_demand),
        };
        let local_at = place.key("local");
        let local = local.and_then(|local| self.tool_name(local, &local_at));
        if let Some(local) = &local {
            self.names_tool(local, &local_at);
            self.locals.push((local.clone(), local_at));
        }
        match kind.definitions(settings) {
            Ok(definitions) => kind.spec(definitions, HostedTool { local, on_demand }).ok(),
            Err(faults) => {
                for fault in faults {
                    let at = match fault.path.as_slice() {
                        [] => name_at.clone(),
                        path => path.iter().fold(place.key("settings"), |at, key| at.key(key)),
                    };
                    self.problem(&at, fault.message, fault.cure);
                }
                None
            }
        }
    }

    /// Looks whether each counterpart can be there at all: a tool of a source that is to be used,
    /// and none that a provider runs.
    pub(in crate::check) fn counterparts(&mut self, sources: &[SourceEntry]) {
        let locals = std::mem::take(&mut self.locals);
        // A source that was refused may own what seems to be nobody's.
        if !self.findings.problems.is_empty() {
            return;
        }
        let used: Vec<_> = sources.iter().filter(|entry| entry.enabled).collect();
        for (local, place) in locals {
            let fits = |entry: &&&SourceEntry| local.as_str().starts_with(&entry.stem());
            let Some(owner) = used.iter().filter(fits).max_by_key(|entry| entry.stem().len())
            else {
                let stems: Vec<_> = used.iter().map(|entry| entry.stem()).collect();
                let cure = format!(
                    "write it with the prefix of its source, as one of `{}NAME`",
                    stems.join("NAME`, `")
                );
                self.problem(&place, "no source has tools whose names begin so", cure);
                continue;
            };
            if matches!(owner.kind, SourceTemplate::Builtin(_)) {
                let message = "this is a tool of the provider too";
                let cure = "name a tool of a source that runs here";
                self.problem(&place, message, cure);
            }
        }
    }
}
