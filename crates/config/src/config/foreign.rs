//! A file of another program as configuration, as it is: what is told of it has its own places.

use std::borrow::Cow;
use std::path::Path;

use serde_json::Value;

use super::requirement::{Requirement, RequirementKind};
use crate::file::problem::ConfigProblem;
use crate::import::{ImportError, import};

/// A file of another program, with what it says in our words.
pub(super) struct ForeignFile<'t> {
    text: &'t str,
    file: &'t str,
    pub(super) toml: String,
    /// The sources, in their order.
    ids: Vec<String>,
    /// What is not taken as it stands there.
    pub(super) warnings: Vec<ConfigProblem>,
}

/// A text as a `crib.toml` says it: of another program's file, by its name, in our words.
pub(super) fn own_words<'t>(text: &'t str, file: &str) -> Cow<'t, str> {
    match ForeignFile::read(text, file) {
        Some(Ok(foreign)) => Cow::Owned(foreign.toml),
        Some(Err(_)) | None => Cow::Borrowed(text),
    }
}

impl<'t> ForeignFile<'t> {
    /// `None`: by its name it is no file of another program.
    pub(super) fn read(text: &'t str, file: &'t str) -> Option<Result<Self, ConfigProblem>> {
        let ending = Path::new(file).extension()?;
        if !ending.eq_ignore_ascii_case("json") {
            return None;
        }
        let imported = match import(text, None) {
            Ok(imported) => imported,
            Err(error) => return Some(Err(refused(file, &error))),
        };
        let id = |line: &str| Some(line.strip_prefix("id = \"")?.strip_suffix('"')?.to_owned());
        let ids = imported.toml.lines().filter_map(id).collect();
        let mut foreign = Self { text, file, toml: imported.toml, ids, warnings: Vec::new() };
        let needful = imported.notes.iter().filter(|note| !note.is_remark);
        let warnings = needful.map(|note| {
            let source = note.source.as_deref();
            let (message, cure) = match &note.export {
                Some(variable) => (note.text.clone(), format!("the variable is `{variable}`")),
                None => (note.text.clone(), "`toolcrib import` shows what is made of it".into()),
            };
            foreign.problem(source.unwrap_or_default(), source.as_slice(), message, cure)
        });
        foreign.warnings = warnings.collect();
        Some(Ok(foreign))
    }

    /// Gives a problem of our words its place in the file.
    pub(super) fn place(&self, problem: &mut ConfigProblem) {
        self.place_with(problem, None);
    }

    /// The same of what the file only names.
    pub(super) fn place_requirement(&self, point: &mut Requirement) {
        let name = match &point.thing {
            RequirementKind::Tool(name) | RequirementKind::Lookup(name) => Some(name.to_string()),
            RequirementKind::Toolset { .. }
            | RequirementKind::Secret(_)
            | RequirementKind::ClusterSecret(_)
            | RequirementKind::File(_)
            | RequirementKind::Folder(_)
            | RequirementKind::Program(_) => None,
        };
        self.place_with(&mut point.at, name.as_deref());
    }

    fn place_with(&self, problem: &mut ConfigProblem, name: Option<&str>) {
        let path = std::mem::take(&mut problem.path);
        let (path, mut way) = if let Some(rest) = path.strip_prefix("assign") {
            let agent = rest.trim_start_matches(['.', '[']).trim_start_matches('"');
            let agent = agent.split(['"', '[', ']', '.']).next().unwrap_or_default();
            (format!("tool_assignment{rest}"), vec!["tool_assignment".to_owned(), agent.to_owned()])
        } else if let Some((number, rest)) =
            path.strip_prefix("source[").and_then(|rest| rest.split_once(']'))
        {
            let id = number.parse().ok().and_then(|at: usize| self.ids.get(at));
            let id = id.cloned().unwrap_or_default();
            (format!("{id}{rest}"), vec![id])
        } else {
            (path, Vec::new())
        };
        way.extend(name.map(str::to_owned));
        let way: Vec<&str> = way.iter().map(String::as_str).collect();
        *problem = self.problem(
            &path,
            &way,
            std::mem::take(&mut problem.message),
            std::mem::take(&mut problem.cure),
        );
    }

    /// A problem at the last of some words that stand behind each other.
    fn problem(&self, path: &str, way: &[&str], message: String, cure: String) -> ConfigProblem {
        let mut at = 0;
        for word in way {
            let word = Value::from(*word).to_string();
            let found = self.text.get(at..).and_then(|rest| rest.find(&word));
            let Some(found) = found else { break };
            at += found;
        }
        let before = self.text.get(..at).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |found| found + 1);
        ConfigProblem {
            file: self.file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: before.get(start..).unwrap_or_default().chars().count() + 1,
            path: path.to_owned(),
            message,
            cure,
        }
    }
}

fn refused(file: &str, error: &ImportError) -> ConfigProblem {
    let (line, column, message, cure) = match error {
        ImportError::NotJson { line, column } => {
            (*line, *column, "this is not JSON".to_owned(), "correct the syntax")
        }
        ImportError::Twice { key, line, column } => {
            let message = format!("the key `{key}` stands twice with different values");
            (*line, *column, message, "write it once")
        }
        ImportError::TooLarge | ImportError::NoServers | ImportError::TooMany(_) => {
            (1, 1, error.to_string(), "or write a `crib.toml`")
        }
    };
    let (file, cure) = (file.to_owned(), cure.to_owned());
    ConfigProblem { file, line, column, path: String::new(), message, cure }
}
