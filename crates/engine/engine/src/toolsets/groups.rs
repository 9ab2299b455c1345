//! Which group each tool of a source is in.

use std::collections::BTreeMap;
use std::sync::Arc;

use toolcrib_core::{
    MembershipReason, SourceId, ToolSpec, Toolset, ToolsetInfo, ToolsetMaker, ToolsetMembership,
};

use super::answer::{SplitGroup, SplitOutcome};
use super::facts::ToolFacts;
use super::ids;
use super::parts::{Splitter, ToolsetPart, cluster_name, clusters, of_path};
use super::settings::{ToolsetBy, ToolsetGrouping, ToolsetSplit};
use super::splits::{SplitQuestion, ToolsetSplits};
use super::wording;

/// The tools of a source, each in its group, and in the larger one where that was split.
///
/// `splits`: where a model is asked, if that is wished; what it has answered so far holds.
pub fn in_groups(
    tools: &Toolset,
    source: &SourceId,
    grouping: &ToolsetGrouping,
    splits: Option<&ToolsetSplits>,
) -> Toolset {
    let mut specs: Vec<&ToolSpec> = tools.iter().map(|tool| &*tool.spec).collect();
    // The order in which a source lists its tools decides nothing.
    specs.sort_by(|one, other| one.name.as_str().cmp(other.name.as_str()));
    let facts: Vec<_> = specs.iter().map(|spec| ToolFacts::of(spec)).collect();
    let mut memberships: Vec<Vec<ToolsetMembership>> = vec![Vec::new(); facts.len()];
    for group in groups(&facts, source, grouping, splits) {
        let toolset = Arc::new(group.toolset);
        for (tool, because) in group.tools {
            if let Some(own) = memberships.get_mut(tool) {
                own.push(ToolsetMembership { toolset: Arc::clone(&toolset), because });
            }
        }
    }
    let names = specs.iter().map(|spec| spec.name.as_str()).zip(memberships);
    let of: BTreeMap<&str, Vec<ToolsetMembership>> = names.collect();
    tools.respec(|spec| {
        let own = of.get(spec.name.as_str()).cloned().unwrap_or_default();
        spec.toolsets.extend(own);
    })
}

/// A group with its tools, by their places.
struct GroupedTools {
    toolset: ToolsetInfo,
    tools: Vec<(usize, MembershipReason)>,
}

/// Every group, a larger one before its parts.
fn groups(
    facts: &[ToolFacts<'_>],
    source: &SourceId,
    grouping: &ToolsetGrouping,
    splits: Option<&ToolsetSplits>,
) -> Vec<GroupedTools> {
    let mut groups = Vec::new();
    for part in whole(facts, grouping) {
        let title = part.title;
        let (slug, tools) = (part.part.slug, part.part.tools);
        let is_cluster = grouping.by == ToolsetBy::Cluster;
        let is_large = tools.len() > grouping.max_tools && !is_cluster;
        let places: Vec<usize> = tools.iter().map(|(tool, _)| *tool).collect();
        let id = ids::of(source, &slug);
        let mut group = GroupedTools {
            toolset: ToolsetInfo {
                id: id.clone(),
                title: title.clone(),
                made: ToolsetMaker::Source,
                for_rules: !is_cluster,
                ..ToolsetInfo::default()
            },
            tools,
        };
        let splitter = GroupSplitter { facts, grouping, id: &id, title: &title };
        let parts = match grouping.split {
            ToolsetSplit::Cluster if is_large => splitter.by_facts(&places, true),
            ToolsetSplit::Model if is_large => {
                splitter.by_answer(&places, splits, &mut group.toolset.note)
            }
            ToolsetSplit::Cluster | ToolsetSplit::Model | ToolsetSplit::None => Vec::new(),
        };
        group.toolset.is_split = !parts.is_empty();
        groups.push(group);
        groups.extend(parts);
    }
    groups
}

/// A group that is too large.
struct GroupSplitter<'a> {
    facts: &'a [ToolFacts<'a>],
    grouping: &'a ToolsetGrouping,
    id: &'a str,
    title: &'a str,
}

