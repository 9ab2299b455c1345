//! Lists: pages, changes, bad tools, names.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;
use toolcrib_core::{AllowAll, Effect, Source};
use toolcrib_engine::Crib;
use toolcrib_mcp::Transport;

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
    let error = names(&["legacy", "pages=9", "circle"]).await.err().unwrap().to_string();
    assert!(error.contains("round in a circle"), "{error}");
    let error = names(&["legacy", "no-list"]).await.err().unwrap().to_string();
    assert_eq!(error, "MCP server `far`: the server says: the list is lost (-32603)");
}

#[tokio::test]
async fn a_list_that_takes_too_long_says_which_time_was_over() {
    let mut settings = settings(&["legacy", "list-hangs"]);
    settings.timeouts.list = Duration::from_millis(300);
    let error = source(settings).load().await.err().unwrap().to_string();
    assert!(error.contains("`list_timeout`"), "{error}");
}

#[tokio::test]
async fn why_a_server_does_not_start_is_told_once() {
    let mut settings = settings(&["legacy"]);
    let Transport::Stdio(stdio) = &mut settings.transport else { unreachable!("it is started") };
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
