//! Whatever is asked of whatever there is.

use proptest::prelude::*;
use toolcrib_search::{SearchIndex, SearchQuery, ToolDocument, sentences, words};

/// Letters of many kinds, and words that tools have.
fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("event".to_owned()),
        Just("createEvent".to_owned()),
        Just("delete_event_id".to_owned()),
        Just("search".to_owned()),
        Just("weather. Then".to_owned()),
        Just("天气".to_owned()),
        Just("İstanbul ß ﬁ".to_owned()),
        ".{0,12}",
        "[a-z]{1,40}",
    ];
    prop::collection::vec(word, 0..8).prop_map(|words| words.join(" "))
}

fn documents() -> impl Strategy<Value = Vec<(String, String, String, bool)>> {
    prop::collection::vec((text(), text(), "[a-c]?", any::<bool>()), 0..20)
}

fn index(documents: &[(String, String, String, bool)]) -> SearchIndex {
    SearchIndex::build(documents.iter().map(|(name, description, category, writes)| ToolDocument {
        name: name.as_str().into(),
        description: description.as_str().into(),
        category: Some(category.as_str().into()),
        tags: vec![category.as_str().into()],
        writes: *writes,
        ..ToolDocument::default()
    }))
}

proptest! {
    #[test]
    fn every_question_has_an_answer_that_keeps_to_it(
        documents in documents(),
        text in text(),
        limit in 0_usize..6,
        category in prop::option::of("[a-d]"),
        writes in prop::option::of(any::<bool>()),
        keep_doubtful in any::<bool>(),
    ) {
        let index = index(&documents);
        let category: Vec<&str> = category.iter().map(String::as_str).collect();
        let query = SearchQuery {
            text: &text, limit, writes, keep_doubtful, categories: &category, ..SearchQuery::default()
        };
        let found = index.search_within(&query, &|document| document % 5 != 4);
        // A second index has other hashes.
        let again = self::index(&documents).search_within(&query, &|document| document % 5 != 4);
        prop_assert_eq!(&found, &again);
        prop_assert!(found.hits.len() <= limit && found.hits.len() <= found.total);
        prop_assert!((0.0..=1.0).contains(&found.confidence));
        let mut seen = vec![false; documents.len()];
        let mut before = f32::INFINITY;
        for hit in &found.hits {
            let (_, _, of, may_write) = &documents[hit.document];
            prop_assert!(hit.document % 5 != 4);
            prop_assert!(category.is_empty() || category.contains(&of.as_str()));
            prop_assert!(writes.is_none_or(|writes| writes == *may_write));
            prop_assert!(!std::mem::replace(&mut seen[hit.document], true), "found twice");
            prop_assert!(hit.score <= before && hit.score.is_finite());
            before = hit.score;
            prop_assert!(text.trim().is_empty() || !hit.matched.is_empty(), "no reason");
            for met in &hit.matched {
                prop_assert!(met.gain > 0.0 && !met.fields.is_empty() && !met.word.is_empty());
            }
        }
        for need in &found.needs {
            prop_assert!(need.from % 5 != 4 && need.from != need.document);
        }
        for unknown in &found.unknown {
            prop_assert!(category.contains(&unknown.name.as_str()));
        }
        prop_assert!(!found.hits.is_empty() || found.abstained.is_some() || limit == 0);
    }

    #[test]
    fn a_document_is_found_by_its_own_words(documents in documents(), at in any::<prop::sample::Index>()) {
        prop_assume!(!documents.is_empty());
        let at = at.index(documents.len());
        let index = index(&documents);
        let name = &documents[at].0;
        let mut has_words = false;
        words(name, |_, _| has_words = true);
        let query = SearchQuery { text: name, limit: documents.len(), keep_doubtful: true, ..SearchQuery::default() };
        let found = index.search(&query);
        prop_assert!(!has_words || found.hits.iter().any(|hit| hit.document == at), "{:?}", found);
    }

    #[test]
    fn sentences_leave_out_nothing_that_has_letters(text in ".{0,80}") {
        let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
        prop_assert_eq!(letters(&sentences(&text).concat()), letters(&text));
    }

    #[test]
    fn nearest_names_are_names(documents in documents(), wrong in text(), most in 0_usize..5) {
        let index = index(&documents);
        let near = index.nearest(&wrong, most, &|_| true);
        prop_assert!(near.len() <= most && near.iter().all(|at| *at < documents.len()));
    }
}