impl GroupSplitter<'_> {
    /// `is_fixed`: no other parts will stand in the place of these.
    fn by_facts(&self, places: &[usize], is_fixed: bool) -> Vec<GroupedTools> {
        let deep = usize::from(self.grouping.by == ToolsetBy::Path);
        let parts = Splitter::new(self.facts, self.grouping.max_tools).split(places, deep, "");
        let parts = parts.into_iter().map(|part| {
            // A tool more may put every other one into another cluster.
            let is_cluster = part.tools.iter().any(|(_, why)| *why == MembershipReason::Cluster);
            let mut piece = self.piece(part, (String::new(), String::new()));
            piece.toolset.for_rules = is_fixed && !is_cluster;
            let pending = "a model will be asked to split the whole, and has not answered yet";
            piece.toolset.note = (!is_fixed).then(|| pending.to_owned());
            piece
        });
        parts.collect()
    }

    /// As a model has answered, and without it until then.
    fn by_answer(
        &self,
        places: &[usize],
        splits: Option<&ToolsetSplits>,
        note: &mut Option<String>,
    ) -> Vec<GroupedTools> {
        match self.asked(places, splits) {
            None => self.by_facts(places, false),
            Some(SplitOutcome::Groups(groups)) => self.by_model(places, &groups),
            Some(SplitOutcome::Useless(reason)) => {
                let told = "a model was asked to split it, and its answer was of no use";
                *note = Some(format!("{told}: {reason}"));
                Vec::new()
            }
        }
    }

    fn asked(&self, places: &[usize], splits: Option<&ToolsetSplits>) -> Option<SplitOutcome> {
        let specs = places.iter().filter_map(|tool| Some(self.facts.get(*tool)?.spec));
        splits?.outcome(&SplitQuestion::of(self.title, self.grouping.max_tools, specs))
    }

    /// The groups of a model, a further one of what it left over; one that is still too large is
    /// split without it.
    fn by_model(&self, places: &[usize], groups: &[SplitGroup]) -> Vec<GroupedTools> {
        let name = |tool: usize| self.facts.get(tool).map_or("", |facts| facts.spec.name.as_str());
        let mut left: BTreeMap<&str, usize> =
            places.iter().map(|tool| (name(*tool), *tool)).collect();
        let mut slugs: BTreeMap<String, (String, String, Vec<usize>)> = BTreeMap::new();
        for group in groups {
            let slug = ids::slug(&group.title).unwrap_or_else(|| "part".to_owned());
            let words = (group.title.clone(), group.summary.clone(), Vec::new());
            let (_, _, own) = slugs.entry(slug).or_insert(words);
            own.extend(group.tools.iter().filter_map(|tool| left.remove(tool.as_str())));
        }
        if !left.is_empty() {
            let words = || ("other".to_owned(), String::new(), Vec::new());
            slugs.entry("other".to_owned()).or_insert_with(words).2.extend(left.values());
        }
        let mut pieces = Vec::new();
        for (slug, (title, summary, mut own)) in slugs {
            own.sort_unstable();
            let words = (format!("{}: {title}", self.title), summary);
            if own.len() <= self.grouping.max_tools {
                let why = |tool: &usize| (*tool, self.by_whom(*tool, groups));
                let tools = own.iter().map(why).collect();
                pieces.push(self.piece(ToolsetPart { slug, tools }, words));
            } else {
                let parts =
                    Splitter::new(self.facts, self.grouping.max_tools).split(&own, 0, &slug);
                let title = |slug: &str| (wording::title(self.title, slug), String::new());
                pieces.extend(parts.into_iter().map(|part| {
                    let words = title(&part.slug);
                    self.piece(part, words)
                }));
            }
        }
        for piece in &mut pieces {
            piece.toolset.made = ToolsetMaker::Model;
        }
        pieces
    }

    fn by_whom(&self, tool: usize, groups: &[SplitGroup]) -> MembershipReason {
        let name = self.facts.get(tool).map_or("", |facts| facts.spec.name.as_str());
        let is_named = groups.iter().any(|group| group.tools.iter().any(|own| own == name));
        if is_named { MembershipReason::Model } else { MembershipReason::Leftover }
    }

    /// A part by which rules do not go.
    fn piece(&self, part: ToolsetPart, (title, summary): (String, String)) -> GroupedTools {
        let toolset = ToolsetInfo {
            id: ids::within(self.id, &part.slug),
            title: if title.is_empty() { wording::title(self.title, &part.slug) } else { title },
            summary,
            made: ToolsetMaker::Source,
            part_of: Some(self.id.to_owned()),
            ..ToolsetInfo::default()
        };
        GroupedTools { toolset, tools: part.tools }
    }
}

