//! A group that is too large, split: by how paths go on, by what tools are about, and last by what
//! the index finds in common.

use std::collections::{BTreeMap, BTreeSet};

use toolcrib_core::MembershipReason;
use toolcrib_search::{PartitionAgent, PartitionSettings, partition};

use super::facts::ToolFacts;
use super::ids::{mark, slug};
use crate::discovery::tool_document;

/// With fewer tools in common a part would be no help.
const SMALLEST: usize = 3;

/// Some of the tools of a group.
pub(super) struct ToolsetPart {
    /// What it is called within its group.
    pub(super) slug: String,
    /// Places of tools, with why they are here.
    pub(super) tools: Vec<(usize, MembershipReason)>,
}

/// Splits tools until no part has more than so many.
pub(super) struct Splitter<'a> {
    facts: &'a [ToolFacts<'a>],
    max: usize,
    parts: Vec<ToolsetPart>,
}

/// Longest name of a part, in characters.
const LONGEST: usize = 80;

impl<'a> Splitter<'a> {
    pub(super) fn new(facts: &'a [ToolFacts<'a>], max: usize) -> Self {
        Self { facts, max: max.max(1), parts: Vec::new() }
    }

    /// The parts of these tools; their slugs differ. So many words of their paths (`deep`) are told
    /// by the group already, and `prefix` is what all slugs begin with.
    pub(super) fn split(mut self, tools: &[usize], deep: usize, prefix: &str) -> Vec<ToolsetPart> {
        self.by_path(tools, deep, prefix);
        self.parts
    }

    fn by_path(&mut self, tools: &[usize], deep: usize, prefix: &str) {
        let mut children: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        let mut own = Vec::new();
        for tool in tools {
            match self.facts.get(*tool).and_then(|facts| facts.path.get(deep)) {
                Some(word) => children.entry(word).or_default().push(*tool),
                None => own.push(*tool),
            }
        }
        for (word, tools) in &children {
            let name = join(prefix, "--", word);
            if tools.len() < SMALLEST {
                own.extend(tools);
            } else if tools.len() <= self.max {
                let reason = of_path(self.facts, tools, deep);
                self.put(&name, tools, &reason);
            } else {
                self.by_path(tools, deep + 1, &name);
            }
        }
        own.sort_unstable();
        if !own.is_empty() {
            self.by_resource(&own, prefix);
        }
    }

    /// What no longer path has in common with enough others.
    fn by_resource(&mut self, tools: &[usize], prefix: &str) {
        let name = if prefix.is_empty() { "other" } else { prefix };
        if tools.len() <= self.max {
            self.put(name, tools, &MembershipReason::Leftover);
            return;
        }
        let mut things: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut rest = Vec::new();
        for tool in tools {
            let facts = self.facts.get(*tool);
            match facts.and_then(|facts| slug(facts.resource.as_deref()?)) {
                Some(thing) => things.entry(thing).or_default().push(*tool),
                None => rest.push(*tool),
            }
        }
        for (thing, tools) in &things {
            let name = join(prefix, "-", thing);
            if tools.len() < SMALLEST {
                rest.extend(tools);
            } else if tools.len() <= self.max {
                self.put(&name, tools, &MembershipReason::Resource(thing.as_str().into()));
            } else {
                self.by_cluster(tools, &name);
            }
        }
        rest.sort_unstable();
        if rest.len() > self.max {
            self.by_cluster(&rest, name);
        } else if !rest.is_empty() {
            self.put(name, &rest, &MembershipReason::Leftover);
        }
    }

    fn by_cluster(&mut self, tools: &[usize], prefix: &str) {
        for cluster in clusters(self.facts, tools, self.max) {
            let name = join(prefix, "-", &cluster_name(self.facts, &cluster));
            self.put(&name, &cluster, &MembershipReason::Cluster);
        }
    }

    fn put(&mut self, slug: &str, tools: &[usize], why: &MembershipReason) {
        let mut slug = slug.to_owned();
        let is_taken = self.parts.iter().any(|part| part.slug == slug);
        if is_taken || slug.chars().nth(LONGEST).is_some() {
            let start: String = slug.chars().take(LONGEST).collect();
            slug = format!("{start}-{}", mark(&format!("{slug} {}", first(self.facts, tools))));
        }
        let tools = tools.iter().map(|tool| (*tool, why.clone())).collect();
        self.parts.push(ToolsetPart { slug, tools });
    }
}

fn join(prefix: &str, by: &str, word: &str) -> String {
    if prefix.is_empty() { word.to_owned() } else { format!("{prefix}{by}{word}") }
}

/// That paths begin alike up to the word at this place.
pub(super) fn of_path(facts: &[ToolFacts<'_>], tools: &[usize], deep: usize) -> MembershipReason {
    let path = tools.first().and_then(|tool| facts.get(*tool)).map(|facts| facts.path.as_slice());
    let words = path.and_then(|path| path.get(..=deep)).unwrap_or_default();
    MembershipReason::Path(words.join("/").into())
}

/// Of all that is known of a cluster its first tool changes least. Its name is not told: who sees
/// another tool of the cluster need not know of it.
pub(super) fn cluster_name(facts: &[ToolFacts<'_>], cluster: &[usize]) -> String {
    format!("set-{}", mark(first(facts, cluster)))
}

fn first<'a>(facts: &[ToolFacts<'a>], tools: &[usize]) -> &'a str {
    let names = tools.iter().filter_map(|tool| Some(facts.get(*tool)?.spec.name.as_str()));
    names.min().unwrap_or_default()
}

/// Tools that have something in common, so many together at the most; each cluster and all of them
/// in the order of names.
pub(super) fn clusters(facts: &[ToolFacts<'_>], tools: &[usize], max: usize) -> Vec<Vec<usize>> {
    let mut named: Vec<(&str, usize)> = tools
        .iter()
        .filter_map(|tool| Some((facts.get(*tool)?.spec.name.as_str(), *tool)))
        .collect();
    named.sort_unstable();
    let documents: Vec<_> =
        named.iter().filter_map(|(_, tool)| Some(tool_document(facts.get(*tool)?.spec))).collect();
    let settings = PartitionSettings {
        agents: vec![PartitionAgent::default(); named.len().div_ceil(max.max(1)).max(1)],
        capacity: Some(max.max(1)),
        ..PartitionSettings::default()
    };
    // There is an agent, and room for all: it cannot fail.
    let found = partition(&documents, &settings).map(|found| found.groups).unwrap_or_default();
    let place = |document: usize| named.get(document).map(|(_, tool)| *tool);
    let groups = found.iter().map(|group| {
        let mut documents: Vec<usize> = group.iter().map(|placed| placed.document).collect();
        documents.sort_unstable();
        documents
    });
    let mut groups: Vec<Vec<usize>> = groups.filter(|group| !group.is_empty()).collect();
    groups.sort();
    let placed: BTreeSet<usize> = groups.iter().flatten().copied().collect();
    let mut clusters: Vec<Vec<usize>> =
        groups.into_iter().map(|group| group.into_iter().filter_map(place).collect()).collect();
    let lost: Vec<_> = (0..named.len()).filter(|document| !placed.contains(document)).collect();
    let lost: Vec<usize> = lost.into_iter().filter_map(place).collect();
    clusters.extend(lost.chunks(max.max(1)).map(<[usize]>::to_vec));
    clusters
}
