//! What a run tells, as events of its task.
//!
//! An event of the run becomes none, one or two events of the task. Their sequences follow from the
//! number of the event of the run, so that every process and every stream gives the same ones.

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use toolcrib_a2a_client::protocol::event::AgentEvent;
use toolcrib_a2a_client::protocol::message::{AgentMessage, MessageRole};
use toolcrib_a2a_client::protocol::metadata::evidence::{CHECKS, REFERENCES};
use toolcrib_a2a_client::protocol::part::MessagePart;
use toolcrib_a2a_client::protocol::state::TaskState;
use toolcrib_a2a_client::protocol::task::{TaskArtifact, TaskStatus};
use toolcrib_a2a_server::ServedEvent;
use toolcrib_agent::{RunEnd, RunEvent, StopReason};

use crate::http::agents::live::live_run::RunMeta;

/// The artifact with what the agent says.
pub(super) const ANSWER: &str = "answer";

/// Places for events of the task behind each event of the run.
const SLOTS: u64 = 4;

#[derive(Clone, Copy)]
enum EventSlot {
    /// The task goes on.
    Working,
    /// What came.
    News,
    End,
    /// It waits for somebody.
    Pause,
}

pub(super) struct TaskFeed {
    run: String,
    context: String,
    /// The status that was told last says that it works.
    is_working: bool,
    /// The answer of this turn has begun.
    is_answering: bool,
    is_over: bool,
}

impl TaskFeed {
    pub(super) fn new(meta: &RunMeta) -> Self {
        Self {
            run: meta.id.clone(),
            context: meta.thread.clone(),
            is_working: false,
            is_answering: false,
            is_over: false,
        }
    }

    /// Whether the last event was told.
    pub(super) fn is_over(&self) -> bool {
        self.is_over
    }

    /// The task was told to wait: what comes next says that it goes on.
    pub(super) fn has_paused(&mut self) {
        self.is_working = false;
    }

    pub(super) fn hear(&mut self, number: usize, event: &RunEvent) -> Vec<ServedEvent> {
        if let RunEvent::Ended { end, at } = event {
            return self.end(number, end, *at);
        }
        let mut told = Vec::new();
        if !std::mem::replace(&mut self.is_working, true) {
            told.push(self.status(number, EventSlot::Working, TaskState::Working, None, None));
        }
        let words = match event {
            RunEvent::Text { delta } if !delta.is_empty() => {
                let append = std::mem::replace(&mut self.is_answering, true);
                told.push(self.answer(number, (delta, append), None));
                None
            }
            // What was said of it is replaced by what comes.
            RunEvent::TurnStarted { .. } | RunEvent::Retracted { .. } => {
                self.is_answering = false;
                None
            }
            RunEvent::Progress { text } | RunEvent::Notice { text } => Some(text.clone()),
            RunEvent::Calls { calls } => {
                let names: Vec<_> =
                    calls.iter().map(|called| format!("`{}`", called.call.name)).collect();
                Some(format!("calls {}", names.join(", ")))
            }
            RunEvent::ChildStarted { agent, .. } => {
                Some(format!("`{agent}` works at a part of it"))
            }
            RunEvent::Text { .. }
            | RunEvent::Reasoning { .. }
            | RunEvent::CallDone { .. }
            | RunEvent::Compacted { .. }
            | RunEvent::Checked { .. }
            | RunEvent::Waiting { .. }
            | RunEvent::Child { .. }
            | RunEvent::Usage { .. }
            | RunEvent::Ended { .. } => None,
        };
        if let Some(words) = words.filter(|words| !words.is_empty()) {
            let state = TaskState::Working;
            told.push(self.status(number, EventSlot::News, state, Some(words), None));
        }
        told
    }

    fn end(&mut self, number: usize, end: &RunEnd, at: u64) -> Vec<ServedEvent> {
        self.is_over = true;
        let state = end_state(end);
        let is_done = state == TaskState::Completed;
        let mut told = Vec::new();
        if is_done && !end.text.is_empty() {
            told.push(self.answer(number, (&end.text, false), founded_on(end)));
        }
        let words = (!is_done && !end.text.is_empty()).then(|| end.text.clone());
        told.push(self.status(number, EventSlot::End, state, words, Some(at)));
        told
    }

    /// A run whose end is not on record. `heard`: how many of its events were told.
    pub(super) fn lost(&mut self, heard: usize) -> ServedEvent {
        self.is_over = true;
        let words = Some("the end of the task is not on record".to_owned());
        self.status(heard.saturating_sub(1), EventSlot::End, TaskState::Failed, words, None)
    }

