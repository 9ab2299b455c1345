//! The JSON Schema of the file, and the example of the documentation.

use std::path::Path;

use serde_json::Value;
use toolcrib_config::{Config, schema};
use toolcrib_json::schema::Schema;

fn docs(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(name))
        .unwrap()
}

/// A TOML text as JSON, as an editor checks it.
fn json(text: &str) -> Value {
    serde_json::to_value(toml::from_str::<toml::Table>(text).unwrap()).unwrap()
}

#[test]
fn the_schema_of_the_documentation_is_current() {
    let current = format!("{:#}\n", schema());
    assert!(
        docs("crib.schema.json") == current,
        "renew it: cargo run -p toolcrib-config --example schema > docs/crib.schema.json"
    );
}

#[test]
fn the_example_of_the_documentation_is_valid_and_right() {
    let text = docs("crib.example.toml");
    let compiled = Schema::compile(&schema()).unwrap();
    assert_eq!(compiled.check(&json(&text)).err(), None);
    let read = Config::read(&text, "crib.toml");
    assert_eq!((read.problems, read.warnings), (vec![], vec![]));
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let compiled = Schema::compile(&schema()).unwrap();
    for wrong in [
        "sauce = 1",
        "[server]\nlisten = 7411",
        "[[source]]\nmcp = {}",
        "[[source]]\nid = \"a\"\nmcp = { share = \"everybody\" }",
        "[limits]\nmax_calls = -1",
        "[limits]\ntimeout = \"soon\"",
        "[profile.p]\ndiscovery = \"code\"",
        "[[tests]]\ntool = \"now\"\nexpect = \"maybe\"",
    ] {
        assert!(!compiled.is_valid(&json(wrong)), "{wrong}");
        assert!(!Config::read(wrong, "crib.toml").problems.is_empty(), "{wrong}");
    }
}
