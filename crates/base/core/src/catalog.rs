//! The published snapshot of all sources: immutable, indexed, swapped whole.

mod entry;
pub(crate) mod quarantine;
pub(crate) mod type_map;

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, OnceLock};

use foldhash::fast::RandomState;
use toolcrib_json::schema::{self};

pub use self::quarantine::{QuarantineReason, QuarantinedTool};
use crate::call::name::{LONGEST_NAME, SourceId, ToolName};
use crate::tool::Tool;
use crate::tool::fingerprint::Fingerprint;
use crate::tool::spec::ToolSpec;
use crate::tool::toolset::{NamedTool, Toolset, UnusableTool, owner};
pub use entry::CatalogTool;
use entry::try_to_compile;
use type_map::TypeMap;

/// Every tool there is, under its name, and those that were kept out with the reason.
///
/// Whoever holds a snapshot keeps it: a later publication changes nothing for a running request.
#[derive(Default)]
pub struct Catalog {
    tools: Vec<CatalogTool>,
    index: HashMap<ToolName, u32, RandomState>,
    quarantined: Vec<QuarantinedTool>,
    /// Names of tools that are kept out now, but whose sources had them before: nobody else's.
    reserved: HashMap<ToolName, SourceId>,
    /// How many of the tools come from sources; behind them stand those that were added.
    loaded: usize,
    /// What others computed of the tools of the sources; it goes along where one is added.
    memo: Arc<TypeMap>,
    /// What others computed of this snapshot alone.
    own: TypeMap,
    /// Sources that had not had their first chance when it was put together.
    starting: Box<[SourceId]>,
}

/// Tools of one source that are told of although it could not take them.
const MOST_ASIDE: usize = 1_000;

impl UnusableTool {
    fn kept_out(&self, source: &SourceId) -> QuarantinedTool {
        let mut spec = Arc::clone(&self.spec);
        if spec.origin.source != *source {
            Arc::make_mut(&mut spec).origin.source = source.clone();
        }
        QuarantinedTool { fingerprint: spec.fingerprint(), spec, reason: self.reason.clone() }
    }
}

/// What a snapshot takes in; what goes beyond is kept out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogBounds {
    /// Tools in all. Each source has a bound of its own, and nobody bounds the sources.
    pub tools: usize,
    /// Longest name of a tool; none has more than
    /// [`LONGEST_NAME`](crate::call::name::LONGEST_NAME).
    pub name: usize,
    /// What the schema of one may cost.
    pub schema: Arc<schema::SchemaBounds>,
}

impl Default for CatalogBounds {
    fn default() -> Self {
        Self { tools: 20_000, name: LONGEST_NAME, schema: Arc::default() }
    }
}

/// The tools of one source on their way into a snapshot.
pub struct SourceTools {
    pub source: SourceId,
    pub tools: Toolset,
    pub stale: bool,
}

/// How a snapshot is put together.
pub struct CatalogAssembly<'a> {
    /// The snapshot before: what did not change since is not compiled again.
    pub previous: &'a Catalog,
    /// Whether names stay with the sources that `previous` gave them to. While sources are still
    /// starting they do not, so that the order in which they come up decides nothing.
    pub settled: bool,
    /// Sources that have no list now and may have one soon: their names wait for them.
    pub awaited: &'a [SourceId],
    /// Those of them that have not had their first chance.
    pub starting: &'a [SourceId],
    /// May keep a tool out (pins).
    pub judge: &'a dyn Fn(&ToolSpec, Fingerprint) -> Option<QuarantineReason>,
    pub bounds: &'a CatalogBounds,
}

impl Catalog {
    /// A snapshot of one set that never changes.
    pub fn of(tools: Toolset) -> Self {
        let shelf = SourceTools { source: SourceId::code(), tools, stale: false };
        CatalogAssembly::alone(&Self::default(), &CatalogBounds::default()).assemble([shelf])
    }

