//! The published snapshot of all sources: immutable, indexed, swapped whole.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;
use toolcrib_json::schema::Schema;

use crate::fingerprint::Fingerprint;
use crate::name::{SourceId, ToolName};
use crate::spec::ToolSpec;
use crate::tool::Tool;
use crate::toolset::{Shelved, Toolset, owner};

/// Every tool there is, under its name, and those that were kept out with the reason.
///
/// Whoever holds a snapshot keeps it: a later publication changes nothing for a running request.
#[derive(Default)]
pub struct Catalog {
    tools: Vec<Listed>,
    index: HashMap<ToolName, u32>,
    quarantined: Vec<Quarantined>,
}

/// A tool of the catalog with all that is computed once.
#[derive(Clone)]
pub struct Listed {
    pub spec: Arc<ToolSpec>,
    pub tool: Arc<dyn Tool>,
    pub schema: Schema,
    pub fingerprint: Fingerprint,
    /// From the last good list of a source that does not answer now.
    pub stale: bool,
}

/// A tool that no plan shows, and why.
#[derive(Debug, Clone)]
pub struct Quarantined {
    pub spec: Arc<ToolSpec>,
    pub fingerprint: Fingerprint,
    pub reason: Quarantine,
}

/// Why a tool is kept out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(tag = "quarantine", rename_all = "snake_case")]
pub enum Quarantine {
    #[error("its name is taken by a tool of `{owner}`: prefix or rename one of them")]
    NameTaken { owner: String },
    #[error("its schema cannot be used: {problem}")]
    BadSchema { problem: String },
    #[error(
        "it is not the tool that was accepted (pinned {}, now {}): look at what changed and accept it",
        .pinned.short(), .now.short()
    )]
    Changed {
        pinned: Fingerprint,
        now: Fingerprint,
    },
    #[error("it is not among the accepted tools: accept it to use it")]
    NotPinned,
}

/// The tools of one source on their way into a snapshot.
pub struct Shelf {
    pub source: SourceId,
    pub tools: Toolset,
    pub stale: bool,
}

impl Catalog {
    /// A snapshot of one set that never changes.
    pub fn of(tools: Toolset) -> Self {
        let shelf = Shelf {
            source: SourceId::code(),
            tools,
            stale: false,
        };
        Self::assemble([shelf], &Self::default(), |_, _| None)
    }

    /// Builds a snapshot in the order of the shelves.
    ///
    /// A name that a `previous` snapshot gave to a source stays with it; a new clash goes to the
    /// earlier shelf and the other tool is quarantined. `judge` may quarantine more (pins).
    /// What did not change since `previous` is not compiled again.
    pub fn assemble(
        shelves: impl IntoIterator<Item = Shelf>,
        previous: &Self,
        judge: impl Fn(&ToolSpec, Fingerprint) -> Option<Quarantine>,
    ) -> Self {
        let mut catalog = Self::default();
        let shelves: Vec<_> = shelves.into_iter().collect();
        let present: Vec<_> = shelves
            .iter()
            .flat_map(|shelf| {
                shelf
                    .tools
                    .iter()
                    .map(|tool| (&tool.spec.name, &shelf.source))
            })
            .collect();
        // The owner of yesterday, where it still has the tool.
        let owners: HashMap<_, _> = present
            .into_iter()
            .filter(|(name, source)| previous.owner(name) == Some(source))
            .map(|(name, source)| (name.clone(), source.clone()))
            .collect();
        for shelf in shelves {
            for shelved in shelf.tools.iter() {
                let taken_by = owners
                    .get(&shelved.spec.name)
                    .filter(|id| **id != shelf.source);
                catalog.admit(shelved, &shelf, taken_by, previous, &judge);
            }
        }
        catalog
    }

    fn admit(
        &mut self,
        shelved: &Shelved,
        shelf: &Shelf,
        taken_by: Option<&SourceId>,
        previous: &Self,
        judge: &impl Fn(&ToolSpec, Fingerprint) -> Option<Quarantine>,
    ) {
        let mut spec = Arc::clone(&shelved.spec);
        if spec.origin.source != shelf.source {
            Arc::make_mut(&mut spec).origin.source = shelf.source.clone();
        }
        let known = previous
            .get(spec.name.as_str())
            .filter(|known| Arc::ptr_eq(&known.spec, &spec) || known.spec == spec);
        let fingerprint = known.map_or_else(|| spec.fingerprint(), |known| known.fingerprint);
        let holder = self
            .get(spec.name.as_str())
            .map(|holder| owner(&holder.spec));
        let reason = holder
            .or_else(|| taken_by.map(ToString::to_string))
            .map(|owner| Quarantine::NameTaken { owner })
            .or_else(|| judge(&spec, fingerprint));
        let compiled = match (reason, known) {
            (Some(reason), _) => Err(reason),
            (None, Some(known)) => Ok(known.schema.clone()),
            (None, None) => Schema::compile(&spec.input).map_err(|error| Quarantine::BadSchema {
                problem: error.to_string(),
            }),
        };
        match compiled {
            Ok(schema) => {
                let place = u32::try_from(self.tools.len()).unwrap_or(u32::MAX);
                self.index.insert(spec.name.clone(), place);
                let tool = Arc::clone(&shelved.tool);
                let stale = shelf.stale;
                self.tools.push(Listed {
                    spec,
                    tool,
                    schema,
                    fingerprint,
                    stale,
                });
            }
            Err(reason) => self.quarantined.push(Quarantined {
                spec,
                fingerprint,
                reason,
            }),
        }
    }

    fn owner(&self, name: &ToolName) -> Option<&SourceId> {
        self.get(name.as_str())
            .map(|listed| &listed.spec.origin.source)
    }

    pub fn get(&self, name: &str) -> Option<&Listed> {
        self.at(self.place(name)?)
    }

    pub(crate) fn place(&self, name: &str) -> Option<u32> {
        self.index.get(name).copied()
    }

    pub(crate) fn at(&self, place: u32) -> Option<&Listed> {
        self.tools.get(place as usize)
    }

    /// In the fixed order of the sources.
    pub fn tools(&self) -> &[Listed] {
        &self.tools
    }

    pub fn quarantined(&self) -> &[Quarantined] {
        &self.quarantined
    }
}
