//! Names of tools: legal everywhere, readable, and no two alike.
//!
//! The name is the id of the operation, else its method and path, with `_` for every run of
//! characters other than letters and digits. It never depends on the order of the document: of
//! operations whose names fall together (also but for their case) each gets a hash of its method
//! and path behind its name, unless its id is the name as it stands.

use std::collections::HashMap;

use crate::document::text;

/// Longest name that is kept: with `github__` before it, 64 characters.
const LONGEST: usize = 56;
/// What a longer one is cut to, its hash included.
const SHORTENED: usize = 48;
const DIGITS: usize = 6;

/// What an operation is named by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OperationIdentity<'l> {
    pub(crate) id: Option<&'l str>,
    pub(crate) method: String,
    pub(crate) path: &'l str,
}

impl OperationIdentity<'_> {
    /// `METHOD /path`: no two operations share it.
    pub(crate) fn place(&self) -> String {
        format!("{} {}", self.method, self.path)
    }

    fn written(&self) -> String {
        match self.id {
            Some(id) if !words(id).is_empty() => id.to_owned(),
            _ => format!("{} {}", self.method.to_ascii_lowercase(), root_or(self.path)),
        }
    }
}

fn root_or(path: &str) -> &str {
    if words(path).is_empty() { "root" } else { path }
}

/// The names of operations, in their order.
pub(crate) fn names(operations: &[OperationIdentity<'_>]) -> Vec<String> {
    let wanted: Vec<String> = operations.iter().map(|operation| wanted(operation)).collect();
    let mut holders: HashMap<String, usize> = HashMap::new();
    for name in &wanted {
        *holders.entry(name.to_ascii_lowercase()).or_default() += 1;
    }
    // Those that keep their names come first, then the others in an order of their own.
    let mut order: Vec<(bool, String, usize)> = Vec::new();
    for (index, (operation, name)) in operations.iter().zip(&wanted).enumerate() {
        let alone = holders.get(&name.to_ascii_lowercase()) == Some(&1);
        let exact = alone || operation.id == Some(name.as_str());
        order.push((!exact, operation.place(), index));
    }
    order.sort_unstable();
    let mut taken: HashMap<String, usize> = HashMap::new();
    let mut names = vec![String::new(); operations.len()];
    for (hashed, place, index) in order {
        let Some(name) = wanted.get(index) else { continue };
        let hashes = (DIGITS..=40).step_by(2).map(|digits| shorten(name, &place, digits));
        let first = (!hashed).then(|| name.clone());
        let mut candidates = first.into_iter().chain(hashes);
        let free = candidates.find(|name| !taken.contains_key(&name.to_ascii_lowercase()));
        // Of twenty hashes of one text one is free, unless somebody broke SHA-256.
        let free = free.unwrap_or_else(|| format!("operation_{index}"));
        taken.insert(free.to_ascii_lowercase(), index);
        if let Some(slot) = names.get_mut(index) {
            *slot = free;
        }
    }
    names
}

fn wanted(operation: &OperationIdentity<'_>) -> String {
    let written = operation.written();
    let name = words(&written);
    if name.len() <= LONGEST { name } else { shorten(&name, &written, DIGITS) }
}

/// A text as a word: `issues/list-for-repo` is `issues_list_for_repo`.
pub(crate) fn words(text: &str) -> String {
    let parts = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let parts: Vec<&str> = parts.map(|part| part.trim_matches('_')).collect();
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("_")
}

/// A name cut at a word if there is one nearby, with a hash of what it stands for.
fn shorten(name: &str, of: &str, digits: usize) -> String {
    let room = SHORTENED - 1 - digits;
    let mut kept = name.get(..room).unwrap_or(name);
    if let Some(place) = kept.rfind('_').filter(|place| kept.len() < name.len() && *place > 20) {
        kept = kept.get(..place).unwrap_or(kept);
    }
    format!("{}_{}", kept.trim_end_matches('_'), text::hash(of, digits))
}

/// Names of arguments, which some model APIs bound more than others: letters, digits, `_`, `-`
/// and `.`, at most 64.
pub(crate) fn argument(wire: &str) -> String {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !wire.is_empty() && wire.len() <= 64 && wire.chars().all(legal) {
        return wire.to_owned();
    }
    let parts: Vec<&str> = wire.split(|c| !legal(c)).filter(|part| !part.is_empty()).collect();
    let name = parts.join("_");
    if name.is_empty() {
        return format!("argument_{}", text::hash(wire, DIGITS));
    }
    match name.get(..50) {
        Some(start) if name.len() > 64 => format!("{start}_{}", text::hash(wire, DIGITS)),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named<'l>(id: &'l str, path: &'l str) -> OperationIdentity<'l> {
        OperationIdentity {
            id: Some(id).filter(|id| !id.is_empty()),
            method: "GET".to_owned(),
            path,
        }
    }

    #[test]
    fn names_read_like_the_ids_they_come_from() {
        let operations = [
            named("issues/list-for-repo", "/a"),
            named("listCoreV1Namespace", "/b"),
            named("", "/users/{id}/posts"),
            named("", "/"),
            named("copilot/list-copilot-coding-agent-selected-repositories-for-organization", "/c"),
            named("Überprüfung", "/d"),
            named("日本", "/e/{f}"),
        ];
        assert_eq!(
            names(&operations),
            [
                "issues_list_for_repo",
                "listCoreV1Namespace",
                "get_users_id_posts",
                "get_root",
                "copilot_list_copilot_coding_agent_5d18d2",
                "berpr_fung",
                "get_e_f",
            ]
        );
    }

    #[test]
    fn names_that_fall_together_part_whatever_the_order() {
        let mut operations = vec![
            named("issues/list", "/a"),
            named("issues_list", "/b"),
            named("issues-list", "/c"),
            named("Issues/List", "/d"),
            named("same", "/e"),
            named("same", "/f"),
        ];
        let forwards = names(&operations);
        operations.reverse();
        let mut backwards = names(&operations);
        backwards.reverse();
        assert_eq!(forwards, backwards);
        assert_eq!(forwards[1], "issues_list");
        let different: std::collections::BTreeSet<_> = forwards.iter().collect();
        assert_eq!(different.len(), forwards.len(), "{forwards:?}");
    }
}
