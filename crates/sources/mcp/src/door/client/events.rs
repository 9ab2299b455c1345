//! What a running call says and asks, on its way to whoever serves its client at the moment.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use futures_util::task::AtomicWaker;
use serde_json::Value;
use tokio::sync::oneshot;
use toolcrib_core::{
    BoxFuture, CallKey, Host, HostQuestion, JsonFields, LogEntry, LogLevel, Progress,
    QuestionError, QuestionKind, QuestionTiming,
};

use super::features::ClientFeatures;

/// What is told and not heard yet, at the most: what comes beyond is not told.
const BACKLOG: usize = 256;

pub(crate) type HostAnswer = Result<Value, QuestionError>;

pub(crate) enum ClientEvent {
    Progress(Progress),
    Log(LogEntry),
    Opened(JsonFields),
    Ask(HostQuestion, oneshot::Sender<HostAnswer>),
}

impl ClientEvent {
    /// Whether it is a question for whose answer nobody waits any more.
    pub(crate) fn is_taken_back(&self) -> bool {
        matches!(self, Self::Ask(_, reply) if reply.is_closed())
    }
}

/// The host of one call.
pub(crate) struct ClientEventSender {
    answers: Vec<QuestionKind>,
    is_older: bool,
    told: Arc<ClientEventQueue>,
}

/// Where a call is heard.
pub(crate) struct ClientEventReceiver(Arc<ClientEventQueue>);

/// What is told and not heard yet. A channel has room for many from the start on, and most calls
/// say nothing.
#[derive(Default)]
struct ClientEventQueue {
    queue: Mutex<ClientEventQueueState>,
    bell: AtomicWaker,
}

#[derive(Default)]
struct ClientEventQueueState {
    events: VecDeque<ClientEvent>,
    /// The lowest level of logs that whoever hears it wants.
    hears: Option<LogLevel>,
    /// Nobody hears it any more.
    is_closed: bool,
}

impl ClientEventQueue {
    fn queue(&self) -> MutexGuard<'_, ClientEventQueueState> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What finds no room, or nobody who hears it, is dropped.
    fn tell(&self, event: ClientEvent) {
        let mut queue = self.queue();
        let has_room = match event {
            ClientEvent::Progress(_) | ClientEvent::Log(_) | ClientEvent::Opened(_) => {
                queue.events.len() < BACKLOG
            }
            // Whoever asks waits for the answer, or has taken the question back.
            ClientEvent::Ask(..) => {
                queue.events.retain(|event| !event.is_taken_back());
                true
            }
        };
        if queue.is_closed || !has_room {
            return;
        }
        queue.events.push_back(event);
        drop(queue);
        self.bell.wake();
    }
}

impl ClientEventSender {
    /// For the calls of this client.
    pub(crate) fn of(client: &ClientFeatures) -> (Self, ClientEventReceiver) {
        let told = Arc::<ClientEventQueue>::default();
        let ear = ClientEventReceiver(Arc::clone(&told));
        ear.is_of(client);
        (Self { answers: client.answers.clone(), is_older: !client.is_modern, told }, ear)
    }
}

impl ClientEventReceiver {
    /// Who hears it from now on: a client may come back with another wish.
    pub(crate) fn is_of(&self, client: &ClientFeatures) {
        self.0.queue().hears = client.hears;
    }

    /// What is told next. Dropping it loses nothing.
    pub(crate) async fn hear(&self) -> ClientEvent {
        poll_fn(|context| self.poll(context)).await
    }

    fn poll(&self, context: &mut Context<'_>) -> Poll<ClientEvent> {
        if let Some(event) = self.heard() {
            return Poll::Ready(event);
        }
        self.0.bell.register(context.waker());
        // It may have been told before the bell was hung.
        self.heard().map_or(Poll::Pending, Poll::Ready)
    }

    /// What was told already.
    pub(crate) fn heard(&self) -> Option<ClientEvent> {
        self.0.queue().events.pop_front()
    }
}