    /// The same with one more tool, after all others. `None`: its name is taken, or its schema
    /// cannot be used.
    pub fn with(&self, tool: Arc<dyn Tool>) -> Option<Self> {
        if self.owner(&tool.spec().name).is_some() {
            return None;
        }
        let listed = CatalogTool::alone(tool)?;
        let mut catalog = Self {
            tools: self.tools.clone(),
            index: self.index.clone(),
            quarantined: self.quarantined.clone(),
            reserved: self.reserved.clone(),
            loaded: self.loaded,
            memo: Arc::clone(&self.memo),
            own: TypeMap::default(),
            starting: self.starting.clone(),
        };
        let place = u32::try_from(catalog.tools.len()).ok()?;
        catalog.index.insert(listed.spec.name.clone(), place);
        catalog.tools.push(listed);
        Some(catalog)
    }

    /// Sources that had not had their first chance when it was put together: a name that is not
    /// here may be one of theirs.
    pub fn starting(&self) -> &[SourceId] {
        &self.starting
    }

    /// A value made once of this snapshot with all that was added to it.
    pub(crate) fn own<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        self.own.get(T::default)
    }

    /// Whose a name is, also while its tool is kept out or waited for.
    pub fn owner(&self, name: &ToolName) -> Option<&SourceId> {
        let listed = self.get(name.as_str()).map(|listed| &listed.spec.origin.source);
        listed.or_else(|| self.reserved.get(name))
    }

    fn owned(&self) -> impl Iterator<Item = (&ToolName, &SourceId)> {
        let listed = self.loaded().iter().map(|listed| &*listed.spec);
        listed.map(|spec| (&spec.name, &spec.origin.source)).chain(&self.reserved)
    }

    /// Whether the name is that of a tool of this source that is listed, was kept out, or is waited
    /// for.
    pub fn knows(&self, name: &str, of: &SourceId) -> bool {
        let is_listed = self.get(name).is_some_and(|tool| tool.spec.origin.source == *of);
        let mut kept_out = self.quarantined.iter().map(|tool| &*tool.spec);
        is_listed
            || self.reserved.get(name) == Some(of)
            || kept_out.any(|spec| spec.name.as_str() == name && spec.origin.source == *of)
    }

    /// Whether a tool of these sources is kept out because another one has its name.
    pub fn clashes(&self, is_among: impl Fn(&SourceId) -> bool) -> bool {
        let lost =
            |tool: &&QuarantinedTool| matches!(tool.reason, QuarantineReason::NameTaken { .. });
        self.quarantined.iter().filter(lost).any(|tool| is_among(&tool.spec.origin.source))
    }

    /// Whether a name is waited for by its owner.
    pub fn reserves(&self) -> bool {
        !self.reserved.is_empty()
    }

    pub fn get(&self, name: &str) -> Option<&CatalogTool> {
        self.at(self.place(name)?)
    }

    pub(crate) fn place(&self, name: &str) -> Option<u32> {
        self.index.get(name).copied()
    }

    pub(crate) fn at(&self, place: u32) -> Option<&CatalogTool> {
        self.tools.get(place as usize)
    }

    /// In the fixed order of the sources.
    pub fn tools(&self) -> &[CatalogTool] {
        &self.tools
    }

    /// Those that come from sources, without what was added by [`Catalog::with`].
    pub fn loaded(&self) -> &[CatalogTool] {
        self.tools.get(..self.loaded).unwrap_or(&self.tools)
    }

    /// A value made once of the tools that come from sources, for as long as the snapshot lives:
    /// an index, a count.
    pub fn memo<T: Send + Sync + 'static>(&self, make: impl FnOnce(&[CatalogTool]) -> T) -> Arc<T> {
        self.memo.get(|| make(self.loaded()))
    }

    pub fn quarantined(&self) -> &[QuarantinedTool] {
        &self.quarantined
    }
}

impl<'a> CatalogAssembly<'a> {
    /// Of shelves that nobody else has a part in.
    pub fn alone(previous: &'a Catalog, bounds: &'a CatalogBounds) -> Self {
        let judge = &|_: &ToolSpec, _: Fingerprint| None;
        Self { previous, settled: false, awaited: &[], starting: &[], judge, bounds }
    }

