//! The whole gateway in a program, with a tool of its own: REST, MCP, agents and the page.

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use toolcrib::gateway::{Gateway, new_token};
use toolcrib::prelude::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Convert {
    /// Degrees Celsius.
    celsius: f64,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let convert = tool(
        "to_fahrenheit",
        "Converts degrees Celsius to Fahrenheit.",
        Effect::Read,
        |it: Convert| async move { Ok(it.celsius * 9.0 / 5.0 + 32.0) },
    )?;
    let token = new_token();
    let gateway = Gateway::builder()
        .tools(Toolset::of([convert])?)
        .token("local", token.clone())
        .listen(([127, 0, 0, 1], 0))
        .start()
        .await?;
    gateway.ready().await;
    println!("MCP clients come in at {}/mcp, with a token.", gateway.url());

    // A server would wait for a signal here; this program calls its tool as others would.
    let body = r#"{"calls": [{"name": "to_fahrenheit", "arguments": {"celsius": 20}}]}"#;
    let head =
        format!("POST /v1/calls HTTP/1.1\r\nhost: {}\r\nconnection: close", gateway.address());
    let kind = format!("content-type: application/json\r\ncontent-length: {}", body.len());
    let who = format!("authorization: Bearer {}", token.expose());
    let mut client = TcpStream::connect(gateway.address()).await?;
    client.write_all(format!("{head}\r\n{kind}\r\n{who}\r\n\r\n{body}").as_bytes()).await?;
    let mut answer = String::new();
    client.read_to_string(&mut answer).await?;
    println!("A client was told: {}", answer.lines().last().unwrap_or_default());
    assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.contains("68"), "{answer}");

    gateway.shutdown().await;
    Ok(())
}

#[test]
fn it_runs() -> Result<(), Box<dyn std::error::Error>> {
    main()
}
