//! A small catalog that everybody knows.

use toolcrib_search::{DocumentArgument, SearchIndex, SearchQuery, ToolDocument};

/// A tool of a source, with its arguments, all of them required.
pub(crate) fn tool(
    source: &str,
    name: &str,
    summary: &str,
    arguments: &[&str],
) -> ToolDocument<'static> {
    let argument = |name: &&str| DocumentArgument {
        name: (*name).to_owned().into(),
        required: true,
        ..DocumentArgument::default()
    };
    ToolDocument {
        name: name.to_owned().into(),
        summary: summary.to_owned().into(),
        source: source.to_owned().into(),
        arguments: arguments.iter().map(argument).collect(),
        ..ToolDocument::default()
    }
}

fn sorted(
    mut document: ToolDocument<'static>,
    category: &'static str,
    action: &'static str,
    writes: bool,
) -> ToolDocument<'static> {
    document.category = Some(category.into());
    document.actions = vec![action.into()];
    document.tags = vec![category.into(), "all".into()];
    document.writes = writes;
    document
}

pub(crate) fn documents() -> Vec<ToolDocument<'static>> {
    let calendar = |name, summary, arguments: &[&str], action, writes| {
        sorted(tool("office", name, summary, arguments), "Calendar", action, writes)
    };
    let mail = |name, summary, arguments: &[&str], action, writes| {
        sorted(tool("office", name, summary, arguments), "Mail", action, writes)
    };
    vec![
        calendar(
            "create_event",
            "Put an event into a calendar.",
            &["title", "start"],
            "create",
            true,
        ),
        calendar("delete_event", "Take an event out of a calendar.", &["event_id"], "delete", true),
        calendar("search_events", "Events that hold some words.", &["words"], "read", false),
        mail("send_email", "Write to somebody.", &["to", "subject", "body"], "create", true),
        mail("search_emails", "Letters that hold some words.", &["words"], "read", false),
        tool("sky", "getWeatherForecast", "The weather of the next days at a place.", &["city"]),
        tool("films", "movieCredits", "Cast and crew of a movie.", &["movie_id"]),
        tool("films", "searchMovies", "Movies by their titles.", &["query"]),
    ]
}

pub(crate) fn index() -> SearchIndex {
    SearchIndex::build(documents())
}

/// The names of what is found, best first.
pub(crate) fn names(index: &SearchIndex, query: &SearchQuery<'_>) -> Vec<String> {
    let hits = index.search(query).hits;
    hits.iter().filter_map(|hit| index.name(hit.document)).map(str::to_owned).collect()
}

pub(crate) fn ask(text: &str) -> SearchQuery<'_> {
    SearchQuery { text, limit: 3, keep_doubtful: true, ..SearchQuery::default() }
}
