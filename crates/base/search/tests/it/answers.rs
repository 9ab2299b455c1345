//! What is found, and what is said of it.

use toolcrib_search::{
    AbstentionReason, DocumentField, MatchKind, Prerequisite, SearchIndex, SearchQuery, each_word,
    sentences,
};

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

/// Tools of two sources, some of whose names hold each other's words.
fn workshop() -> SearchIndex {
    let named = |source: &str, prefix: &str, name: &'static str, summary: &str| {
        let full = format!("{prefix}{name}");
        let mut tool = tool(source, &full, summary, &["namespace"]);
        tool.aliases = vec![name.into()];
        tool
    };
    let cluster = |name, summary| named("cluster", "", name, summary);
    let forge = |name, summary| named("forge", "forge__", name, summary);
    SearchIndex::build([
        cluster("listDeployments", "List the deployments, and the pods and logs of each."),
        cluster("listNamespaces", "List namespaces with their pods."),
        cluster("listPods", "List what runs."),
        cluster("getPodLogs", "Read what a pod wrote."),
        cluster("scaleDeployment", "Change how many replicas there are."),
        cluster("describe-vm", "Tell of a virtual machine."),
        forge("create_issue", "Open a new one in a repository."),
        forge("list_issues", "Issues of a repository, also create dates."),
        forge("search_issues", "Search issues and pull requests."),
        forge("merge_pull_request", "Merge a pull request."),
        forge("get_pull_request_diff", "Get the diff of a pull request."),
        forge("list_dbs", "List the databases."),
        forge("get_repository_configuration", "Read how a repository is set up."),
        forge("list.env.vars", "List what programs are told."),
    ])
}

#[test]
fn an_exact_name_comes_first_in_any_case_with_any_signs_or_none() {
    let index = workshop();
    for document in 0..index.len() {
        let name = index.name(document).unwrap();
        let own = name.strip_prefix("forge__").unwrap_or(name);
        let mut words = Vec::new();
        each_word(own, |word| words.push(word.to_owned()));
        for parted in ["", "_", "-", ".", " ", "/", "__", "::"] {
            let written = words.join(parted);
            let source = if own == name { "cluster" } else { "forge" };
            for text in [
                written.clone(),
                written.to_uppercase(),
                format!(" {written}\n"),
                format!("{source}{parted}{written}"),
                format!("{source}: {written}"),
            ] {
                let found =
                    index.search(&SearchQuery { text: &text, limit: 3, ..SearchQuery::default() });
                let first = found.hits.first().map(|hit| hit.document);
                assert_eq!(first, Some(document), "{text} is {name}");
                assert!(!found.hits[0].matched.is_empty() && found.abstained.is_none(), "{text}");
            }
        }
    }
}

#[test]
fn a_name_is_found_with_one_or_several_and_within_a_question() {
    let index = workshop();
    for (text, name) in [
        ("listpod", "listPods"),
        ("list pod", "listPods"),
        ("getPodsLog", "getPodLogs"),
        ("createissues", "forge__create_issue"),
        ("create-issues", "forge__create_issue"),
        ("scaledeployments", "scaleDeployment"),
        ("describevms", "describe-vm"),
        ("use getpodlogs for the web server", "getPodLogs"),
        ("call SCALEDEPLOYMENT with 3", "scaleDeployment"),
        ("please run mergepullrequest now", "forge__merge_pull_request"),
    ] {
        assert_eq!(names(&index, &ask(text)).first().map(String::as_str), Some(name), "{text}");
    }
    let hidden = index.search_within(&ask("listpods"), &|document| document != 2);
    assert!(hidden.hits.iter().all(|hit| hit.document != 2), "what is hidden is not named");
}

