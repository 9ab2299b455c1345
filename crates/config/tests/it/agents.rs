//! Agents and their models, as the file says them.

use std::io;
use std::path::Path;

use toolcrib_agent::model::TextCallFormat;
use toolcrib_config::{Config, SecretLookup};

struct Nothing;

impl SecretLookup for Nothing {
    fn env(&self, _: &str) -> Option<String> {
        None
    }

    fn file(&self, _: &Path) -> io::Result<String> {
        Err(io::ErrorKind::NotFound.into())
    }
}

#[test]
fn a_model_calls_by_its_api_if_the_file_names_no_form_of_its_text() {
    let forms = [
        ("", None),
        ("calls = \"api\"", None),
        ("calls = \"hermes\"", Some(TextCallFormat::Hermes)),
        ("calls = \"json\"", Some(TextCallFormat::Json)),
        ("calls = \"llama\"", Some(TextCallFormat::Llama)),
        ("calls = \"cline\"", Some(TextCallFormat::Cline)),
        ("calls = \"react\"", Some(TextCallFormat::React)),
    ];
    for (line, form) in forms {
        let text = format!("[model]\nkind = \"ollama\"\nname = \"m\"\n{line}\n");
        let read = Config::read(&text, "crib.toml");
        assert_eq!(read.problems, vec![], "{line}");
        let agents = read.config.unwrap().agents(&Nothing).unwrap();
        assert_eq!(agents[0].model.text_calls, form, "{line}");
    }
    let read = Config::read("[model]\nkind = \"ollama\"\nname = \"m\"\ncalls = \"xml\"\n", "c");
    assert!(read.problems[0].to_string().contains("calls"), "{:?}", read.problems);
}
