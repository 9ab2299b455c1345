//! The floors: no arrow goes up, neighbours are strangers, and heavy libraries have one home.

use serde_json::Value;
use xtask::machine::cargo;

/// One dependency as a manifest declares it.
struct Arrow {
    from: String,
    to: String,
    /// Only tests, examples and benchmarks see it.
    only_tests: bool,
}

/// Everything that may stand below the doors.
const ROOMS: &[&str] = &[
    "toolcrib-json",
    "toolcrib-core",
    "toolcrib-search",
    "toolcrib-tokens",
    "toolcrib-when",
    "toolcrib-embed",
    "toolcrib-dialect",
    "toolcrib-engine",
    "toolcrib-auth",
    "toolcrib-basics",
    "toolcrib-config",
    "toolcrib-mcp",
    "toolcrib-openapi",
    "toolcrib-a2a-client",
    "toolcrib-a2a-server",
    "toolcrib-store",
    "toolcrib-store-postgres",
    "toolcrib-desk",
    "toolcrib-agent",
];
const GROUND: &[&str] =
    &["toolcrib-json", "toolcrib-core", "toolcrib-search", "toolcrib-tokens", "toolcrib-when"];
/// The ways out: to the network, and to other programs.
const NETWORK: &[&str] = &["toolcrib-egress"];
const PROGRAMS: &[&str] = &["toolcrib-child"];

/// Where tools come from.
const SOURCES: &[&str] = &[
    "toolcrib-a2a-client",
    "toolcrib-basics",
    "toolcrib-mcp",
    "toolcrib-openapi",
    "toolcrib-desk",
];

/// Each crate of the workspace, and which others its code may name.
const FLOORS: &[(&str, &[&[&str]])] = &[
    // Floor 0: no socket, no file, no environment.
    ("toolcrib-json", &[]),
    ("toolcrib-core", &[&["toolcrib-json"]]),
    ("toolcrib-search", &[]),
    ("toolcrib-tokens", &[]),
    ("toolcrib-when", &[]),
    // Floor 0 as well: the two ways out of the process, each with one thing to guard.
    ("toolcrib-egress", &[]),
    ("toolcrib-child", &[]),
    // Floor 1: strangers to each other.
    ("toolcrib-dialect", &[GROUND]),
    ("toolcrib-embed", &[GROUND, NETWORK]),
    ("toolcrib-engine", &[GROUND]),
    ("toolcrib-auth", &[GROUND, NETWORK]),
    ("toolcrib-basics", &[GROUND]),
    ("toolcrib-openapi", &[GROUND, NETWORK]),
    ("toolcrib-a2a-client", &[GROUND, NETWORK]),
    ("toolcrib-store", &[GROUND]),
    ("toolcrib-desk", &[GROUND, NETWORK]),
    // Floor 2.
    ("toolcrib-store-postgres", &[GROUND, &["toolcrib-store"]]),
    ("toolcrib-mcp", &[GROUND, NETWORK, PROGRAMS, &["toolcrib-engine"]]),
    ("toolcrib-a2a-server", &[&["toolcrib-a2a-client"]]),
    ("toolcrib-agent", &[GROUND, NETWORK, &["toolcrib-dialect", "toolcrib-engine"]]),
    (
        "toolcrib-config",
        &[
            GROUND,
            NETWORK,
            SOURCES,
            &[
                "toolcrib-agent",
                "toolcrib-auth",
                "toolcrib-dialect",
                "toolcrib-embed",
                "toolcrib-engine",
            ],
        ],
    ),
    // Floor 3.
    ("toolcrib-server", &[ROOMS, NETWORK, PROGRAMS]),
    // Floor 4.
    ("toolcrib", &[ROOMS, NETWORK, &["toolcrib-server"]]),
    // For tests and chores only; nothing that ships may name them.
    ("toolcrib-testkit", &[ROOMS, NETWORK, PROGRAMS]),
    ("toolcrib-load", &[]),
    ("toolcrib-retrieval", &[GROUND, NETWORK, &["toolcrib-embed"]]),
    ("xtask", &[]),
];

