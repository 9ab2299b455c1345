//! The words of limits: each comes where it counts, and what is no limit is refused.

use std::path::Path;
use std::sync::{Arc, Mutex};

use toolcrib_config::{Config, FORMER_OPTIONS, FormerOption, ServerLimits, SourceFactory};
use toolcrib_core::{CatalogBounds, CribLimits, Source, TicketBounds};
use toolcrib_mcp::{McpBounds, McpSourceSettings, ProgramLimits};
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
fn what_a_server_may_say_and_use_is_set_for_each_and_safe_if_not() {
    let text = r#"
[[source]]
id = "a"
[source.mcp]
command = ["a"]
[source.mcp.limits]
message = "1MiB"
entries = 3
open_files = 16
file_size = "1MiB"
address_space = "4GiB"

[[source]]
id = "b"
mcp = { command = ["b"] }
"#;
    let (kept, file) = (Kept::default(), config(text));
    file.build(&kept.1, &kept);
    let kept = kept.0.lock().unwrap();
    let bounds: Vec<_> = kept.iter().map(|settings| (settings.bounds, settings.program)).collect();
    let own = McpBounds { message: 1024 * 1024, entries: 3, ..McpBounds::default() };
    let program = ProgramLimits {
        open_files: 16,
        file_size: 1 << 20,
        address_space: Some(1 << 32),
        ..ProgramLimits::default()
    };
    assert_eq!(bounds, [(own, program), (McpBounds::default(), ProgramLimits::default())]);
    let wrong = r#"
[[source]]
id = "a"
mcp = { url = "https://x/", limits = { file_size = "1KiB", message = 0, entries = 0 } }

[[source]]
id = "b"
mcp = { command = ["b"], limits = { open_files = 15, file_size = 0 } }
"#;
    let told = problems(wrong);
    let expected = [
        "limits.file_size: this means nothing beside `url`; remove it",
        "limits.message: this is no size; write `64KiB`, `8MiB` or a number of bytes from 1",
        "limits.entries: nothing is within a limit of 0; write 1 or more",
        "limits.open_files: no program starts with so few files; write 16 or more",
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
limits = { document = "256MiB" }

[[source]]
id = "b"
openapi = { document = "https://api.example/" }
"#;
    let read = config(text);
    let kept = Kept::default();
    read.build(&kept.1, &kept);
    let own = ApiBounds { document: 256 << 20, ..ApiBounds::default() };
    let bounds: Vec<_> = kept.2.lock().unwrap().iter().map(|settings| settings.bounds).collect();
    assert_eq!(bounds, [own, ApiBounds::default()]);
    let wrong = |limits: &str| {
        let open =
            "[[source]]\nid = \"a\"\n[source.openapi]\ndocument = \"https://api.example/\"\n";
        problems(&format!("{open}limits = {{ {limits} }}"))
    };
    let size = "this is no size; write `64KiB`, `8MiB` or a number of bytes from 1";
    let expected = format!("crib.toml:5:23: source[0].openapi.limits.document: {size}");
    assert_eq!(wrong("document = 0"), [expected]);
    let expected = "crib.toml:5:23: source[0].openapi.limits.document: reading a document takes ten \
                    times its size of memory; write `256MiB` or less";
    assert_eq!(wrong("document = 268435457"), [expected]);
}

#[test]
fn what_a_process_takes_is_set_and_safe_if_not() {
    let text = r#"
[server.limits]
body = "8MiB"
sessions = 20

[limits]
tickets_per_tenant = 3
tools = 5
"#;
    let read = config(text);
    let usual = ServerLimits::default();
    let bounds = ServerLimits { body: 8 << 20, sessions: 20, sessions_per_caller: 5, ..usual };
    assert_eq!(read.bounds, bounds);
    let limits = CribLimits {
        tickets: TicketBounds { of_tenant: 3, ..TicketBounds::default() },
        catalog: CatalogBounds { tools: 5, ..CatalogBounds::default() },
        ..CribLimits::default()
    };
    assert_eq!(read.limits, limits);
    let unset = config("[limits]\n");
    assert_eq!((unset.limits, unset.bounds), (CribLimits::default(), ServerLimits::default()));
}

#[test]
fn no_limit_of_a_process_is_nothing() {
    let zeros = r"
[server.limits]
body = 0
sessions = 0

[limits]
per_source = 0
tickets_per_tenant = 0
tools = 0
";
    let told = problems(zeros);
    assert_eq!(told.len(), 5, "{told:#?}");
    assert!(
        told.iter().all(|one| one.contains("1 or more") || one.contains("from 1")),
        "{told:#?}"
    );
}

/// `docs/reference/limits.md` has a row for each word of a limit, which names a test that is there.
#[test]
fn every_word_of_a_limit_is_in_the_documentation_with_its_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/reference/limits.md")).unwrap();
    let mut sections = page.split("\n## ").skip(1);
    let schema = toolcrib_config::schema();
    for table in ["Bounds", "Limits", "McpLimits", "ApiLimits", "A2aLimits"] {
        let words = schema["$defs"][table]["properties"].as_object().unwrap().keys();
        let rows = sections.next().unwrap().lines().filter_map(|line| line.strip_prefix("| `"));
        let rows: Vec<_> = rows.map(|row| row.split('`').collect::<Vec<_>>()).collect();
        let named: Vec<_> = rows.iter().map(|row| row[0]).collect();
        assert_eq!(named, words.collect::<Vec<_>>(), "{table}");
        for row in rows {
            has_test(&root, &row);
        }
    }
    // What could be set once has a row with its value and the reason.
    let constants = page.split("\n## Constants").nth(1).unwrap();
    let constants = constants.split("\n## ").next().unwrap();
    let rows: Vec<_> = constants.lines().filter(|line| line.starts_with("| `")).collect();
    let begins = |option: &FormerOption| {
        format!("| `{}` | {} | {} | ", option.path, option.value, option.reason)
    };
    let known: Vec<_> = FORMER_OPTIONS.iter().map(begins).collect();
    assert_eq!(rows.len(), known.len());
    for (row, known) in rows.iter().zip(known) {
        assert!(row.starts_with(&known), "{row} is not {known}");
    }
    for row in rows {
        has_test(&root, &row.split('`').collect::<Vec<_>>());
    }
}

/// Whether the last two names of a row are a file of tests and one of them.
fn has_test(root: &Path, row: &[&str]) {
    let [.., file, _, test, _] = row else { unreachable!("{row:?}") };
    let tests = std::fs::read_to_string(root.join(file)).unwrap();
    assert!(tests.contains(&format!("fn {test}(")), "{file} has no test `{test}`");
}
