//! What a file only names is told together with what is wrong within it.

use toolcrib_config::{Config, ConfigProblem};

use crate::workshop::Workshop;

/// The places of the problems, and those of the warnings.
fn places(text: &str) -> (Vec<String>, Vec<String>) {
    let (problems, warnings) =
        Config::read(text, "/nowhere/crib.toml").examine(&Workshop::default());
    let places = |list: &[ConfigProblem]| -> Vec<String> {
        list.iter().map(|problem| format!("{}: {}", problem.line, problem.path)).collect()
    };
    (places(&problems), places(&warnings))
}

#[test]
fn what_is_missing_is_told_beside_the_mistakes_of_the_file() {
    let text = r#"
listn = "127.0.0.1:7411"

[[source]]
id = "empty"
mcp = { command = [], cwd = "gone", env = { KEY = "${env:KEY}" } }

[[source]]
id = "shop"
openapi = { document = "gone.json", timeout = "soon", auth = { bearer = "${env:TOKEN}" } }

[[source]]
id = "b"
mcp = { command = ["no-such-program"] }
"#;
    let (problems, warnings) = places(text);
    assert_eq!(
        problems,
        [
            "2: listn",
            "6: source[0].mcp.command",
            "6: source[0].mcp.cwd",
            "6: source[0].mcp.env.KEY",
            "10: source[1].openapi.document",
            "10: source[1].openapi.timeout",
            "10: source[1].openapi.auth.bearer",
        ]
    );
    assert_eq!(warnings, ["14: source[2].mcp.command[0]"]);
}

#[test]
fn a_source_that_is_left_out_needs_nothing() {
    let text = r#"
[[source]]
id = "server"
enabled = false
mcp = { command = ["no-such-program"], cwd = "gone", env = { KEY = "${env:KEY}" } }

[[source]]
id = "shop"
enabled = false
openapi = { document = "gone.json", auth = { bearer = "${env:TOKEN}" } }
"#;
    assert_eq!(places(text), (vec![], vec![]));
    let used = text.replace("enabled = false\n", "");
    let (problems, warnings) = places(&used);
    assert_eq!((problems.len(), warnings.len()), (4, 1), "{problems:?} {warnings:?}");
}

#[test]
fn what_is_no_toml_is_told_alone() {
    let text = "[[source]\nid = \"a\"\nmcp = { command = [\"${env:KEY}\"] }\n";
    assert_eq!(places(text).0.len(), 1);
}
