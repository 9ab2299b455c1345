//! Forwards a request to the replica that has what it is about.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use futures_util::{StreamExt as _, stream};
use http::{HeaderMap, Method, header};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Frame;
use tokio::sync::Semaphore;
use tokio::time::timeout;
use toolcrib_core::Caller;
use toolcrib_egress::{Egress, Network, StreamedResponse};
use toolcrib_store::{LiveReplica, Store};
use url::Url;

use super::envelope::{self, EnvelopeHead, FIRST_HOP};
use super::frames::{AnswerHead, ForgedAnswer, FrameKind, FrameReader};
use super::stamps::LONGEST;
use super::{FORWARD, ReplicaDoor, STAMP, home_of, replica_of};
use crate::http::routes::reply::HttpReply;

/// Requests that are asked of all replicas at the same time.
const TELLING: usize = 64;
/// Replicas to which ways are kept open.
const WAYS: usize = 256;

/// The way to the other replicas.
pub(crate) struct ReplicaForwards {
    store: Store,
    door: Arc<ReplicaDoor>,
    ways: Mutex<HashMap<String, Egress>>,
    telling: Semaphore,
}

/// What is forwarded.
#[derive(Clone)]
pub(crate) struct Forwarded {
    pub(crate) caller: Arc<Caller>,
    pub(crate) method: Method,
    /// Path and query as they came.
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// A `traceparent`; empty: nobody keeps any.
    pub(crate) trace: String,
}

impl ReplicaForwards {
    pub(crate) fn new(store: Store, door: Arc<ReplicaDoor>) -> Self {
        let telling = Semaphore::new(TELLING);
        Self { store, door, ways: Mutex::default(), telling }
    }

    /// The answer of the replica that is this home. `None`: it has none to give now, and nothing is
    /// begun for it there any more.
    pub(crate) async fn forward(&self, home: &str, asked: &Forwarded) -> Option<HttpReply> {
        let name = replica_of(home);
        let found = timeout(self.door.times.silence, self.store.live_replica(&name)).await;
        self.ask(&found.ok()?.ok()??, asked).await
    }

    /// Whether one of the others takes it for its own.
    pub(crate) async fn forward_to_all(&self, asked: &Forwarded) -> bool {
        let Ok(_place) = self.telling.try_acquire() else { return false };
        let found = timeout(self.door.times.silence, self.store.live_replicas()).await;
        let Ok(Ok(all)) = found else { return false };
        let own = self.store.replica();
        let others: Vec<_> = all.iter().filter(|one| own.as_ref() != Some(&one.name)).collect();
        let told = join_all(others.into_iter().map(|one| self.ask(one, asked))).await;
        told.into_iter().flatten().any(|reply| reply.status().is_success())
    }

    /// Whether that home is another one than this. A name of a client may say anything.
    pub(crate) fn is_other(&self, home: &str) -> bool {
        let is_name =
            home.len() <= LONGEST && home.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_name && self.store.replica().is_some_and(|own| home_of(&own) != home)
    }

    /// Whether nothing of it goes on any more, as far as is known.
    pub(crate) async fn is_over(&self, home: &str) -> bool {
        let name = replica_of(home);
        let is_over = timeout(self.door.times.silence, self.store.is_over(&name)).await;
        matches!(is_over, Ok(Ok(true)))
    }

