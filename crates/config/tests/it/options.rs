//! How many options the file has, and what becomes of those that it had.

use std::collections::BTreeMap;
use std::io::Write as _;

use serde_json::Value;
use toolcrib_a2a_client::{A2aBounds, A2aSettings};
use toolcrib_auth::IssuerSettings;
use toolcrib_config::{Config, FORMER_OPTIONS, ServerLimits, schema};
use toolcrib_core::CribLimits;
use toolcrib_mcp::{McpBounds, ProgramLimits, RestartBounds};
use toolcrib_openapi::ApiBounds;

/// Options of the file. May fall, and must not rise: what nobody has a use for is a constant.
const OPTIONS: usize = 284;

/// Options that differ in their name or in what may stand there.
const WORDS: usize = 208;

/// The schema that another one leads to.
fn resolved<'s>(whole: &'s Value, schema: &'s Value) -> &'s Value {
    let target = schema.get("$ref").and_then(Value::as_str);
    target.map_or(schema, |target| &whole["$defs"][target.rsplit('/').next().unwrap()])
}

/// Whether what stands here has keys of its own, which are options then.
fn leads_on(whole: &Value, schema: &Value) -> bool {
    let schema = resolved(whole, schema);
    let further = ["items", "additionalProperties"].into_iter().filter_map(|word| schema.get(word));
    let choices = schema["anyOf"].as_array().into_iter().flatten();
    schema.get("properties").is_some() || further.chain(choices).any(|next| leads_on(whole, next))
}

/// The options of all tables, with what may stand there. A shape that several tables have counts
/// once.
fn options(whole: &Value) -> Vec<(String, String)> {
    let shapes = whole["$defs"].as_object().unwrap().iter();
    let mut options = Vec::new();
    for shape in shapes.map(|(_, shape)| shape).chain([whole]) {
        let keys = shape["properties"].as_object().into_iter().flatten();
        for (key, schema) in keys.filter(|(_, schema)| !leads_on(whole, schema)) {
            let mut kind = schema.clone();
            for word in ["description", "default"] {
                kind.as_object_mut().unwrap().remove(word);
            }
            options.push((key.clone(), kind.to_string()));
        }
    }
    options
}

#[test]
fn the_file_has_no_more_options_than_are_counted() {
    let options = options(&schema());
    let mut words: Vec<_> = options.iter().collect();
    words.sort_unstable();
    words.dedup();
    let told = format!("crib.toml has {} options, of {} words", options.len(), words.len());
    writeln!(std::io::stdout(), "{told}").unwrap();
    assert_eq!((options.len(), words.len()), (OPTIONS, WORDS), "lower the number if it fell");
}

/// What a file must say beside an option of this path, and the rest of the path there.
fn beside(path: &str) -> (String, &str) {
    let source =
        |table: &str, more: &str| format!("[[source]]\nid = \"a\"\n[source.{table}]\n{more}\n");
    let issuer =
        "[server]\nurl = \"https://a.example\"\n[[server.issuer]]\nurl = \"https://b.example\"\n";
    let tables = [
        ("server.issuer.", issuer.to_owned()),
        (
            "source.mcp.oauth.",
            source("mcp", "url = \"https://a.example\"") + "[source.mcp.oauth]\n",
        ),
        ("source.mcp.", source("mcp", "command = [\"a\"]")),
        ("source.openapi.", source("openapi", "document = \"https://a.example\"")),
        ("source.a2a.", source("a2a", "card = \"https://a.example\"")),
        ("", String::new()),
    ];
    let found =
        tables.into_iter().find_map(|(start, text)| Some((text, path.strip_prefix(start)?)));
    found.unwrap()
}

/// What a file is told that sets an option to this: its problems, and its warnings.
fn told(path: &str, value: &str) -> (Vec<String>, Vec<String>) {
    let (text, key) = beside(path);
    let read = Config::read(&format!("{text}{key} = {value}\n"), "crib.toml");
    let lines = |problems: &[toolcrib_config::ConfigProblem]| {
        problems
            .iter()
            .map(|problem| format!("{}: {}; {}", problem.path, problem.message, problem.cure))
            .collect()
    };
    (lines(&read.problems), lines(&read.warnings))
}

