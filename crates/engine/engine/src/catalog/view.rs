//! What there is of all sources, or of some of them as if there were no others: names need to be
//! distinct only among what somebody is shown.

use std::collections::BTreeSet;
use std::ops::BitOrAssign;
use std::sync::Arc;

use arc_swap::ArcSwap;
use toolcrib_core::{
    Catalog, CatalogAssembly, CatalogBounds, Fingerprint, QuarantineReason, ResourceCatalog,
    ResourceKind, SourceId, SourceResources, ToolSpec,
};

use super::state::TrackedSource;

/// Snapshots that follow their sources.
#[derive(Default)]
pub struct CatalogView {
    /// `None`: all there are.
    of: Option<BTreeSet<SourceId>>,
    catalog: ArcSwap<Catalog>,
    stock: ArcSwap<ResourceCatalog>,
}

/// What snapshots are made of.
pub(super) struct SnapshotInputs<'a> {
    pub(super) sources: &'a [Arc<TrackedSource>],
    /// Whether names stay with who has them.
    pub(super) settled: bool,
    pub(super) judge:
        &'a (dyn Fn(&ToolSpec, Fingerprint) -> Option<QuarantineReason> + Send + Sync),
    pub(super) bounds: &'a CatalogBounds,
}

/// What a snapshot says otherwise than the one before.
#[derive(Default)]
pub(super) struct CatalogChanges {
    pub(super) tools: bool,
    pub(super) prompts: bool,
    pub(super) resources: bool,
}

impl BitOrAssign for CatalogChanges {
    fn bitor_assign(&mut self, other: Self) {
        self.tools |= other.tools;
        self.prompts |= other.prompts;
        self.resources |= other.resources;
    }
}

impl CatalogView {
    /// One that begins with the names that the sources have among all.
    pub(super) fn of(sources: BTreeSet<SourceId>, whole: &Self) -> Self {
        let (catalog, stock) = (whole.catalog().into(), whole.stock().into());
        Self { of: Some(sources), catalog, stock }
    }

    pub(super) fn is_of(&self, sources: &BTreeSet<SourceId>) -> bool {
        self.of.as_ref() == Some(sources)
    }

    pub(crate) fn has(&self, source: &SourceId) -> bool {
        self.of.as_ref().is_none_or(|of| of.contains(source))
    }

    /// The snapshot of now. It may hold tools of other sources too, beside all of these: policy
    /// hides them.
    pub fn catalog(&self) -> Arc<Catalog> {
        self.catalog.load_full()
    }

    /// What there is beside tools now.
    pub fn stock(&self) -> Arc<ResourceCatalog> {
        self.stock.load_full()
    }

    /// Puts the lists of now together. `whole`: the snapshots of all sources, that before and that
    /// of now.
    pub(super) fn publish(
        &self,
        lists: &SnapshotInputs<'_>,
        whole: Option<(&Arc<Catalog>, &Arc<Catalog>)>,
    ) -> CatalogChanges {
        let before = self.catalog();
        let catalog = match whole {
            None => Arc::new(self.assemble(&before, lists)),
            Some((old, new)) => self.cut(&before, lists, (old, new)),
        };
        // Who looks at all hears of what all have.
        let is_whole = whole.is_some_and(|(_, new)| Arc::ptr_eq(&catalog, new));
        let tools = !is_whole && !says_the_same(&before, &catalog);
        self.catalog.store(catalog);
        CatalogChanges { tools, ..self.publish_stock(lists) }
    }

    /// The snapshot of all does where no tool of these sources lost its name, so that most windows
    /// share it with its index. One that was another stays so for as long as names are contested in
    /// it: they would go by what became of them among all.
    fn cut(
        &self,
        before: &Arc<Catalog>,
        lists: &SnapshotInputs<'_>,
        (old, new): (&Arc<Catalog>, &Arc<Catalog>),
    ) -> Arc<Catalog> {
        let is_served = !new.clashes(|source| self.has(source));
        if is_served && Arc::ptr_eq(before, old) {
            return Arc::clone(new);
        }
        let own = self.assemble(before, lists);
        let is_contested = own.clashes(|_| true) || own.reserves();
        if is_served && !is_contested { Arc::clone(new) } else { Arc::new(own) }
    }

    fn sources<'a>(
        &self,
        lists: &SnapshotInputs<'a>,
    ) -> impl Iterator<Item = &'a Arc<TrackedSource>> {
        lists.sources.iter().filter(|source| self.has(&source.id))
    }

    fn assemble(&self, previous: &Catalog, lists: &SnapshotInputs<'_>) -> Catalog {
        let without = self.sources(lists).filter(|source| source.absent().is_some());
        let awaited: Vec<_> = without.map(|source| source.id.clone()).collect();
        let starting = self.sources(lists).filter(|source| source.is_starting());
        let starting: Vec<_> = starting.map(|source| source.id.clone()).collect();
        let (settled, judge) = (lists.settled, lists.judge);
        let (awaited, starting, bounds) = (&awaited, &starting, lists.bounds);
        let assembly = CatalogAssembly { previous, settled, awaited, starting, judge, bounds };
        assembly.assemble(self.sources(lists).filter_map(|source| source.shelf()))
    }

    fn publish_stock(&self, lists: &SnapshotInputs<'_>) -> CatalogChanges {
        let held: Vec<_> = self.sources(lists).filter_map(|source| source.held()).collect();
        let without = self
            .sources(lists)
            .filter(|source| source.library.is_some() && source.held().is_none());
        let awaited: Vec<_> = without.map(|source| source.id.clone()).collect();
        let previous = self.stock();
        let is_same = |(old, new): (&Arc<SourceResources>, &SourceResources)| {
            old.source == new.source
                && old.stale == new.stale
                && Arc::ptr_eq(&old.library, &new.library)
                && Arc::ptr_eq(&old.holdings, &new.holdings)
        };
        let before = previous.libraries();
        if before.len() == held.len() && before.iter().zip(&held).all(is_same) {
            return CatalogChanges::default();
        }
        let stock = Arc::new(ResourceCatalog::assemble(&previous, lists.settled, &awaited, held));
        self.stock.store(Arc::clone(&stock));
        let same = |kind| previous.says_the_same(&stock, kind);
        let (prompts, resources) = (
            !same(ResourceKind::Prompt),
            !(same(ResourceKind::Resource) && same(ResourceKind::Template)),
        );
        CatalogChanges { prompts, resources, ..CatalogChanges::default() }
    }
}

fn says_the_same(one: &Catalog, other: &Catalog) -> bool {
    let listed = |catalog: &Catalog| catalog.tools().len();
    let kept_out = |catalog: &Catalog| catalog.quarantined().len();
    let tools = || one.tools().iter().zip(other.tools());
    let quarantined = || one.quarantined().iter().zip(other.quarantined());
    listed(one) == listed(other)
        && kept_out(one) == kept_out(other)
        && tools().all(|(one, other)| {
            one.fingerprint == other.fingerprint
                && one.stale == other.stale
                && one.spec.origin.source == other.spec.origin.source
                && one.spec.enabled == other.spec.enabled
                && one.spec.toolsets == other.spec.toolsets
        })
        && quarantined()
            .all(|(one, other)| one.fingerprint == other.fingerprint && one.reason == other.reason)
}
