//! Answers what other replicas forward, on the listener that is for them alone.

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, Stream, stream};
use http::{HeaderValue, Method, Request, Uri, header};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::{Body, Frame};
use tokio::time::sleep;
use toolcrib_config::ServerLimits;
use toolcrib_core::Trace;

use super::envelope::{self, EnvelopeFault, EnvelopeHead, LARGEST_HEAD};
use super::frames::{AnswerHead, FrameKind, FrameMarks, LARGEST};
use super::stamps::StampFault;
use super::{FORWARD, ReplicaDoor, STAMP, home_of};
use crate::http::page::door::{ListenerKind, Visit};
use crate::http::pipeline::body;
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::{HttpReply, ReplyBody, text};
use crate::http::routes::request::{GatewayRequest, QueryValues, RequestArrival};
use crate::http::routes::route::{ReplyFuture, Route};
use crate::http::routes::router::{find, unknown_route};
use crate::http::state::GatewayState;

/// The routes of which something may live in one replica alone.
const FORWARDED: [(&str, &str); 5] = [
    ("POST", "/mcp"),
    ("POST", "/mcp/{profile}"),
    ("GET", "/v1/calls/{id}"),
    ("DELETE", "/v1/calls/{id}"),
    ("DELETE", "/v1/running/{id}"),
];

/// Answers one request of another replica.
pub(crate) async fn answer<B: Body<Data = Bytes>>(
    gateway: Arc<GatewayState>,
    visit: Visit,
    request: Request<B>,
) -> HttpReply {
    let answered = AssertUnwindSafe(admit(gateway, visit, request)).catch_unwind().await;
    answered.unwrap_or_else(|_| Err(broken())).unwrap_or_else(HttpProblem::into_reply)
}

async fn admit<B: Body<Data = Bytes>>(
    gateway: Arc<GatewayState>,
    visit: Visit,
    request: Request<B>,
) -> Result<HttpReply, HttpProblem> {
    let (parts, body) = request.into_parts();
    let door = gateway.replicas.door.clone().ok_or_else(unknown_route)?;
    match (&parts.method, parts.uri.path()) {
        (&Method::GET, STAMP) => Ok(text(door.stamps.give())),
        (&Method::POST, FORWARD) => {
            let bounds = with_head(&gateway.bounds);
            let message = body::read(body, &bounds).await?;
            let (head, body) = envelope::open(&door.key, &message).map_err(no_envelope)?;
            let own = gateway.store.as_ref().and_then(toolcrib_store::Store::replica);
            if own.as_deref().map(home_of) != Some(&*head.home) {
                return Err(refused("it is for another replica"));
            }
            door.stamps.take(&head.stamp).map_err(no_stamp)?;
            let (route, asked) = asked(gateway, visit, &head, body)?;
            Ok(answering(door, &head.stamp, (route.answer)(asked)))
        }
        _ => Err(unknown_route()),
    }
}

/// What a body and the head of its envelope may have together.
fn with_head(bounds: &ServerLimits) -> ServerLimits {
    ServerLimits { body: bounds.body.saturating_add(2 * LARGEST_HEAD), ..bounds.clone() }
}

/// The request as its route has it. Its caller, and the places that it takes, were looked at where it
/// came in.
fn asked(
    gateway: Arc<GatewayState>,
    visit: Visit,
    head: &EnvelopeHead,
    body: Bytes,
) -> Result<(&'static Route, GatewayRequest), HttpProblem> {
    let unreadable = || no_envelope(EnvelopeFault::Unreadable);
    let method = Method::from_bytes(head.method.as_bytes()).map_err(|_| unreadable())?;
    let uri: Uri = head.path.parse().map_err(|_| unreadable())?;
    let headers = envelope::received(&head.headers).ok_or_else(unreadable)?;
    let (route, segments) = find(&method, uri.path(), false)?;
    if !FORWARDED.contains(&(route.method, route.path)) {
        return Err(refused("nothing that this route is about lives in one replica"));
    }
    let trace = Trace::parse(&head.trace).map_or_else(Trace::of_ours, Trace::child);
    let asked = GatewayRequest {
        gateway,
        method,
        uri,
        caller: Arc::new(head.caller.clone()),
        visit: Visit { listener: ListenerKind::Doors, ..visit },
        session: None,
        segments,
        query: QueryValues::default(),
        headers,
        body,
        trace,
        trace_state: None,
        upgrade: None,
        arrival: RequestArrival::Replica,
    };
    Ok((route, asked))
}

/// An answer on its way.
struct AnswerFrames {
    door: Arc<ReplicaDoor>,
    marks: FrameMarks,
    stage: AnswerStage,
}