/// A group before it is split, and what people call it.
struct WholeGroup {
    title: String,
    part: ToolsetPart,
}

/// The groups before any is split; every tool is in one.
fn whole(facts: &[ToolFacts<'_>], grouping: &ToolsetGrouping) -> Vec<WholeGroup> {
    let all: Vec<usize> = (0..facts.len()).collect();
    if grouping.by == ToolsetBy::Cluster {
        let clusters = clusters(facts, &all, grouping.max_tools);
        let part = |tools: Vec<usize>| {
            let slug = cluster_name(facts, &tools);
            let title = wording::title("", &slug);
            let tools = tools.into_iter().map(|tool| (tool, MembershipReason::Cluster)).collect();
            WholeGroup { title, part: ToolsetPart { slug, tools } }
        };
        return distinct(clusters.into_iter().map(part).collect(), facts);
    }
    let mut groups: BTreeMap<String, WholeGroup> = BTreeMap::new();
    for (tool, own) in facts.iter().enumerate() {
        let (slug, title, why) = place(facts, (tool, own), grouping.by);
        let part = || ToolsetPart { slug: slug.clone(), tools: Vec::new() };
        let group =
            groups.entry(slug.clone()).or_insert_with(|| WholeGroup { title, part: part() });
        group.part.tools.push((tool, why));
    }
    groups.into_values().collect()
}

/// The group of a tool: its slug, its title, and why.
fn place(
    facts: &[ToolFacts<'_>],
    (tool, own): (usize, &ToolFacts<'_>),
    by: ToolsetBy,
) -> (String, String, MembershipReason) {
    let named = |slug: &str, why| (slug.to_owned(), wording::title("", slug), why);
    match by {
        ToolsetBy::All | ToolsetBy::Cluster => named("all", MembershipReason::All),
        ToolsetBy::Tag => match own.shared_tag() {
            Some((slug, tag)) => (slug, tag.to_string(), MembershipReason::Tag(tag)),
            None => named("untagged", MembershipReason::Untagged),
        },
        ToolsetBy::Path => match (own.path.first(), &own.resource) {
            (Some(word), _) => named(word, of_path(facts, &[tool], 0)),
            (None, Some(thing)) => match ids::slug(thing) {
                Some(slug) => named(&slug, MembershipReason::Resource(thing.as_str().into())),
                None => named("other", MembershipReason::Leftover),
            },
            (None, None) => named("other", MembershipReason::Leftover),
        },
    }
}

/// Names of tools that differ in signs alone make one slug.
fn distinct(mut groups: Vec<WholeGroup>, facts: &[ToolFacts<'_>]) -> Vec<WholeGroup> {
    let mut taken = std::collections::BTreeSet::new();
    for group in &mut groups {
        if !taken.insert(group.part.slug.clone()) {
            let first = group.part.tools.first().and_then(|(tool, _)| facts.get(*tool));
            let name = first.map_or("", |facts| facts.spec.name.as_str());
            group.part.slug = format!("{}-{}", group.part.slug, ids::mark(name));
            taken.insert(group.part.slug.clone());
        }
    }
    groups
}
