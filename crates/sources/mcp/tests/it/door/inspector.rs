//! The inspector of the protocol's authors as a client: it lists, checks schemas, and calls.
//!
//! It runs where `TOOLCRIB_NODE` and `TOOLCRIB_NODE_PEERS` name a Node and its `node_modules`.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::Value;
use toolcrib_core::{AllowAll, Effect, Toolset};
use toolcrib_engine::Crib;
use toolcrib_mcp::McpServerSettings;
use toolcrib_testkit::Oracle;

use super::support::open;
use crate::conformance::print;

#[tokio::test(flavor = "multi_thread")]
async fn the_inspector_lists_without_a_complaint_and_calls() {
    let Some((node, program)) = inspector() else { return };
    let oracle = Oracle::default();
    let tools = ["alpha", "beta"].map(|name| oracle.echo(name, Effect::Write));
    let crib = Crib::builder().policy(AllowAll).build_fixed(Toolset::of(tools).unwrap());
    let url = open(crib, &[], McpServerSettings::default()).await;
    let run = async |words: &[&str]| {
        #[expect(clippy::disallowed_methods, reason = "the peer is no child of ours")]
        let mut command = Command::new(&node);
        command.arg(&program).args(["--cli", &url, "--transport", "http"]).args(words);
        let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
        assert!(output.status.success(), "{words:?}: {output:?}");
        said(&output)
    };
    let list = run(&["--method", "tools/list", "--strict"]).await;
    let names = list["tools"].as_array().unwrap().iter().map(|tool| &tool["name"]);
    assert_eq!(names.collect::<Vec<_>>(), ["alpha", "beta"]);
    let call = ["--method", "tools/call", "--tool-name", "beta", "--tool-arg", "n=3"];
    let result = run(&call).await;
    assert_eq!(result["structuredContent"], serde_json::json!({ "n": 3 }));
    assert_eq!(oracle.count("beta"), 1);
}

fn said(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}"))
}

#[expect(clippy::disallowed_methods, reason = "the peers of tests are named by variables")]
fn inspector() -> Option<(PathBuf, PathBuf)> {
    let named = |name| std::env::var_os(name).map(PathBuf::from);
    let found = named("TOOLCRIB_NODE").zip(named("TOOLCRIB_NODE_PEERS"));
    let found = found.map(|(node, peers)| (node, peers.join(".bin/mcp-inspector")));
    let found = found.filter(|(_, program)| program.exists());
    if found.is_none() {
        print("[skipped] TOOLCRIB_NODE and TOOLCRIB_NODE_PEERS name no inspector");
    }
    found
}
