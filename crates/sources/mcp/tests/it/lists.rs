//! Lists: pages, changes, bad tools, names.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;
use toolcrib_core::{AllowAll, Effect, Source};
use toolcrib_engine::Crib;
use toolcrib_mcp::McpTransport;

use crate::support::{crib, run, settings, source, until};

/// A list in a file of its own, which the server reads at every request.
pub(crate) struct List(PathBuf);

impl List {
    pub(crate) fn new(name: &str, tools: &Value) -> Self {
        let path =
            std::env::temp_dir().join(format!("toolcrib-{name}-{}.json", std::process::id()));
        let list = Self(path);
        list.write(tools);
        list
    }

    fn write(&self, tools: &Value) {
        // A reader sees the old list or the new one, and never half of one.
        let beside = self.0.with_extension("new");
        std::fs::write(&beside, tools.to_string()).unwrap();
        std::fs::rename(beside, &self.0).unwrap();
    }

    pub(crate) fn option(&self) -> String {
        format!("list={}", self.0.display())
    }
}

impl Drop for List {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

pub(crate) fn tool(name: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}})
}

#[tokio::test]
async fn a_definition_survives_whole_and_its_hints_are_read() {
    let list = List::new(
        "whole",
        &json!([{
            "name": "x", "title": "The X", "description": "Does x. Well.",
            "inputSchema": {"type": "object", "properties": {"a": {"x-odd": 1}}},
            "outputSchema": {"type": "object"},
            "annotations": {"destructiveHint": false, "idempotentHint": true, "openWorldHint": "?"},
            "icons": [{"src": "data:"}], "_meta": {"m": 1}, "execution": {"taskSupport": "optional"},
            "x-new": [1],
        }]),
    );
    let source = source(settings(&["modern", &list.option()]));
    let toolset = source.load().await.unwrap();
    let spec = toolset.iter().next().unwrap().spec.to_json();
    let expected = json!({
        "annotations": {"destructiveHint": false, "idempotentHint": true, "openWorldHint": "?"},
        "icons": [{"src": "data:"}], "_meta": {"m": 1}, "execution": {"taskSupport": "optional"},
        "x-new": [1],
    });
    assert_eq!(spec["extra"], expected);
    assert_eq!((&spec["title"], &spec["summary"]), (&json!("The X"), &json!("Does x")));
    assert_eq!((&spec["effect"], &spec["idempotent"]), (&json!("write"), &json!(true)));
    assert_eq!(spec["input"]["properties"]["a"], json!({"x-odd": 1}));
    assert_eq!(spec["limits"]["timeout_ms"], (15 * 60 + 30) * 1000);
}

#[tokio::test]
async fn one_bad_tool_costs_itself_alone_and_odd_names_stay_apart() {
    let list = List::new(
        "bad",
        &json!([
            tool("good"), tool("good"), {"name": "no schema"}, 7, tool(""), tool("größe"), tool("gr__e"),
            tool("gr\u{f6}\u{eb}e"), {"name": "odd", "inputSchema": {"type": "object"}, "description": 1},
        ]),
    );
    let source = source(settings(&["legacy", &list.option()]));
    let toolset = source.load().await.unwrap();
    let names: Vec<_> = toolset.iter().map(|tool| tool.spec.name.to_string()).collect();
    assert_eq!(names.len(), 4, "{names:?}");
    assert_eq!((names[0].as_str(), names[2].as_str()), ("good", "gr__e"));
    let origins: Vec<_> = toolset.iter().map(|tool| tool.spec.origin.name.clone()).collect();
    assert_eq!(origins[1].as_deref(), Some("größe"));
    let left_out: Vec<_> =
        source.status().left_out.into_iter().map(|out| (out.tool, out.reason)).collect();
    let expected = [
        ("good", "another tool has the same name"),
        ("no schema", "it has no `inputSchema`"),
        ("number 4", "it is no object"),
        ("number 5", "its name is empty"),
        ("odd", "its `description` is no text"),
    ];
    assert_eq!(left_out, expected.map(|(tool, reason)| (tool.to_owned(), reason.to_owned())));
    // A renamed tool is called by the name that its server knows.
    assert_eq!(toolset.iter().next().unwrap().spec.effect, Effect::Destroy);
}

