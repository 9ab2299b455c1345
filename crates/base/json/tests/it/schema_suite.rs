//! The official JSON Schema test suite: all required tests of three drafts, none refused.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test may fail loudly, and prints its counts"
)]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde_json::Value;
use toolcrib_json::schema::{Schema, SchemaBounds, SchemaDocuments};

const ARCHIVE: &str = "../../../../shared/data/formats/json-schema-test-suite-44401e0.tar.gz";

#[test]
fn the_required_tests_of_draft_2020_12_pass() {
    run("draft2020-12");
}

#[test]
fn the_required_tests_of_draft_7_pass() {
    run("draft7");
}

#[test]
fn the_required_tests_of_draft_4_pass() {
    run("draft4");
}

fn run(draft: &str) {
    let files = files();
    let documents = SchemaDocuments::new(remotes(&files, draft)).unwrap();
    let (mut passed, mut refused, mut failures) = (0, Vec::new(), Vec::new());
    let folder = format!("tests/{draft}/");
    let required = files
        .iter()
        .filter(|(path, _)| path.strip_prefix(&folder).is_some_and(|name| !name.contains('/')));
    for (path, cases) in required {
        for case in cases.as_array().unwrap() {
            let description = case["description"].as_str().unwrap();
            let tests = case["tests"].as_array().unwrap();
            let source = with_draft(&case["schema"], draft);
            match Schema::compile_with(&source, &SchemaBounds::default(), &documents) {
                Ok(schema) => {
                    for test in tests {
                        let valid = test["valid"].as_bool().unwrap();
                        if schema.is_valid(&test["data"]) == valid
                            && schema.check(&test["data"]).is_ok() == valid
                        {
                            passed += 1;
                        } else {
                            failures
                                .push(format!("{path}: {description}: {}", test["description"]));
                        }
                    }
                }
                Err(error) => {
                    println!("refused: {path}: {description}: {error}");
                    refused.push((description.to_owned(), tests.len()));
                }
            }
        }
    }
    let not_run: usize = refused.iter().map(|(_, tests)| tests).sum();
    println!("{draft}: {passed} passed, {} failed, {not_run} refused", failures.len());
    assert_eq!(failures, Vec::<String>::new(), "{draft}");
    assert_eq!(refused, Vec::new(), "{draft}: the default bounds refuse none of the suite");
    assert!(passed > 600, "{draft}: only {passed} tests were found");
}

/// The suite's schemas of older drafts do not all say which they are of.
fn with_draft(schema: &Value, draft: &str) -> Value {
    let mut schema = schema.clone();
    let address = match draft {
        "draft7" => "http://json-schema.org/draft-07/schema#",
        "draft4" => "http://json-schema.org/draft-04/schema#",
        "draft2020-12" => "https://json-schema.org/draft/2020-12/schema",
        other => panic!("no address for {other}"),
    };
    if let Value::Object(members) = &mut schema {
        members.entry("$schema").or_insert(address.into());
    }
    schema
}

/// The documents that the suite serves at its own address.
fn remotes(files: &BTreeMap<String, Value>, draft: &str) -> Vec<(String, Value)> {
    let own = format!("{draft}/");
    let of_draft = |name: &str| {
        !name.starts_with("draft") && !name.starts_with("v1") || name.starts_with(&own)
    };
    files
        .iter()
        .filter_map(|(path, value)| Some((path.strip_prefix("remotes/")?, value)))
        .filter(|(name, _)| of_draft(name))
        .map(|(name, value)| (format!("http://localhost:1234/{name}"), with_draft(value, draft)))
        .collect()
}

/// All JSON files of the archive by path.
fn files() -> BTreeMap<String, Value> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(ARCHIVE);
    let file = File::open(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut archive = tar::Archive::new(flate2::read::GzDecoder::new(file));
    let mut files = BTreeMap::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().to_string_lossy().trim_start_matches("./").to_owned();
        if Path::new(&path).extension().is_some_and(|extension| extension == "json") {
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            files.insert(path, serde_json::from_str(&text).unwrap());
        }
    }
    files
}