impl Drop for ClientEventReceiver {
    fn drop(&mut self) {
        let mut queue = self.0.queue();
        queue.is_closed = true;
        // Whoever waits for an answer is told that none will come, without the lock.
        let unheard = std::mem::take(&mut queue.events);
        drop(queue);
        drop(unheard);
    }
}

impl Host for ClientEventSender {
    fn progress(&self, _: CallKey, progress: Progress) {
        self.told.tell(ClientEvent::Progress(progress));
    }

    fn log(&self, _: CallKey, entry: LogEntry) {
        self.told.tell(ClientEvent::Log(entry));
    }

    fn opened(&self, _: CallKey, said: JsonFields) {
        self.told.tell(ClientEvent::Opened(said));
    }

    fn hears(&self) -> Option<LogLevel> {
        self.told.queue().hears
    }

    fn answers(&self) -> &[QuestionKind] {
        &self.answers
    }

    fn question_timing(&self) -> Option<QuestionTiming> {
        let (older, newer) = (QuestionTiming::DuringCall, QuestionTiming::BetweenCalls);
        Some(if self.is_older { older } else { newer })
    }

    fn ask(&self, _: CallKey, ask: HostQuestion) -> BoxFuture<'_, HostAnswer> {
        let (reply, answer) = oneshot::channel();
        self.told.tell(ClientEvent::Ask(ask, reply));
        // Whoever was to answer has gone.
        Box::pin(async move { answer.await.unwrap_or(Err(QuestionError::Cancelled)) })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ask() -> HostQuestion {
        HostQuestion::new(QuestionKind::Form, json!({}))
    }

    fn host() -> (ClientEventSender, ClientEventReceiver) {
        ClientEventSender::of(&ClientFeatures::of("2026-07-28", &json!({})))
    }

    fn key() -> CallKey {
        CallKey::parse("00000000000070008000000000000000-0").unwrap()
    }

    #[tokio::test]
    async fn what_is_told_is_heard_in_its_order_and_no_more_than_there_is_room_for() {
        let (voice, ear) = host();
        let hearing = tokio::spawn(async move {
            let first = ear.hear().await;
            (first, ear)
        });
        tokio::task::yield_now().await;
        for done in 0..=BACKLOG {
            let done = u32::try_from(done).unwrap();
            voice.progress(key(), Progress { done: done.into(), ..Progress::default() });
        }
        let asked = voice.ask(key(), ask());
        let (first, ear) = hearing.await.unwrap();
        let told = |event: &ClientEvent| match event {
            ClientEvent::Progress(progress) => format!("{}", progress.done),
            ClientEvent::Log(_) => "a line".to_owned(),
            ClientEvent::Opened(_) => "an address".to_owned(),
            ClientEvent::Ask(..) => "a question".to_owned(),
        };
        let rest: Vec<_> = std::iter::from_fn(|| ear.heard()).collect();
        // The last report came beyond the room, and a question always has one.
        let mut expected: Vec<_> = (0..BACKLOG).map(|done| done.to_string()).collect();
        expected.push("a question".to_owned());
        assert_eq!([&first].into_iter().chain(&rest).map(told).collect::<Vec<_>>(), expected);
        drop(rest);
        assert_eq!(asked.await, Err(QuestionError::Cancelled));
    }

    #[tokio::test]
    async fn a_question_that_was_taken_back_takes_no_room() {
        let (voice, ear) = host();
        for _ in 0..3 {
            drop(voice.ask(key(), ask()));
        }
        let open = voice.ask(key(), ask());
        assert_eq!(ear.0.queue().events.len(), 1);
        drop(ear);
        assert_eq!(open.await, Err(QuestionError::Cancelled));
    }

    #[tokio::test]
    async fn nobody_waits_for_an_answer_of_those_who_have_gone() {
        let (voice, ear) = host();
        let before = voice.ask(key(), ask());
        drop(ear);
        assert_eq!(before.await, Err(QuestionError::Cancelled));
        assert_eq!(voice.ask(key(), ask()).await, Err(QuestionError::Cancelled));
    }
}
