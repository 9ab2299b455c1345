//! The search that every door shares: an index that lives as long as its snapshot, and of what it
//! finds no more than the plan lets its caller see.

use std::sync::{Arc, OnceLock};

use serde::Serialize;
use toolcrib_core::{Catalog, CatalogTool, Effect, ErrorKind, Plan, ToolError, ToolName};
use toolcrib_json::schema;
use toolcrib_search::{
    AbstentionReason, Choice, Facet, FacetCounts, Hit, MatchKind, SearchIndex, SearchQuery,
    UnknownFacetName,
};

use super::document::document;
use super::semantic::{SemanticOutcome, SemanticSearch, SemanticVectors};
use super::unavailable::{UnavailableSource, of_interest};

/// The index of a snapshot, made when it is first asked for.
#[derive(Default)]
struct SnapshotIndex(OnceLock<SearchIndex>);

/// What is looked for; see [`SearchQuery`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DiscoveryQuery {
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
pub struct DiscoveryResult {
    /// Best first.
    pub tools: Vec<DiscoveredTool>,
    /// How many the facets let through and share a word with the question; or how many were found,
    /// if that is more.
    pub total: usize,
    /// From 0 to 1.
    pub confidence: f32,
    /// Why none is named.
    pub abstained: Option<AbstentionReason>,
    /// Categories, actions and sources that there are not.
    pub unknown: Vec<UnknownFacetName>,
    /// What became of the meaning of the question; `None`: there is no embedder, or no question.
    pub meaning: Option<SemanticOutcome>,
    /// Sources that may have had more, and give no tools now.
    pub away: Vec<UnavailableSource>,
}

/// A tool that was found.
#[derive(Debug, Clone, Serialize)]
pub struct DiscoveredTool {
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
    pub needs: Vec<ArgumentSource>,
    pub score: f32,
}

/// An argument, and the tool that yields it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ArgumentSource {
    pub argument: String,
    pub from: ToolName,
}

/// Tools of one set: choosing more takes seconds, and serves no task.
const LARGEST_SET: usize = 1_000;

/// A tool of a set.
pub(crate) struct SetTool {
    pub(crate) place: usize,
    /// What it adds to those before it.
    pub(crate) gain: f32,
    /// Which of its words answer which words of the task.
    pub(crate) words: String,
    /// The place of the tool that takes what it yields, with the argument.
    pub(crate) needed_for: Option<(usize, String)>,
}

/// Makes the index of a snapshot, if it is not there yet: the work of some milliseconds for a
/// thousand tools.
pub(crate) fn prepare(catalog: &Catalog) {
    index_of(catalog, |_| ());
}

fn lexicon(catalog: &Catalog) -> Arc<SnapshotIndex> {
    catalog.memo(|_| SnapshotIndex::default())
}

fn index_of<T>(catalog: &Catalog, read: impl FnOnce(&SearchIndex) -> T) -> T {
    let lexicon = lexicon(catalog);
    let tools = || catalog.loaded().iter().map(|tool| document(&tool.spec));
    read(lexicon.0.get_or_init(|| SearchIndex::build(tools())))
}

/// What a tool must have that is found by its meaning alone, where the nearest has some 1 of it and
/// the mean is 0.
const LEAST: f32 = 0.5;

/// Searches by words and, where there is an embedder, by meaning; off the threads that serve.
pub(crate) async fn find_by(
    (meaning, away): (Option<Arc<SemanticSearch>>, Vec<UnavailableSource>),
    plan: Plan,
    search: DiscoveryQuery,
) -> Result<DiscoveryResult, ToolError> {
    let meaning = meaning.filter(|_| !search.text.trim().is_empty());
    let sense = match meaning {
        Some(meaning) => Some(meaning.sense(plan.catalog(), &search.text).await),
        None => None,
    };
    aside(move || {
        let heard = sense
            .as_ref()
            .map(|sense| sense.as_ref().err().copied().unwrap_or(SemanticOutcome::Used));
        let sense = sense.and_then(Result::ok);
        let found = find_with(&plan, &search, sense.as_ref());
        let away = of_interest(away, &search.sources);
        let is_away = |unknown: &UnknownFacetName| {
            let mut away = away.iter().map(|away| away.source.as_str());
            unknown.facet == Facet::Source
                && away.any(|name| name.eq_ignore_ascii_case(&unknown.name))
        };
        let unknown = found.unknown.into_iter().filter(|unknown| !is_away(unknown)).collect();
        DiscoveryResult { meaning: heard, away, unknown, ..found }
    })
    .await
}

