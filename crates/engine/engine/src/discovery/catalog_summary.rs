//! What the added tools say of the catalog: its categories, actions and sources with their counts,
//! as one caller sees it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use toolcrib_core::Plan;
use toolcrib_search::FacetCounts;

/// Names of each kind that are told.
const MOST: usize = 30;

/// `issues 95, repos 201, ... and 12 more`, the largest first and equals in their order.
pub(super) fn counted(names: &[(String, usize)]) -> String {
    let mut names: Vec<_> = names.iter().collect();
    names.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    let told = names.iter().take(MOST).map(|(name, count)| format!("{} {count}", short(name)));
    let mut text = told.collect::<Vec<_>>().join(", ");
    if names.len() > MOST {
        let _ = write!(text, ", and {} more", names.len() - MOST);
    }
    text
}

/// A foreign word that is not to fill the page.
fn short(name: &str) -> String {
    name.chars().filter(|letter| !letter.is_control()).take(48).collect()
}

/// How many of the tools that a plan lets its caller see have which name: as the index counts them,
/// without one.
pub(super) fn count(plan: &Plan) -> FacetCounts {
    let mut counts: [BTreeMap<&str, usize>; 3] = Default::default();
    for tool in plan.known() {
        let spec = &tool.listed.spec;
        let [categories, actions, sources] = &mut counts;
        if let Some(category) = spec.category.as_deref() {
            *categories.entry(category).or_default() += 1;
        }
        for action in &spec.actions {
            *actions.entry(action).or_default() += 1;
        }
        *sources.entry(spec.origin.source.as_str()).or_default() += 1;
    }
    let [categories, actions, sources] = counts.map(|counts| {
        counts.into_iter().map(|(name, count)| (name.to_owned(), count)).collect::<Vec<_>>()
    });
    FacetCounts { categories, actions, sources, tags: Vec::new() }
}

/// `hidden`: tools that are not shown.
pub(super) fn description(
    hidden: usize,
    facets: &FacetCounts,
    (read, invoke): (&str, &str),
) -> String {
    let mut text = format!(
        "Finds tools. {hidden} more tools can be called than are listed here. Say in `query` what is \
         to be done, in plain words, one clause for each step; or list those of `categories`, \
         `actions` or `sources`. Call what it finds with `{invoke}`; `{read}` tells all about the \
         arguments."
    );
    let kinds = [
        ("Categories", &facets.categories),
        ("Actions", &facets.actions),
        ("Sources", &facets.sources),
    ];
    for (kind, names) in kinds.into_iter().filter(|(_, names)| !names.is_empty()) {
        let _ = write!(text, "\n{kind} (with how many tools): {}.", counted(names));
    }
    text
}