/// Libraries that one crate keeps from the others, also from their tests.
/// `deny.toml` says the same of what comes in through other libraries.
const KEPT: &[(&str, &[&str])] = &[
    ("jsonschema", &["toolcrib-json"]),
    ("rmcp", &["toolcrib-mcp"]),
    ("reqwest", &[]),
    ("bpe-openai", &["toolcrib-tokens"]),
    ("ring", &["toolcrib-auth", "toolcrib-testkit"]),
    ("granit-parser", &["toolcrib-openapi", "toolcrib-testkit"]),
    ("rusqlite", &["toolcrib-store", "toolcrib-desk"]),
    ("tokio-postgres", &["toolcrib-store-postgres"]),
    ("mail-builder", &["toolcrib-desk"]),
    ("mail-parser", &["toolcrib-desk"]),
    ("quick-xml", &["toolcrib-desk"]),
    ("clap", &["toolcrib-server"]),
    ("toml_edit", &["toolcrib-config"]),
    ("fearless_simd", &["toolcrib-embed"]),
    ("anyhow", &["toolcrib-server", "xtask"]),
];

/// Arrows that should not be, each with what is wrong about it.
fn broken(arrows: &[Arrow]) -> Vec<String> {
    let is_ours = |name: &str| name == "xtask" || name.starts_with("toolcrib");
    let mut broken = Vec::new();
    for Arrow { from, to, only_tests } in arrows {
        let row = FLOORS.iter().find(|(name, _)| name == from);
        let may_name = row.is_some_and(|(_, groups)| groups.concat().contains(&to.as_str()));
        if is_ours(to) && !only_tests && !may_name {
            broken.push(format!("`{from}` may not depend on `{to}`"));
        }
        let keepers = KEPT.iter().find(|(kept, _)| kept == to).map(|(_, keepers)| *keepers);
        if keepers.is_some_and(|keepers| !keepers.contains(&from.as_str())) {
            broken.push(format!("`{from}` may not depend on `{to}`: others keep it"));
        }
    }
    broken
}

/// What cargo says of the workspace: the names of its crates, and their arrows.
fn workspace() -> (Vec<String>, Vec<Arrow>) {
    let output = cargo()
        .args(["metadata", "--format-version", "1", "--no-deps"])
        .output()
        .expect("cargo runs");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("metadata is JSON");
    let text = |value: &Value| value.as_str().expect("a name is a string").to_owned();
    let list = |value: &Value| value.as_array().expect("a list").clone();
    let mut names = Vec::new();
    let mut arrows = Vec::new();
    for package in list(&metadata["packages"]) {
        names.push(text(&package["name"]));
        for dependency in list(&package["dependencies"]) {
            arrows.push(Arrow {
                from: text(&package["name"]),
                to: text(&dependency["name"]),
                only_tests: dependency["kind"] == "dev",
            });
        }
    }
    (names, arrows)
}

#[test]
fn no_arrow_goes_up_or_between_neighbours() {
    assert_eq!(broken(&workspace().1), Vec::<String>::new());
}

#[test]
fn every_crate_has_its_floor() {
    let (names, _) = workspace();
    let without: Vec<&String> =
        names.iter().filter(|name| !FLOORS.iter().any(|(known, _)| known == name)).collect();
    assert_eq!(without, Vec::<&String>::new(), "give it a row in `FLOORS`");
    assert!(names.len() > 5, "cargo named only {names:?}");
}

#[test]
fn a_broken_arrow_is_told() {
    let arrow = |from: &str, to: &str, only_tests| Arrow {
        from: from.to_owned(),
        to: to.to_owned(),
        only_tests,
    };
    let arrows = [
        arrow("toolcrib-core", "toolcrib-json", false),
        arrow("toolcrib-core", "toolcrib-engine", false),
        arrow("toolcrib-engine", "toolcrib-dialect", false),
        arrow("toolcrib-engine", "toolcrib-testkit", true),
        arrow("toolcrib-server", "toolcrib-testkit", false),
        arrow("toolcrib-engine", "serde", false),
        arrow("toolcrib-engine", "jsonschema", true),
        arrow("toolcrib-nowhere", "toolcrib-core", false),
    ];
    assert_eq!(
        broken(&arrows),
        [
            "`toolcrib-core` may not depend on `toolcrib-engine`",
            "`toolcrib-engine` may not depend on `toolcrib-dialect`",
            "`toolcrib-server` may not depend on `toolcrib-testkit`",
            "`toolcrib-engine` may not depend on `jsonschema`: others keep it",
            "`toolcrib-nowhere` may not depend on `toolcrib-core`",
        ]
    );
}
