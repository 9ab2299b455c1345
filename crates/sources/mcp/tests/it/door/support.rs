//! Serves a crib on a free port of this machine.

use std::sync::Arc;

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use toolcrib_core::Caller;
use toolcrib_engine::Crib;
use toolcrib_mcp::{McpServer, McpServerSettings};

use super::cribs::FixtureCribs;

/// The address of a door; the `x-caller` of a request is its caller, as if it had proved it.
pub(crate) async fn open(crib: Crib, left_out: &[&str], settings: McpServerSettings) -> String {
    serve(&door(crib, left_out, settings)).await
}

pub(crate) fn door(crib: Crib, left_out: &[&str], settings: McpServerSettings) -> McpServer {
    let left_out = left_out.iter().map(|name| (*name).to_owned()).collect();
    McpServer::new(Arc::new(FixtureCribs::leaving_out(crib, left_out)), settings)
}

pub(crate) async fn open_home(cribs: FixtureCribs, settings: McpServerSettings) -> String {
    serve(&McpServer::new(Arc::new(cribs), settings)).await
}

pub(crate) async fn serve(door: &McpServer) -> String {
    let log_in = from_fn(log_in);
    let router = door.router().layer(log_in);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    format!("http://{address}/mcp")
}

/// Stands in for the authentication of a server. A client that is to be an old one is told that
/// nobody here knows the new greeting.
async fn log_in(mut request: Request, next: Next) -> Response {
    let said = |request: &Request, name: &str| {
        request.headers().get(name).map(|said| said.to_str().unwrap().to_owned())
    };
    let is_new = said(&request, "mcp-method").as_deref() == Some("server/discover");
    if is_new && said(&request, "x-era").is_some() {
        return http::StatusCode::NOT_FOUND.into_response();
    }
    match said(&request, "x-caller").as_deref() {
        Some("nobody") => None,
        Some(name) => request.extensions_mut().insert(Caller::new("house", name)),
        None => request.extensions_mut().insert(Caller::local()),
    };
    next.run(request).await
}
