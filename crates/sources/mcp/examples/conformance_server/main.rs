//! The fixtures that the protocol's own suite asks for, behind a door of ours on a free port:
//! `conformance_server`, which prints its address; `conformance_server stdio` is one at a pipe.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    dead_code,
    reason = "tests use the same fixtures, and more of them"
)]

use std::io::Write as _;
use std::sync::Arc;

use toolcrib_core::Caller;
use toolcrib_mcp::{McpServer, McpServerSettings};

mod cribs;
mod fixtures;
mod long;
mod shelves;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cribs = cribs::FixtureCribs::of(shelves::crib(long::BRIEF).await);
    let door = McpServer::new(Arc::new(cribs), McpServerSettings::default());
    if std::env::args().nth(1).is_some_and(|way| way == "stdio") {
        let (stdin, stdout) = (tokio::io::stdin(), tokio::io::stdout());
        door.serve_stdio(stdin, stdout, Caller::local(), None).await?;
        return Ok(());
    }
    let router = door.router();
    let router = router.layer(axum::Extension(Caller::local()));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    writeln!(std::io::stdout(), "http://{}/mcp", listener.local_addr()?)?;
    axum::serve(listener, router).await?;
    Ok(())
}
