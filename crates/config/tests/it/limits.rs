//! The words of limits: each comes where it counts, and what is no limit is refused.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use toolcrib_config::{Config, SourceFactory};
use toolcrib_core::{CatalogBounds, CribLimits, Source, TicketBounds};
use toolcrib_json::repair::RepairBounds;
use toolcrib_mcp::{McpBounds, McpSourceSettings, ProgramLimits, RestartBounds};
use toolcrib_openapi::{ApiBounds, ApiSettings};

use crate::workshop::{Workshop, config};

/// Keeps what servers are made of.
#[derive(Default)]
struct Kept(Mutex<Vec<McpSourceSettings>>, Workshop, Mutex<Vec<ApiSettings>>);

impl SourceFactory for Kept {
    fn mcp(&self, id: &str, settings: McpSourceSettings) -> Arc<dyn Source> {
        self.0.lock().unwrap().push(settings.clone());
        self.1.mcp(id, settings)
    }

    fn api(&self, id: &str, settings: ApiSettings) -> Arc<dyn Source> {
        self.2.lock().unwrap().push(settings.clone());
        self.1.api(id, settings)
    }
}

fn problems(text: &str) -> Vec<String> {
    Config::read(text, "crib.toml").problems.iter().map(ToString::to_string).collect()
}

#[test]
fn what_a_server_may_say_is_set_for_each_and_safe_if_not() {
    let text = r#"
[[source]]
id = "a"
[source.mcp]
command = ["a"]
limits = { message = "1MiB", depth = 120, pages = 2, entries = 3, definition = "16KiB" }

[[source]]
id = "b"
mcp = { command = ["b"] }
"#;
    let (kept, file) = (Kept::default(), config(text));
    file.build(&kept.1, &kept);
    let bounds: Vec<_> = kept.0.lock().unwrap().iter().map(|settings| settings.bounds).collect();
    let own =
        McpBounds { message: 1024 * 1024, depth: 120, pages: 2, entries: 3, definition: 16 * 1024 };
    assert_eq!(bounds, [own, McpBounds::default()]);
}

#[test]
fn no_limit_of_a_server_is_nothing_and_its_depth_has_a_hard_stop() {
    let text = r#"
[[source]]
id = "a"
[source.mcp]
command = ["a"]
[source.mcp.limits]
message = 0
depth = 121
pages = 0
entries = 0
definition = "0KiB"
"#;
    let size = "this is no size; write `64KiB`, `8MiB` or a number of bytes from 1";
    let count = "nothing is within a limit of 0; write 1 or more";
    let depth = "what reads JSON here stops at 128 levels, those of envelopes among them; write 120 or less";
    let expected = [
        format!("crib.toml:7:11: source[0].mcp.limits.message: {size}"),
        format!("crib.toml:8:9: source[0].mcp.limits.depth: {depth}"),
        format!("crib.toml:9:9: source[0].mcp.limits.pages: {count}"),
        format!("crib.toml:10:11: source[0].mcp.limits.entries: {count}"),
        format!("crib.toml:11:14: source[0].mcp.limits.definition: {size}"),
    ];
    assert_eq!(problems(text), expected);
}

