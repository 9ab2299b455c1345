//! `/v1/responses` by WebSocket: one answer after the other on one connection.
//!
//! What is sent and heard is as Open Responses has it, specification of 2026-04-24: a message is an
//! event, a failure is an event too, and the socket goes on after it. `store: false` is known to its
//! own socket alone, the newest answer of it, and only until a turn that goes on from it fails.

mod ending;
mod turn;

use std::future::Future;
use std::ops::ControlFlow;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use http::{HeaderMap, header};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message};
use toolcrib_auth::ProtectedResource;
use toolcrib_engine::ledger::MemoryRuns;

use super::super::api_error::ApiError;
use super::super::live::LiveRuns;
use crate::http::pipeline::handshake::accepted;
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;
use ending::{SocketEnd, SocketStream};
use turn::{SocketTurn, TurnRefusal};

/// How long a socket lives at the most: as the specification has it.
const LONGEST: Duration = Duration::from_hours(1);
/// Bytes that are read, or gathered before they are written, at once.
const BUFFER: usize = 16 << 10;

pub(crate) fn connect(mut asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let accept = accepted(&asked.headers)?;
        let upgrade = asked.upgrade.take().ok_or_else(|| {
            HttpProblem::new(ProblemKind::BadRequest, "a WebSocket is asked for by HTTP/1.1")
        })?;
        // Many are open and few work: it counts as one who listens, and each of its turns as a request.
        let place = asked.gateway.busy.listen(&asked.caller)?;
        let serve = async move {
            let _place = place;
            // The peer may be gone before it has the answer.
            if let Ok(upgraded) = upgrade.await {
                ResponseSocket::new(asked, upgraded).await.serve().await;
            }
        };
        Ok(reply::socket(accept, Box::pin(serve)))
    })
}

struct ResponseSocket {
    /// The request with which it began.
    asked: GatewayRequest,
    stream: SocketStream,
    /// Answers that are not stored.
    own: LiveRuns,
    turn: Option<SocketTurn>,
    clock: SocketClock,
}

struct SocketClock {
    /// When the peer said the last word, be it that it is there.
    heard: Instant,
    /// When it is asked for one.
    next_ping: Instant,
    /// When no other turn begins.
    until: Instant,
    pings: Duration,
    /// How long it may be silent: a message may take as long as a body.
    patience: Duration,
}

/// What is next on a socket.
enum SocketEvent {
    Heard(Option<Result<Message, Error>>),
    /// What the turn says; `None`: it is over.
    Said(Option<Vec<Value>>),
    Ping,
    Over(SocketEnd),
}

impl ResponseSocket {
    async fn new(asked: GatewayRequest, upgraded: Upgraded) -> Self {
        let (bounds, now) = (&asked.gateway.bounds, Instant::now());
        let config = WebSocketConfig::default()
            .read_buffer_size(BUFFER)
            .write_buffer_size(BUFFER)
            .max_message_size(Some(bounds.body))
            .max_frame_size(Some(bounds.body));
        let pings = bounds.stall / 2;
        let clock = SocketClock {
            heard: now,
            next_ping: now + pings,
            until: now + LONGEST.min(bounds.longest_session),
            pings,
            patience: bounds.stall.max(bounds.body_time),
        };
        let ledger = Arc::new(MemoryRuns::default());
        let keys_for = asked.gateway.runs.keys_for;
        let own = LiveRuns::new(ledger, keys_for, asked.gateway.stop.clone());
        let upgraded = TokioIo::new(upgraded);
        let stream = WebSocketStream::from_raw_socket(upgraded, Role::Server, Some(config)).await;
        Self { asked, stream, own, turn: None, clock }
    }

    async fn serve(mut self) {
        let mut refused = pin!(refused(&self.asked));
        let end = loop {
            let event = self.next(refused.as_mut()).await;
            if let ControlFlow::Break(end) = self.follow(event).await {
                break end;
            }
        };
        // Who goes away gives the run up.
        self.turn = None;
        ending::close(self.stream, end).await;
    }

