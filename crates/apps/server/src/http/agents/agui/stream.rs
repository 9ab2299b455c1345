//! A run as it goes on, until it has ended or waits for a person.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;
use tokio::sync::mpsc::channel;
use toolcrib_core::RunStage;

use super::super::live::live_run::LiveRun;
use super::super::output::event;
use super::children::AguiTree;
use super::interrupts;
use crate::http::routes::reply::{self, HttpReply};
use crate::http::state::GatewayState;

/// Events that wait for a reader.
const WAITING: usize = 256;

/// A line that says nothing, so that nobody on the way takes a quiet run for a dead one.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// The stream of a run for its client.
pub(super) struct AguiStream {
    pub(super) gateway: Arc<GatewayState>,
    pub(super) live: Arc<LiveRun>,
    pub(super) writer: AguiTree,
    /// Events of the run that the writer has heard.
    pub(super) heard: usize,
}

impl AguiStream {
    /// What is told first, and then the run.
    pub(super) fn reply(mut self, begun: Vec<Value>) -> HttpReply {
        let (sender, waiting) = channel(WAITING);
        tokio::spawn(async move {
            let mut state = self.live.state.subscribe();
            let mut written = begun;
            loop {
                state.mark_unchanged();
                written.extend(self.news().await);
                for told in written.drain(..) {
                    if sender.send(event(None, &told)).await.is_err() {
                        return self.left().await;
                    }
                }
                if self.writer.is_over() {
                    return;
                }
                tokio::select! {
                    // It cannot be dropped before: it is held here.
                    _ = state.changed() => {}
                    () = sender.closed() => return self.left().await,
                    () = tokio::time::sleep(HEARTBEAT) => {
                        if sender.send(Bytes::from_static(b": waiting\n\n")).await.is_err() {
                            return self.left().await;
                        }
                    }
                }
            }
        });
        reply::events(waiting, None)
    }

    /// What is to be told since the last time.
    async fn news(&mut self) -> Vec<Value> {
        let (told, stage, tickets) = {
            let now = self.live.state.borrow();
            let told = now.events.get(self.heard..).unwrap_or_default().to_vec();
            (told, now.stage, now.tickets.clone())
        };
        self.heard += told.len();
        let mut written: Vec<Value> = told.iter().flat_map(|told| self.writer.hear(told)).collect();
        if self.writer.is_over() {
            return written;
        }
        match stage {
            RunStage::Running => {}
            RunStage::Waiting => {
                let caller = &self.live.meta.caller;
                let open = interrupts::open(&self.gateway, caller, &tickets, &self.writer).await;
                if let Some(open) = open {
                    written.extend(self.writer.pause(&open));
                }
            }
            RunStage::Ended => {
                written.push(self.writer.failed("the end of the run is not on record", "unknown"));
            }
        }
        written
    }

    /// The client has gone: nobody waits for the run any more, unless it waits for a person.
    async fn left(&self) {
        let tickets = {
            let now = self.live.state.borrow();
            (now.stage == RunStage::Waiting).then(|| now.tickets.clone())
        };
        if let Some(tickets) = tickets {
            let caller = &self.live.meta.caller;
            let open = interrupts::open(&self.gateway, caller, &tickets, &self.writer).await;
            if open.is_some() {
                return;
            }
        }
        self.live.cancel.cancel();
    }
}
