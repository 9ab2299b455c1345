//! What is known of a task, by the events that came.

use super::artifacts::ArtifactSet;
use crate::protocol::event::AgentEvent;
use crate::protocol::message::{AgentMessage, MessageRole};
use crate::protocol::state::TaskState;
use crate::protocol::task::TaskStatus;
use crate::transport::fault::AgentFault;

/// A call as the agent tells of it.
pub(crate) struct TaskView {
    pub(crate) id: Option<String>,
    pub(crate) context: Option<String>,
    pub(crate) status: TaskStatus,
    pub(crate) artifacts: ArtifactSet,
    /// What the agent said beside or in place of a task.
    pub(crate) message: Option<AgentMessage>,
    /// The status that was answered: an agent may show it once more before it goes on.
    answered: Option<TaskStatus>,
}

impl TaskView {
    /// `most`: bytes that are kept of its artifacts.
    pub(crate) fn new(most: u64) -> Self {
        Self {
            id: None,
            context: None,
            status: TaskStatus::default(),
            artifacts: ArtifactSet::new(most),
            message: None,
            answered: None,
        }
    }

    /// Takes an event, and gives the words in it that tell how far the task is.
    pub(crate) fn take(&mut self, event: AgentEvent) -> Result<Option<String>, AgentFault> {
        match event {
            AgentEvent::Task(task) => {
                if !self.is_mine(Some(&task.id)) {
                    return Ok(None);
                }
                self.id = Some(task.id);
                self.context = task.context.or(self.context.take());
                // An answer of a moment ago may have come later than an event of now.
                if !self.status.state.is_terminal() || task.status.state.is_terminal() {
                    self.status = task.status;
                }
                if !task.artifacts.is_empty() {
                    self.artifacts.replace(task.artifacts)?;
                }
                let mut history = task.history.into_iter().rev();
                let last = history.find(|message| message.role == MessageRole::Agent);
                self.message = self.message.take().or(last);
                Ok(self.words_of_status())
            }
            AgentEvent::Message(message) => {
                // Some agents tell first what they were told.
                if message.role == MessageRole::User || !self.is_mine(message.task.as_deref()) {
                    return Ok(None);
                }
                self.context = message.context.clone().or(self.context.take());
                let words = message.words().filter(|_| self.id.is_some());
                self.message = Some(message);
                Ok(words)
            }
            AgentEvent::Status { task, context, status } => {
                if !self.adopt(task, context) || self.status.state.is_terminal() {
                    return Ok(None);
                }
                self.status = status;
                Ok(self.words_of_status())
            }
            AgentEvent::Artifact { task, context, artifact, append } => {
                if !self.adopt(task, context) {
                    return Ok(None);
                }
                let words = AgentMessage::of_user("", artifact.parts.clone()).words();
                let is_new = self.artifacts.take(artifact, append)?;
                Ok(words.filter(|_| is_new))
            }
            AgentEvent::Unknown => Ok(None),
        }
    }

    fn words_of_status(&self) -> Option<String> {
        let is_on_the_way = !self.status.state.is_terminal() && !self.status.state.is_interrupted();
        self.status.message.as_ref().filter(|_| is_on_the_way).and_then(AgentMessage::words)
    }

    fn is_mine(&self, task: Option<&str>) -> bool {
        task.is_none() || self.id.is_none() || self.id.as_deref() == task
    }

    /// Whether an event is of this task, which it may be the first to name.
    fn adopt(&mut self, task: Option<String>, context: Option<String>) -> bool {
        if !self.is_mine(task.as_deref()) {
            return false;
        }
        self.id = self.id.take().or(task);
        self.context = self.context.take().or(context);
        true
    }

    /// Whether nothing more comes unless something is said.
    pub(crate) fn is_settled(&self) -> bool {
        if self.id.is_none() {
            return self.message.is_some();
        }
        let state = self.status.state;
        let is_old = self.answered.as_ref() == Some(&self.status);
        state.is_terminal() || (state.is_interrupted() && !is_old)
    }

    /// The task was answered: what it says now is over.
    pub(crate) fn answer(&mut self) {
        self.answered = Some(self.status.clone());
        self.message = None;
    }

    /// What it says now holds, though it was answered before.
    pub(crate) fn is_as_it_is(&mut self) {
        self.answered = None;
    }

    /// Whether it is done and nothing is there to show for it.
    pub(crate) fn is_bare(&self) -> bool {
        self.status.state == TaskState::Completed
            && self.artifacts.is_empty()
            && self.status.message.is_none()
    }
}