    fn answer(
        &self,
        number: usize,
        (text, append): (&str, bool),
        metadata: Option<Value>,
    ) -> ServedEvent {
        let artifact = TaskArtifact {
            id: ANSWER.to_owned(),
            name: Some(ANSWER.to_owned()),
            description: None,
            parts: vec![MessagePart::text(text)],
            index: None,
            metadata,
        };
        let (task, context) = (Some(self.run.clone()), Some(self.context.clone()));
        let event = AgentEvent::Artifact { task, context, artifact, append };
        ServedEvent { event, sequence: sequence(number, EventSlot::News) }
    }

    fn status(
        &self,
        number: usize,
        slot: EventSlot,
        state: TaskState,
        words: Option<String>,
        at: Option<u64>,
    ) -> ServedEvent {
        let sequence = sequence(number, slot);
        let parts = words.map(|words| vec![MessagePart::text(words)]);
        let message = parts.map(|parts| says((&self.run, &self.context), sequence, parts));
        // Only ends are on record with their time; every stream tells the same.
        let status = TaskStatus { state, message, timestamp: at.map(timestamp) };
        let (task, context) = (Some(self.run.clone()), Some(self.context.clone()));
        ServedEvent { event: AgentEvent::Status { task, context, status }, sequence }
    }
}

/// What the answer rests on, and what its checks came to, for whoever reads more than words.
fn founded_on(end: &RunEnd) -> Option<Value> {
    let mut metadata = Map::new();
    if !end.references.is_empty() {
        metadata.insert(REFERENCES.to_owned(), json!(end.references));
    }
    if !end.checks.is_empty() {
        let checks = end.checks.iter().map(|check| {
            let (name, outcome, reason) = (&check.name, check.outcome, &check.reason);
            json!({ "name": name, "outcome": outcome, "reason": reason })
        });
        metadata.insert(CHECKS.to_owned(), checks.collect());
    }
    (!metadata.is_empty()).then_some(Value::Object(metadata))
}

/// What an agent says of a task.
pub(super) fn says(
    (task, context): (&str, &str),
    sequence: u64,
    parts: Vec<MessagePart>,
) -> AgentMessage {
    AgentMessage {
        id: format!("{task}-{sequence}"),
        role: MessageRole::Agent,
        parts,
        context: Some(context.to_owned()),
        task: Some(task.to_owned()),
        metadata: None,
    }
}

fn end_state(end: &RunEnd) -> TaskState {
    match end.stop {
        _ if end.fault.is_some() => TaskState::Failed,
        StopReason::Cancelled => TaskState::Canceled,
        StopReason::Fault | StopReason::Withheld => TaskState::Failed,
        // A limit ends a run with an answer too, as good as it could be made.
        StopReason::Done
        | StopReason::HandedOver
        | StopReason::CallerCalls
        | StopReason::Approval
        | StopReason::Length
        | StopReason::Turns
        | StopReason::Calls
        | StopReason::Tokens
        | StopReason::Cost
        | StopReason::Time => TaskState::Completed,
    }
}

fn sequence(number: usize, slot: EventSlot) -> u64 {
    let number = u64::try_from(number).unwrap_or(u64::MAX);
    let slot = match slot {
        EventSlot::Working => 1,
        EventSlot::News => 2,
        EventSlot::End => 3,
        EventSlot::Pause => SLOTS,
    };
    number.saturating_mul(SLOTS).saturating_add(slot)
}

/// Of a pause behind so many events.
pub(super) fn pause_after(heard: usize) -> u64 {
    sequence(heard.saturating_sub(1), EventSlot::Pause)
}

/// How many events of the run are told to their end up to a sequence.
pub(super) fn heard_at(sequence: u64) -> usize {
    let whole = sequence.saturating_sub(1).checked_div(SLOTS).unwrap_or_default();
    usize::try_from(whole).unwrap_or(usize::MAX)
}

/// Whether a sequence is that of a pause.
pub(super) fn is_pause(sequence: u64) -> bool {
    sequence > 0 && sequence.is_multiple_of(SLOTS)
}

/// Seconds since 1970 as RFC 3339 has them.
pub(super) fn timestamp(at: u64) -> String {
    let at = i64::try_from(at).ok().and_then(|at| Timestamp::from_second(at).ok());
    at.map(|at| at.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{EventSlot, heard_at, is_pause, pause_after, sequence};

    #[test]
    fn sequences_grow_and_lead_back_to_their_event() {
        let slots = [EventSlot::Working, EventSlot::News, EventSlot::End, EventSlot::Pause];
        let mut last = 0;
        for number in 0..5 {
            for slot in slots {
                let now = sequence(number, slot);
                assert!(now > last);
                assert_eq!(heard_at(now), number);
                assert_eq!(is_pause(now), matches!(slot, EventSlot::Pause));
                last = now;
            }
        }
        assert_eq!((heard_at(0), is_pause(0), pause_after(5)), (0, false, last));
    }
}
