//! Prompts and resources of a server of others, through a source and the gate.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_core::{
    BatchOptions, Caller, ClientSession, JsonFields, LogLevel, RefusalReason, ResourceEntry,
    ResourceKind, ResourceOperation, ResourceRequest, ToolError,
};
use toolcrib_engine::Crib;
use toolcrib_mcp::{McpEnvironment, McpSource, McpSourceSettings, McpTransport, StdioSettings};

use crate::conformance::print;
use crate::support;

#[expect(clippy::disallowed_methods, reason = "the test run says where it installed its peers")]
pub(crate) fn everything() -> Option<(PathBuf, Vec<String>)> {
    let named = |name| std::env::var_os(name).map(PathBuf::from);
    let found = named("TOOLCRIB_NODE").zip(named("TOOLCRIB_NODE_PEERS"));
    let script = Path::new("@modelcontextprotocol/server-everything/dist/index.js");
    let found = found.map(|(node, peers)| (node, peers.join(script)));
    let found = found.filter(|(_, script)| script.exists());
    if found.is_none() {
        print("[skipped] TOOLCRIB_NODE and TOOLCRIB_NODE_PEERS name no server-everything");
    }
    found.map(|(node, script)| (node, vec![script.display().to_string(), "stdio".to_owned()]))
}

pub(crate) fn source(id: &str, (command, arguments): (PathBuf, Vec<String>)) -> McpSource {
    let folder = None;
    let settings = StdioSettings { command, arguments, environment: Vec::new(), folder };
    let environment = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
    let settings = McpSourceSettings::new(McpTransport::Stdio(settings));
    McpSource::new(id, settings, McpEnvironment { environment })
}

async fn ask(
    crib: &Crib,
    about: ResourceOperation,
    params: Value,
) -> Result<JsonFields, ToolError> {
    let Value::Object(params) = params else { panic!("`{params}` is no object") };
    let visitor = ClientSession { caller: Arc::new(Caller::local()), session: None };
    crib.inquire(&visitor, ResourceRequest { about, params }, BatchOptions::default()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_others_is_read_whole() {
    let Some(program) = everything() else { return };
    let source = Arc::new(source("far", program));
    let crib = support::crib(&source).await;
    let stock = crib.resources();
    let text =
        |offer: &ResourceEntry, key: &str| offer.definition[key].as_str().unwrap().to_owned();
    let names: Vec<_> = stock.all(ResourceKind::Prompt).map(|offer| text(offer, "name")).collect();
    assert_eq!(names, ["simple-prompt", "args-prompt", "completable-prompt", "resource-prompt"]);
    assert_eq!(stock.all(ResourceKind::Resource).count(), 7);
    assert_eq!(stock.all(ResourceKind::Template).count(), 2);
    let said = &stock.libraries()[0].holdings.said;
    assert_eq!(said.server["title"], "Everything Reference Server");
    assert!(said.instructions.as_ref().unwrap().starts_with("# Everything Server"));
    let params = json!({ "name": "args-prompt", "arguments": { "city": "Bonn" } });
    let prompt = ask(&crib, ResourceOperation::Prompt, params).await.unwrap();
    assert_eq!(prompt["messages"][0]["content"]["text"], "What's weather in Bonn?");
    let uri = "demo://resource/dynamic/text/3";
    let read = ask(&crib, ResourceOperation::Resource, json!({ "uri": uri })).await.unwrap();
    assert!(read["contents"][0]["text"].as_str().unwrap().starts_with("Resource 3"));
    let params = json!({
        "ref": { "type": "ref/prompt", "name": "completable-prompt" },
        "argument": { "name": "department", "value": "E" },
    });
    let completed = ask(&crib, ResourceOperation::Completion, params).await.unwrap();
    assert_eq!(completed["completion"]["values"], json!(["Engineering"]));
    let unlisted = json!({ "uri": "demo://nowhere" });
    let refused =
        ask(&crib, ResourceOperation::Resource, unlisted).await.unwrap_err().refusal.unwrap();
    assert!(matches!(refused.reason, RefusalReason::Origin { code: -32602, .. }), "{refused:?}");
    let level = json!({ "level": LogLevel::Debug });
    assert_eq!(ask(&crib, ResourceOperation::Level, level).await.unwrap(), JsonFields::new());
    source.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_of_a_followed_resource_are_told_until_the_source_stops() {
    let Some(program) = everything() else { return };
    let source = Arc::new(source("far", program));
    let crib = support::crib(&source).await;
    let visitor = ClientSession { caller: Arc::new(Caller::local()), session: None };
    let uri = "demo://resource/dynamic/text/1";
    let following = crib.follow(&visitor, uri.to_owned(), BatchOptions::default()).await;
    let mut following = following.unwrap();
    // The server tells of updates of what is subscribed to once this was called.
    support::run(&crib, "toggle-subscriber-updates", json!({})).await;
    let told = tokio::time::timeout(Duration::from_secs(30), following.next()).await.unwrap();
    assert_eq!(told.unwrap()["uri"], uri);
    source.stop().await;
}