/// The path as it is told, with the places in lists.
fn shown(path: &str) -> String {
    path.replacen("source.", "source[0].", 1).replacen("issuer.", "issuer[0].", 1)
}

/// Pauses before something is done again: a longer one is the stricter one.
const PAUSES: [&str; 4] = [
    "limits.backoff",
    "source.mcp.limits.first_pause",
    "source.mcp.limits.longest_pause",
    "source.mcp.limits.restarts_within",
];

/// The same value in TOML, and one that is stricter; `None`: it is no single value.
fn stricter(path: &str, value: &str) -> Option<(String, &'static str)> {
    if PAUSES.contains(&path) {
        return Some((format!("\"{value}\""), "\"50m\""));
    }
    if value.parse::<u64>().is_ok() {
        return Some((value.to_owned(), "1"));
    }
    let less = if value.ends_with('B') { "\"1B\"" } else { "\"1ms\"" };
    value.starts_with(|first: char| first.is_ascii_digit()).then(|| (format!("\"{value}\""), less))
}

#[test]
fn a_file_that_names_a_former_option_is_told_so_and_refused_if_it_was_stricter() {
    for option in FORMER_OPTIONS {
        let (path, shown) = (option.path, shown(option.path));
        let start = format!(
            "{shown}: this is no option any more: it is always {}, since {}; ",
            option.value, option.reason
        );
        let refused = (vec![format!("{start}delete it, if {} will do", option.value)], vec![]);
        let Some((same, less)) = stricter(path, option.value) else {
            assert_eq!(told(path, "1"), refused);
            continue;
        };
        assert_eq!(told(path, &same), (vec![], vec![format!("{start}delete it")]));
        assert_eq!(told(path, less), refused);
        assert_eq!(told(path, "true"), refused);
    }
}

#[test]
fn a_table_of_former_options_is_told_of_too() {
    let told = |text: &str| {
        let read = Config::read(text, "crib.toml");
        let lines = read.problems.iter().chain(&read.warnings).map(ToString::to_string);
        lines.collect::<Vec<_>>()
    };
    let empty = "crib.toml:2:1: limits.schema: nothing of this is an option any more; delete it";
    assert_eq!(told("[limits]\nschema = {}"), [empty]);
    assert_eq!(
        told("[limits.schema]\nsize = \"256KiB\"\ncolour = 1"),
        [
            "crib.toml:3:1: limits.schema.colour: unknown key; delete it",
            "crib.toml:2:1: limits.schema.size: this is no option any more: it is always 256KiB, \
             since a larger one would fill what a model reads; delete it",
        ]
    );
    let wrong = told("[limits]\nschema = 3");
    assert!(
        wrong[0].starts_with("crib.toml:2:1: limits.schema: unknown key; use one of "),
        "{wrong:?}"
    );
}

#[test]
fn no_former_option_is_in_the_schema_and_each_is_told_of_once() {
    let whole = schema();
    let mut paths: Vec<_> = FORMER_OPTIONS.iter().map(|option| option.path).collect();
    for path in &paths {
        let mut shape = &whole;
        let known = path.split('.').all(|key| {
            let next = resolved(&whole, shape).get("properties").and_then(|keys| keys.get(key));
            let next = next.map(|next| resolved(&whole, next));
            // The tables of a list are what its options are in.
            let next = next.map(|next| next.get("items").unwrap_or(next));
            shape = next.unwrap_or(shape);
            next.is_some()
        });
        assert!(!known, "{path} is an option");
    }
    let count = paths.len();
    paths.sort_unstable();
    paths.dedup();
    assert_eq!(paths.len(), count);
}

