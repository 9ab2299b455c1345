//! A task is followed until it is over or asks something.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::timeout;
use toolcrib_core::{ErrorKind, ToolError};

use super::talk::{AgentRun, RunStop};
use crate::protocol::event::AgentEvent;
use crate::transport::fault::AgentFault;
use crate::transport::reply::cut;
use crate::transport::request::AgentRequest;

/// Before a task is looked at for the first time; then twice as long each time.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
/// How long a look at a task may take.
const LOOK: Duration = Duration::from_secs(30);
/// How often a task is looked at of which word is sent.
const UNTOLD: Duration = Duration::from_secs(30);
/// How often in a row a task may not be to be seen.
const MOST_FAULTS: u32 = 8;
/// The longest pause before the next try then.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// How many looks may show what was answered already.
const OLD_LOOKS: u32 = 5;

impl AgentRun<'_> {
    /// Opens a stream and takes its events until the task is settled or the stream is over. The
    /// inner error says why it was over too soon; what came before it was taken.
    pub(super) async fn follow(
        &mut self,
        asked: AgentRequest<'_>,
    ) -> Result<Result<(), AgentFault>, RunStop> {
        let agent = self.agent;
        // Where the task is known, it can be looked up instead.
        let idle = agent.settings.idle;
        let head = if self.view.id.is_some() { idle.min(self.left()) } else { self.left() };
        let mut stream = match self.within(agent.client.open(asked, self.context, head)).await? {
            Ok(stream) => stream,
            Err(fault) => return Ok(Err(fault)),
        };
        if !stream.is_events() {
            let answer = self.within(stream.whole(head)).await?;
            return match answer {
                Ok(event) => self.take(event).await.map(Ok),
                Err(fault) => Ok(Err(fault)),
            };
        }
        loop {
            // Without the name of a task there is nothing to look up.
            let idle = if self.view.id.is_some() { idle } else { self.left() };
            match self.within(stream.next(idle)).await? {
                Ok(Some(event)) => self.take(event).await?,
                Ok(None) => return Ok(Ok(())),
                Err(fault @ AgentFault::TooLarge(_)) => {
                    return Err(RunStop::Error(fault.into_error()));
                }
                Err(fault) => return Ok(Err(fault)),
            }
            if self.view.is_settled() {
                return Ok(Ok(()));
            }
        }
    }

    /// Looks at the task, and hears what comes of it, until it is settled.
    pub(super) async fn watch(&mut self) -> Result<(), RunStop> {
        let (mut pause, mut faults, mut looks) = (FIRST_PAUSE, 0, 0);
        while !self.view.is_settled() {
            if looks > 0 || faults > 0 {
                let word = async {
                    match &self.notification {
                        Some(told) => told.heard().await,
                        None => std::future::pending().await,
                    }
                };
                let _ = self.within(timeout(pause, word)).await?;
            }
            let Some(id) = self.view.id.clone() else {
                return Err(RunStop::Error(AgentFault::Ended.into_error()));
            };
            match self.look(&id).await? {
                Ok(()) => faults = 0,
                Err(fault) if fault.may_pass() && faults < MOST_FAULTS => {
                    faults += 1;
                    pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
                    continue;
                }
                Err(fault) => return Err(RunStop::Error(lost(&id, &fault))),
            }
            looks += 1;
            if looks >= OLD_LOOKS {
                self.view.is_as_it_is();
            }
            let poll = self.agent.settings.poll;
            pause = match &self.notification {
                // Word may be lost.
                Some(_) => poll.max(UNTOLD),
                None => pause.saturating_mul(2).min(poll).max(FIRST_PAUSE.min(poll)),
            };
            if self.view.is_settled() || !self.agent.subscribes.load(Ordering::Relaxed) {
                continue;
            }
            match self.follow(AgentRequest::Subscribe(&id)).await? {
                // A task that is over has nothing more to tell, which the next look shows.
                Err(AgentFault::Refused(_)) if self.is_over(&id).await? => {}
                Err(AgentFault::Refused(_)) => {
                    self.agent.subscribes.store(false, Ordering::Relaxed);
                }
                Ok(()) | Err(_) => {}
            }
        }
        // Its stream told that it is done; what it made may stand in the task alone.
        if looks == 0
            && self.view.is_bare()
            && let Some(id) = self.view.id.clone()
            && let Err(fault) = self.look(&id).await?
            && !fault.may_pass()
            && !fault.is_unknown_task()
        {
            return Err(RunStop::Error(lost(&id, &fault)));
        }
        Ok(())
    }

    /// Whether somebody who signed in has moved the task on.
    pub(super) async fn has_moved(&mut self) -> Result<bool, RunStop> {
        let Some(id) = self.view.id.clone() else { return Ok(false) };
        let state = self.view.status.state;
        // Of a task that cannot be seen now the message tells.
        let _ = self.look(&id).await?;
        Ok(self.view.status.state != state)
    }

    async fn is_over(&mut self, id: &str) -> Result<bool, RunStop> {
        // What went wrong here goes wrong at the next look too, which tells of it.
        let _ = self.look(id).await?;
        Ok(self.view.is_settled())
    }

    async fn look(&mut self, id: &str) -> Result<Result<(), AgentFault>, RunStop> {
        let client = &self.agent.client;
        let within = LOOK.min(self.left());
        let asked = client.event(AgentRequest::Get(id), Some(self.context), within);
        match self.within(asked).await? {
            Ok(event @ AgentEvent::Task(_)) => self.take(event).await.map(Ok),
            Ok(
                AgentEvent::Message(_)
                | AgentEvent::Status { .. }
                | AgentEvent::Artifact { .. }
                | AgentEvent::Unknown,
            ) => Ok(Err(AgentFault::Unreadable("is no task"))),
            Err(fault) => Ok(Err(fault)),
        }
    }
}

/// A task that was begun and cannot be seen any more.
fn lost(id: &str, fault: &AgentFault) -> ToolError {
    let id = cut(id, 100);
    let why = if fault.is_unknown_task() {
        "the agent does not know it any more".to_owned()
    } else {
        fault.words()
    };
    ToolError::new(
        ErrorKind::UnknownOutcome,
        format!(
            "the agent took the task `{id}`, and what came of it is not known: {why}. Do not ask \
             again before you have checked, and tell the user"
        ),
    )
}
