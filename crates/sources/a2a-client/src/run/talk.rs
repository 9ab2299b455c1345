//! A call from its first message to its end.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::{Instant, sleep_until};
use toolcrib_core::{
    Arguments, CallContext, Content, ErrorKind, Progress, QuestionError, ToolError, ToolOutcome,
};

use super::agent::RemoteAgent;
use super::checkpoint::TaskCheckpoint;
use super::notification::Notification;
use super::open_task::OpenTask;
use super::question::{PersonAnswer, ask, unanswered};
use super::view::TaskView;
use super::{content, message};
use crate::protocol::event::AgentEvent;
use crate::protocol::message::AgentMessage;
use crate::protocol::metadata::hops::MOST_HOPS;
use crate::protocol::part::MessagePart;
use crate::protocol::state::TaskState;
use crate::settings::ConversationScope;
use crate::transport::fault::AgentFault;
use crate::transport::reply::cut;
use crate::transport::request::AgentRequest;

/// How often one task may ask something.
const MOST_QUESTIONS: usize = 20;
/// The least time for a task that is taken up, to see what became of it.
const LAST_LOOK: Duration = Duration::from_mins(1);
/// Longest word of progress, in characters.
const LONGEST_REPORT: usize = 1_000;
/// Most words of progress within a second; those beyond are left out.
const MOST_REPORTS: u32 = 20;

/// Why a call does not go on.
pub(super) enum RunStop {
    Cancelled,
    /// Its time is over.
    Late,
    Error(ToolError),
}

/// One call while it runs.
pub(super) struct AgentRun<'a> {
    pub(super) agent: &'a Arc<RemoteAgent>,
    pub(super) context: &'a CallContext,
    pub(super) view: TaskView,
    until: Instant,
    task: OpenTask,
    /// Where the agent says that the task has moved on, if it does.
    pub(super) notification: Option<Notification>,
    /// Whoever takes the call up finds the task.
    is_noted: bool,
    /// Messages that were sent.
    said: u32,
    reports: f64,
    /// When the current second of reports began, and how many there were in it.
    reported: (Instant, u32),
}

/// Calls an agent, in the conversation of the session where that is kept.
pub(crate) async fn call(
    agent: &Arc<RemoteAgent>,
    skill: Option<&str>,
    arguments: Arguments,
    context: &CallContext,
) -> ToolOutcome {
    let mut said = match message::of(arguments, agent.settings.input.is_some(), skill) {
        Ok(said) => said.forcing(&agent.settings.force),
        Err(error) => return ToolOutcome::Failed(error),
    };
    if context.hops() >= MOST_HOPS {
        return ToolOutcome::Failed(too_far());
    }
    let slot = match agent.settings.conversation {
        ConversationScope::Call => None,
        ConversationScope::Session => agent.conversations.of(context),
    };
    let Some(slot) = slot else {
        return AgentRun::new(agent, context).whole(said).await;
    };
    let mut known = tokio::select! {
        biased;
        known = slot.lock() => known,
        () = context.cancelled() => {
            let told = "the call was cancelled while it waited for another one of its conversation";
            return ToolOutcome::Failed(ToolError::new(ErrorKind::Unavailable, told));
        }
    };
    said.context.clone_from(&known);
    let mut run = AgentRun::new(agent, context);
    let outcome = run.whole(said).await;
    if run.view.context.is_some() {
        known.clone_from(&run.view.context);
    }
    outcome
}

impl<'a> AgentRun<'a> {
    fn new(agent: &'a Arc<RemoteAgent>, context: &'a CallContext) -> Self {
        let most = agent.settings.bounds.answer;
        Self {
            agent,
            context,
            view: TaskView::new(most),
            until: Instant::now() + agent.settings.timeout.min(Duration::from_hours(24 * 365)),
            task: OpenTask::new(agent),
            notification: agent.told_at().map(Notification::at),
            is_noted: false,
            said: 0,
            reports: 0.0,
            reported: (Instant::now(), 0),
        }
    }

