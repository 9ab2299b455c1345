//! What is outside of the file and must be there: secrets, files, folders, programs, tools.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use toolcrib_core::{Catalog, Effect, ToolName, ToolSpec};
use toolcrib_engine::rules::instead;

use crate::file::problem::ConfigProblem;
use crate::secrets::template::{
    SecretLookup, Template, TemplatePiece, TemplateResolution, UnresolvedReference,
};
use crate::settings::cluster;

/// Something that the file only names.
#[derive(Debug, Clone)]
pub(crate) struct Requirement {
    /// Where it is named; what is wrong is not known yet.
    pub(crate) at: ConfigProblem,
    pub(crate) thing: RequirementKind,
}

#[derive(Debug, Clone)]
pub(crate) enum RequirementKind {
    Secret(Template),
    /// The length of one that all replicas share; what is missing is told as of any other.
    ClusterSecret(Template),
    File(PathBuf),
    Folder(PathBuf),
    Program(PathBuf),
    Tool(ToolName),
    /// A toolset that has tools, and by which rules can go.
    Toolset {
        id: String,
        for_rules: bool,
    },
    /// A tool that is called without asking anybody, to look a call up.
    Lookup(ToolName),
}

impl Requirement {
    /// The name of a tool that the catalog does not have, or has and cannot serve for this.
    pub(crate) fn stranger(&self, catalog: &Catalog) -> Option<ConfigProblem> {
        let (name, looks_up) = match &self.thing {
            RequirementKind::Tool(name) => (name, false),
            RequirementKind::Lookup(name) => (name, true),
            RequirementKind::Toolset { id, for_rules } => {
                return self.no_toolset(id, *for_rules, catalog);
            }
            RequirementKind::Secret(_)
            | RequirementKind::ClusterSecret(_)
            | RequirementKind::File(_)
            | RequirementKind::Folder(_)
            | RequirementKind::Program(_) => {
                return None;
            }
        };
        if let Some(tool) = catalog.get(name.as_str()) {
            return if looks_up { self.no_lookup(&tool.spec) } else { None };
        }
        let known: Vec<_> =
            catalog.tools().iter().map(|listed| listed.spec.name.as_str()).collect();
        let cure = instead(name.as_str(), &known);
        // Of a large catalog nobody reads the names.
        let cure =
            if cure.len() > 200 { "see `toolcrib tools` for the names".into() } else { cure };
        Some(ConfigProblem {
            message: format!("there is no tool `{name}` now"),
            cure,
            ..self.at.clone()
        })
    }

    /// A toolset in which no tool is, or by which rules do not go.
    fn no_toolset(&self, id: &str, for_rules: bool, catalog: &Catalog) -> Option<ConfigProblem> {
        let sets = || catalog.tools().iter().flat_map(|tool| &tool.spec.toolsets);
        if let Some(found) = sets().find(|set| set.toolset.id == id) {
            return (for_rules && !found.toolset.for_rules).then(|| ConfigProblem {
                message: format!(
                    "rules do not go by `{id}`: its tools may be others with the next list"
                ),
                cure: "write `[toolset.NAME]` with the tools that are meant".to_owned(),
                ..self.at.clone()
            });
        }
        let sets = sets();
        let known: BTreeSet<&str> = sets.map(|set| set.toolset.id.as_str()).collect();
        let known: Vec<_> = known.into_iter().collect();
        let cure = instead(id, &known);
        let is_other = cure.starts_with("did you mean");
        Some(ConfigProblem {
            message: format!("no tool is in the toolset `{id}` now"),
            cure: if is_other {
                cure
            } else {
                "`toolcrib tools` lists what patterns can match".into()
            },
            ..self.at.clone()
        })
    }

    /// Why no call is looked up by this tool.
    fn no_lookup(&self, tool: &ToolSpec) -> Option<ConfigProblem> {
        let name = &tool.name;
        let (message, cure) = if tool.effect != Effect::Read {
            let message = format!("`{name}` does not only read, so no call is looked up by it");
            (message, "name one that reads, or write `effect = \"read\"` at it if it does")
        } else if !tool.enabled {
            (format!("`{name}` is switched off, so no call is looked up by it"), "enable it")
        } else if tool.approval.is_some() {
            let message = format!("`{name}` wants a person's yes, so no call is looked up by it");
            (message, "name one without `approval`")
        } else {
            return None;
        };
        Some(ConfigProblem { message, cure: cure.to_owned(), ..self.at.clone() })
    }

    /// What is missing, and what should be otherwise.
    pub(crate) fn look(
        &self,
        lookup: &dyn SecretLookup,
        problems: &mut Vec<ConfigProblem>,
        warnings: &mut Vec<ConfigProblem>,
    ) {
        let told = |message: String, cure: &str| ConfigProblem {
            message,
            cure: cure.to_owned(),
            ..self.at.clone()
        };
        match &self.thing {
            RequirementKind::Secret(template) => {
                let mut found = TemplateResolution::default();
                drop(template.resolve(lookup, &mut found));
                let gone = |gone: &UnresolvedReference| {
                    let (reason, cure) = gone.reason.split_once(": ").unwrap_or((&gone.reason, ""));
                    told(format!("`{}` {reason}", gone.reference), cure)
                };
                problems.extend(found.missing.iter().map(gone));
                for piece in template.pieces() {
                    let TemplatePiece::File { path, .. } = piece else { continue };
                    if lookup.is_open_to_others(path) {
                        let message = format!("others can read the file of `{piece}`");
                        warnings.push(told(message, "run `chmod 600` on it"));
                    }
                }
            }
            RequirementKind::ClusterSecret(template) => {
                let mut found = TemplateResolution::default();
                let secret = template.resolve(lookup, &mut found);
                let fault = cluster::too_short(&secret).filter(|_| found.missing.is_empty());
                if let Some((reason, cure)) =
                    fault.as_deref().and_then(|told| told.split_once(": "))
                {
                    problems.push(told(format!("`{}` {reason}", template.written()), cure));
                }
            }
            RequirementKind::File(path) if !path.is_file() => {
                let message = format!("there is no file `{}`", path.display());
                problems.push(told(message, "correct the path"));
            }
            RequirementKind::Folder(path) if !path.is_dir() => {
                let message = format!("there is no folder `{}`", path.display());
                problems.push(told(message, "make it, or correct the path"));
            }
            RequirementKind::Program(path) if !is_found(path, lookup) => {
                let message = format!("no program `{}` is found", path.display());
                warnings.push(told(message, "install it, or name its whole path"));
            }
            RequirementKind::File(_)
            | RequirementKind::Folder(_)
            | RequirementKind::Program(_)
            | RequirementKind::Tool(_)
            | RequirementKind::Toolset { .. }
            | RequirementKind::Lookup(_) => {}
        }
    }
}

/// Whether a program is where it is said to be, or in a folder of `PATH`.
fn is_found(program: &Path, lookup: &dyn SecretLookup) -> bool {
    if program.components().count() > 1 {
        return program.is_file();
    }
    let folders = lookup.env("PATH").unwrap_or_default();
    folders.split(':').any(|folder| Path::new(folder).join(program).is_file())
}
