//! The events of an answer as they come, for whoever sends them on.

use std::sync::Arc;

use serde_json::Value;
use tokio::sync::watch;
use toolcrib_agent::RunEvent;
use toolcrib_core::RunStage;

use super::super::live::live_run::{LiveRun, LiveState};
use super::super::output::ResponseWriter;

pub(super) struct ResponseFeed {
    live: Arc<LiveRun>,
    state: watch::Receiver<LiveState>,
    writer: ResponseWriter,
    /// Events of the run that were written; `None`: nothing was said yet.
    heard: Option<usize>,
    is_over: bool,
}

impl ResponseFeed {
    pub(super) fn new(live: Arc<LiveRun>) -> Self {
        let (state, writer) = (live.state.subscribe(), ResponseWriter::new(&live.meta));
        Self { live, state, writer, heard: None, is_over: false }
    }

    /// Whether the last event was given.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    pub(super) fn run(&self) -> &LiveRun {
        &self.live
    }

    /// What came since it was asked last; `None`: no more comes from here. Nothing is lost if it is
    /// dropped before it is ready.
    pub(super) async fn next(&mut self) -> Option<Vec<Value>> {
        loop {
            if self.is_over {
                return None;
            }
            let written = self.written();
            if !written.is_empty() {
                return Some(written);
            }
            if self.is_over {
                return None;
            }
            tokio::select! {
                changed = self.state.changed() => changed.ok()?,
                () = self.live.goes_on_elsewhere() => return None,
            }
        }
    }

    fn written(&mut self) -> Vec<Value> {
        let mut written = match self.heard {
            None => self.writer.begin(),
            Some(_) => Vec::new(),
        };
        let heard = self.heard.unwrap_or_default();
        let told: Vec<RunEvent> = {
            let now = self.state.borrow_and_update();
            self.is_over = now.stage == RunStage::Ended;
            now.events.get(heard..).unwrap_or_default().to_vec()
        };
        self.heard = Some(heard + told.len());
        written.extend(told.iter().flat_map(|told| self.writer.hear(told)));
        written
    }
}