    async fn whole(&mut self, said: AgentMessage) -> ToolOutcome {
        let before = self.context.resumed().and_then(|text| TaskCheckpoint::read(&text));
        let said = match &before {
            Some(before) => {
                self.take_up(before);
                None
            }
            None => Some(said),
        };
        let stop = match self.talk(said).await {
            Ok(content) => return ToolOutcome::Done(content),
            Err(stop) => stop,
        };
        let id = self.view.id.clone();
        let named = || id.map(|id| format!(" (task `{}`)", cut(&id, 100))).unwrap_or_default();
        ToolOutcome::Failed(match stop {
            // The task is cancelled behind us: whoever waits has no time left.
            RunStop::Cancelled => {
                let told = format!("the call was cancelled, and its task with it{}", named());
                ToolError::new(ErrorKind::Cancelled, told)
            }
            RunStop::Late => {
                let time = self.agent.settings.timeout;
                let is_over = self.task.cancel().await;
                let kind = if is_over { ErrorKind::Tool } else { ErrorKind::Timeout };
                let end = if is_over { "was cancelled" } else { "may still go on" };
                let told = format!(
                    "the agent was not done within {} s, and its task {end}{}",
                    time.as_secs(),
                    named()
                );
                ToolError::new(kind, told)
            }
            RunStop::Error(error) => {
                if !self.view.status.state.is_terminal() {
                    self.task.cancel().await;
                }
                error
            }
        })
    }

    /// Goes on with a task that was begun before, and of which nothing is known but its name.
    fn take_up(&mut self, before: &TaskCheckpoint) {
        self.view.id = Some(before.task.clone());
        self.view.context.clone_from(&before.context);
        self.task.is(Some(&before.task));
        self.is_noted = true;
        // It may have ended while nobody looked.
        let left = before.left().max(LAST_LOOK).min(self.left());
        self.until = Instant::now() + left;
    }

    /// `None`: it was said before, and the task goes on.
    async fn talk(&mut self, mut said: Option<AgentMessage>) -> Result<Content, RunStop> {
        for _ in 0..MOST_QUESTIONS {
            if let Some(said) = said.take() {
                self.say(said).await?;
            }
            self.watch().await?;
            match self.view.status.state {
                TaskState::InputRequired | TaskState::AuthRequired => {}
                TaskState::Failed | TaskState::Rejected | TaskState::Canceled => {
                    return Err(RunStop::Error(content::failure(&self.view)));
                }
                TaskState::Completed
                | TaskState::Unknown
                | TaskState::Submitted
                | TaskState::Working => return Ok(content::answer(&self.view)),
            }
            match self.answered().await? {
                Some(answer) => said = Some(answer),
                // Signed in, and the agent has noticed by itself.
                None => return self.finish().await,
            }
        }
        let told = format!("the agent asked {MOST_QUESTIONS} times, and is not asked again");
        Err(RunStop::Error(ToolError::told(told)))
    }

    /// A task that went on by itself after somebody signed in.
    async fn finish(&mut self) -> Result<Content, RunStop> {
        self.watch().await?;
        match self.view.status.state {
            TaskState::Failed | TaskState::Rejected | TaskState::Canceled => {
                Err(RunStop::Error(content::failure(&self.view)))
            }
            TaskState::InputRequired | TaskState::AuthRequired => {
                let error = unanswered(&self.view, "it has asked before");
                Err(RunStop::Error(error))
            }
            TaskState::Completed
            | TaskState::Unknown
            | TaskState::Submitted
            | TaskState::Working => Ok(content::answer(&self.view)),
        }
    }

    /// Sends a message, and hears what comes of it at once.
    async fn say(&mut self, said: AgentMessage) -> Result<(), RunStop> {
        let id = self.next_id();
        let said = AgentMessage { id, ..said.with_hops(self.context.hops().saturating_add(1)) };
        let said = &said;
        let client = &self.agent.client;
        if self.agent.streams.load(Ordering::Relaxed) {
            match self.follow(AgentRequest::Stream(said)).await? {
                Ok(()) => return Ok(()),
                Err(fault)
                    if self.view.id.is_some() && !matches!(fault, AgentFault::TooLarge(_)) =>
                {
                    return Ok(());
                }
                // Nothing was begun.
                Err(fault) if fault.is_unsupported() => {
                    self.agent.streams.store(false, Ordering::Relaxed);
                }
                Err(fault) => return Err(RunStop::Error(fault.into_error())),
            }
        }
        let left = self.left();
        let told_at = self.notification.as_ref().map(|told| told.url.as_str());
        let asked = client.event(AgentRequest::Send(said, told_at), Some(self.context), left);
        match self.within(asked).await? {
            Ok(event) => self.take(event).await,
            Err(fault) => Err(RunStop::Error(fault.into_error())),
        }
    }

