//! A task as it goes on, until it has ended, or waits for the one who listens.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::mpsc::channel;
use toolcrib_a2a_client::protocol::event::AgentEvent;
use toolcrib_a2a_server::ServedEvent;
use toolcrib_core::RunStage;

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

/// Reads what is told of a task, from a sequence on.
pub(super) struct TaskFollower {
    gateway: Arc<GatewayState>,
    live: Arc<LiveRun>,
    feed: TaskFeed,
    /// Events of the run that the feed has heard.
    heard: usize,
    /// The sequence that the reader knows.
    known: u64,
}

/// What came since the last time.
pub(super) struct TaskNews {
    pub(super) events: Vec<ServedEvent>,
    /// Nothing more comes.
    pub(super) is_over: bool,
    /// It waits for somebody.
    is_paused: bool,
}

impl TaskFollower {
    /// What comes behind a sequence.
    pub(super) fn new(gateway: &Arc<GatewayState>, live: &Arc<LiveRun>, known: u64) -> Self {
        let mut feed = TaskFeed::new(&live.meta);
        let heard = {
            let state = live.state.borrow();
            let heard = heard_at(known).min(state.events.len());
            for (number, event) in state.events.iter().enumerate().take(heard) {
                feed.hear(number, event);
            }
            heard
        };
        Self { gateway: Arc::clone(gateway), live: Arc::clone(live), feed, heard, known }
    }

    /// What is to be told since the last time.
    pub(super) async fn news(&mut self) -> TaskNews {
        let state = questions::news(&self.live, self.heard);
        let mut news = TaskNews { events: Vec::new(), is_over: false, is_paused: false };
        for event in &state.events {
            let (number, known) = (self.heard, self.known);
            let told = self.feed.hear(number, event).into_iter();
            news.events.extend(told.filter(|it| it.sequence > known));
            // It went on since: whoever knows that it waited is told so.
            if is_pause(known) && number == heard_at(known) {
                self.feed.has_paused();
            }
            self.heard += 1;
        }
        if self.feed.is_over() {
            return TaskNews { is_over: true, ..news };
        }
        if state.stage == RunStage::Ended {
            news.events.push(self.feed.lost(self.heard));
            return TaskNews { is_over: true, ..news };
        }
        let Some(open) = questions::open(&self.gateway, &self.live, &state).await else {
            return news;
        };
        let sequence = pause_after(self.heard);
        if sequence > self.known {
            self.known = sequence;
            let ids = (self.live.meta.id.as_str(), self.live.meta.thread.as_str());
            let status = questions::status(ids, sequence, &open, state.changed);
            let (task, context) = (Some(ids.0.to_owned()), Some(ids.1.to_owned()));
            let event = AgentEvent::Status { task, context, status };
            news.events.push(ServedEvent { event, sequence });
            self.feed.has_paused();
        }
        TaskNews { is_paused: true, ..news }
    }
}

pub(super) struct TaskStream {
    live: Arc<LiveRun>,
    wire: AnswerWire,
    follower: TaskFollower,
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
        let follower = TaskFollower::new(&asked.gateway, &live, known);
        Self { live, wire: wire.clone(), follower, ends_at_pause: false }
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
                let news = self.follower.news().await;
                for told in news.events {
                    if sender.send(self.wire.line(&told)).await.is_err() {
                        return;
                    }
                }
                if news.is_over || (news.is_paused && self.ends_at_pause) {
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
}