#[tokio::test]
async fn all_pages_are_read_and_endless_lists_are_refused() {
    let names =
        async |options: &[&str]| source(settings(options)).load().await.map(|set| set.len());
    assert_eq!(names(&["modern", "pages=60"]).await.unwrap(), 60);
    let error = names(&["legacy", "pages=100"]).await.err().unwrap().to_string();
    assert!(error.contains("more than 64 pages"), "{error}");
    let error = names(&["legacy", "no-list"]).await.err().unwrap().to_string();
    assert_eq!(error, "MCP server `far`: the server says: the list is lost (-32603)");
}

/// What a server lists whose pages are these texts, by cursor: the names, what is left out, and
/// what else is told.
async fn listed(
    era: &str,
    name: &str,
    pages: &[(&str, &str)],
) -> (Vec<String>, Vec<(String, String)>, Vec<String>) {
    let list = List::new(name, &json!(pages.iter().copied().collect::<HashMap<_, _>>()));
    let source = source(settings(&[era, &list.option().replace("list=", "raw-pages=")]));
    let toolset = source.load().await.unwrap();
    let names = toolset.iter().map(|tool| tool.spec.name.to_string()).collect();
    let status = source.status();
    let left_out = status.left_out.into_iter().map(|out| (out.tool, out.reason)).collect();
    (names, left_out, status.notes)
}

const A: &str = r#"{"name":"a","inputSchema":{"type":"object"}}"#;
const B: &str = r#"{"name":"b","inputSchema":{"type":"object"}}"#;

