//! `GET /v1/events`: what happens, as it does, to whoever may know it.
//!
//! Each event has a number, which grows as long as the server runs. A reader that was away goes on
//! behind the last one that it had; if more is missing than is kept, or it is too slow, it is told
//! `reset` and looks for itself.

pub(crate) mod expiries;

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::HeaderMap;
use serde_json::{Value, json};
use tokio::sync::mpsc::{Sender, channel};
use tokio::time::{MissedTickBehavior, interval, sleep, sleep_until};
use toolcrib_core::Caller;

use crate::http::routes::reply::events;
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;
use crate::http::state::GatewayState;
use crate::telemetry::feed::{EventTopic, EventsSince};

/// An event as often as this shows that the connection lives.
const BEAT: Duration = Duration::from_secs(10);
/// What comes within so long is sent together.
const GATHER: Duration = Duration::from_millis(100);
/// Calls that wait and whose time is watched.
const MOST_WATCHED: usize = 500;

pub(crate) fn follow(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let after = asked.query.get("after").or_else(|| last_event(&asked.headers));
        let after = after.filter(|after| !after.is_empty());
        let after = after.map(ToOwned::to_owned);
        let follower = EventFollower { gateway: asked.gateway, caller: asked.caller };
        let (sender, waiting) = channel(1);
        tokio::spawn(async move { follower.run(after, &sender).await });
        Ok(events(waiting, None))
    })
}

fn last_event(headers: &HeaderMap) -> Option<&str> {
    headers.get("last-event-id").and_then(|id| id.to_str().ok())
}

struct EventFollower {
    gateway: Arc<GatewayState>,
    caller: Arc<Caller>,
}

impl EventFollower {
    /// Tells until the reader is gone. `after`: the id of the last event that it had.
    async fn run(self, after: Option<String>, reader: &Sender<Bytes>) -> Option<()> {
        let feed = &self.gateway.telemetry.feed;
        let mut news = feed.follow();
        let known = after.as_deref().and_then(|after| self.number(after));
        let known = known.filter(|after| matches!(feed.since(*after), EventsSince::Events(_)));
        let mut at = known.unwrap_or_else(|| feed.last());
        let hello = json!({ "epoch": self.epoch(), "cursor": self.id(at) });
        let mut begin = self.line("hello", at, &hello);
        if after.is_some() && known.is_none() {
            begin += &self.reset(at, "what was asked for is not kept any more");
        }
        reader.send(begin.into()).await.ok()?;
        let mut beats = interval(BEAT);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        beats.tick().await;
        let mut looks = true;
        loop {
            let told = match feed.since(at) {
                EventsSince::Events(events) => {
                    let mut told = String::new();
                    for event in events {
                        at = event.number;
                        looks |= event.topic == EventTopic::Ticket;
                        let data = event.told_to(&self.caller);
                        told += &data.map_or_else(String::new, |data| {
                            self.line(event.topic.as_str(), at, &data)
                        });
                    }
                    told
                }
                EventsSince::Gap => {
                    at = feed.last();
                    self.reset(at, "more happened than was taken")
                }
            };
            if !told.is_empty() {
                reader.send(told.into()).await.ok()?;
            }
            if std::mem::take(&mut looks) {
                self.watch().await;
            }
            tokio::select! {
                () = self.expiry() => {}
                changed = news.changed() => {
                    changed.ok()?;
                    sleep(GATHER).await;
                }
                _ = beats.tick() => {
                    reader.send(self.line("beat", at, &json!({})).into()).await.ok()?;
                }
                () = reader.closed() => return None,
            }
        }
    }

    /// Looks up which calls wait, and how long they may.
    async fn watch(&self) {
        let crib = self.gateway.live.crib();
        // Where they cannot be read, it is looked again with the next ticket.
        if let Ok(page) = crib.open_tickets(None, 0, MOST_WATCHED).await {
            self.gateway.page.expiries.waiting(page.tickets, Instant::now());
        }
    }

    /// Waits for the next of them whose time is up, and tells all followers.
    async fn expiry(&self) {
        let expiries = &self.gateway.page.expiries;
        match expiries.next() {
            Some(next) => sleep_until(next.into()).await,
            None => std::future::pending().await,
        }
        for (ticket, waited) in expiries.over(Instant::now()) {
            self.gateway.telemetry.feed.expired(&ticket, &waited.caller, &waited.tool);
        }
    }

    fn epoch(&self) -> &str {
        &self.gateway.page.epoch
    }

    fn id(&self, number: u64) -> String {
        format!("{}-{number}", self.epoch())
    }

    /// The number of an id; `None`: it is none of this server.
    fn number(&self, id: &str) -> Option<u64> {
        let (epoch, number) = id.split_once('-')?;
        if epoch == self.epoch() { number.parse().ok() } else { None }
    }

    fn reset(&self, at: u64, why: &str) -> String {
        self.line("reset", at, &json!({ "why": why }))
    }

    /// JSON holds no line break, so the data is one line.
    fn line(&self, name: &str, at: u64, data: &Value) -> String {
        let mut line = String::new();
        let _ = write!(line, "id: {}\nevent: {name}\ndata: {data}\n\n", self.id(at));
        line
    }
}
