//! The SDK of Python as a client, in both eras: lists, calls, asks, hears progress and logs.
//!
//! It runs where `TOOLCRIB_PYTHON_PEERS` names a Python that has `mcp` 2.

use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use toolcrib_core::{Effect, Toolset};
use toolcrib_engine::Crib;
use toolcrib_mcp::{McpEra, McpServerSettings, McpSourceSettings, McpTransport, StdioSettings};
use toolcrib_testkit::Oracle;

use super::{fixtures, support};
use crate::conformance::print;
use crate::over_http;
use crate::support::{crib, source, until};

/// Says on one line what it saw.
const CLIENT: &str = r#"
import anyio, json, sys
import mcp.types as types
from mcp import Client

async def main(url, mode):
    steps, lines = [], []
    async def progress(done, total, message):
        steps.append(done)
    async def log(params):
        lines.append(params.data)
    async def fill(context, params):
        fields = params.requested_schema["properties"]
        answers = {name: True if kind["type"] == "boolean" else "Ann" for name, kind in fields.items()}
        return types.ElicitResult(action="accept", content=answers)
    client = Client(url, mode=mode, elicitation_callback=fill, logging_callback=log, log_level="info")
    async with client:
        tools = sorted(tool.name for tool in (await client.list_tools()).tools)
        wiped = await client.call_tool("wipe", {"n": 7})
        asked = await client.call_tool("test_elicitation", {"message": "m"})
        await client.call_tool("test_tool_with_progress", {}, progress_callback=progress)
        await client.call_tool("test_tool_with_logging", {})
        failed = await client.call_tool("test_error_handling", {})
        await anyio.sleep(0.3)
        print(json.dumps({
            "count": len(tools), "wiped": wiped.structured_content, "steps": steps, "lines": lines,
            "asked": asked.content[0].text, "failed": [failed.is_error, failed.content[0].text],
            "version": client.protocol_version,
        }))

anyio.run(main, *sys.argv[1:])
"#;

#[tokio::test(flavor = "multi_thread")]
async fn the_python_sdk_does_all_it_can_in_both_eras() {
    let Some(python) = python() else { return };
    let oracle = Oracle::default();
    let mut tools = fixtures::all();
    tools.push(oracle.echo("wipe", Effect::Destroy));
    let count = tools.len();
    let crib = Crib::builder().build_fixed(Toolset::of(tools).unwrap());
    let url = support::open(crib, &[], McpServerSettings::default()).await;
    for (round, (mode, version)) in
        [("legacy", "2025-11-25"), ("auto", "2026-07-28")].iter().enumerate()
    {
        let seen = run(&python, &[&url, mode]).await;
        let expected = json!({
            "count": count, "wiped": { "n": 7 }, "steps": [0.0, 50.0, 100.0],
            "lines": ["begun", "half", "over"], "version": version,
            "asked": r#"{"state-ok":[{"action":"accept","content":{"user_name":"Ann"}}]}"#,
            "failed": [true, "Error: It fails."],
        });
        assert_eq!(seen, expected, "{mode}");
        assert_eq!(oracle.count("wipe"), round + 1);
    }
}

/// Speaks both eras, and its handler knows the question of the older one alone.
const SERVER: &str = r#"
import sys
from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

class Who(BaseModel):
    name: str

server = MCPServer("asks")

@server.tool()
async def ask(context: Context) -> str:
    answer = await context.elicit("Who?", Who)
    return f"{answer.action} {answer.data.name}"

if len(sys.argv) > 1:
    server.run("streamable-http", port=int(sys.argv[1]))
else:
    server.run("stdio")
"#;

/// Calls it.
const CALLER: &str = r#"
import anyio, json, sys
import mcp.types as types
from mcp import Client
from mcp.shared.exceptions import MCPError

