//! What is found, and what is said of it.

use toolcrib_search::{Abstained, Field, Index, Need, Query, Way, sentences};

use crate::sample::{ask, documents, index, names, tool};

fn first(text: &str) -> String {
    names(&index(), &ask(text)).first().cloned().unwrap_or_default()
}

#[test]
fn a_tool_is_found_by_its_name_however_it_is_written() {
    for text in ["getWeatherForecast", "get_weather_forecast", "GET WEATHER FORECAST", "weather"] {
        assert_eq!(first(text), "getWeatherForecast", "{text}");
    }
}

#[test]
fn a_word_leads_to_what_means_the_same_and_to_its_other_forms() {
    assert_eq!(first("remove the meeting from my schedule"), "delete_event");
    assert_eq!(first("Who are the actors of this film?"), "movieCredits");
    assert_eq!(first("I was sending mails"), "send_email");
}

#[test]
fn a_slip_of_the_pen_is_forgiven() {
    assert_eq!(first("wheather forcast"), "getWeatherForecast");
}

#[test]
fn every_clause_of_a_task_finds_its_tool() {
    let task =
        "Look up the weather in Oslo. Then send an email about it, and also create an event.";
    let mut found = names(&index(), &ask(task));
    found.sort();
    assert_eq!(found, ["create_event", "getWeatherForecast", "send_email"]);
}

#[test]
fn a_hit_tells_which_words_led_to_it() {
    let index = index();
    let found = index.search(&ask("remove an event"));
    let hit = &found.hits[0];
    let mut told: Vec<_> = hit
        .matched
        .iter()
        .map(|met| (met.word.as_str(), met.found.as_str(), met.way, met.fields.clone()))
        .collect();
    told.sort_unstable();
    assert_eq!(
        told,
        [
            ("event", "event", Way::Same, vec![Field::Name, Field::Summary, Field::ArgumentName]),
            ("remove", "delet", Way::Alike, vec![Field::Name, Field::Label]),
        ]
    );
    assert!(hit.matched.iter().all(|met| met.gain > 0.0), "{hit:?}");
}

#[test]
fn siblings_are_told_apart() {
    let index = Index::build([
        tool("a", "create_issue", "Create an issue in a repository.", &[]),
        tool("a", "close_issue", "Close an issue in a repository.", &[]),
        tool("a", "weather", "Rain or sun.", &[]),
    ]);
    let found = index.search(&ask("issue of a repository"));
    let told: Vec<_> = found.hits.iter().map(|hit| (hit.document, hit.contrast.clone())).collect();
    assert_eq!(told, [(0, vec!["create".to_owned()]), (1, vec!["close".to_owned()])]);
}

#[test]
fn what_a_tool_needs_is_found_with_the_one_that_yields_it() {
    let found = index().search(&ask("cast and crew"));
    assert_eq!(found.hits[0].document, 6);
    assert_eq!(found.needs, [Need { document: 6, argument: "movie_id".to_owned(), from: 7 }]);
    let without = index().search_within(&ask("cast and crew"), &|document| document != 7);
    assert_eq!(without.needs, [], "what is hidden is not named");
}

#[test]
fn a_question_that_no_tool_can_serve_gets_no_answer() {
    let index = index();
    let ask = |text| index.search(&Query { text, limit: 3, ..Query::default() });
    let of_nothing = ask("Knit a woollen scarf");
    assert_eq!((of_nothing.hits, of_nothing.abstained), (vec![], Some(Abstained::NoWord)));
    let of_little = ask("Feed the crew of goldfish on the sofa, iron the blue shirt");
    assert_eq!((of_little.hits, of_little.abstained), (vec![], Some(Abstained::TooLittle)));
    let served = ask("search my emails for some words");
    assert_eq!((served.hits[0].document, served.abstained), (4, None));
    assert!(served.confidence > 0.5, "{}", served.confidence);
}

#[test]
fn equals_stand_in_the_order_of_the_documents_whatever_a_hash_says() {
    let twins = || Index::build((0..50).map(|_| tool("a", "twin", "The same text.", &["same"])));
    let order = |index: &Index| {
        let query = Query { limit: 50, ..ask("same twin text") };
        index.search(&query).hits.iter().map(|hit| hit.document).collect::<Vec<_>>()
    };
    assert_eq!(order(&twins()), (0..50).collect::<Vec<_>>());
    let found: Vec<_> =
        (0..5).map(|_| index().search(&ask("search the words of an event"))).collect();
    assert!(found.iter().all(|one| *one == found[0]));
}

#[test]
fn a_wrong_name_has_its_nearest() {
    let index = index();
    let near = |name| {
        let near = index.nearest(name, 2, &|_| true).into_iter();
        near.filter_map(|document| index.name(document)).collect::<Vec<_>>()
    };
    assert_eq!(near("createEvnt"), ["create_event"]);
    assert_eq!(near("weather_forecast"), ["getWeatherForecast"]);
    assert_eq!(near("zzz"), Vec::<&str>::new());
}

#[test]
fn an_index_of_nothing_finds_nothing() {
    let index = Index::build([]);
    let found = index.search(&ask("anything"));
    assert_eq!((found.hits.len(), found.abstained), (0, Some(Abstained::Facets)));
    assert_eq!((index.len(), index.is_empty(), index.name(0)), (0, true, None));
}

#[test]
fn a_document_is_found_by_every_field() {
    let mut document = documents().remove(0);
    document.aliases = vec!["zugvogel".into()];
    document.description = "murmeltier".into();
    document.examples = vec!["eichhorn".into()];
    document.results = vec!["nachtfalter".into()];
    document.about_source = "wiedehopf".into();
    document.arguments[0].description = "siebenschläfer".into();
    document.arguments[0].values = vec!["haselhuhn".into()];
    let index = Index::build([tool("a", "other", "Another.", &[]), document]);
    for text in
        "zugvogel murmeltier eichhorn nachtfalter wiedehopf siebenschlafer haselhuhn".split(' ')
    {
        assert_eq!(names(&index, &ask(text)), ["create_event"], "{text}");
    }
}

#[test]
fn a_text_has_its_sentences() {
    assert_eq!(
        sentences("Version 2.5 is out. Tell me more! - one\n- two\n\n...然后呢？好"),
        ["Version 2.5 is out.", " Tell me more!", " - one\n", "- two\n", "...然后呢？", "好"]
    );
}