    async fn ask(&self, replica: &LiveReplica, asked: &Forwarded) -> Option<HttpReply> {
        let address: Url = replica.address.parse().ok()?;
        let way = self.way(&address)?;
        let silence = self.door.times.silence;
        let (at, to) = (address.join(STAMP).ok()?, address.join(FORWARD).ok()?);
        let stamped = send(&way, &at, Method::GET, Bytes::new());
        let stamp = timeout(silence, async { stamp(stamped.await?).await }).await.ok()??;
        let head = EnvelopeHead {
            stamp: stamp.clone(),
            home: home_of(&replica.name).to_owned(),
            hop: FIRST_HOP,
            caller: Caller::clone(&asked.caller),
            method: asked.method.to_string(),
            path: asked.path.clone(),
            headers: envelope::passed_on(&asked.headers),
            trace: asked.trace.clone(),
        };
        let message = envelope::seal(&self.door.key, &head, &asked.body)?;
        let sent = send(&way, &to, Method::POST, message);
        let response = timeout(silence, sent).await.ok()??;
        let door = Arc::clone(&self.door);
        let reader = FrameReader::new(&stamp);
        answer(AnswerReader { door, reader, response }).await
    }

    /// One way for each address: its connections are used again.
    fn way(&self, address: &Url) -> Option<Egress> {
        let mut ways = self.ways.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(way) = ways.get(address.as_str()) {
            return Some(way.clone());
        }
        if ways.len() >= WAYS {
            ways.clear();
        }
        let way = Egress::only([address.clone()], Network::default()).ok()?;
        ways.insert(address.to_string(), way.clone());
        Some(way)
    }
}

/// Sends a request, which is begun at the other end at once or not at all.
async fn send(way: &Egress, url: &Url, method: Method, body: Bytes) -> Option<StreamedResponse> {
    let route = way.route(url).ok()?;
    let response = way.exchange(&route, method, HeaderMap::new(), body).await.ok()?;
    response.status.is_success().then_some(response)
}

async fn stamp(mut response: StreamedResponse) -> Option<String> {
    let mut stamp = Vec::new();
    while let Some(piece) = response.next().await {
        stamp.extend_from_slice(&piece.ok()?);
        if stamp.len() > LONGEST {
            return None;
        }
    }
    String::from_utf8(stamp).ok()
}

/// Reads the frames of an answer.
struct AnswerReader {
    door: Arc<ReplicaDoor>,
    reader: FrameReader,
    response: StreamedResponse,
}

impl AnswerReader {
    /// The next frame that is no sign of life.
    async fn next(&mut self) -> io::Result<(FrameKind, Bytes)> {
        loop {
            match self.reader.next(&self.door.key).map_err(io::Error::other)? {
                Some((FrameKind::Alive, _)) => continue,
                Some(frame) => return Ok(frame),
                None => {}
            }
            let silence: Duration = self.door.times.silence;
            let piece = timeout(silence, self.response.next()).await?;
            let piece = piece.ok_or(io::ErrorKind::UnexpectedEof)?;
            self.reader.take(&piece.map_err(io::Error::other)?);
        }
    }

    /// A piece of the body; `None`: it was the last.
    async fn piece(&mut self) -> io::Result<Option<Bytes>> {
        match self.next().await? {
            (FrameKind::Data, piece) => Ok(Some(piece)),
            (FrameKind::End, _) => Ok(None),
            (FrameKind::Alive | FrameKind::Head, _) => Err(io::Error::other(ForgedAnswer)),
        }
    }
}

async fn answer(mut reader: AnswerReader) -> Option<HttpReply> {
    let (FrameKind::Head, head) = reader.next().await.ok()? else { return None };
    let head: AnswerHead = serde_json::from_slice(&head).ok()?;
    let (status, headers) = head.parts()?;
    let pieces = stream::unfold(Some(reader), async |reader| {
        let mut reader = reader?;
        match reader.piece().await {
            Ok(piece) => piece.map(|piece| (Ok(Frame::data(piece)), Some(reader))),
            Err(error) => Some((Err(error.into()), None)),
        }
    });
    let mut reply = HttpReply::new(StreamBody::new(pieces).boxed_unsync());
    *reply.status_mut() = status;
    *reply.headers_mut() = headers;
    for own in [header::CONTENT_LENGTH, header::TRANSFER_ENCODING, header::CONNECTION] {
        reply.headers_mut().remove(own);
    }
    Some(reply)
}
