//! The door inside of another program, which hands it requests without a connection.

use std::sync::Arc;

use bytes::Bytes;
use toolcrib_core::{Caller, Toolset};
use toolcrib_engine::Crib;
use toolcrib_mcp::{AuthenticatedCaller, McpServerSettings};

use super::older_calls::message;
use super::support;

#[tokio::test]
async fn a_request_of_http_2_says_in_its_address_how_the_server_is_called() {
    let crib = Crib::builder().build_fixed(Toolset::default());
    let door = support::door(crib, &[], McpServerSettings::default());
    let mut statuses = Vec::new();
    for (address, host) in [
        ("http://localhost:9/mcp", None),
        ("http://me:secret@localhost:9/mcp", None),
        ("http://evil.example/mcp", None),
        ("http://localhost@evil.example/mcp", None),
        ("http://localhost/mcp", Some("evil.example")),
        ("/mcp", None),
    ] {
        let mut request = http::Request::post(address)
            .header("accept", "application/json, text/event-stream")
            .header("content-type", "application/json");
        if let Some(host) = host {
            request = request.header("host", host);
        }
        let ping = message(1, "ping", &serde_json::json!({}));
        let caller = Arc::new(Caller::new("house", "ann"));
        let guest = AuthenticatedCaller { caller, profile: None, trace: None, trace_state: None };
        let request = request.body(Bytes::from(ping.to_string())).unwrap();
        statuses.push(door.http_handler().answer(guest, request).await.status().as_u16());
    }
    // A ping without a session is refused for itself, once the name is known.
    assert_eq!(statuses, [400, 400, 403, 403, 403, 403]);
}
