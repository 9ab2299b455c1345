//! The gateway as a function of requests, for a program that listens by itself.

use std::error::Error;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::http::page::door::{ListenerKind, Visit};
use crate::http::page::headers::protect;
use crate::http::pipeline::handler;
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::{HttpReply, ReplyBody, SocketTask};
use crate::http::state::GatewayState;

/// Answers requests that came in by a listener of the program.
#[derive(Clone)]
pub struct GatewayService {
    pub(super) state: Arc<GatewayState>,
    /// Cancelled, no answer is waited for any more.
    pub(super) now: CancellationToken,
    /// What is under way, for whoever stops the gateway.
    pub(super) requests: TaskTracker,
}

/// The body of an answer.
pub type GatewayBody = ReplyBody;

impl GatewayService {
    /// Answers a request as the listener of the gateway would: host, route, caller, scopes and body
    /// are checked, and its body is bounded in size and time. The name in its `Host`, or in the
    /// `:authority` of HTTP/2, must be one of the gateway ([`GatewayBuilder::host`]). How large
    /// heads may be and how many connections there are is for whoever listens. `peer`: from where it
    /// came; without tokens only this machine may. A gateway that stops answers with 503.
    ///
    /// [`GatewayBuilder::host`]: super::GatewayBuilder::host
    pub async fn handle<B>(
        &self,
        peer: SocketAddr,
        mut request: Request<B>,
    ) -> Response<GatewayBody>
    where
        B: Body<Data = Bytes>,
    {
        // Before the look at whether it stops: whoever stops it either sees this one or refuses it.
        let under_way = self.requests.token();
        if let Err(problem) = self.admits(peer) {
            return refusal(problem);
        }
        name_host(&mut request);
        let visit = Visit::of(peer, ListenerKind::Doors);
        // Pinned where it is made: it is large.
        let answering = pin!(handler::answer(Arc::clone(&self.state), visit, request));
        let Some(answered) = self.now.run_until_cancelled(answering).await else {
            return refusal(stopping());
        };
        let mut reply = answered.unwrap_or_else(|never| match never {});
        if reply.status() == StatusCode::SWITCHING_PROTOCOLS {
            let task = reply.extensions_mut().remove::<SocketTask>();
            // What a connection of ours does after its answer.
            if let Some(serve) = task.and_then(|task| task.take()) {
                let now = self.now.clone();
                tokio::spawn(async move {
                    let _under_way = under_way;
                    now.run_until_cancelled(serve).await;
                });
            }
            return reply;
        }
        if reply.body().size_hint().exact().is_some() {
            return reply;
        }
        reply.map(|body| TrackedBody { body, under_way: Some(under_way) }.boxed_unsync())
    }

    /// Refuses what the listener of the gateway would not have taken.
    fn admits(&self, peer: SocketAddr) -> Result<(), HttpProblem> {
        if self.state.stop.is_cancelled() {
            return Err(stopping());
        }
        // The builder sees to it that our own listener is of this machine then; where that of the
        // program is, only the peer tells.
        if self.state.guard.is_open() && !peer.ip().to_canonical().is_loopback() {
            let detail = "nobody is asked for a token here, so only programs of the same machine \
                          may ask: give callers tokens with `GatewayBuilder::token`";
            return Err(HttpProblem::new(ProblemKind::Forbidden, detail));
        }
        Ok(())
    }
}

/// Has a request of HTTP/2, which names its host in its URI alone, name it as the others do.
fn name_host<B>(request: &mut Request<B>) {
    if request.headers().contains_key(header::HOST) {
        return;
    }
    let Some(authority) = request.uri().authority() else { return };
    if let Ok(host) = HeaderValue::from_str(authority.as_str()) {
        request.headers_mut().insert(header::HOST, host);
    }
}

fn stopping() -> HttpProblem {
    HttpProblem::new(ProblemKind::Unavailable, "the gateway stops: come again")
        .with(header::RETRY_AFTER, HeaderValue::from_static("1"))
}

fn refusal(problem: HttpProblem) -> HttpReply {
    let mut reply = problem.into_reply();
    protect(reply.headers_mut(), None);
    reply
}

/// A body that goes on after its head: its request is under way until its end.
struct TrackedBody {
    body: ReplyBody,
    under_way: Option<TaskTrackerToken>,
}

impl Body for TrackedBody {
    type Data = Bytes;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        if matches!(frame, Poll::Ready(None)) {
            self.under_way = None;
        }
        frame
    }
}