fn page(entries: &str, besides: &str) -> String {
    let complete = r#""resultType":"complete","ttlMs":0,"cacheScope":"private""#;
    format!(r#"{{"tools":{entries},{complete}{besides}}}"#)
}

#[tokio::test]
async fn a_cursor_may_be_anything_and_an_empty_one_ends_a_list_in_the_older_way_alone() {
    for (era, cursor, key, expected) in [
        ("modern", r#""""#, r#""""#, vec!["a", "b"]),
        ("legacy", r#""""#, r#""""#, vec!["a"]),
        ("legacy", r#"" \u0000é""#, "\" \\u0000é\"", vec!["a", "b"]),
        ("modern", "2", "2", vec!["a", "b"]),
        ("legacy", "null", "null", vec!["a"]),
    ] {
        let first = page(&format!("[{A}]"), &format!(r#","nextCursor":{cursor}"#));
        let second = page(&format!("[{B}]"), "");
        let name = format!("cursor-{era}-{}", cursor.len());
        let told = listed(era, &name, &[("first", &first), (key, &second)]).await;
        let expected: Vec<_> = expected.into_iter().map(str::to_owned).collect();
        assert_eq!(told, (expected, vec![], vec![]), "{era} {cursor}");
    }
}

#[tokio::test]
async fn a_list_that_goes_round_ends_with_what_was_read_and_is_told() {
    for (era, cursor) in [("legacy", r#""x""#), ("modern", r#""""#)] {
        let first = page(&format!("[{A}]"), &format!(r#","nextCursor":{cursor}"#));
        let second = page(&format!("[{B}]"), &format!(r#","nextCursor":{cursor}"#));
        let name = format!("circle-{era}");
        let (names, left_out, notes) =
            listed(era, &name, &[("first", &first), (cursor, &second)]).await;
        assert_eq!((names, left_out), (vec!["a".to_owned(), "b".to_owned()], vec![]));
        let told =
            "its list of tools goes round in a circle: what was read of it is all that is taken";
        assert_eq!(notes, [told]);
    }
    let odd = page(&format!("[{A}]"), r#","nextCursor":{"page":2}"#);
    let (names, _, notes) = listed("legacy", "odd-cursor", &[("first", &odd)]).await;
    assert_eq!((names, notes.len()), (vec!["a".to_owned()], 1));
}

#[tokio::test]
async fn one_fault_in_a_list_costs_itself_alone() {
    let deep = format!(
        r#"{{"name":"deep","inputSchema":{{"type":"object","x":{}{}}}}}"#,
        "[".repeat(200),
        "]".repeat(200)
    );
    let half = r#"{"name":"half","description":"cut \ud83d","inputSchema":{"type":"object"}}"#;
    let php = r#"{"name":"php","inputSchema":[],"annotations":[],"_meta":[],"outputSchema":null}"#;
    let none = r#"{"name":"none","inputSchema":null}"#;
    // Short enough to be read whole, and long enough to stay text.
    for filler in [10, 40_000] {
        let long = format!(
            r#"{{"name":"long","description":"{}","inputSchema":{{"type":"object"}}}}"#,
            "x".repeat(filler)
        );
        let entries = format!("[{A},{deep},{half},7,{php},{none},{long},{A}]");
        let (names, left_out, notes) =
            listed("legacy", &format!("faults-{filler}"), &[("first", &page(&entries, ""))]).await;
        assert_eq!(names, ["a", "half", "php", "long"]);
        let left_out: Vec<_> = left_out.iter().map(|(tool, why)| (&**tool, &**why)).collect();
        let expected = [
            ("number 2", "it is nested deeper than `limits.depth` allows"),
            ("number 4", "it is no object"),
            ("none", "it has no `inputSchema`"),
            ("a", "another tool has the same name"),
        ];
        assert_eq!((left_out, notes), (expected.to_vec(), vec![]));
    }
    for nothing in ["null", "{}", "[]"] {
        let name = format!("nothing-{}", nothing.as_bytes()[0]);
        let told = listed("legacy", &name, &[("first", &page(nothing, ""))]).await;
        assert_eq!(told, (vec![], vec![], vec![]), "{nothing}");
    }
}

#[tokio::test]
async fn what_is_left_out_is_told_by_the_snapshot_too() {
    let list = List::new("aside", &json!([tool("good"), tool("good"), {"name": "größe"}, 7]));
    let crib = crib(&source(settings(&["legacy", &list.option()]))).await;
    let catalog = crib.catalog();
    let kept_out = catalog.quarantined().iter();
    let kept_out: Vec<_> =
        kept_out.map(|tool| (tool.spec.name.to_string(), tool.reason.to_string())).collect();
    let expected = [
        ("good", "another tool has the same name"),
        ("gr__e", "it has no `inputSchema`"),
        ("number_4", "it is no object"),
    ];
    assert_eq!(kept_out, expected.map(|(name, why)| (name.to_owned(), why.to_owned())));
    assert_eq!(catalog.tools().len(), 1);
}

#[tokio::test]
async fn a_schema_with_null_or_of_draft_3_is_read_as_it_was_meant() {
    let schema = |schema: Value| json!({"name": "x", "inputSchema": schema});
    for (written, read, told) in [
        (
            json!({"type": "object", "required": null, "properties": {"a": {}}}),
            json!({"type": "object", "properties": {"a": {}}}),
            0,
        ),
        (json!({"type": "object", "properties": null}), json!({"type": "object"}), 0),
        (
            json!({"type": "object", "properties": []}),
            json!({"type": "object", "properties": {}}),
            0,
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "string", "required": true}}}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
            1,
        ),
    ] {
        let list = List::new("meant", &json!([schema(written)]));
        let source = source(settings(&["legacy", &list.option()]));
        let toolset = source.load().await.unwrap();
        let spec = &toolset.iter().next().unwrap().spec;
        assert_eq!(spec.input.value(), read);
        let remarks = source.status().remarks;
        assert_eq!(remarks.len(), told, "{remarks:?}");
        assert!(
            remarks.iter().all(|remark| remark.starts_with("`x`: a boolean `required` at `a`"))
        );
    }
}

#[tokio::test]
async fn a_list_that_takes_too_long_says_which_time_was_over() {
    let mut settings = settings(&["legacy", "list-hangs"]);
    settings.timeouts.list = Duration::from_millis(300);
    let error = source(settings).load().await.err().unwrap().to_string();
    assert!(error.contains("`timeout` of the source"), "{error}");
}

#[tokio::test]
async fn why_a_server_does_not_start_is_told_once() {
    let mut settings = settings(&["legacy"]);
    let McpTransport::Stdio(stdio) = &mut settings.transport else { unreachable!("it is started") };
    stdio.folder = Some("/no/such/folder".into());
    let crib = crib(&source(settings)).await;
    let error = crib.sources()[0].error.clone().unwrap();
    assert_eq!(error.matches("cannot use the folder").count(), 1, "{error}");
    assert!(error.ends_with("(os error 2)"), "{error}");
}

#[tokio::test]
async fn a_change_is_noticed_and_the_same_list_again_is_none() {
    for era in ["legacy", "modern"] {
        let list = List::new(&format!("change-{era}"), &json!([tool("change"), tool("a")]));
        let source = source(settings(&[era, &list.option()]));
        let crib = crib(&source).await;
        let names = || -> Vec<String> {
            crib.catalog().tools().iter().map(|tool| tool.spec.name.to_string()).collect()
        };
        assert_eq!(names(), ["change", "a"]);
        let restless = run(&crib, "change", json!({})).await;
        assert_eq!(restless.text(), "told");
        assert!(timeout(Duration::from_millis(400), source.changed()).await.is_err());
        list.write(&json!([tool("change"), tool("b")]));
        run(&crib, "change", json!({})).await;
        until("the list is the new one", || names() == ["change", "b"]).await;
    }
}

#[tokio::test]
async fn a_server_that_tells_nothing_is_polled() {
    let list = List::new("poll", &json!([tool("a")]));
    let mut settings = settings(&["legacy", "tells-nothing", &list.option()]);
    settings.poll = Some(Duration::from_millis(100));
    let source = source(settings);
    source.load().await.unwrap();
    assert!(timeout(Duration::from_millis(400), source.changed()).await.is_err());
    list.write(&json!([tool("b")]));
    timeout(Duration::from_secs(20), source.changed()).await.unwrap();
}

#[tokio::test]
async fn instructions_become_guidance_unless_the_operator_says_no() {
    let guidance = async |instructions: bool| {
        let mut settings = settings(&["legacy"]);
        settings.instructions = instructions;
        let toolset = source(settings).load().await.unwrap();
        toolset.iter().next().unwrap().spec.guidance.source.clone()
    };
    assert!(guidance(true).await.starts_with("Declared: "));
    assert_eq!(guidance(false).await, "");
}

#[tokio::test]
async fn an_empty_list_after_a_death_is_believed_the_second_time() {
    let list = List::new("empty", &json!([tool("die")]));
    let source = source(settings(&["legacy", &list.option()]));
    let toolset = source.load().await.unwrap();
    let crib = Crib::builder().policy(AllowAll).build_fixed(toolset);
    run(&crib, "die", json!({})).await;
    list.write(&json!([]));
    let error = source.load().await.err().unwrap().to_string();
    assert!(error.contains("it lists no tools since it was started again"), "{error}");
    assert_eq!(source.load().await.unwrap().len(), 0);
    list.write(&json!([tool("die")]));
    assert_eq!(source.load().await.unwrap().len(), 1);
    list.write(&json!([]));
    assert_eq!(source.load().await.unwrap().len(), 0);
}
