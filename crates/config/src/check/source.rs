//! Sources: each of one kind, each under its own name.

mod a2a;
mod api;
mod builtin;
mod desk;
mod mcp;

use std::collections::{HashMap, HashSet, VecDeque};

use toolcrib_core::{SourceId, Validation};
use toolcrib_engine::rules::{Glob, instead};
use toolcrib_engine::source::wants;
use toolcrib_openapi::{Grouping, OperationFilter};

use super::ConfigChecker;
use crate::build::BASICS;
use crate::config::SourceEntry;
use crate::file::schema_check::shown;
use crate::file::toml_path::TomlPath;
use crate::raw::{self, BasicsValue, GroupingWord};
use crate::settings::SourceTemplate;

/// The kinds of a source, of which one has exactly one.
const KINDS: [&str; 6] = ["mcp", "openapi", "a2a", "basics", "desk", "builtin"];

/// As many as one process can hold connections to.
pub(super) const MOST_SOURCES: usize = 1000;

/// Longest pattern of `include` and `exclude`, in bytes.
const LONGEST_PATTERN: usize = 256;

impl<'d, 't: 'd> ConfigChecker<'_, 'd, 't> {
    /// The entries of the file in their order. What the shape left out is not among them, so
    /// places are looked up by the names.
    pub(super) fn sources(&mut self, raw: &[raw::SourceTable]) -> Vec<SourceEntry> {
        if raw.len() > MOST_SOURCES {
            let message = format!("there are more than {MOST_SOURCES} sources");
            self.problem(&TomlPath::default().key("source"), message, "split the file");
        }
        let mut places = self.places();
        let mut taken = HashSet::new();
        let mut entries = Vec::new();
        for source in raw.iter().take(MOST_SOURCES) {
            let Some(named) = places.get_mut(source.id.as_str()) else { continue };
            let Some(index) = named.pop_front() else { continue };
            let place = TomlPath::default().key("source").index(index);
            if !taken.insert(&source.id) {
                let message = format!("there is a source `{}` already", shown(&source.id));
                self.problem(&place.key("id"), message, "rename one of them");
            }
            entries.extend(self.source(source, &place));
        }
        entries
    }

