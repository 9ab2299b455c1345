//! A task that nobody wants any more is cancelled.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;

use super::agent::RemoteAgent;
use crate::protocol::event::AgentEvent;
use crate::protocol::state::TaskState;
use crate::transport::request::AgentRequest;

/// How long the agent may take to hear that nobody wants the task.
const LAST_WORD: Duration = Duration::from_secs(5);

/// The task of a call while the call runs; dropped with a task in it, it has the task cancelled.
pub(super) struct OpenTask {
    agent: Arc<RemoteAgent>,
    id: Option<String>,
}

impl OpenTask {
    pub(super) fn new(agent: &Arc<RemoteAgent>) -> Self {
        Self { agent: Arc::clone(agent), id: None }
    }

    /// `None`: there is none, or it is over.
    pub(super) fn is(&mut self, id: Option<&str>) {
        if self.id.as_deref() != id {
            self.id = id.map(str::to_owned);
        }
    }

    /// Has the task cancelled, and waits a while for it. Whether it is certainly over.
    pub(super) async fn cancel(&mut self) -> bool {
        match self.id.take() {
            Some(id) => cancel(&self.agent, &id).await,
            None => false,
        }
    }
}

impl Drop for OpenTask {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        let agent = Arc::clone(&self.agent);
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(async move { cancel(&agent, &id).await });
        }
    }
}

async fn cancel(agent: &RemoteAgent, id: &str) -> bool {
    let asked = agent.client.event(AgentRequest::Cancel(id), None, LAST_WORD).await;
    let Ok(AgentEvent::Task(task)) = asked else {
        return false;
    };
    task.status.state == TaskState::Canceled
}
