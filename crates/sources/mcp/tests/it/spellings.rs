//! A denied resource of a server of others is read under no spelling of its address.
//!
//! It runs over the official SDKs: those of Python that `TOOLCRIB_PYTHON_PEERS` (`mcp` 2) and
//! `TOOLCRIB_PYTHON_PEERS_MCP1` name, and that of Node that `TOOLCRIB_NODE_PEERS` names.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_core::{
    BatchOptions, Caller, ClientSession, ResourceOperation, ResourceRequest, SourceId,
};
use toolcrib_engine::Crib;
use toolcrib_engine::rules::Rules;
use toolcrib_mcp::{McpSourceSettings, McpTransport, StdioSettings};

use crate::conformance::print;
use crate::support::source;

const WORD: &str = "the-hidden-word";

/// Looks for what is asked for as many servers do: decoded, cut to its last part, in small letters.
const PYTHON: &str = r##"
import urllib.parse
KEPT = {"secret": "the-hidden-word", "secret.txt": "the-hidden-word", "open": "anybody"}
try:
    from mcp.server.mcpserver import MCPServer as Server
except ImportError:
    from mcp.server.fastmcp import FastMCP as Server
server = Server("docs")

def kept(name):
    name = urllib.parse.unquote(name).replace("\\", "/").split("?")[0].split("#")[0].split(";")[0]
    name = name.strip(" ./\x00\t\n").lower().rsplit("/", 1)[-1]
    return KEPT.get(name, "nothing")

@server.resource("doc://secret")
def secret() -> str:
    return KEPT["secret"]

@server.resource("doc://open")
def opened() -> str:
    return KEPT["open"]

@server.resource("doc://{name}")
def one(name: str) -> str:
    return kept(name)

@server.resource("file:///{folder}/{name}")
def file(folder: str, name: str) -> str:
    return kept(name)

server.run("stdio")
"##;

/// Takes addresses apart as browsers do, and asks its disk.
const NODE: &str = r#"
const { Server } = require("@modelcontextprotocol/sdk/server/index.js");
const { StdioServerTransport } = require("@modelcontextprotocol/sdk/server/stdio.js");
const types = require("@modelcontextprotocol/sdk/types.js");
const path = require("path");
const KEPT = { "/srv/secret.txt": "the-hidden-word", "/secret": "the-hidden-word" };
const server = new Server({ name: "docs", version: "1" }, { capabilities: { resources: {}, completions: {} } });
server.setRequestHandler(types.ListResourcesRequestSchema, () => ({
  resources: [{ uri: "doc://open", name: "open" }, { uri: "file:///srv/secret.txt", name: "s" }],
}));
server.setRequestHandler(types.ListResourceTemplatesRequestSchema, () => ({
  resourceTemplates: [{ uriTemplate: "file:///{+path}", name: "f" }, { uriTemplate: "doc://{+path}", name: "d" }],
}));
server.setRequestHandler(types.CompleteRequestSchema, () => ({ completion: { values: ["the-hidden-word"] } }));
server.setRequestHandler(types.ReadResourceRequestSchema, ({ params }) => {
  const url = new URL(params.uri.trim());
  const host = url.protocol === "file:" ? "" : url.hostname;
  let place = path.posix.normalize("/" + decodeURIComponent(host + "/" + url.pathname)).toLowerCase();
  place = place.replace(/[/. \0]+$/, "").replace(/[;:].*$/, "");
  const text = KEPT[place] ?? (url.href.includes("open") ? "anybody" : "nothing");
  return { contents: [{ uri: params.uri, text }] };
});
server.connect(new StdioServerTransport());
"#;

const SPELLINGS: &[&str] = &[
    "doc://secret",
    "DOC://secret",
    "doc://SECRET",
    "doc://%73ecret",
    "doc://%2573ecret",
    "doc://secret/",
    "doc:///secret",
    "doc:/secret",
    "doc:secret",
    "doc://secret.",
    "doc://secret%20",
    "doc://secret?x=1",
    "doc://secret#x",
    "doc://secret;v=1",
    "doc://secret:80",
    "doc://me@secret",
    "doc://./secret",
    "doc://x/../secret",
    "doc://x%2f..%2fsecret",
    "doc://x%5csecret",
    "doc://secret%00",
    "doc://\u{ff53}ecret",
    " doc://secret",
    "doc://secret ",
    "doc://secret\n",
    "file:///srv/secret.txt",
    "FILE:///srv/secret.txt",
    "file://localhost/srv/secret.txt",
    "file://LOCALHOST/srv/secret.txt",
    "file:/srv/secret.txt",
    "file:srv/secret.txt",
    "file:////srv/secret.txt",
    "file:///srv//secret.txt",
    "file:///srv/./secret.txt",
    "file:///x/../srv/secret.txt",
    "file:///srv/x/%2e%2e/secret.txt",
    "file:///srv/x/.%2E/secret.txt",
    "file:///srv%2fsecret.txt",
    "file:///srv\\secret.txt",
    "file:///srv%5csecret.txt",
    "file:///srv/%73ecret.txt",
    "file:///srv/SECRET.TXT",
    "file:///srv/secret.txt/",
    "file:///srv/secret.txt.",
    "file:///srv/secret.txt?raw",
    "file:///srv/secret.txt#L1",
    "file:///srv/secret.txt%20",
    "file:///srv/secret.txt::$DATA",
];

