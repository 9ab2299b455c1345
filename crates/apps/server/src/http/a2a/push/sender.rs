//! Follows a task for one configuration, and tells its receiver what comes, in order.
//!
//! Nothing waits for it: it reads what the run has told at its own pace, and what it has not sent yet
//! is bounded.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;
use toolcrib_a2a_client::protocol::wire::{ProtocolVersion, WireForm};
use toolcrib_a2a_server::{PushConfig, ServedEvent};
use toolcrib_config::LogLevel;
use url::Url;

use super::delivery::{self, DeliveryFault};
use super::queue::PushQueue;
use crate::http::a2a::stream::TaskFollower;
use crate::http::a2a::view;
use crate::http::agents::live::live_run::LiveRun;
use crate::http::state::GatewayState;
use crate::telemetry::log;

/// How long pieces of an answer are gathered.
const GATHERED: Duration = Duration::from_secs(1);

/// Pauses before what did not arrive is sent again.
const PAUSES: [Duration; 4] = [
    Duration::from_millis(500),
    Duration::from_secs(1),
    Duration::from_secs(3),
    Duration::from_secs(8),
];

pub(super) struct PushSender {
    gateway: Arc<GatewayState>,
    live: Arc<LiveRun>,
    config: PushConfig,
    follower: TaskFollower,
    waiting: PushQueue,
    /// The last one did not arrive: only where the task stops is tried.
    is_failing: bool,
}

impl PushSender {
    /// What comes behind a sequence is told.
    pub(super) fn new(
        gateway: &Arc<GatewayState>,
        live: &Arc<LiveRun>,
        config: PushConfig,
        known: u64,
    ) -> Self {
        Self {
            gateway: Arc::clone(gateway),
            live: Arc::clone(live),
            config,
            follower: TaskFollower::new(gateway, live, known),
            waiting: PushQueue::default(),
            is_failing: false,
        }
    }

    /// Begins, with what is told before all else; whether there was room. It takes the place of the
    /// one before with the same configuration.
    pub(super) fn start(mut self, first: Option<ServedEvent>) -> bool {
        let Some(stop) = self.gateway.pushes.begin(&self.live.meta.id, &self.config.id) else {
            return false;
        };
        if let Some(first) = first {
            self.waiting.push(first);
        }
        tokio::spawn(async move {
            let goes_on = Arc::clone(&self.live);
            tokio::select! {
                () = self.run() => {}
                () = stop.cancelled() => {}
                // The next process goes on with it.
                () = goes_on.goes_on_elsewhere() => {}
            }
            self.end(&stop);
        });
        true
    }

    fn end(&self, stop: &CancellationToken) {
        self.gateway.pushes.end(&self.live.meta.id, &self.config.id, stop);
    }

    async fn run(&mut self) {
        let live = Arc::clone(&self.live);
        let mut state = live.state.subscribe();
        let mut since: Option<Instant> = None;
        loop {
            state.mark_unchanged();
            let news = self.follower.news().await;
            news.events.into_iter().for_each(|told| self.waiting.push(told));
            if self.is_failing {
                self.waiting.keep_turns();
            }
            // Pieces of an answer may become more; everything else goes at once.
            let gathers = self.waiting.is_answer() && !news.is_over;
            if gathers {
                let until = *since.get_or_insert_with(Instant::now) + GATHERED;
                if Instant::now() < until {
                    tokio::select! {
                        // It cannot be dropped before: it is held here.
                        _ = state.changed() => {}
                        () = sleep_until(until) => {}
                    }
                    continue;
                }
            }
            since = None;
            match self.waiting.pop() {
                Some(told) => {
                    if !self.tell(&told).await {
                        return;
                    }
                }
                None if news.is_over => return,
                None => {
                    let _ = state.changed().await;
                }
            }
        }
    }

    /// Tells an event, and again if it does not arrive; whether more is to be told.
    async fn tell(&mut self, told: &ServedEvent) -> bool {
        let body = Bytes::from(self.written(told).await.to_string());
        let gateway = Arc::clone(&self.gateway);
        let Some(egress) = gateway.pushes.egress() else { return false };
        let mut pauses = PAUSES.into_iter();
        loop {
            let fault = match delivery::send(egress, &self.config, body.clone()).await {
                Ok(()) => {
                    self.is_failing = false;
                    return true;
                }
                Err(fault) => fault,
            };
            match (fault, pauses.next()) {
                (DeliveryFault::Passing(_), Some(pause)) => sleep(pause).await,
                (DeliveryFault::Passing(cause), None) => {
                    self.is_failing = true;
                    self.give_up("an event was not taken", &cause);
                    return true;
                }
                (DeliveryFault::Lasting(cause), _) => {
                    self.give_up("nothing more is sent", &cause);
                    return false;
                }
            }
        }
    }

    /// An event as 1.0 has it; 0.3 sends the whole task as it was then.
    async fn written(&self, told: &ServedEvent) -> Value {
        match self.config.version {
            ProtocolVersion::V1 => told.write(WireForm::Current),
            ProtocolVersion::V03 => {
                let view = view::at(&self.gateway, &self.live, told.sequence).await;
                view.task(None, true).write(WireForm::Kinds)
            }
        }
    }

    /// Tells the operator. An address may have secrets in its path: only where it leads is told.
    fn give_up(&self, what: &str, cause: &str) {
        let url = Url::parse(&self.config.url).ok();
        let receiver = url.map(|url| url.origin().ascii_serialization());
        let fields = json!({
            "trouble": what, "task": self.live.meta.id, "receiver": receiver, "cause": cause,
        });
        log::line(LogLevel::Warn, "push", fields);
    }
}
