//! A run as a task that is looked at.

pub(super) mod history;

use serde_json::{Value, json};
use toolcrib_a2a_client::protocol::event::AgentEvent;
use toolcrib_a2a_client::protocol::message::AgentMessage;
use toolcrib_a2a_client::protocol::part::{MessagePart, PartContent};
use toolcrib_a2a_client::protocol::state::TaskState;
use toolcrib_a2a_client::protocol::task::{AgentTask, TaskArtifact, TaskStatus};
use toolcrib_a2a_client::protocol::wire::WireForm;
use toolcrib_a2a_server::ServedEvent;
use toolcrib_agent::RunEvent;
use toolcrib_core::{ParkedCall, RunStage};

use super::feed::{TaskFeed, heard_at, is_pause, pause_after, timestamp};
use super::questions;
use crate::http::agents::live::live_run::{A2A_MESSAGE, LiveRun, LiveState, RunMeta};
use crate::http::state::GatewayState;

/// A task as it was when so much had been told.
pub(super) struct TaskView {
    id: String,
    context: String,
    status: TaskStatus,
    answer: Option<TaskArtifact>,
    /// What was said, the oldest first.
    history: Vec<AgentMessage>,
    pub(super) sequence: u64,
}

/// A task as it is now.
pub(super) async fn now(gateway: &GatewayState, live: &LiveRun) -> TaskView {
    let state = live.state.borrow().clone();
    let open = questions::open(gateway, live, &state).await;
    let mut view = TaskView::at(&live.meta, &state.events, u64::MAX);
    view.history.extend(history::of(gateway, &live.meta.id).await);
    view.settle(&state, open.as_deref());
    view
}

/// A task as it was when the event with this sequence had been told; what it waits for now is told
/// where that came last.
pub(super) async fn at(gateway: &GatewayState, live: &LiveRun, sequence: u64) -> TaskView {
    let now = now(gateway, live).await;
    if sequence >= now.sequence {
        return now;
    }
    let events = live.state.borrow().events.clone();
    let mut view = TaskView::at(&live.meta, &events, sequence);
    if is_pause(sequence) {
        view.status = TaskStatus { state: TaskState::InputRequired, ..view.status };
    }
    view.sequence = sequence;
    view
}

impl TaskView {
    /// The same by the events of its run alone.
    pub(super) fn at(meta: &RunMeta, events: &[RunEvent], most: u64) -> Self {
        let asked = meta.request.body.pointer(A2A_MESSAGE);
        let asked = asked.and_then(|it| AgentMessage::read(it, WireForm::Current));
        let status = TaskStatus {
            state: TaskState::Submitted,
            message: None,
            timestamp: Some(timestamp(meta.created)),
        };
        let mut view = Self {
            id: meta.id.clone(),
            context: meta.thread.clone(),
            status,
            answer: None,
            history: asked.into_iter().map(|asked| of_task(meta, asked)).collect(),
            sequence: 0,
        };
        let mut feed = TaskFeed::new(meta);
        for (number, event) in events.iter().enumerate().take(heard_at(most).saturating_add(1)) {
            let told = feed.hear(number, event);
            told.into_iter().filter(|told| told.sequence <= most).for_each(|told| view.take(told));
        }
        view
    }

    fn take(&mut self, told: ServedEvent) {
        self.sequence = told.sequence;
        match told.event {
            AgentEvent::Status { status, .. } => self.status = status,
            AgentEvent::Artifact { artifact, append, .. } => match &mut self.answer {
                Some(answer) if append => join(&mut answer.parts, artifact.parts),
                answer => *answer = Some(artifact),
            },
            AgentEvent::Task(_) | AgentEvent::Message(_) | AgentEvent::Unknown => {}
        }
    }

    /// What is known of it beside its events. `open`: what it waits for.
    fn settle(&mut self, run: &LiveState, open: Option<&[ParkedCall]>) {
        self.status.timestamp.get_or_insert_with(|| timestamp(run.changed));
        if let Some(open) = open {
            self.sequence = pause_after(run.events.len());
            let ids = (self.id.as_str(), self.context.as_str());
            self.status = questions::status(ids, self.sequence, open, run.changed);
        }
        if run.stage == RunStage::Ended && !self.status.state.is_terminal() {
            let words = vec![MessagePart::text("the end of the task is not on record")];
            let ids = (self.id.as_str(), self.context.as_str());
            self.status.state = TaskState::Failed;
            self.status.message = Some(super::feed::says(ids, self.sequence, words));
        }
    }

    /// The same with a word to whoever answers.
    pub(super) fn noted(mut self, note: &str) -> Self {
        if let Some(message) = &mut self.status.message {
            message.parts.insert(0, MessagePart::text(note));
        }
        self
    }

    pub(super) fn state(&self) -> TaskState {
        self.status.state
    }

    /// What the task says now.
    pub(super) fn message(&self) -> Option<&AgentMessage> {
        self.status.message.as_ref()
    }

    /// `history`: messages of the history at the most.
    pub(super) fn task(self, history: Option<u64>, with_artifacts: bool) -> AgentTask {
        let most = history.and_then(|most| usize::try_from(most).ok()).unwrap_or(usize::MAX);
        let from = self.history.len().saturating_sub(most);
        AgentTask {
            id: self.id,
            context: Some(self.context),
            status: self.status,
            artifacts: self.answer.into_iter().filter(|_| with_artifacts).collect(),
            history: self.history.into_iter().skip(from).collect(),
            metadata: Some(json!({ "sequence": self.sequence })),
        }
    }

    /// The first event of a stream.
    pub(super) fn event(self, history: Option<u64>) -> ServedEvent {
        let sequence = self.sequence;
        ServedEvent { event: AgentEvent::Task(self.task(history, true)), sequence }
    }
}

/// Puts words behind words, so that an answer in pieces is one text.
pub(super) fn join(parts: &mut Vec<MessagePart>, more: Vec<MessagePart>) {
    for part in more {
        match (parts.last_mut().map(|last| &mut last.content), part.content) {
            (Some(PartContent::Text(last)), PartContent::Text(text)) => last.push_str(&text),
            (_, content) => parts.push(MessagePart { content, ..part }),
        }
    }
}

/// A message as one of the task.
pub(super) fn of_task(meta: &RunMeta, said: AgentMessage) -> AgentMessage {
    AgentMessage { task: Some(meta.id.clone()), context: Some(meta.thread.clone()), ..said }
}

/// What is kept of the message that begins a run. Its files are among the items of the run.
pub(super) fn kept(message: &AgentMessage) -> Value {
    json!({ "message": without_files(message).write(WireForm::Current) })
}

/// A message with the names of files in their place.
fn without_files(message: &AgentMessage) -> AgentMessage {
    let parts = message.parts.iter().map(|part| {
        if matches!(part.content, PartContent::Bytes(_)) {
            let name = part.name.as_deref().unwrap_or("a file");
            return MessagePart::text(format!("({name})"));
        }
        part.clone()
    });
    AgentMessage { parts: parts.collect(), ..message.clone() }
}
