//! What is let through, and what there is.

use toolcrib_search::{AbstentionReason, Facet, SearchQuery, UnknownFacetName};

use crate::sample::{index, names};

#[test]
fn a_question_is_kept_to_what_it_names() {
    let index = index();
    let all = SearchQuery {
        limit: 9,
        keep_doubtful: true,
        text: "search words event",
        ..SearchQuery::default()
    };
    let of = |query: SearchQuery<'_>| {
        let mut names = names(&index, &query);
        names.sort();
        names
    };
    assert_eq!(
        of(SearchQuery { categories: &["mail"], actions: &["read"], ..all.clone() }),
        ["search_emails"]
    );
    assert_eq!(of(SearchQuery { sources: &["films"], ..all.clone() }), ["searchMovies"]);
    assert_eq!(
        of(SearchQuery { tags: &["all", "Calendar"], writes: Some(true), ..all.clone() }),
        ["create_event", "delete_event"]
    );
    assert_eq!(
        of(SearchQuery { text: "", categories: &["Mail", "Calendar"], writes: Some(false), ..all }),
        ["search_emails", "search_events"]
    );
}

#[test]
fn without_a_text_everything_is_found_in_order() {
    let index = index();
    let found = index.search(&SearchQuery { limit: 2, ..SearchQuery::default() });
    let order: Vec<_> = found.hits.iter().map(|hit| hit.document).collect();
    assert_eq!((order, found.total, found.abstained), (vec![0, 1], 8, None));
    let hidden =
        index.search_within(&SearchQuery { limit: 9, ..SearchQuery::default() }, &|at| at > 5);
    assert_eq!((hidden.hits.len(), hidden.total), (2, 2));
}

#[test]
fn an_unknown_name_has_its_nearest_and_lets_nothing_through() {
    let index = index();
    let query = SearchQuery {
        text: "event",
        categories: &["Calender"],
        limit: 3,
        ..SearchQuery::default()
    };
    let found = index.search(&query);
    assert_eq!(
        (found.hits, found.abstained, found.unknown),
        (
            vec![],
            Some(AbstentionReason::Facets),
            vec![UnknownFacetName {
                facet: Facet::Category,
                name: "Calender".to_owned(),
                nearest: vec!["Calendar".to_owned()],
            }]
        )
    );
    let either = SearchQuery { categories: &["Calender", "Calendar"], ..query };
    assert_eq!(names(&index, &either).len(), 3);
}

#[test]
fn the_facets_are_counted_among_what_may_be_seen() {
    let pairs = |pairs: &[(String, usize)]| {
        let pairs: Vec<_> = pairs.iter().map(|(name, count)| format!("{name} {count}")).collect();
        pairs.join(", ")
    };
    let all = index().facets(&|_| true);
    assert_eq!(pairs(&all.categories), "Calendar 3, Mail 2");
    assert_eq!(pairs(&all.actions), "create 2, delete 1, read 2");
    assert_eq!(pairs(&all.sources), "films 2, office 5, sky 1");
    assert_eq!(pairs(&all.tags), "Calendar 3, Mail 2, all 5");
    let some = index().facets(&|document| document > 3);
    assert_eq!(pairs(&some.categories), "Mail 1");
}