enum AnswerStage {
    /// Nothing was said.
    Begun(BoxFuture<'static, HttpReply>),
    Answering(BoxFuture<'static, HttpReply>),
    Body(ReplyBody),
    Over,
}

impl AnswerFrames {
    fn frame(&mut self, kind: FrameKind, text: &[u8]) -> Bytes {
        self.marks.frame(&self.door.key, kind, text)
    }

    /// The next frame; `None`: it was the last, or the answer broke off.
    async fn next(&mut self) -> Option<Bytes> {
        match std::mem::replace(&mut self.stage, AnswerStage::Over) {
            // It says at once that it has begun, as nobody is to begin anything of it later.
            AnswerStage::Begun(answer) => {
                self.stage = AnswerStage::Answering(answer);
                Some(self.frame(FrameKind::Alive, &[]))
            }
            AnswerStage::Answering(mut answer) => {
                let answered = tokio::select! {
                    biased;
                    answered = &mut answer => answered,
                    () = sleep(self.door.times.sign) => {
                        self.stage = AnswerStage::Answering(answer);
                        return Some(self.frame(FrameKind::Alive, &[]));
                    }
                };
                let (head, body) = answered.into_parts();
                let head = AnswerHead::of(head.status, &head.headers);
                let head = serde_json::to_vec(&head).ok().filter(|head| head.len() <= LARGEST)?;
                self.stage = AnswerStage::Body(body);
                Some(self.frame(FrameKind::Head, &head))
            }
            AnswerStage::Body(body) => self.piece(body).await,
            AnswerStage::Over => None,
        }
    }

    async fn piece(&mut self, mut body: ReplyBody) -> Option<Bytes> {
        let next = tokio::select! {
            biased;
            next = body.frame() => next,
            () = sleep(self.door.times.sign) => {
                self.stage = AnswerStage::Body(body);
                return Some(self.frame(FrameKind::Alive, &[]));
            }
        };
        let Some(next) = next else { return Some(self.frame(FrameKind::End, &[])) };
        let Ok(data) = next.ok()?.into_data() else {
            // Trailers say nothing that we ask for.
            self.stage = AnswerStage::Body(body);
            return Some(self.frame(FrameKind::Alive, &[]));
        };
        self.stage = AnswerStage::Body(body);
        let pieces = data
            .chunks(LARGEST)
            .map(|piece| self.marks.frame(&self.door.key, FrameKind::Data, piece));
        Some(pieces.collect::<Vec<_>>().concat().into())
    }
}

fn answering(door: Arc<ReplicaDoor>, stamp: &str, answer: ReplyFuture) -> HttpReply {
    let answer = AssertUnwindSafe(answer).catch_unwind().map(|answered| {
        answered.unwrap_or_else(|_| Err(broken())).unwrap_or_else(HttpProblem::into_reply)
    });
    let stage = AnswerStage::Begun(Box::pin(answer));
    let frames = AnswerFrames { door, marks: FrameMarks::new(stamp), stage };
    let frames = stream::unfold(frames, async |mut frames| Some((frames.next().await?, frames)));
    let frames: Pin<Box<dyn Stream<Item = Bytes> + Send>> = Box::pin(frames);
    let frames =
        futures_util::StreamExt::map(frames, |frame| Ok::<_, Infallible>(Frame::data(frame)));
    let body = StreamBody::new(frames).map_err(|never| match never {});
    let mut reply = HttpReply::new(body.boxed_unsync());
    let kind = HeaderValue::from_static("application/octet-stream");
    reply.headers_mut().insert(header::CONTENT_TYPE, kind);
    reply
}

fn refused(why: &str) -> HttpProblem {
    HttpProblem::new(ProblemKind::Forbidden, format!("this is for replicas of this server: {why}"))
}

fn no_envelope(fault: EnvelopeFault) -> HttpProblem {
    refused(match fault {
        EnvelopeFault::Forged => "it is not marked with the secret of the cluster",
        EnvelopeFault::Unreadable => "it is written in a way that this version does not know",
        EnvelopeFault::TooFar => "it was forwarded before",
    })
}

fn no_stamp(fault: StampFault) -> HttpProblem {
    refused(match fault {
        StampFault::Unknown => "its stamp is none of this process",
        StampFault::Late => "its stamp is too old",
        StampFault::Used => "its stamp was used before",
        StampFault::Full => "too many stamps were used just now",
    })
}

fn broken() -> HttpProblem {
    HttpProblem::new(ProblemKind::Broken, "this must not happen: tell us")
}