/// What holds where nothing is set, under the paths of the options, in milliseconds, bytes or as a
/// count.
fn constants() -> BTreeMap<&'static str, u128> {
    let wide = |number: usize| u128::try_from(number).unwrap();
    let (server, limits) = (ServerLimits::default(), CribLimits::default());
    let (schema, mcp) = (limits.catalog.schema.clone(), McpBounds::default());
    let (restarts, api, a2a) =
        (RestartBounds::default(), ApiBounds::default(), A2aBounds::default());
    let agent = A2aSettings::new("https://a.example".parse().unwrap());
    BTreeMap::from([
        ("server.limits.depth", wide(server.depth)),
        ("server.limits.values", wide(server.values)),
        ("server.limits.head", wide(server.head)),
        ("server.limits.headers", wide(server.headers)),
        ("server.limits.body_pause", server.body_pause.as_millis()),
        ("server.limits.session_life", server.session_life.as_millis()),
        ("server.limits.waiting", wide(server.waiting)),
        ("server.limits.tasks", wide(server.tasks)),
        ("server.limits.task_life", server.task_life.as_millis()),
        ("server.issuer.document", IssuerSettings::DOCUMENT.into()),
        ("source.mcp.limits.depth", wide(mcp.depth)),
        ("source.mcp.limits.pages", wide(mcp.pages)),
        ("source.mcp.limits.definition", wide(mcp.definition)),
        ("source.mcp.limits.restarts", wide(restarts.ends)),
        ("source.mcp.limits.restarts_within", restarts.within.as_millis()),
        ("source.mcp.limits.first_pause", restarts.first_pause.as_millis()),
        ("source.mcp.limits.longest_pause", restarts.longest_pause.as_millis()),
        ("source.mcp.limits.stderr", wide(ProgramLimits::default().stderr)),
        ("source.openapi.limits.token", api.token.into()),
        ("source.openapi.limits.unpack", api.unpack.into()),
        ("source.a2a.idle", agent.idle.as_millis()),
        ("source.a2a.limits.card", a2a.card.into()),
        ("source.a2a.limits.stream", a2a.stream.into()),
        ("limits.per_batch", wide(limits.per_batch)),
        ("limits.queue_length", wide(limits.most_queued)),
        ("limits.grace", limits.grace.as_millis()),
        ("limits.late", limits.late.as_millis()),
        ("limits.backoff", limits.backoff.as_millis()),
        ("limits.tickets", wide(limits.tickets.open)),
        ("limits.ticket_bytes", wide(limits.tickets.bytes_of_tenant)),
        ("limits.questions", wide(limits.questions)),
        ("limits.questions_per_tenant", wide(limits.questions_per_tenant)),
        ("limits.arguments", wide(limits.arguments.bytes)),
        ("limits.depth", wide(limits.arguments.depth)),
        ("limits.values", wide(limits.arguments.values)),
        ("limits.name", wide(limits.catalog.name)),
        ("limits.schema.size", wide(schema.bytes)),
        ("limits.schema.depth", wide(schema.depth)),
        ("limits.schema.subschemas", wide(schema.subschemas)),
        ("limits.schema.unfold", schema.unfold.into()),
        ("limits.schema.pattern", wide(schema.pattern_bytes)),
        ("limits.schema.patterns", wide(schema.patterns)),
        ("limits.schema.steps", schema.steps.into()),
    ])
}

/// Where the value of an option is not among the settings that a file leads to.
const ELSEWHERE: [&str; 3] =
    ["server.limits.sessions_per_caller", "source.mcp.list_timeout", "source.mcp.oauth.document"];

#[test]
fn a_file_is_told_the_values_that_hold() {
    let units =
        [("KiB", 1 << 10), ("MiB", 1 << 20), ("ms", 1), ("s", 1_000), ("m", 60_000), ("", 1)];
    let number = |text: &str| {
        let digits = text.trim_end_matches(|letter: char| !letter.is_ascii_digit());
        let unit = units.iter().find(|(unit, _)| *unit == &text[digits.len()..]).unwrap().1;
        digits.parse::<u128>().unwrap() * unit
    };
    let told = FORMER_OPTIONS.iter().filter(|option| !ELSEWHERE.contains(&option.path));
    let told: BTreeMap<_, _> = told.map(|option| (option.path, number(option.value))).collect();
    assert_eq!(told, constants());
}
