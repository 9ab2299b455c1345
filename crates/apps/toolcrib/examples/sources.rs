//! A program that speaks MCP and an API with an OpenAPI document, side by side in one crib.
//!
//! The program is a few lines of shell, and the API a socket of our own, so that nothing has to be
//! installed; put `npx`, `uvx` or an address in their place.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use toolcrib::egress::Network;
use toolcrib::mcp::{McpEnvironment, McpSource, McpSourceSettings, McpTransport, StdioSettings};
use toolcrib::openapi::{ApiSettings, ApiSource, DocumentLocation};
use toolcrib::prelude::*;
use toolcrib::serde_json::json;
use toolcrib::{Call, RawArguments, SourceId};

/// An MCP server: one tool that rolls a die.
const SERVER: &str = r#"
while read -r line; do
  id=${line#*\"id\":}; id=${id%%[,\}]*}
  say() { printf '{"jsonrpc":"2.0","id":%s,%s}\n' "$id" "$1"; }
  case $line in
    *'"initialize"'*) say '"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"dice","version":"1"}}';;
    *'"tools/list"'*) say '"result":{"tools":[{"name":"roll","description":"Rolls a die.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}';;
    *'"tools/call"'*) say '"result":{"content":[{"type":"text","text":"4"}]}';;
    *'"id":'*) say '"error":{"code":-32601,"message":"no such method"}';;
  esac
done
"#;

/// What the API says of itself.
const DOCUMENT: &str = r#"
openapi: 3.1.0
info: {title: Shop, version: "1"}
paths:
  /price/{article}:
    get:
      operationId: price
      summary: Tells the price of an article.
      parameters: [{name: article, in: path, required: true, schema: {type: string}}]
      responses: {"200": {description: The price., content: {application/json: {}}}}
"#;

/// Answers every request with a price.
async fn shop(listener: TcpListener) -> std::io::Result<()> {
    loop {
        let (mut socket, _) = listener.accept().await?;
        let mut request = [0; 4096];
        let _ = socket.read(&mut request).await?;
        let body = r#"{"price": 12}"#;
        let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: application/json";
        let answer = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        socket.write_all(answer.as_bytes()).await?;
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let program = StdioSettings {
        command: "/bin/sh".into(),
        arguments: vec!["-c".to_owned(), SERVER.to_owned()],
        environment: Vec::new(),
        folder: None,
    };
    let settings = McpSourceSettings::new(McpTransport::Stdio(program));
    let environment = McpEnvironment { environment: std::env::vars().collect() };
    let dice = McpSource::new("dice", settings, environment);

    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let serving = tokio::spawn(shop(listener));
    let mut settings = ApiSettings::new(DocumentLocation::Text(DOCUMENT.to_owned()));
    settings.base_url = Some(format!("http://{address}").parse()?);
    // Addresses of this machine are not reached unless somebody says so.
    settings.network = Network { private: vec![address.to_string().parse()?] };
    let shop = ApiSource::new(SourceId::new("shop"), settings);

    let crib = Crib::builder().source("dice", dice).source("shop", shop).build().await;
    let plan = crib.plan(&Caller::local(), PlanRequest::default())?;
    let calls = vec![
        Call::new("1", "roll", RawArguments::Value(json!({}))),
        Call::new("2", "price", RawArguments::Value(json!({"article": "tea"}))),
    ];
    let report = crib.run(&plan, calls).await;
    for response in &report.responses {
        println!("{}", response.text());
    }
    let texts: Vec<_> = report.responses.iter().map(toolcrib::Response::text).collect();
    assert_eq!(texts.first().map(String::as_str), Some("4"));
    assert!(texts.last().is_some_and(|text| text.contains("12")), "{texts:?}");
    serving.abort();
    Ok(())
}

#[test]
fn it_runs() -> Result<(), Box<dyn std::error::Error>> {
    main()
}