    async fn next(&mut self, refused: Pin<&mut impl Future<Output = ()>>) -> SocketEvent {
        let is_idle = self.turn.is_none();
        let Self { asked, stream, turn, clock, .. } = self;
        let said = async {
            match turn {
                Some(turn) => turn.next().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            heard = stream.next() => SocketEvent::Heard(heard),
            said = said => SocketEvent::Said(said),
            () = refused => SocketEvent::Over(SocketEnd::Refused),
            // What is being answered is answered first; the server has an end of its own for it.
            () = asked.gateway.stop.cancelled(), if is_idle => SocketEvent::Over(SocketEnd::Stopping),
            () = sleep_until(clock.until), if is_idle => SocketEvent::Over(SocketEnd::TooOld),
            () = sleep_until(clock.next_ping) => SocketEvent::Ping,
            () = sleep_until(clock.heard + clock.patience) => SocketEvent::Over(SocketEnd::Gone),
        }
    }

    async fn follow(&mut self, event: SocketEvent) -> ControlFlow<SocketEnd> {
        match event {
            SocketEvent::Heard(heard) => self.hear(heard).await,
            SocketEvent::Said(Some(events)) => self.say(events).await,
            SocketEvent::Said(None) => self.end_turn().await,
            SocketEvent::Ping => {
                self.clock.next_ping = Instant::now() + self.clock.pings;
                self.send(Message::Ping(bytes::Bytes::new())).await
            }
            SocketEvent::Over(end) => self.end(end).await,
        }
    }

    async fn hear(&mut self, heard: Option<Result<Message, Error>>) -> ControlFlow<SocketEnd> {
        self.clock.heard = Instant::now();
        let message = match heard {
            None => return ControlFlow::Break(SocketEnd::Gone),
            Some(Err(error)) => {
                let end = SocketEnd::of(&error, self.asked.gateway.bounds.body);
                return self.end(end).await;
            }
            Some(Ok(message)) => message,
        };
        match message {
            Message::Text(text) => self.read(&text).await,
            Message::Binary(_) => {
                let error = ApiError::invalid("", "send each event as a text of JSON");
                self.fail(&error, None).await
            }
            Message::Close(_) => ControlFlow::Break(SocketEnd::Gone),
            Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => ControlFlow::Continue(()),
        }
    }

    /// An event of the client.
    async fn read(&mut self, text: &str) -> ControlFlow<SocketEnd> {
        let event: Value = match self.asked.parse(text) {
            Ok(event) => event,
            Err(problem) => return self.fail(&ApiError::of_problem(&problem), None).await,
        };
        let lane = event.get("stream_id").filter(|lane| lane.is_string()).cloned();
        let kind = event.get("type").and_then(Value::as_str).unwrap_or_default();
        if kind != "response.create" {
            let kind: String = kind.chars().take(80).collect();
            let message = format!("`type` is `{kind}`: this server knows `response.create` alone");
            return self.fail(&ApiError::invalid("type", message), lane).await;
        }
        if let Some(turn) = &self.turn {
            return self.fail(&turn.in_progress(), lane).await;
        }
        match SocketTurn::begin(&self.asked, event, &self.own).await {
            Ok(turn) => {
                self.turn = Some(turn);
                ControlFlow::Continue(())
            }
            Err(TurnRefusal::Failed(error)) => self.fail(&error, lane).await,
            Err(TurnRefusal::Unauthenticated) => self.end(SocketEnd::Refused).await,
        }
    }

    /// Says why it ends, before it does.
    async fn end(&mut self, end: SocketEnd) -> ControlFlow<SocketEnd> {
        if let Some(error) = end.error() {
            self.fail(&error, None).await?;
        }
        ControlFlow::Break(end)
    }

    async fn end_turn(&mut self) -> ControlFlow<SocketEnd> {
        let Some(turn) = self.turn.take() else { return ControlFlow::Continue(()) };
        if !turn.is_over() {
            // The next process goes on with it.
            return ControlFlow::Break(SocketEnd::Stopping);
        }
        turn.remember(&self.own).await;
        ControlFlow::Continue(())
    }

    /// `lane`: what the client called the stream of its turn.
    async fn fail(&mut self, error: &ApiError, lane: Option<Value>) -> ControlFlow<SocketEnd> {
        let mut event =
            json!({ "type": "error", "status": error.status.as_u16(), "error": error.json() });
        if let (Some(lane), Value::Object(fields)) = (lane, &mut event) {
            fields.insert("stream_id".to_owned(), lane);
        }
        self.say(vec![event]).await
    }

    async fn say(&mut self, events: Vec<Value>) -> ControlFlow<SocketEnd> {
        for event in events {
            let fed = self.stream.feed(Message::text(event.to_string())).await;
            if fed.is_err() {
                return ControlFlow::Break(SocketEnd::Gone);
            }
        }
        match self.stream.flush().await {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(SocketEnd::Gone),
        }
    }

    async fn send(&mut self, message: Message) -> ControlFlow<SocketEnd> {
        match self.stream.send(message).await {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(SocketEnd::Gone),
        }
    }
}

/// Waits until what the request presented does not make it the caller any more that it was.
fn refused(asked: &GatewayRequest) -> impl Future<Output = ()> + use<> {
    let presented = asked.headers.get(header::AUTHORIZATION).cloned();
    let presented = presented.map(|value| (header::AUTHORIZATION, value)).into_iter();
    let presented: HeaderMap = presented.collect();
    let (gateway, caller) = (Arc::clone(&asked.gateway), Arc::clone(&asked.caller));
    async move {
        gateway.guard.refuses(&presented, ProtectedResource::Whole, &caller).await;
    }
}
