//! A catalog and a question as strangers may write them.

use toolcrib_search::{DocumentArgument, SearchIndex, SearchQuery, ToolDocument};

/// Tools, one a line (name, description and an argument between tabs), and behind an empty line
/// a question.
///
/// Whatever is asked, the answer keeps to its limit and explains itself, and asking again gives
/// the same.
pub fn search(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (tools, question) = text.split_once("\n\n").unwrap_or(("", &text));
    let document = |line: &'_ str| {
        let mut parts = line.split('\t').map(|part| part.to_owned().into());
        let mut part = || parts.next().unwrap_or_default();
        let (name, description) = (part(), part());
        let argument =
            DocumentArgument { name: part(), required: true, ..DocumentArgument::default() };
        ToolDocument { name, description, arguments: vec![argument], ..ToolDocument::default() }
    };
    let documents: Vec<_> = tools.lines().take(50).map(document).collect();
    let index = SearchIndex::build(documents.clone());
    let query =
        SearchQuery { text: question, limit: 5, keep_doubtful: true, ..SearchQuery::default() };
    let found = index.search(&query);
    assert!(found.hits.len() <= query.limit, "more than was asked for");
    let explained = found.hits.iter().all(|hit| !hit.matched.is_empty());
    assert!(explained || question.trim().is_empty(), "found for no reason");
    assert_eq!(SearchIndex::build(documents).search(&query), found, "another answer");
    let near = index.nearest(question, 5, &|_| true);
    assert!(near.iter().all(|document| *document < index.len()), "a name of nothing");
}
