//! The events of a run as they come, each with its number.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::mpsc::channel;
use toolcrib_agent::RunEvent;
use toolcrib_core::RunStage;

use super::super::live::live_run::LiveRun;
use crate::http::routes::reply::{self, HttpReply};

/// Events that wait for a reader.
const WAITING: usize = 256;

/// A line that says nothing, so that nobody on the way takes a quiet run for a dead one.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// The events from this number on: those that were told, and those that come.
///
/// `shows_causes`: to the operator, what lies behind a fault of the model is told too.
pub(super) fn stream(live: Arc<LiveRun>, from: usize, shows_causes: bool) -> HttpReply {
    let (sender, waiting) = channel(WAITING);
    tokio::spawn(async move {
        let mut state = live.state.subscribe();
        let mut next = from;
        loop {
            let (told, is_over): (Vec<RunEvent>, bool) = {
                let now = state.borrow_and_update();
                let told = now.events.get(next..).unwrap_or_default().to_vec();
                (told, now.stage == RunStage::Ended)
            };
            for mut event in told {
                if !shows_causes {
                    hide_cause(&mut event);
                }
                if sender.send(line(&live, next, &event)).await.is_err() {
                    return;
                }
                next += 1;
            }
            if is_over {
                return;
            }
            tokio::select! {
                changed = state.changed() => if changed.is_err() { return },
                () = sender.closed() => return,
                () = live.goes_on_elsewhere() => return,
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

/// An event with its place, as whoever follows is told it.
pub(crate) fn numbered(run: &str, number: usize, event: &RunEvent) -> Value {
    let mut told = json!({ "run": run, "number": number });
    if let (Value::Object(told), Value::Object(event)) = (&mut told, event.to_json()) {
        told.extend(event);
    }
    told
}

fn hide_cause(event: &mut RunEvent) {
    if let RunEvent::Ended { end, .. } = event
        && let Some(fault) = &mut end.fault
    {
        fault.detail = None;
    }
}

fn line(live: &LiveRun, number: usize, event: &RunEvent) -> Bytes {
    let told = numbered(&live.meta.id, number, event);
    let kind = told.get("type").and_then(Value::as_str).unwrap_or("event");
    format!("id: {number}\nevent: {kind}\ndata: {told}\n\n").into()
}
