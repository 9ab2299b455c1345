//! The client that the authors of the extension for tasks give out.
//!
//! It runs where `TOOLCRIB_NODE` names a Node of version 22 or newer, and `TOOLCRIB_NODE_PEERS`
//! a `node_modules` with `@modelcontextprotocol/ext-tasks`.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use toolcrib_core::{Effect, Toolset};
use toolcrib_engine::Crib;
use toolcrib_mcp::McpServerSettings;
use toolcrib_testkit::Oracle;

use super::{fixtures, long, support};
use crate::conformance::print;

/// Says on one line what it saw.
const CLIENT: &str = r#"
const [url, client] = process.argv.slice(1);
const { withTasks } = await import(client);
const own = "io.modelcontextprotocol/";
const extensions = { [own + "tasks"]: {} };
const said = {
  [own + "protocolVersion"]: "2026-07-28",
  [own + "clientInfo"]: { name: "t", version: "1" },
  [own + "clientCapabilities"]: { elicitation: { form: {} }, extensions },
};
let id = 0;
async function dispatch({ method, params }) {
  const body = { jsonrpc: "2.0", id: ++id, method, params: { ...params, _meta: said } };
  const headers = {
    "content-type": "application/json", accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28", "mcp-method": method,
  };
  const name = params.name ?? params.taskId;
  if (name) headers["mcp-name"] = name;
  const reply = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) });
  const lines = (await reply.text()).split("\n").map((line) => line.replace(/^data: /, ""));
  const message = JSON.parse(lines.filter((line) => line.startsWith("{")).pop());
  if (message.error) return { kind: "error", error: message.error };
  return { kind: "result", result: message.result };
}
const nothing = () => () => {};
const session = withTasks({
  endpointId: "door", taskCapabilities: { generation: "v2", capabilities: {} }, dispatch,
  onServerRequest: nothing, onNotification: nothing, onInvalidated: nothing, invalidated: false,
}, {
  onInputRequest: async ({ params }) => {
    const fields = Object.entries(params.requestedSchema.properties);
    const answers = fields.map(([name, kind]) => [name, kind.type === "boolean" ? true : "Ann"]);
    return { action: "accept", content: Object.fromEntries(answers) };
  },
});
const seen = {};
for (const [key, name, values] of [
  ["quick", "greet", { name: "Ann" }],
  ["long", "slow_compute", { seconds: 2 }],
  ["asked", "multi_input", {}],
  ["approved", "wipe", { n: 7 }],
  ["before", "test_tool_with_task", {}],
  ["refused", "failing_job", {}],
  ["broken", "protocol_error_job", {}],
]) {
  const execution = await session.callTool(name, values);
  const { outcome } = await execution.settle();
  const { result, error } = outcome;
  const content = result?.structuredContent ?? result?.content?.[0]?.text ?? error?.code;
  seen[key] = [execution.kind, outcome.status, result?.isError ?? null, content];
}
const endless = await session.callTool("slow_compute", { seconds: 60 });
await endless.cancel();
const { outcome } = await endless.settle();
seen.endless = [endless.kind, outcome.status];
console.log(JSON.stringify(seen));
await session.close();
"#;

#[tokio::test(flavor = "multi_thread")]
async fn the_client_of_the_authors_goes_all_ways_of_a_task() {
    let Some((node, client)) = client() else { return };
    let oracle = Oracle::default();
    let mut tools = fixtures::all_taking(long::LONG);
    tools.push(oracle.echo("wipe", Effect::Destroy));
    let crib = Crib::builder().build_fixed(Toolset::of(tools).unwrap());
    let task_after = long::TASK_AFTER;
    let settings = McpServerSettings { task_after, ..McpServerSettings::default() };
    let url = support::open(crib, &[], settings).await;
    #[expect(clippy::disallowed_methods, reason = "the peer is no child of ours")]
    let mut command = Command::new(node);
    command.args(["--input-type=module", "-e", CLIENT, "--", &url]).arg(client);
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr);
    let seen: Value = serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said} {complaint}"));
    let answers = r#"[{"action":"accept","content":{"name":"Ann"}},{"action":"accept","content":{"confirm":true}}]"#;
    let named = r#"{"action":"accept","content":{"user_name":"Ann"}}"#;
    let expected = json!({
        "quick": ["immediate", "completed", false, "Hello, Ann!"],
        "long": ["task", "completed", false, "Computed."],
        "asked": ["task", "completed", false, answers],
        "approved": ["task", "completed", false, { "n": 7 }],
        "before": ["task", "completed", false, named],
        "refused": ["task", "completed", true, "Error: It fails."],
        "broken": ["task", "failed", null, -32021],
        "endless": ["task", "cancelled"],
    });
    assert_eq!(seen, expected);
    assert_eq!(oracle.count("wipe"), 1);
}

#[expect(clippy::disallowed_methods, reason = "the peers of tests are named by variables")]
fn client() -> Option<(PathBuf, PathBuf)> {
    let named = |name| std::env::var_os(name).map(PathBuf::from);
    let found = named("TOOLCRIB_NODE").zip(named("TOOLCRIB_NODE_PEERS"));
    let path = "@modelcontextprotocol/ext-tasks/dist/client/index.js";
    let found = found.map(|(node, peers)| (node, peers.join(path)));
    let found = found.filter(|(_, client)| client.exists());
    if found.is_none() {
        print("[skipped] TOOLCRIB_NODE and TOOLCRIB_NODE_PEERS name no client for tasks");
    }
    found
}