#[test]
fn what_a_program_may_use_and_how_often_it_starts_is_set_for_each() {
    let text = r#"
[[source]]
id = "a"
[source.mcp]
command = ["a"]
[source.mcp.limits]
restarts = 2
restarts_within = "10s"
first_pause = "1s"
longest_pause = "5s"
open_files = 16
file_size = "1MiB"
address_space = "4GiB"
stderr = "64KiB"
"#;
    let (kept, file) = (Kept::default(), config(text));
    file.build(&kept.1, &kept);
    let [settings] = &kept.0.lock().unwrap()[..] else { panic!("it is one") };
    let program = ProgramLimits {
        open_files: 16,
        file_size: 1 << 20,
        address_space: Some(1 << 32),
        stderr: 64 << 10,
    };
    let restarts = RestartBounds {
        first_pause: Duration::from_secs(1),
        longest_pause: Duration::from_secs(5),
        ends: 2,
        within: Duration::from_secs(10),
    };
    assert_eq!((settings.program, settings.restarts), (program, restarts));
    let wrong = r#"
[[source]]
id = "a"
mcp = { url = "https://x/", limits = { stderr = "1KiB", restarts = 0 } }

[[source]]
id = "b"
mcp = { command = ["b"], limits = { open_files = 15, first_pause = 0, file_size = 0 } }
"#;
    let told = problems(wrong);
    let expected = [
        "limits.stderr: this means nothing beside `url`; remove it",
        "limits.restarts: nothing is within a limit of 0; write 1 or more",
        "limits.open_files: no program starts with so few files; write 16 or more",
        "limits.first_pause: nothing ends within no time; write `1s` or more",
        "limits.file_size: this is no size; write `64KiB`, `8MiB` or a number of bytes from 1",
    ];
    assert_eq!(told.len(), expected.len(), "{told:#?}");
    assert!(told.iter().zip(expected).all(|(told, end)| told.ends_with(end)), "{told:#?}");
}

#[test]
fn what_is_read_of_an_api_is_set_for_each_and_some_has_a_hard_stop() {
    let text = r#"
[[source]]
id = "a"
[source.openapi]
document = "https://api.example/"
limits = { document = "256MiB", token = "1KiB", unpack = 1032 }

[[source]]
id = "b"
openapi = { document = "https://api.example/" }
"#;
    let read = config(text);
    let kept = Kept::default();
    read.build(&kept.1, &kept);
    let own = ApiBounds { document: 256 << 20, token: 1 << 10, unpack: 1_032 };
    let bounds: Vec<_> = kept.2.lock().unwrap().iter().map(|settings| settings.bounds).collect();
    assert_eq!(bounds, [own, ApiBounds::default()]);
    let wrong = |limits: &str| {
        let open =
            "[[source]]\nid = \"a\"\n[source.openapi]\ndocument = \"https://api.example/\"\n";
        problems(&format!("{open}limits = {{ {limits} }}"))
    };
    let size = "this is no size; write `64KiB`, `8MiB` or a number of bytes from 1";
    let expected = [
        format!("crib.toml:5:23: source[0].openapi.limits.document: {size}"),
        format!("crib.toml:5:34: source[0].openapi.limits.token: {size}"),
        "crib.toml:5:46: source[0].openapi.limits.unpack: nothing is within a limit of 0; write 1 or \
         more"
            .to_owned(),
    ];
    assert_eq!(wrong("document = 0, token = 0, unpack = 0"), expected);
    let expected = [
        "crib.toml:5:23: source[0].openapi.limits.document: reading a document takes ten times its \
         size of memory; write `256MiB` or less",
        "crib.toml:5:43: source[0].openapi.limits.unpack: nothing unpacks to more than 1032 times \
         its size; write 1032 or less",
    ];
    assert_eq!(wrong("document = 268435457, unpack = 1033"), expected);
}

#[test]
fn the_documents_of_issuers_are_as_long_as_is_set() {
    let text = "[server]\nurl = \"https://crib.example\"\n[[server.issuer]]\nurl = \"https://id.example\"\n";
    let document = |more: &str| {
        config(&format!("{text}{more}")).front.access.issuers.first().map(|own| own.document)
    };
    assert_eq!((document(""), document("document = \"1KiB\"")), (Some(256 << 10), Some(1 << 10)));
    let none = problems(&format!("{text}document = 0"));
    assert!(none[0].contains("server.issuer[0].document: this is no size"), "{none:?}");
}