    /// Builds a snapshot in the order of the shelves. Where two of them hold one name, it stays
    /// with its owner of before, else it goes to the earlier shelf; the other tool is quarantined.
    pub fn assemble(&self, shelves: impl IntoIterator<Item = SourceTools>) -> Catalog {
        let shelves: Vec<_> = shelves.into_iter().collect();
        let mut catalog = Catalog::default();
        // The owner of yesterday, where it still has the tool or may have it again.
        let awaited = self.previous.owned().filter(|(_, source)| self.awaited.contains(source));
        let owners: HashMap<_, _> = shelves
            .iter()
            .filter(|_| self.settled)
            .flat_map(|shelf| shelf.tools.iter().map(|tool| (&tool.spec.name, &shelf.source)))
            .filter(|(name, source)| self.previous.owner(name) == Some(source))
            .chain(awaited.filter(|_| self.settled))
            .collect();
        for shelf in &shelves {
            for shelved in shelf.tools.iter() {
                let other_owner =
                    owners.get(&shelved.spec.name).filter(|owner| **owner != &shelf.source);
                let holder = catalog.get(shelved.spec.name.as_str());
                let taken_by = holder
                    .map(|holder| owner(&holder.spec))
                    .or_else(|| other_owner.map(ToString::to_string));
                self.admit(&mut catalog, shelved, shelf, taken_by);
            }
            let aside = shelf.tools.aside().iter().take(MOST_ASIDE);
            catalog.quarantined.extend(aside.map(|aside| aside.kept_out(&shelf.source)));
        }
        catalog.loaded = catalog.tools.len();
        catalog.starting = self.starting.into();
        let kept_out = owners.into_iter().filter(|(name, _)| catalog.get(name.as_str()).is_none());
        catalog.reserved = kept_out.map(|(name, source)| (name.clone(), source.clone())).collect();
        catalog
    }

    /// A judge that panics keeps out the tool that it panicked over, and no other.
    fn judged(&self, spec: &ToolSpec, fingerprint: Fingerprint) -> Option<QuarantineReason> {
        let judging = AssertUnwindSafe(|| (self.judge)(spec, fingerprint));
        std::panic::catch_unwind(judging).unwrap_or(Some(QuarantineReason::NotJudged))
    }

    fn admit(
        &self,
        catalog: &mut Catalog,
        shelved: &NamedTool,
        from: &SourceTools,
        taken: Option<String>,
    ) {
        let mut spec = Arc::clone(&shelved.spec);
        if spec.origin.source != from.source {
            Arc::make_mut(&mut spec).origin.source = from.source.clone();
        }
        let known = self
            .previous
            .get(spec.name.as_str())
            .filter(|known| Arc::ptr_eq(&known.spec, &spec) || known.spec == spec);
        let fingerprint = known.map_or_else(|| spec.fingerprint(), |known| known.fingerprint);
        let reason = taken
            .map(|owner| QuarantineReason::NameTaken { owner })
            .or_else(|| self.beyond(catalog, &spec));
        let compiled = match (reason, known) {
            (Some(reason), _) => Err(reason),
            (None, Some(known)) => Ok(known.compiled.clone()),
            (None, None) => {
                try_to_compile(&spec.input.value(), &self.bounds.schema).map(|()| OnceLock::new())
            }
        };
        // Last, since nobody who accepts a tool could use it where something else keeps it out.
        let compiled =
            compiled.and_then(|compiled| self.judged(&spec, fingerprint).map_or(Ok(compiled), Err));
        match compiled {
            Ok(compiled) => {
                let place = u32::try_from(catalog.tools.len()).unwrap_or(u32::MAX);
                catalog.index.insert(spec.name.clone(), place);
                let (tool, stale) = (Arc::clone(&shelved.tool), from.stale);
                let within = Arc::clone(&self.bounds.schema);
                catalog.tools.push(CatalogTool {
                    spec,
                    tool,
                    compiled,
                    fingerprint,
                    stale,
                    within,
                });
            }
            Err(reason) => catalog.quarantined.push(QuarantinedTool { spec, fingerprint, reason }),
        }
    }
}

impl CatalogAssembly<'_> {
    /// Why a tool is more than the snapshot takes in, if it is.
    fn beyond(&self, catalog: &Catalog, spec: &ToolSpec) -> Option<QuarantineReason> {
        let CatalogBounds { tools, name, .. } = *self.bounds;
        if spec.name.as_str().len() > name {
            return Some(QuarantineReason::LongName { most: name });
        }
        (catalog.tools.len() >= tools).then_some(QuarantineReason::TooMany { most: tools })
    }
}
