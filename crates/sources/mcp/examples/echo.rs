//! A server of the SDK that gives back what it is told, as others write one: the measure of what a
//! way through us costs. `echo http [TOOLS]` prints its address, `echo stdio [TOOLS]` serves its
//! pipes; `TOOLS` is how many it lists beside `echo` (reads) and `put` (writes).

use std::io::Write as _;
use std::sync::Arc;

use axum::serve::ListenerExt as _;
use rmcp::ServerHandler;
use rmcp::ServiceExt as _;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;

#[derive(Clone)]
struct Echo {
    tools: Arc<[Tool]>,
}

impl Echo {
    fn new(more: usize) -> Self {
        let more = (0..more).map(|number| tool(format!("tool_{number:05}"), true));
        let own = [tool("echo".to_owned(), true), tool("put".to_owned(), false)];
        Self { tools: own.into_iter().chain(more).collect() }
    }
}

/// A tool with a text and two parameters that many tools have.
fn tool(name: String, reads: bool) -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {
            "text": { "type": "string", "description": "What is given back." },
            "limit": { "type": "integer", "minimum": 1, "maximum": 100 },
            "order": { "type": "string", "enum": ["ascending", "descending"] },
        },
        "required": ["text"],
    });
    let schema: Map<String, Value> = schema.as_object().cloned().unwrap_or_default();
    let told = format!("Gives back the text that {name} is told, as it came, and nothing else.");
    let hints = ToolAnnotations::new().read_only(reads).destructive(false);
    Tool::new(name, told, Arc::new(schema)).with_annotations(hints)
}

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = request.arguments.unwrap_or_default();
        let text = arguments.get("text").and_then(Value::as_str).unwrap_or_default();
        Ok(CallToolResult::success(vec![ContentBlock::text(text)]).into())
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut words = std::env::args().skip(1);
    let way = words.next().unwrap_or_default();
    let more = words.next().and_then(|word| word.parse().ok()).unwrap_or_default();
    let echo = Echo::new(more);
    if way == "stdio" {
        echo.serve(rmcp::transport::stdio()).await?.waiting().await?;
        return Ok(());
    }
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let make = move || Ok(echo.clone());
    let config = StreamableHttpServerConfig::default().with_json_response(true);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(make, sessions, config);
    let router = axum::Router::new().nest_service("/mcp", service);
    writeln!(std::io::stdout(), "http://{address}")?;
    // Small answers must not wait for each other, as in any server that wants to be quick.
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    axum::serve(listener, router).await?;
    Ok(())
}
