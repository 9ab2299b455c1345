//! Tools that do not say what a call of them does, and what their words let one propose.
//!
//! A wrong `read` runs without a question: whatever is doubtful proposes nothing, and the safe
//! guess stays. `name`, `description` and `fields` judge one thing each, by the words of `verbs`;
//! [`write()`] puts what a person accepted into the file.

mod description;
mod fields;
mod name;
mod verbs;
mod write;

use std::collections::BTreeMap;

use serde::Serialize;
use toolcrib_core::{Catalog, Effect, QuarantineReason, SourceId, ToolName, ToolSpec};

use self::name::{DescriptionOpening, NameEvidence};
pub use self::write::{EffectWriteError, write};

/// A tool that declares nothing of its effect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UndeclaredTool {
    pub tool: ToolName,
    pub source: SourceId,
    /// What is assumed.
    pub assumed: Effect,
    /// What it seems to do; `None`: that cannot be told.
    pub proposal: Option<Effect>,
    /// Why that is proposed, or why nothing is.
    pub because: String,
}

/// The listed tools that declare nothing of their effect, with what may be proposed for each, in
/// the order of the catalog. `owners`: the sources that may have a tool of such a name, of which
/// those in `looked_at` have given their list.
pub fn undeclared(
    catalog: &Catalog,
    looked_at: &[SourceId],
    owners: impl Fn(&str) -> Vec<SourceId>,
) -> Vec<UndeclaredTool> {
    let listed = catalog.tools().iter().filter(|tool| tool.spec.origin.undeclared);
    let judged = listed.map(|tool| {
        let spec = &*tool.spec;
        let others = owners(spec.name.as_str());
        let unseen = others.iter().find(|owner| !looked_at.contains(owner));
        let (proposal, because) = match (shared(catalog, spec), unseen) {
            (Some(other), _) => {
                let because =
                    format!("`{other}` has a tool of this name, for which it would hold too");
                (None, because)
            }
            (None, Some(unseen)) => {
                let because =
                    format!("`{unseen}` may have a tool of this name, and was not looked at");
                (None, because)
            }
            (None, None) => proposal(spec),
        };
        UndeclaredTool {
            tool: spec.name.clone(),
            source: spec.origin.source.clone(),
            assumed: spec.effect,
            proposal,
            because,
        }
    });
    judged.collect()
}

/// Another source whose tool has the same name: the file says things of names.
fn shared<'a>(catalog: &'a Catalog, spec: &ToolSpec) -> Option<&'a SourceId> {
    let kept_out = catalog.quarantined().iter();
    let mut others = kept_out
        .filter(|tool| matches!(tool.reason, QuarantineReason::NameTaken { .. }))
        .filter(|tool| tool.spec.name == spec.name)
        .map(|tool| &tool.spec.origin.source);
    others.find(|source| **source != spec.origin.source)
}

/// What the words of a tool let one propose, and why; or why nothing.
pub fn proposal(spec: &ToolSpec) -> (Option<Effect>, String) {
    let name = at_home(spec);
    let (word, if_said) = match name::told(name, spec.origin.source.as_str()) {
        NameEvidence::Reads { word, if_said } => (word, if_said),
        NameEvidence::Destroys(word) => {
            return (Some(Effect::Destroy), format!("its name has `{word}`"));
        }
        NameEvidence::Nothing(because) => return (None, because),
    };
    match doubt(spec, name, (word, if_said)) {
        Some(because) => (None, because),
        None => (
            Some(Effect::Read),
            format!("its name has `{word}`, and nothing of it speaks of a change"),
        ),
    }
}

/// Why a tool whose name tells of reading may do more all the same.
fn doubt(
    spec: &ToolSpec,
    name: &str,
    (word, wanted): (&str, DescriptionOpening),
) -> Option<String> {
    let title = spec.title.as_deref().unwrap_or_default();
    if let Some(word) = name::change(title) {
        return Some(format!("its title has `{word}`"));
    }
    if let Some(because) = description::change(&spec.description) {
        return Some(because);
    }
    let first = description::first_read(&spec.description);
    let is_said = match wanted {
        DescriptionOpening::Anything => true,
        DescriptionOpening::Reading => first.is_some(),
        DescriptionOpening::Same => first == Some(word),
    };
    if !is_said {
        return Some(
            "neither its name nor its description begins with a word of reading".to_owned(),
        );
    }
    let said = format!("{name} {}", spec.description);
    let speaks_of =
        |words: &[&str]| name::words(&said).iter().any(|word| words.contains(&word.as_str()));
    if word == "fetch" && speaks_of(&["git", "origin", "refs", "remote", "remotes"]) {
        return Some("it may fetch what a repository then has".to_owned());
    }
    fields::doubt(&spec.input.value(), &said)
        .or_else(|| fields::doubt_of_result(&spec.output.as_ref()?.value()))
}

/// Its name at its source, without what the file puts before it.
fn at_home(spec: &ToolSpec) -> &str {
    match &spec.origin.name {
        Some(name) => name,
        None => spec.name.as_str(),
    }
}

/// What is told of sources whose tools declare nothing, a line for each.
pub fn told_of_undeclared(catalog: &Catalog) -> Vec<String> {
    let mut counts: BTreeMap<&SourceId, (usize, usize)> = BTreeMap::new();
    for tool in catalog.tools().iter().filter(|tool| tool.spec.enabled) {
        let (silent, all) = counts.entry(&tool.spec.origin.source).or_default();
        *silent += usize::from(tool.spec.origin.undeclared);
        *all += 1;
    }
    let silent = counts.into_iter().filter(|(_, (silent, _))| *silent > 0);
    silent.map(|(source, (silent, all))| line(source, silent, all)).collect()
}

fn line(source: &SourceId, silent: usize, all: usize) -> String {
    let (declare, are) = if silent == 1 { ("declares", "is") } else { ("declare", "are") };
    format!(
        "{silent} of the {all} tools of `{source}` {declare} nothing of what a call does, and {are} \
         taken for what may destroy: `toolcrib effects {source}` proposes what to say of them"
    )
}