#[test]
fn what_a_process_takes_is_set_and_safe_if_not() {
    let text = r#"
[server.limits]
body = "8MiB"
depth = 20
values = 1000

[limits]
queue_length = 1
tickets = 2
tickets_per_tenant = 3
ticket_bytes = "1MiB"
questions = 11
questions_per_tenant = 12
arguments = "2MiB"
depth = 120
values = 4
tools = 5
name = 128
schema = { size = "1KiB", depth = 64, subschemas = 6, unfold = 7, pattern = 8, patterns = 9, steps = 10 }
"#;
    let read = config(text);
    assert_eq!(read.bounds.json(), RepairBounds { bytes: 8 << 20, depth: 20, values: 1_000 });
    let limits = read.limits;
    assert_eq!(limits.most_queued, 1);
    assert_eq!((limits.questions, limits.questions_per_tenant), (11, 12));
    assert_eq!(limits.tickets, TicketBounds { open: 2, of_tenant: 3, bytes_of_tenant: 1 << 20 });
    assert_eq!(limits.arguments, RepairBounds { bytes: 2 << 20, depth: 120, values: 4 });
    let schema = toolcrib_json::schema::SchemaBounds {
        bytes: 1024,
        depth: 64,
        subschemas: 6,
        unfold: 7,
        pattern_bytes: 8,
        patterns: 9,
        steps: 10,
        ..toolcrib_json::schema::SchemaBounds::default()
    };
    let catalog = CatalogBounds { tools: 5, name: 128, schema: schema.into() };
    assert_eq!(limits.catalog, catalog);
    let unset = config("[limits]\n");
    assert_eq!(unset.limits, CribLimits::default());
    assert_eq!(unset.bounds.json(), RepairBounds::default());
}

#[test]
fn no_limit_of_a_process_is_nothing_and_some_have_a_hard_stop() {
    let zeros = r"
[server.limits]
depth = 0
values = 0

[limits]
queue_length = 0
tickets = 0
tickets_per_tenant = 0
ticket_bytes = 0
questions = 0
questions_per_tenant = 0
arguments = 0
depth = 0
values = 0
tools = 0
name = 0
schema = { size = 0, depth = 0, subschemas = 0, unfold = 0, pattern = 0, patterns = 0, steps = 0 }
";
    let told = problems(zeros);
    assert_eq!(told.len(), 20, "{told:#?}");
    assert!(
        told.iter().all(|one| one.contains("1 or more") || one.contains("from 1")),
        "{told:#?}"
    );
    let stops = "[server.limits]\ndepth = 121\n[limits]\ndepth = 121\nname = 129\nschema = { depth = 65 }\n";
    let reads = "what reads JSON here stops at 128 levels, those of envelopes among them; write 120 or less";
    let expected = [
        format!("crib.toml:2:9: server.limits.depth: {reads}"),
        format!("crib.toml:4:9: limits.depth: {reads}"),
        "crib.toml:5:8: limits.name: no tool has a name as long as this; write 128 or less"
            .to_owned(),
        "crib.toml:6:20: limits.schema.depth: what compiles a schema calls itself for each of its \
         levels; write 64 or less"
            .to_owned(),
    ];
    assert_eq!(problems(stops), expected);
}

/// `docs/reference/limits.md` has a row for each word of a limit, which names a test that is there.
#[test]
fn every_word_of_a_limit_is_in_the_documentation_with_its_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/reference/limits.md")).unwrap();
    let mut sections = page.split("\n## ").skip(1);
    let schema = toolcrib_config::schema();
    for table in ["Bounds", "Limits", "SchemaLimits", "McpLimits", "ApiLimits"] {
        let words = schema["$defs"][table]["properties"].as_object().unwrap().keys();
        let rows = sections.next().unwrap().lines().filter_map(|line| line.strip_prefix("| `"));
        let rows: Vec<_> = rows.map(|row| row.split('`').collect::<Vec<_>>()).collect();
        let named: Vec<_> = rows.iter().map(|row| row[0]).collect();
        assert_eq!(named, words.collect::<Vec<_>>(), "{table}");
        for row in rows {
            let [.., file, _, test, _] = row[..] else { panic!("{row:?}") };
            let tests = std::fs::read_to_string(root.join(file)).unwrap();
            assert!(tests.contains(&format!("fn {test}(")), "{file} has no test `{test}`");
        }
    }
}
