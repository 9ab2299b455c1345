//! A conversation of a caller with a model: all that has to be kept from turn to turn.

use serde_json::{Map, Value};
use toolcrib_core::{
    Caller, Decision, NextStep, Plan, PlanError, PlanRequest, Report, Response, Run, TicketError,
    TicketId, ToolOutcome,
};
use toolcrib_dialect::{Dialect, NotAReply};
use toolcrib_engine::Crib;

/// Owns plan, run and reports, so that a host only sends requests and hands in the replies.
///
/// ```
/// use serde_json::json;
/// use toolcrib::dialect::OpenAiChat;
/// use toolcrib::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let three = tool("three", "Counts to three.", Effect::Read, |_: ()| async { Ok(3) })?;
/// let crib = Crib::new([three])?;
/// let mut conversation = Conversation::new(crib, Caller::local(), OpenAiChat::default());
/// conversation.push(json!({"role": "user", "content": "Count to three."}));
///
/// let mut body = conversation.request()?; // `tools` and the like; the host adds its model
/// body.insert("messages".to_owned(), conversation.messages().into());
/// // What the API answers to it.
/// let reply = json!({"role": "assistant", "tool_calls": [{"id": "c", "type": "function",
///     "function": {"name": "three", "arguments": "{}"}}]});
/// assert_eq!(conversation.take(&reply).await?, Step::Send);
/// assert_eq!(conversation.messages()[2]["content"], "3");
///
/// let reply = json!({"role": "assistant", "content": "One, two, three."});
/// assert_eq!(conversation.take(&reply).await?, Step::Done);
/// # Ok(())
/// # }
/// ```
pub struct Conversation<D> {
    crib: Crib,
    caller: Caller,
    dialect: D,
    wishes: PlanRequest,
    run: Run,
    messages: Vec<Value>,
    /// Of the request that is out.
    plan: Option<Plan>,
    /// Of a turn all of whose calls wait for a person: nothing of it was sent yet.
    waiting: Option<Report>,
}

/// What a host does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Sends the next request: the results are among the messages.
    Send,
    /// Asks a person about these, and decides each by [`Conversation::decide`]. Nothing is to be
    /// sent before; who does not want to wait calls [`Conversation::go_on`].
    Ask(Vec<TicketId>),
    /// Gives this text to the user: a tool has taken over.
    Give(String),
    /// Nothing: the model called no tool, so it is done.
    Done,
}

/// Why a conversation does not go on. It is as it was before.
#[derive(Debug, thiserror::Error)]
pub enum ConversationError {
    /// The API gave no turn of a model: send the request again, or tell the user.
    #[error("{0}")]
    NotAReply(NotAReply),
    #[error(transparent)]
    Plan(#[from] PlanError),
}

impl<D: Dialect> Conversation<D> {
    pub fn new(crib: Crib, caller: Caller, dialect: D) -> Self {
        let (wishes, run) = (PlanRequest::default(), Run::default());
        Self { crib, caller, dialect, wishes, run, messages: Vec::new(), plan: None, waiting: None }
    }

    /// What is wished of every plan: choices, how tools are shown, a limit of calls.
    #[must_use]
    pub fn wishing(self, wishes: PlanRequest) -> Self {
        Self { wishes, ..self }
    }

    /// Adds a message of the user or of the system, in the shape of the API.
    pub fn push(&mut self, message: Value) {
        self.messages.push(message);
    }

    /// All messages so far, in the shape of the API (Responses: items; Gemini: contents).
    pub fn messages(&self) -> &[Value] {
        &self.messages
    }

    /// The run: used tools, references and checks so far.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// Plans the next request and gives the fields of its body that speak of tools.
    pub fn request(&mut self) -> Result<Map<String, Value>, PlanError> {
        let plan = self.crib.plan(&self.caller, self.wishes.clone().after(&self.run))?;
        let fields = self.dialect.request(&plan);
        self.plan = Some(plan);
        Ok(fields)
    }

    /// Takes the API's reply to the last request, and runs its calls.
    pub async fn take(&mut self, reply: &Value) -> Result<Step, ConversationError> {
        if self.plan.is_none() {
            self.request()?;
        }
        let Some(plan) = &self.plan else { return Ok(Step::Done) };
        let calls = self.dialect.calls(plan, reply).map_err(ConversationError::NotAReply)?;
        self.messages.extend(self.dialect.echo(reply));
        if calls.is_empty() {
            return Ok(Step::Done);
        }
        let report = self.crib.run(plan, calls).await;
        Ok(match self.run.absorb(&report) {
            NextStep::GoOn => {
                self.messages.extend(self.dialect.results(&report));
                Step::Send
            }
            NextStep::HandedOver { text, .. } => {
                self.messages.extend(self.dialect.results(&report));
                Step::Give(text)
            }
            NextStep::Waiting(tickets) => {
                self.waiting = Some(report);
                Step::Ask(tickets)
            }
        })
    }

    /// Decides about a ticket: what waits runs, or is told that it may not. Good also for a ticket
    /// that the model was told of already; then how it ended is one more message.
    pub async fn decide(
        &mut self,
        ticket: &TicketId,
        decision: Decision,
    ) -> Result<Step, TicketError> {
        let decided = self.crib.decide(&self.caller, &self.run, ticket, decision).await?;
        self.run.absorb_late(&decided);
        let Some(report) = &mut self.waiting else {
            self.messages.push(self.dialect.late(&decided));
            return Ok(Step::Send);
        };
        report.settle(decided);
        let left: Vec<_> = report.responses.iter().filter_map(ticket_of).collect();
        if !left.is_empty() {
            return Ok(Step::Ask(left));
        }
        self.go_on();
        Ok(Step::Send)
    }

    /// Sends on without the answers that are still out: the model is told that its calls wait.
    pub fn go_on(&mut self) {
        if let Some(report) = self.waiting.take() {
            self.messages.extend(self.dialect.results(&report));
        }
    }
}

fn ticket_of(response: &Response) -> Option<TicketId> {
    match &response.outcome {
        ToolOutcome::Pending(pending) => Some(pending.ticket.clone()),
        ToolOutcome::Done(_) | ToolOutcome::Failed(_) | ToolOutcome::Denied { .. } => None,
    }
}
