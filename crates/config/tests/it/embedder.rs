//! What finds tools by their meaning, as the file says it.

use std::io;
use std::path::Path;

use toolcrib_config::{Config, Disclosure, SecretLookup};

struct Outside;

impl SecretLookup for Outside {
    fn env(&self, name: &str) -> Option<String> {
        (name == "KEY").then(|| "sk-0123456789abcdef".to_owned())
    }

    fn file(&self, _: &Path) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }
}

fn problems(table: &str) -> Vec<String> {
    let read = Config::read(&format!("[embedder]\n{table}\n"), "crib.toml");
    read.problems.iter().chain(&read.warnings).map(ToString::to_string).collect()
}

#[test]
fn an_embedder_is_in_one_place_and_has_what_belongs_there() {
    let cure = "write `local = \"FOLDER\"`, or `endpoint = \"https://...\"` and `model`";
    let one_place = format!("crib.toml:1:1: embedder: an embedder is in one place; {cure}");
    assert_eq!(problems(""), [one_place.as_str()]);
    let both = "local = \"a\"\nendpoint = \"https://b.example\"\nmodel = \"m\"";
    assert_eq!(problems(both), [one_place.as_str()]);
    assert_eq!(
        problems("local = \"a\"\nmodel = \"m\""),
        [
            "crib.toml:3:9: embedder.model: `model` is of an endpoint, and this model is in a folder; \
          take it out"
        ]
    );
    assert_eq!(
        problems("endpoint = \"http://far.example/v1\"\nkey = \"${env:KEY}\""),
        [
            "crib.toml:1:1: embedder: an endpoint is asked for a model; add it as the endpoint \
             names it: `model = \"text-embedding-3-small\"`",
            "crib.toml:2:12: embedder.endpoint: secrets go to this address unencrypted; use `https`",
        ]
    );
    assert_eq!(problems("endpoint = \"https://far.example/v1\"\nmodel = \"m\""), [""; 0]);
}

/// The checks run it with such a model, and without.
#[test]
fn a_model_of_sentences_that_this_program_was_built_without_is_told_at_its_place() {
    let told = "crib.toml:2:9: embedder.local: this program was built without models of sentences; \
                use one that was built with the feature `sentence-model`, or name an `endpoint`";
    let expected: Vec<_> =
        Some(told).filter(|_| !cfg!(feature = "sentence-model")).into_iter().collect();
    assert_eq!(problems("local = \"a\""), expected);
}

#[test]
fn where_texts_go_is_told_and_the_key_stays_a_secret() {
    let text = "[embedder]\nendpoint = \"https://far.example/v1\"\nmodel = \"m\"\nkey = \
                \"${env:KEY}\"\nvectors = \"/tmp/kept.vectors\"\n";
    let config = Config::read(text, "crib.toml").config.unwrap();
    assert_eq!(
        config.reaches(Disclosure::Whole),
        [
            "texts of tools and questions go to https://far.example/v1 with ${env:KEY}",
            "vectors of tools are kept in `/tmp/kept.vectors`",
        ]
    );
    let settings = config.embedder(&Outside).unwrap();
    assert!(!format!("{settings:?}").contains("sk-0123456789abcdef"));
    let unset = Config::read(&text.replace("KEY", "OTHER"), "crib.toml").config.unwrap();
    assert!(unset.embedder(&Outside).is_err());
}
