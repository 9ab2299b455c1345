//! Profiles: sources that there are, rules that permit something.

use std::collections::BTreeMap;

use toolcrib_core::{Discovery, SourceId, Validation};
use toolcrib_engine::discovery::{Approver, DiscoverySettings};
use toolcrib_engine::rules::{PatternProblem, ToolPatterns, instead};

use super::ConfigChecker;
use crate::config::Profile;
use crate::file::toml_path::TomlPath;
use crate::raw;

/// As many as anybody keeps in mind; the rules of each are read by themselves.
const MOST_PROFILES: usize = 256;

impl ConfigChecker<'_, '_, '_> {
    pub(super) fn profiles(
        &mut self,
        raw: &BTreeMap<String, raw::ProfileTable>,
    ) -> BTreeMap<String, Profile> {
        let top = TomlPath::default().key("profile");
        if raw.len() > MOST_PROFILES {
            let message = format!("there are more than {MOST_PROFILES} profiles");
            self.problem(&top, message, "split the file");
            return BTreeMap::new();
        }
        let known = self.source_names();
        let mut profiles = BTreeMap::new();
        for (name, profile) in raw {
            let place = top.key(name);
            let profile = self.profile(name, profile, &known, &place);
            profiles.insert(name.clone(), profile);
        }
        profiles
    }

    /// How tools are shown.
    pub(super) fn discovery(
        &mut self,
        mode: Option<raw::DiscoveryWord>,
        eager: &[String],
        confirm: Option<raw::ConfirmWord>,
        place: &TomlPath,
    ) -> DiscoverySettings {
        let mode = match mode {
            None | Some(raw::DiscoveryWord::Direct) => Discovery::Direct,
            Some(raw::DiscoveryWord::Lazy) => Discovery::Lazy,
            Some(raw::DiscoveryWord::Auto) => Discovery::Auto,
        };
        let confirm = match confirm {
            None | Some(raw::ConfirmWord::Person) => Approver::Person,
            Some(raw::ConfirmWord::Model) => Approver::Model,
        };
        let eager = self.toolsets.patterns(eager).unwrap_or_else(|wrong| {
            for PatternProblem { index, what, cure } in wrong {
                self.problem(&place.key("eager").index(index), what, cure);
            }
            ToolPatterns::default()
        });
        DiscoverySettings { mode, eager, confirm }
    }

    fn profile(
        &mut self,
        name: &str,
        raw: &raw::ProfileTable,
        known: &[&str],
        place: &TomlPath,
    ) -> Profile {
        let named = raw.sources.as_deref().unwrap_or_default();
        for (index, id) in named.iter().enumerate() {
            if !self.findings.is_full() && !known.contains(&id.as_str()) {
                let cure = match known {
                    [] => "add a `[[source]]` first".to_owned(),
                    known => instead(id, known),
                };
                let place = place.key("sources").index(index);
                self.problem(&place, "there is no such source", cure);
            }
        }
        if raw.max_calls == Some(0) {
            let place = place.key("max_calls");
            self.problem(&place, "nothing could run with 0", "write 1 or more");
        }
        let is_named = |key| self.document().has(&place.key(key));
        if raw.allow.is_empty()
            && raw.ask.is_empty()
            && ["allow", "ask", "deny"].iter().any(|key| is_named(key))
        {
            let message = "this profile permits no tool: what no rule matches is denied";
            self.findings.warning(place, message, "add `allow = [\"*\"]` or what it may use");
        }
        let rules = self.rules(&format!("profile `{name}`"), place);
        let discovery = self.discovery(raw.discovery, &raw.eager, raw.confirm, place);
        Profile {
            discovery,
            sources: raw.sources.as_ref().map(|ids| ids.iter().map(SourceId::new).collect()),
            rules,
            validation: raw.validate.map(Validation::from),
            max_calls: raw.max_calls.map(|most| usize::try_from(most).unwrap_or(usize::MAX)),
        }
    }
}