#[test]
fn short_forms_and_what_they_stand_for_lead_to_each_other() {
    let index = workshop();
    let pulls =
        ["forge__get_pull_request_diff", "forge__merge_pull_request", "forge__search_issues"];
    for (text, wanted) in [
        ("PR", &pulls[..]),
        ("PRs", &pulls[..]),
        ("prs", &pulls[..]),
        ("VM", &["describe-vm"]),
        ("VMs", &["describe-vm"]),
        ("virtual machines", &["describe-vm"]),
        ("database", &["forge__list_dbs"]),
        ("DB", &["forge__list_dbs"]),
        ("repo config", &["forge__get_repository_configuration"]),
        ("environment variables", &["forge__list.env.vars"]),
    ] {
        let found = index.search(&SearchQuery { text, limit: 3, ..SearchQuery::default() });
        let found: Vec<_> = found.hits.iter().filter_map(|hit| index.name(hit.document)).collect();
        let wanted: Vec<_> = wanted.iter().map(|name| name.trim_start_matches("forge__")).collect();
        let mut first: Vec<_> = found
            .iter()
            .take(wanted.len())
            .map(|name| name.trim_start_matches("forge__"))
            .collect();
        first.sort_unstable();
        assert_eq!(first, wanted, "{text}: {found:?}");
    }
    let first = |text| names(&index, &ask(text)).first().cloned().unwrap_or_default();
    assert_eq!(first("merge PR"), "forge__merge_pull_request");
    assert_eq!(first("diff of the PR"), "forge__get_pull_request_diff");
    let short = SearchIndex::build([
        tool("a", "list_prs", "Those of a repo.", &[]),
        tool("a", "k8s_apply", "Send a manifest.", &[]),
        tool("a", "parse_url", "Take it apart.", &[]),
        tool("a", "weather", "Rain or sun.", &[]),
    ]);
    for (text, name) in [
        ("pull requests", "list_prs"),
        ("kubernetes", "k8s_apply"),
        ("K8s", "k8s_apply"),
        ("URLs", "parse_url"),
        ("repository", "list_prs"),
    ] {
        assert_eq!(names(&short, &ask(text)).first().map(String::as_str), Some(name), "{text}");
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
            (
                "event",
                "event",
                MatchKind::Same,
                vec![DocumentField::Name, DocumentField::Summary, DocumentField::ArgumentName]
            ),
            ("remove", "delet", MatchKind::Alike, vec![DocumentField::Name, DocumentField::Label]),
        ]
    );
    assert!(hit.matched.iter().all(|met| met.gain > 0.0), "{hit:?}");
}

#[test]
fn siblings_are_told_apart() {
    let index = SearchIndex::build([
        tool("a", "create_issue", "Create an issue in a repository.", &[]),
        tool("a", "close_issue", "Close an issue in a repository.", &[]),
        tool("a", "weather", "Rain or sun.", &[]),
    ]);
    let found = index.search(&ask("issue of a repository"));
    let told: Vec<_> = found.hits.iter().map(|hit| (hit.document, hit.contrast.clone())).collect();
    assert_eq!(told, [(0, vec!["create".to_owned()]), (1, vec!["close".to_owned()])]);
}

#[test]
fn what_a_tool_needs_comes_from_the_tool_that_is_about_the_same() {
    let index = SearchIndex::build([
        tool("hub", "gists_list_comments", "Lists comments.", &["gist"]),
        tool("hub", "issues_list_comments", "Lists the comments of an issue.", &["issue"]),
        tool("hub", "reactions_delete_for_issue_comment", "Deletes it.", &["comment_id"]),
    ]);
    let found = index.search(&ask("delete the reaction to an issue comment"));
    assert_eq!(found.hits[0].document, 2);
    let needed = Prerequisite { document: 2, argument: "comment_id".to_owned(), from: 1 };
    assert!(found.needs.contains(&needed), "{:?}", found.needs);
}

#[test]
fn what_a_tool_needs_is_found_with_the_one_that_yields_it() {
    let found = index().search(&ask("cast and crew"));
    assert_eq!(found.hits[0].document, 6);
    assert_eq!(
        found.needs,
        [Prerequisite { document: 6, argument: "movie_id".to_owned(), from: 7 }]
    );
    let without = index().search_within(&ask("cast and crew"), &|document| document != 7);
    assert_eq!(without.needs, [], "what is hidden is not named");
}

#[test]
fn a_question_that_no_tool_can_serve_gets_no_answer() {
    let index = index();
    let ask = |text| index.search(&SearchQuery { text, limit: 3, ..SearchQuery::default() });
    let of_nothing = ask("Knit a woollen scarf");
    assert_eq!((of_nothing.hits, of_nothing.abstained), (vec![], Some(AbstentionReason::NoWord)));
    let of_little = ask("Feed the crew of goldfish on the sofa, iron the blue shirt");
    assert_eq!((of_little.hits, of_little.abstained), (vec![], Some(AbstentionReason::TooLittle)));
    let served = ask("search my emails for some words");
    assert_eq!((served.hits[0].document, served.abstained), (4, None));
    assert!(served.confidence > 0.5, "{}", served.confidence);
}

#[test]
fn equals_stand_in_the_order_of_the_documents_whatever_a_hash_says() {
    let twins =
        || SearchIndex::build((0..50).map(|_| tool("a", "twin", "The same text.", &["same"])));
    let order = |index: &SearchIndex| {
        let query = SearchQuery { limit: 50, ..ask("same twin text") };
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
    let index = SearchIndex::build([]);
    let found = index.search(&ask("anything"));
    assert_eq!((found.hits.len(), found.abstained), (0, Some(AbstentionReason::Facets)));
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
    let index = SearchIndex::build([tool("a", "other", "Another.", &[]), document]);
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
