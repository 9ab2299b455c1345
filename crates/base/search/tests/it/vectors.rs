//! Words and meaning together.

use std::sync::Arc;

use toolcrib_search::{AbstentionReason, QueryVectors, SearchQuery, Vector};

use crate::sample::index;

fn vectors(of: &[[f32; 2]]) -> Vec<Vector> {
    of.iter().map(|vector| Arc::from(vector.as_slice())).collect()
}

#[test]
fn meaning_finds_what_no_word_leads_to() {
    let index = index();
    let mut near = [[1.0, 0.0]; 8];
    near[5] = [0.0, 1.0];
    let (documents, question) = (vectors(&near), vectors(&[[0.0, 1.0]]));
    let query = SearchQuery { text: "xyzzy", limit: 2, ..SearchQuery::default() };
    let found = |enough, may: &dyn Fn(usize) -> bool| {
        let vectors =
            QueryVectors { documents: &documents, question: &question, weight: 1.0, enough };
        index.search_with(&query, &vectors, may)
    };
    assert_eq!(found(0.5, &|_| true).hits[0].document, 5);
    assert_eq!(found(0.5, &|at| at != 5).abstained, Some(AbstentionReason::TooLittle));
    assert_eq!(found(1.5, &|_| true).abstained, Some(AbstentionReason::TooLittle));
}

#[test]
fn the_best_sentence_counts() {
    let index = index();
    let mut near = [[1.0, 0.0]; 8];
    near[5] = [0.0, 1.0];
    let documents = vectors(&near);
    let question = vectors(&[[0.6, 0.6], [1.0, 0.0], [0.0, 1.0]]);
    let query = SearchQuery { text: "xyzzy. plugh.", limit: 8, ..SearchQuery::default() };
    let vectors =
        QueryVectors { documents: &documents, question: &question, weight: 1.0, enough: 0.5 };
    let found = index.search_with(&query, &vectors, &|_| true);
    assert_eq!((found.hits[0].document, found.hits.len()), (5, 8));
}

#[test]
fn vectors_of_another_length_say_nothing() {
    let index = index();
    let documents = vectors(&[[1.0, 0.0]; 3]);
    let question: Vec<Vector> = vec![Arc::from([1.0, 0.0, 0.0].as_slice())];
    let vectors =
        QueryVectors { documents: &documents, question: &question, weight: 1.0, enough: 0.5 };
    let query = SearchQuery { text: "send an email", limit: 1, ..SearchQuery::default() };
    let found = index.search_with(&query, &vectors, &|_| true);
    assert_eq!(found.hits[0].document, 3);
}