async def main(url, mode):
    async def fill(context, params):
        return types.ElicitResult(action="accept", content={"name": "Ann"})
    async with Client(url, mode=mode, elicitation_callback=fill) as client:
        try:
            answered = await client.call_tool("ask", {})
            print(json.dumps([answered.is_error, answered.content[0].text]))
        except MCPError as refused:
            print(json.dumps([True, refused.message]))

anyio.run(main, *sys.argv[1:])
"#;

/// Ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve(python: &PathBuf) -> (Server, String) {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let server = python_with(python, SERVER, &[&port.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    (Server(server.unwrap()), format!("http://127.0.0.1:{port}/mcp"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_of_both_eras_asks_an_older_client_in_the_older_way() {
    let Some(python) = python() else { return };
    let (_server, url) = serve(&python);
    let place = url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    until("the server is up", || TcpStream::connect(&place).is_ok()).await;
    let source = source(over_http::settings(&url));
    let crib = crib(&source).await;
    assert_eq!(source.status().era, Some(McpEra::Modern));
    let door = support::open(crib, &[], McpServerSettings::default()).await;
    for _ in 0..2 {
        let answered = run_as(&python, CALLER, &[&door, "legacy"]).await;
        assert_eq!(answered, json!([false, "accept Ann"]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_of_both_eras_asks_whoever_calls_and_is_spoken_to_as_its_settings_say() {
    let Some(python) = python() else { return };
    let fine = (json!(false), "accept Ann");
    let refused = (json!(true), "Cannot send 'elicitation/create'");
    // Unless its settings say otherwise, each client meets a program of its own era: in the later
    // one a handler cannot ask as this one does.
    for (revision, era, expected, programs) in [
        (None, McpEra::Legacy, [&fine, &refused], 2),
        (Some(McpEra::Legacy), McpEra::Legacy, [&fine, &fine], 1),
        (Some(McpEra::Modern), McpEra::Modern, [&refused, &refused], 1),
    ] {
        let mut settings = McpSourceSettings::new(McpTransport::Stdio(StdioSettings {
            command: python.clone(),
            arguments: ["-W", "ignore", "-c", SERVER].map(str::to_owned).to_vec(),
            environment: Vec::new(),
            folder: None,
        }));
        settings.revision = revision;
        let source = source(settings);
        let door = support::open(crib(&source).await, &[], McpServerSettings::default()).await;
        assert_eq!(source.status().era, Some(era), "{revision:?}");
        for (mode, (is_error, start)) in ["legacy", "auto"].into_iter().zip(expected) {
            let answered = run_as(&python, CALLER, &[&door, mode]).await;
            assert_eq!(&answered[0], is_error, "{revision:?} {mode}: {answered}");
            assert!(answered[1].as_str().unwrap().starts_with(start), "{answered}");
        }
        assert_eq!((source.status().connections, source.status().restarts), (programs, 0));
    }
}

async fn run(python: &PathBuf, words: &[&str]) -> Value {
    run_as(python, CLIENT, words).await
}

fn python_with(python: &PathBuf, program: &str, words: &[&str]) -> Command {
    #[expect(clippy::disallowed_methods, reason = "the peer is no child of ours")]
    let mut command = Command::new(python);
    command.args(["-W", "ignore", "-c", program]).args(words);
    command
}

async fn run_as(python: &PathBuf, program: &str, words: &[&str]) -> Value {
    let mut command = python_with(python, program, words);
    let output = tokio::task::spawn_blocking(move || command.output()).await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr);
    serde_json::from_str(&said).unwrap_or_else(|_| panic!("{words:?} {said} {complaint}"))
}

#[expect(clippy::disallowed_methods, reason = "the peers of tests are named by variables")]
fn python() -> Option<PathBuf> {
    let found = std::env::var_os("TOOLCRIB_PYTHON_PEERS").map(PathBuf::from);
    if found.is_none() {
        print("[skipped] TOOLCRIB_PYTHON_PEERS names no Python with `mcp` 2");
    }
    found
}
