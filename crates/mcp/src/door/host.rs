//! What a running call says and asks, on its way to whoever serves its client at the moment.

use serde_json::Value;
use tokio::sync::{mpsc, oneshot};
use toolcrib_core::{Ask, BoxFuture, CallKey, Host, LogEntry, Progress, Question, Unanswered};

/// What is told and not heard yet, at the most: what comes beyond is not told.
const BACKLOG: usize = 256;

pub(super) type Answer = Result<Value, Unanswered>;

pub(super) enum Event {
    Progress(Progress),
    Log(LogEntry),
    Ask(Ask, oneshot::Sender<Answer>),
}

/// The host of one call.
pub(super) struct Voice {
    answers: Vec<Question>,
    // Boxed: a channel has room for many from the start on, and most calls say nothing.
    events: mpsc::Sender<Box<Event>>,
}

impl Voice {
    pub(super) fn new(answers: Vec<Question>) -> (Self, mpsc::Receiver<Box<Event>>) {
        let (events, heard) = mpsc::channel(BACKLOG);
        (Self { answers, events }, heard)
    }
}

impl Host for Voice {
    fn progress(&self, _: CallKey, progress: Progress) {
        let _ = self.events.try_send(Box::new(Event::Progress(progress)));
    }

    fn log(&self, _: CallKey, entry: LogEntry) {
        let _ = self.events.try_send(Box::new(Event::Log(entry)));
    }

    fn answers(&self) -> &[Question] {
        &self.answers
    }

    fn ask(&self, _: CallKey, ask: Ask) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            let (reply, answer) = oneshot::channel();
            let sent = self.events.send(Box::new(Event::Ask(ask, reply))).await;
            sent.map_err(|_| Unanswered::Cancelled)?;
            // Whoever was to answer has gone.
            answer.await.unwrap_or(Err(Unanswered::Cancelled))
        })
    }
}