struct SpellingFixture(Crib);

impl SpellingFixture {
    async fn new(
        command: PathBuf,
        arguments: &[&str],
        folder: Option<PathBuf>,
        rules: &str,
    ) -> Self {
        let source = source(McpSourceSettings::new(McpTransport::Stdio(StdioSettings {
            command,
            arguments: arguments.iter().map(|word| (*word).to_owned()).collect(),
            environment: Vec::new(),
            folder,
        })));
        let placed = (SourceId::new("far"), source as _, Duration::from_mins(1));
        let rules = Rules::parse(rules).unwrap();
        Self(Crib::builder().policy(rules).placed(placed).build().await)
    }

    async fn ask(&self, about: ResourceOperation, params: Value) -> String {
        let visitor = ClientSession { caller: Arc::new(Caller::local()), session: None };
        let inquiry = ResourceRequest { about, params: serde_json::from_value(params).unwrap() };
        match self.0.inquire(&visitor, inquiry, BatchOptions::default()).await {
            Ok(fields) => json!(fields).to_string(),
            Err(error) => format!("refused: {error}"),
        }
    }

    async fn read(&self, uri: &str) -> String {
        self.ask(ResourceOperation::Resource, json!({ "uri": uri })).await
    }
}

const FREE: &str = "allow = [\"*\"]";
const DENIED: &str =
    "allow = [\"*\"]\ndeny = [\"name:doc://secret\", \"name:file:///srv/secret.txt\"]";
const ASKED: &str = "allow = [\"*\"]\nask = [\"name:doc://secret*\", \"name:*/secret.txt\"]";

async fn holds(command: PathBuf, arguments: &[&str], folder: Option<PathBuf>) {
    let free = SpellingFixture::new(command.clone(), arguments, folder.clone(), FREE).await;
    let mut read = 0;
    for uri in SPELLINGS {
        read += usize::from(free.read(uri).await.contains(WORD));
    }
    assert!(read > 5, "the server knows {read} spellings");
    for rules in [DENIED, ASKED] {
        let bound = SpellingFixture::new(command.clone(), arguments, folder.clone(), rules).await;
        for uri in SPELLINGS {
            let said = bound.read(uri).await;
            assert!(said.starts_with("refused: "), "{uri:?}: {said}");
            let about = json!({
                "ref": { "type": "ref/resource", "uri": uri },
                "argument": { "name": "name", "value": "" },
            });
            let said = bound.ask(ResourceOperation::Completion, about).await;
            assert!(said.starts_with("refused: "), "{uri:?}: {said}");
            let visitor = ClientSession { caller: Arc::new(Caller::local()), session: None };
            let followed =
                bound.0.follow(&visitor, (*uri).to_owned(), BatchOptions::default()).await;
            let told = followed.err().map(|error| error.message).unwrap_or_default();
            let is_ours = told.contains("there is no resource") || told.contains("refused: ");
            assert!(is_ours, "{uri:?}: {told}");
        }
        assert!(bound.read("doc://open").await.contains("anybody"));
        assert!(bound.read("doc://other").await.contains("nothing"));
    }
}

#[expect(clippy::disallowed_methods, reason = "the peers of tests are named by variables")]
fn peer(name: &str) -> Option<PathBuf> {
    let found = std::env::var_os(name).map(PathBuf::from);
    if found.is_none() {
        print(&format!("[skipped] {name} names no peer: `cargo xtask peers` installs them"));
    }
    found
}

#[tokio::test(flavor = "multi_thread")]
async fn no_spelling_of_a_denied_resource_is_read_of_a_server_in_python() {
    for name in ["TOOLCRIB_PYTHON_PEERS", "TOOLCRIB_PYTHON_PEERS_MCP1"] {
        let Some(python) = peer(name) else { continue };
        holds(python, &["-W", "ignore", "-c", PYTHON], None).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_spelling_of_a_denied_resource_is_read_of_a_server_in_node() {
    let (Some(node), Some(modules)) = (peer("TOOLCRIB_NODE"), peer("TOOLCRIB_NODE_PEERS")) else {
        return;
    };
    holds(node, &["-e", NODE], Some(modules.parent().unwrap().to_owned())).await;
}
