//! Tools that the provider of a model runs, as the file names them.

use toolcrib_config::{Config, Disclosure};

/// The problems of a file with such a source beside another, as they are printed.
fn problems(builtin: &str) -> Vec<String> {
    let text = format!(
        "[[source]]\nid = \"basics\"\nbasics = true\n[[source]]\nid = \"provider\"\nbuiltin = \
         {builtin}\n"
    );
    let read = Config::read(&text, "crib.toml");
    read.problems.iter().map(ToString::to_string).collect()
}

#[test]
fn names_and_tables_are_taken() {
    let all = "[\"web_search\", { name = \"code_interpreter\", settings = { container = { type = \
               \"auto\" } } }, { name = \"file_search\", settings = { vector_store_ids = \
               [\"vs_1\"] }, local = \"basics__calculate\", on_demand = true }]";
    assert_eq!(problems(all), Vec::<String>::new());
}

#[test]
fn what_is_wrong_is_told_with_its_place_and_its_cure() {
    for (builtin, place, words) in [
        (
            "[\"web_serch\"]",
            "source[1].builtin[0]",
            "no provider is known to have such a tool; did you mean `web_search`?",
        ),
        (
            "[{ name = \"google_search\" }]",
            "source[1].builtin[0].name",
            "no provider is known to have such a tool; it is called `web_search` here, in every API",
        ),
        (
            "[\"web_search\", \"web_search\"]",
            "source[1].builtin[1]",
            "this tool of the provider is there already; remove one of them",
        ),
        ("[]", "source[1].builtin", "a source without tools is none"),
        ("[\"file_search\"]", "source[1].builtin[0]", "add to `settings` `vector_store_ids` for"),
        (
            "[{ name = \"web_search\", settings = { contxt = 1 } }]",
            "source[1].builtin[0].settings.contxt",
            "no API is known to have this setting of `web_search`",
        ),
        ("[{ name = \"web_search\", settings = \"x\" }]", "source[1].builtin[0]", ""),
        (
            "[{ name = \"web_search\", local = \"docs__search\" }]",
            "source[1].builtin[0].local",
            "no source has tools whose names begin so; write it with the prefix of its source, as \
             one of `basics__NAME`, `provider__NAME`",
        ),
        (
            "[\"web_fetch\", { name = \"web_search\", local = \"provider__web_fetch\" }]",
            "source[1].builtin[1].local",
            "this is a tool of the provider too",
        ),
    ] {
        let told = problems(builtin);
        let is_told = told.iter().any(|told| told.contains(place) && told.contains(words));
        assert!(is_told, "{builtin}: {told:#?}");
    }
}

#[test]
fn whoever_trusts_the_file_is_told_what_a_provider_runs() {
    let read = Config::read("[[source]]\nid = \"p\"\nbuiltin = [\"web_search\"]\n", "crib.toml");
    let reaches = read.config.unwrap().reaches(Disclosure::Whole);
    assert_eq!(reaches, ["`p` has the provider of a model run `web_search`"]);
}