    /// What an attempt of this call says has the same names as what another one said, so that an
    /// agent can tell that it was told before.
    fn next_id(&mut self) -> String {
        let key = self.context.key();
        self.said += 1;
        match self.said {
            1 => key.to_string(),
            said => format!("{key}-{said}"),
        }
    }

    /// Asks a person what the task asks, and gives the message that answers it.
    async fn answered(&mut self) -> Result<Option<AgentMessage>, RunStop> {
        let asked = Instant::now();
        self.leave_word(TaskCheckpoint::asking).await;
        let answer = ask(&self.view, self.context).await;
        // The agent did not take this time.
        self.until += asked.elapsed();
        self.leave_word(TaskCheckpoint::running).await;
        let text = match answer {
            Ok(PersonAnswer::Said(text)) => text,
            Ok(PersonAnswer::Done) => {
                self.view.answer();
                if self.has_moved().await? {
                    return Ok(None);
                }
                "Done.".to_owned()
            }
            Ok(PersonAnswer::Declined) => {
                let error = unanswered(&self.view, "the person declined");
                return Err(RunStop::Error(error));
            }
            Err(QuestionError::Cancelled) => return Err(RunStop::Cancelled),
            Err(QuestionError::Unable) => {
                return Err(RunStop::Error(unanswered(&self.view, "nobody can be asked")));
            }
            Err(QuestionError::Late) => {
                return Err(RunStop::Error(unanswered(&self.view, "nobody answered in time")));
            }
        };
        let parts = vec![MessagePart::text(text)];
        let mut said = AgentMessage::of_user("", parts);
        said.task.clone_from(&self.view.id);
        said.context.clone_from(&self.view.context);
        self.view.answer();
        Ok(Some(said))
    }

    /// Leaves the name of the task for whoever takes the call up.
    async fn leave_word(&mut self, of: fn(&str, Option<&str>, Duration) -> TaskCheckpoint) {
        let Some(task) = &self.view.id else { return };
        let checkpoint = of(task, self.view.context.as_deref(), self.left());
        self.is_noted = true;
        self.context.checkpoint(&checkpoint.written()).await;
    }

    /// Takes an event, and tells the host how far the task is.
    pub(super) async fn take(&mut self, event: AgentEvent) -> Result<(), RunStop> {
        self.tell(event)?;
        if !self.is_noted && !self.view.status.state.is_terminal() {
            self.leave_word(TaskCheckpoint::running).await;
        }
        Ok(())
    }

    fn tell(&mut self, event: AgentEvent) -> Result<(), RunStop> {
        let words = self.view.take(event);
        let is_over = self.view.status.state.is_terminal();
        self.task.is(self.view.id.as_deref().filter(|_| !is_over));
        let words = words.map_err(|fault| RunStop::Error(fault.into_error()))?;
        if self.reported.0.elapsed() >= Duration::from_secs(1) {
            self.reported = (Instant::now(), 0);
        }
        if let Some(words) = words.filter(|_| self.reported.1 < MOST_REPORTS) {
            self.reports += 1.0;
            self.reported.1 += 1;
            let message = Some(cut(&words, LONGEST_REPORT));
            self.context.progress(Progress { done: self.reports, total: None, message });
        }
        Ok(())
    }

    /// What is left of the call's time.
    pub(super) fn left(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// The same work, unless the call ends before it.
    pub(super) async fn within<T>(&self, work: impl Future<Output = T>) -> Result<T, RunStop> {
        tokio::select! {
            biased;
            () = self.context.cancelled() => Err(RunStop::Cancelled),
            done = work => Ok(done),
            () = sleep_until(self.until) => Err(RunStop::Late),
        }
    }
}

/// Nothing is said to an agent that would only hand it on once more.
fn too_far() -> ToolError {
    let told = format!(
        "nothing was sent: {MOST_HOPS} agents have handed this request on already, one to the \
         next, and agents that ask each other in a ring do not end. Answer with what is known, and \
         tell the user to take this tool away from one of the agents"
    );
    ToolError::told(told)
}