/// Off the threads that serve: an index may have to be made first.
pub(crate) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ToolError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        ToolError::new(ErrorKind::Internal, "the search broke: try other words").because(error)
    })
}

/// Searches by words among what a plan lets its caller see; what is not there for that caller is
/// neither found nor counted nor named.
pub fn find(plan: &Plan, search: &DiscoveryQuery) -> DiscoveryResult {
    find_with(plan, search, None)
}

/// Tools that serve a task together, by their places, with what each was chosen for, and how sure
/// it is that the first serves it.
pub(crate) fn search_set(plan: &Plan, task: &str, limit: usize) -> (Vec<SetTool>, f32) {
    let limit = limit.min(LARGEST_SET);
    let query = SearchQuery { text: task, limit: limit * 4, ..SearchQuery::default() };
    let may = |place: usize| plan.shows_place(place);
    let found = index_of(plan.catalog(), |index| index.search_within(&query, &may));
    let words = |place: usize| {
        let hit = found.hits.iter().find(|hit| hit.document == place);
        hit.map(why).unwrap_or_default()
    };
    let tools = found.choose(limit).into_iter().filter(|choice| may(choice.document));
    let tools = tools.map(|Choice { document: place, gain, needed_for }| SetTool {
        place,
        gain,
        words: words(place),
        needed_for,
    });
    (tools.collect(), found.confidence)
}

fn find_with(
    plan: &Plan,
    search: &DiscoveryQuery,
    sense: Option<&SemanticVectors>,
) -> DiscoveryResult {
    let catalog = plan.catalog();
    let (categories, actions) = (texts(&search.categories), texts(&search.actions));
    let sources = texts(&search.sources);
    let query = SearchQuery {
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
    let found = index_of(catalog, |index| match sense {
        Some(sense) => index.search_with(&query, &sense.vectors(), &may),
        None => index.search_within(&query, &may),
    });
    let at = |place: usize| catalog.loaded().get(place);
    // Everything has some meaning; what shares no word must be nearer than most.
    let is_near = |hit: &&Hit| !hit.matched.is_empty() || hit.score >= LEAST;
    let hits = found.hits.iter().filter(|hit| sense.is_none() || is_near(hit));
    let tools = hits.filter_map(|hit| {
        let needs = found.needs.iter().filter(|need| need.document == hit.document);
        let needs = needs.filter(|need| may(need.from)).filter_map(|need| {
            let from = at(need.from)?.spec.name.clone();
            Some(ArgumentSource { argument: need.argument.clone(), from })
        });
        Some(finding(at(hit.document)?, hit, needs.collect()))
    });
    let tools: Vec<_> = tools.collect();
    DiscoveryResult {
        total: found.total.max(tools.len()),
        tools,
        confidence: found.confidence,
        abstained: found.abstained,
        unknown: found.unknown,
        meaning: None,
        away: Vec::new(),
    }
}

fn texts(list: &[String]) -> Vec<&str> {
    list.iter().map(String::as_str).collect()
}

fn finding(tool: &CatalogTool, hit: &Hit, needs: Vec<ArgumentSource>) -> DiscoveredTool {
    let spec = &tool.spec;
    DiscoveredTool {
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
    if hit.matched.is_empty() && hit.score > 0.0 {
        return "its meaning".to_owned();
    }
    let words = hit.matched.iter().take(4).map(|met| {
        let field = met.fields.first().map_or("text", |field| field.word());
        let word = match met.way {
            MatchKind::Same => met.word.clone(),
            MatchKind::Alike | MatchKind::Spelling => format!("{}={}", met.word, met.found),
        };
        format!("{word} ({field})")
    });
    words.collect::<Vec<_>>().join(", ")
}

/// How many of the tools that a plan lets its caller see are sorted under which name.
pub(super) fn facets(plan: &Plan) -> FacetCounts {
    index_of(plan.catalog(), |index| index.facets(&|place| plan.shows_place(place)))
}

/// The visible names nearest to a wrong one, best first.
pub(super) fn nearest(plan: &Plan, wrong: &str) -> Vec<ToolName> {
    let may = |place: usize| plan.shows_place(place);
    let near = index_of(plan.catalog(), |index| index.nearest(wrong, 5, &may)).into_iter();
    near.filter_map(|place| Some(plan.catalog().loaded().get(place)?.spec.name.clone())).collect()
}