    /// Where the sources of each name stand in the file.
    fn places(&self) -> HashMap<&'d str, VecDeque<usize>> {
        let mut places: HashMap<_, VecDeque<_>> = HashMap::new();
        for (index, name) in self.named() {
            places.entry(name).or_default().push_back(index);
        }
        places
    }

    fn named(&self) -> impl Iterator<Item = (usize, &'d str)> + use<'d> {
        let list = self.document().table().get("source").and_then(|item| item.get_ref().as_array());
        let items = list.into_iter().flat_map(|list| list.iter()).enumerate();
        items.filter_map(|(index, item)| {
            Some((index, item.get_ref().get("id")?.get_ref().as_str()?))
        })
    }

    /// The names of all sources, also of those that are wrong otherwise.
    pub(super) fn source_names(&self) -> Vec<&'d str> {
        self.named().take(MOST_SOURCES).map(|(_, name)| name).collect()
    }

    fn source(&mut self, raw: &raw::SourceTable, place: &TomlPath) -> Option<SourceEntry> {
        self.id(&raw.id, &place.key("id"));
        self.prefix(raw, place);
        for (key, patterns) in [("include", &raw.include), ("exclude", &raw.exclude)] {
            for (index, pattern) in patterns.iter().enumerate() {
                self.pattern(pattern, &place.key(key).index(index));
            }
        }
        let timeout = self.timeout(raw.timeout.as_ref(), &place.key("timeout"));
        let grouping = raw.toolsets.as_ref();
        let grouping = grouping.and_then(|raw| self.grouping(raw, &place.key("toolsets")));
        let enabled = raw.enabled.unwrap_or(true);
        let needed = self.points.len();
        let kind = self.kind(raw, place);
        if !enabled {
            // What is left out needs nothing.
            self.points.truncate(needed);
        }
        let mut kind = kind?;
        if let (SourceTemplate::Mcp(server), Some(time)) = (&mut kind, timeout) {
            server.plain.timeouts.list = time;
        }
        Some(SourceEntry {
            id: SourceId::new(&raw.id),
            enabled,
            prefix: raw.prefix.clone().unwrap_or_else(|| raw.id.clone()),
            include: raw.include.clone(),
            exclude: raw.exclude.clone(),
            validation: raw.validate.map(Validation::from),
            timeout,
            grouping,
            kind,
        })
    }

    fn id(&mut self, id: &str, place: &TomlPath) {
        if !is_word(id, 64) {
            let cure = "use 1 to 64 letters, digits, `_` and `-`";
            self.problem(place, "this cannot name a source", cure);
        } else if id == "code" {
            let cure = "choose another name";
            self.problem(place, "`code` is the name of the host's own tools", cure);
        }
    }

    fn prefix(&mut self, raw: &raw::SourceTable, place: &TomlPath) {
        let Some(prefix) = &raw.prefix else { return };
        if !prefix.is_empty() && !is_word(prefix, 64) {
            let cure = "use up to 64 letters, digits, `_` and `-`, or `\"\"` for none";
            self.problem(&place.key("prefix"), "this cannot stand before a name", cure);
        }
    }

    fn pattern(&mut self, pattern: &str, place: &TomlPath) {
        let stray = |letter: char| !letter.is_ascii_alphanumeric() && !"_.:/-*?".contains(letter);
        if pattern.is_empty() || pattern.len() > LONGEST_PATTERN || pattern.contains(stray) {
            let cure = "use letters, digits, `_ . : / -`, `*` and `?`";
            self.problem(place, "no tool can have such a name", cure);
        }
    }

    /// What the source is; `None` if that is not right.
    fn kind(&mut self, raw: &raw::SourceTable, place: &TomlPath) -> Option<SourceTemplate> {
        let said: Vec<_> =
            KINDS.into_iter().filter(|kind| self.document().has(&place.key(kind))).collect();
        match said.as_slice() {
            [_] => {}
            // What is meant may be written wrong: that was told already.
            [] if self.findings.is_wrong(place) => return None,
            [] => {
                let cure = format!("add one of `{}`", KINDS.join("`, `"));
                self.problem(place, "the source says nothing of where its tools are", cure);
            }
            [_, second, ..] => {
                let message =
                    format!("a source is one thing, and this is `{}`", said.join("` and `"));
                self.problem(&place.key(second), message, "make two sources of it");
                return None;
            }
        }
        let by = raw.toolsets.as_ref().map(|toolsets| toolsets.by);
        let grouping = if by == Some(GroupingWord::None) { Grouping::None } else { Grouping::Tag };
        if let Some(mcp) = &raw.mcp {
            self.server(mcp, &place.key("mcp")).map(|server| SourceTemplate::Mcp(Box::new(server)))
        } else if let Some(openapi) = &raw.openapi {
            let mut api = self.api(openapi, grouping, &place.key("openapi"))?;
            api.plain.pick = pick(raw);
            Some(SourceTemplate::OpenApi(Box::new(api)))
        } else if let Some(a2a) = &raw.a2a {
            let agent = self.remote_agent(a2a, &place.key("a2a"));
            agent.map(|agent| SourceTemplate::A2a(Box::new(agent)))
        } else if let Some(desk) = &raw.desk {
            self.desk(desk, &place.key("desk")).map(|desk| SourceTemplate::Desk(Box::new(desk)))
        } else if let Some(builtin) = &raw.builtin {
            Some(self.builtin(builtin, &place.key("builtin")))
        } else {
            self.basics(raw.basics.as_ref()?, &place.key("basics"))
        }
    }

    fn basics(&mut self, raw: &BasicsValue, place: &TomlPath) -> Option<SourceTemplate> {
        let known: Vec<_> = BASICS.iter().map(|shelved| shelved.spec.name.as_str()).collect();
        match raw {
            BasicsValue::All(true) => {
                Some(SourceTemplate::Basics(known.into_iter().map(str::to_owned).collect()))
            }
            BasicsValue::All(false) => {
                let cure = "write `enabled = false`, or remove the source";
                self.problem(place, "a source without tools is none", cure);
                None
            }
            BasicsValue::Named(names) => {
                for (index, name) in names.iter().enumerate() {
                    if !known.contains(&name.as_str()) {
                        let message = "there is no such tool among the basic ones";
                        self.problem(&place.index(index), message, instead(name, &known));
                    }
                }
                Some(SourceTemplate::Basics(names.clone()))
            }
        }
    }
}

/// What the source takes of its operations, so that the others cost nothing.
fn pick(raw: &raw::SourceTable) -> OperationFilter {
    if raw.include.is_empty() && raw.exclude.is_empty() {
        return OperationFilter::default();
    }
    let globs = |patterns: &[String]| -> Vec<Glob> {
        patterns.iter().map(|pattern| Glob::new(pattern)).collect()
    };
    let (include, exclude) = (globs(&raw.include), globs(&raw.exclude));
    OperationFilter::new(raw.include.clone(), raw.exclude.clone(), move |name: &str| {
        wants(&include, &exclude, name)
    })
}

pub(super) fn is_word(text: &str, longest: usize) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    !text.is_empty() && text.len() <= longest && text.bytes().all(letter)
}
