//! The search that every door shares: an index that lives as long as its snapshot, and of what it
//! finds no more than the plan lets its caller see.

use std::sync::{Arc, OnceLock};

use serde::Serialize;
use toolcrib_core::{Catalog, Effect, Listed, Plan, ToolName};
use toolcrib_json::schema;
use toolcrib_search::{Abstained, Facets, Hit, Index, Query, Unknown, Way};

use super::document::document;

/// The index of a snapshot, made when it is first asked for.
#[derive(Default)]
struct Lexicon(OnceLock<Index>);

/// What is looked for; see [`Query`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Search {
    pub text: String,
    pub categories: Vec<String>,
    pub actions: Vec<String>,
    pub sources: Vec<String>,
    /// Only tools that may change something, or only such that do not.
    pub writes: Option<bool>,
    pub limit: usize,
}

/// What was found among the tools that a plan lets its caller see.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// Best first.
    pub tools: Vec<Finding>,
    /// How many the facets let through and share a word with the question.
    pub total: usize,
    /// From 0 to 1.
    pub confidence: f32,
    /// Why none is named.
    pub abstained: Option<Abstained>,
    /// Categories, actions and sources that there are not.
    pub unknown: Vec<Unknown>,
}

/// A tool that was found.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    pub name: ToolName,
    pub summary: String,
    pub category: Option<String>,
    pub actions: Vec<String>,
    pub effect: Effect,
    /// Whether it may change something.
    pub writes: bool,
    /// How it is called, in one line.
    pub signature: String,
    /// Which of its words answer which words of the question.
    pub why: String,
    /// What sets it apart from others that were found and are like it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unlike: Vec<String>,
    /// Where arguments of it come from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Need>,
    pub score: f32,
}

/// An argument, and the tool that yields it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Need {
    pub argument: String,
    pub from: ToolName,
}

/// Makes the index of a snapshot, if it is not there yet: the work of some milliseconds for a
/// thousand tools.
pub(crate) fn prepare(catalog: &Catalog) {
    index_of(catalog, |_| ());
}

fn lexicon(catalog: &Catalog) -> Arc<Lexicon> {
    catalog.memo(|_| Lexicon::default())
}

fn index_of<T>(catalog: &Catalog, read: impl FnOnce(&Index) -> T) -> T {
    let lexicon = lexicon(catalog);
    let tools = || catalog.loaded().iter().map(|tool| document(&tool.spec));
    read(lexicon.0.get_or_init(|| Index::build(tools())))
}

/// Searches among what a plan lets its caller see; what is not there for that caller is neither
/// found nor counted nor named.
pub fn find(plan: &Plan, search: &Search) -> Findings {
    let catalog = plan.catalog();
    let (categories, actions) = (texts(&search.categories), texts(&search.actions));
    let sources = texts(&search.sources);
    let query = Query {
        text: &search.text,
        categories: &categories,
        actions: &actions,
        sources: &sources,
        tags: &[],
        writes: search.writes,
        keep_doubtful: false,
        limit: search.limit,
    };
    let may = |place: usize| plan.shows_place(place);
    let found = index_of(catalog, |index| index.search_within(&query, &may));
    let at = |place: usize| catalog.loaded().get(place);
    let tools = found.hits.iter().filter_map(|hit| {
        let needs = found.needs.iter().filter(|need| need.document == hit.document);
        let needs = needs.filter(|need| may(need.from)).filter_map(|need| {
            let from = at(need.from)?.spec.name.clone();
            Some(Need { argument: need.argument.clone(), from })
        });
        Some(finding(at(hit.document)?, hit, needs.collect()))
    });
    Findings {
        tools: tools.collect(),
        total: found.total,
        confidence: found.confidence,
        abstained: found.abstained,
        unknown: found.unknown,
    }
}

fn texts(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).collect()
}

fn finding(tool: &Listed, hit: &Hit, needs: Vec<Need>) -> Finding {
    let spec = &tool.spec;
    Finding {
        name: spec.name.clone(),
        summary: spec.summary.clone(),
        category: spec.category.clone(),
        actions: spec.actions.clone(),
        effect: spec.effect,
        writes: spec.effect != Effect::Read,
        signature: schema::signature(spec.name.as_str(), &spec.input.value()),
        why: why(hit),
        unlike: hit.contrast.clone(),
        needs,
        score: hit.score,
    }
}

/// `issue (name), close=shut (summary)`.
fn why(hit: &Hit) -> String {
    let words = hit.matched.iter().take(4).map(|met| {
        let field = met.fields.first().map_or("text", |field| field.word());
        let word = match met.way {
            Way::Same => met.word.clone(),
            Way::Alike | Way::Spelling => format!("{}={}", met.word, met.found),
        };
        format!("{word} ({field})")
    });
    words.collect::<Vec<_>>().join(", ")
}

/// How many of the tools that a plan lets its caller see are sorted under which name.
pub(super) fn facets(plan: &Plan) -> Facets {
    index_of(plan.catalog(), |index| index.facets(&|place| plan.shows_place(place)))
}

/// The visible names nearest to a wrong one, best first.
pub(super) fn nearest(plan: &Plan, wrong: &str) -> Vec<ToolName> {
    let may = |place: usize| plan.shows_place(place);
    let near = index_of(plan.catalog(), |index| index.nearest(wrong, 5, &may)).into_iter();
    near.filter_map(|place| Some(plan.catalog().loaded().get(place)?.spec.name.clone())).collect()
}
