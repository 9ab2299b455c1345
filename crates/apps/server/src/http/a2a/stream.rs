//! A task as it goes on, until it has ended, or waits for the one who listens.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc::channel;
use toolcrib::RunStage;
use toolcrib::a2a::protocol::event::AgentEvent;
use toolcrib::a2a_server::ServedEvent;

use super::feed::{TaskFeed, heard_at, is_pause, pause_after};
use super::questions;
use super::wire::AnswerWire;
use crate::http::agents::live::live_run::LiveRun;
use crate::http::routes::reply::{self, HttpReply};
use crate::http::routes::request::GatewayRequest;
use crate::http::state::GatewayState;

/// Events that wait for a reader.
const WAITING: usize = 256;

/// A line that says nothing, so that nobody on the way takes a quiet task for a dead one.
const HEARTBEAT: Duration = Duration::from_secs(15);

pub(super) struct TaskStream {
    gateway: Arc<GatewayState>,
    live: Arc<LiveRun>,
    wire: AnswerWire,
    feed: TaskFeed,
    /// Events of the run that the feed has heard.
    heard: usize,
    /// The sequence that the reader knows.
    known: u64,
    ends_at_pause: bool,
}

impl TaskStream {
    /// What comes behind a sequence.
    pub(super) fn new(
        asked: &GatewayRequest,
        live: Arc<LiveRun>,
        wire: &AnswerWire,
        known: u64,
    ) -> Self {
        let mut feed = TaskFeed::new(&live.meta);
        let heard = {
            let state = live.state.borrow();
            let heard = heard_at(known).min(state.events.len());
            for (number, event) in state.events.iter().enumerate().take(heard) {
                feed.hear(number, event);
            }
            heard
        };
        let (gateway, wire) = (Arc::clone(&asked.gateway), wire.clone());
        Self { gateway, live, wire, feed, heard, known, ends_at_pause: false }
    }

    /// The reader is the one who is asked, and answers with a request of its own.
    pub(super) fn ends_at_pause(self) -> Self {
        Self { ends_at_pause: true, ..self }
    }

    /// `first`: the task as the reader knows it. Who leaves does not end the task.
    pub(super) fn reply(mut self, first: ServedEvent) -> HttpReply {
        let (sender, waiting) = channel(WAITING);
        tokio::spawn(async move {
            let mut state = self.live.state.subscribe();
            if sender.send(self.wire.line(&first)).await.is_err() {
                return;
            }
            loop {
                state.mark_unchanged();
                let (news, is_over) = self.news().await;
                for told in news {
                    if sender.send(self.wire.line(&told)).await.is_err() {
                        return;
                    }
                }
                if is_over {
                    return;
                }
                tokio::select! {
                    // It cannot be dropped before: it is held here.
                    _ = state.changed() => {}
                    () = sender.closed() => return,
                    () = self.live.goes_on_elsewhere() => return,
                    () = tokio::time::sleep(HEARTBEAT) => {
                        if sender.send(Bytes::from_static(b": waiting\n\n")).await.is_err() {
                            return;
                        }
                    }
                }
            }
        });
        reply::events(waiting, None)
    }

    /// What is to be told since the last time, and whether that is all.
    async fn news(&mut self) -> (Vec<ServedEvent>, bool) {
        let state = questions::news(&self.live, self.heard);
        let mut news = Vec::new();
        for event in &state.events {
            let (number, known) = (self.heard, self.known);
            news.extend(self.feed.hear(number, event).into_iter().filter(|it| it.sequence > known));
            // It went on since: whoever knows that it waited is told so.
            if is_pause(known) && number == heard_at(known) {
                self.feed.has_paused();
            }
            self.heard += 1;
        }
        if self.feed.is_over() {
            return (news, true);
        }
        if state.stage == RunStage::Ended {
            news.push(self.feed.lost(self.heard));
            return (news, true);
        }
        let Some(open) = questions::open(&self.gateway, &self.live, &state).await else {
            return (news, false);
        };
        let sequence = pause_after(self.heard);
        if sequence > self.known {
            self.known = sequence;
            let ids = (self.live.meta.id.as_str(), self.live.meta.thread.as_str());
            let status = questions::status(ids, sequence, &open, state.changed);
            let (task, context) = (Some(ids.0.to_owned()), Some(ids.1.to_owned()));
            news.push(ServedEvent {
                event: AgentEvent::Status { task, context, status },
                sequence,
            });
            self.feed.has_paused();
        }
        (news, self.ends_at_pause)
    }
}
