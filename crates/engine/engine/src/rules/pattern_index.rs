//! The patterns of all rules, indexed so that a tool meets only those that may match it.

use std::collections::{BTreeMap, HashMap};
use std::ops::ControlFlow;

use toolcrib_core::{AddressPattern, Caller, ToolSpec, UnlistedAccess, UnlistedResource};

use super::glob::Glob;
use super::pattern::{PatternField, PatternTerm};
use super::rule_pattern::RulePattern;
use super::unlisted_resource;

/// Places of entries under the text that they need.
type PatternPlaces = HashMap<Box<str>, Vec<usize>>;

/// Every entry stands in one place: under an exact value if it has one, else under a plain end
/// of its glob over the name, else in the rest.
#[derive(Debug, Clone, Default)]
pub(super) struct PatternIndex {
    entries: Vec<RulePattern>,
    exact: [PatternPlaces; PatternField::OF_TOOL.len()],
    /// By length, so that a name is looked up once for each length there is.
    prefixes: BTreeMap<usize, PatternPlaces>,
    suffixes: BTreeMap<usize, PatternPlaces>,
    rest: Vec<usize>,
    /// By the place of an entry, what its names mean for addresses under any spelling.
    named: Vec<Box<[AddressPattern]>>,
}

impl PatternIndex {
    pub(super) fn new(entries: Vec<RulePattern>) -> Self {
        let mut book = Self::default();
        for (place, entry) in entries.iter().enumerate() {
            book.home(&entry.terms).push(place);
        }
        let names = |entry: &RulePattern| {
            let terms = entry.terms.iter().filter(|term| term.field == PatternField::Name);
            terms.map(|term| AddressPattern::new(&term.glob.written())).collect()
        };
        book.named = entries.iter().map(names).collect();
        book.entries = entries;
        book
    }

    pub(super) fn entries(&self) -> &[RulePattern] {
        &self.entries
    }

    pub(super) fn singles_out(&self) -> bool {
        self.entries.iter().any(RulePattern::singles_out)
    }

    /// How far they let a resource be asked for that no list names.
    pub(super) fn leave(&self, caller: &Caller, unlisted: &UnlistedResource<'_>) -> UnlistedAccess {
        let entries = self.entries.iter().zip(&self.named);
        unlisted_resource::of(entries.map(|(entry, named)| (entry, &**named)), caller, unlisted)
    }

    fn home(&mut self, terms: &[PatternTerm]) -> &mut Vec<usize> {
        for (field, index) in PatternField::OF_TOOL.iter().zip(&mut self.exact) {
            for term in terms.iter().filter(|term| term.field == *field) {
                if let Glob::Exact(exact) = &term.glob {
                    return index.entry(exact.clone()).or_default();
                }
            }
        }
        let ends = terms.iter().find_map(|term| match &term.glob {
            Glob::Wild { prefix, suffix, .. } if term.field == PatternField::Name => {
                Some((prefix, suffix))
            }
            Glob::Wild { .. } | Glob::Exact(_) => None,
        });
        let (ends, end) = match ends {
            Some((prefix, _)) if !prefix.is_empty() => (&mut self.prefixes, prefix),
            Some((_, suffix)) if !suffix.is_empty() => (&mut self.suffixes, suffix),
            Some(_) | None => return &mut self.rest,
        };
        ends.entry(end.len()).or_default().entry(end.clone()).or_default()
    }

    /// Shows every entry that matches, until told to stop. Their order means nothing, and an
    /// entry may come twice where a tool has a tag twice.
    pub(super) fn matching<'a, B>(
        &'a self,
        caller: &Caller,
        tool: &ToolSpec,
        mut visit: impl FnMut(&'a RulePattern) -> ControlFlow<B>,
    ) -> Option<B> {
        let mut try_all = |places: &[usize]| {
            let mut entries = places.iter().filter_map(|place| self.entries.get(*place));
            entries.find_map(|entry| {
                let matches = entry.terms.iter().all(|term| term.matches(caller, tool));
                if matches { visit(entry).break_value() } else { None }
            })
        };
        let name = tool.name.as_str();
        let starts =
            self.prefixes.iter().filter_map(|(length, index)| index.get(name.get(..*length)?));
        let ends = self
            .suffixes
            .iter()
            .filter_map(|(length, index)| index.get(name.get(name.len().checked_sub(*length)?..)?));
        let found = starts.chain(ends).chain([&self.rest]).find_map(|places| try_all(places));
        if found.is_some() {
            return found;
        }
        let mut found = None;
        for (field, index) in PatternField::OF_TOOL.iter().zip(&self.exact) {
            let stopped = !index.is_empty()
                && field.any(caller, tool, |value| {
                    found = index.get(value).and_then(|places| try_all(places));
                    found.is_some()
                });
            if stopped {
                break;
            }
        }
        found
    }
}
