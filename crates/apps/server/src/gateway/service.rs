//! The gateway as a function of requests, for a program that listens by itself.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use hyper::body::Body;

use crate::http::page::door::{ListenerKind, Visit};
use crate::http::pipeline::handler;
use crate::http::routes::reply::{ReplyBody, SocketTask};
use crate::http::state::GatewayState;

/// Answers requests that came in by a listener of the program.
#[derive(Clone)]
pub struct GatewayService(pub(super) Arc<GatewayState>);

/// The body of an answer.
pub type GatewayBody = ReplyBody;

impl GatewayService {
    /// Answers a request as the listener of the gateway would: host, route, caller, scopes and body
    /// are checked, and its body is bounded in size and time. The name in its `Host` must be one of
    /// the gateway ([`GatewayBuilder::host`]). How large heads may be and how many connections there
    /// are is for whoever listens. `peer`: from where it came.
    ///
    /// [`GatewayBuilder::host`]: super::GatewayBuilder::host
    pub async fn handle<B>(&self, peer: SocketAddr, request: Request<B>) -> Response<GatewayBody>
    where
        B: Body<Data = Bytes>,
    {
        let visit = Visit::of(peer, ListenerKind::Doors);
        let answered = handler::answer(Arc::clone(&self.0), visit, request).await;
        let mut reply = answered.unwrap_or_else(|never| match never {});
        if reply.status() == StatusCode::SWITCHING_PROTOCOLS {
            let task = reply.extensions_mut().remove::<SocketTask>();
            // What a connection of ours does after its answer.
            if let Some(serve) = task.and_then(|task| task.take()) {
                tokio::spawn(serve);
            }
        }
        reply
    }
}
