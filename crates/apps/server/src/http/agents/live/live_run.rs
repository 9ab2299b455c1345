//! What is told of a run while it goes on, for any number of listeners.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use toolcrib_a2a_client::protocol::message::AgentMessage;
use toolcrib_a2a_client::protocol::wire::WireForm;
use toolcrib_agent::RunEvent;
use toolcrib_core::{BatchOptions, Caller, LedgerError, NewRun, RunStage, RunSummary, TicketId};

/// Where the request of a run has the message of A2A that began it.
pub(crate) const A2A_MESSAGE: &str = "/a2a/message";

/// A run as this process knows it.
pub(crate) struct LiveRun {
    pub(crate) meta: RunMeta,
    pub(crate) state: watch::Sender<LiveState>,
    /// Ends it.
    pub(crate) cancel: CancellationToken,
    /// Cancelled when the server stops.
    pub(crate) stop: CancellationToken,
    lead: Mutex<LiveLead>,
}

/// Who drives it.
#[derive(Default)]
struct LiveLead {
    is_driven: bool,
    /// Something was decided since whoever drives it looked.
    is_to_look: bool,
}

/// How far a run has come.
#[derive(Clone)]
pub(crate) struct LiveState {
    pub(crate) events: Vec<RunEvent>,
    pub(crate) stage: RunStage,
    /// What it waits for.
    pub(crate) tickets: Vec<TicketId>,
    /// In seconds since 1970.
    pub(crate) changed: u64,
}

/// What a run is from its beginning on.
pub(crate) struct RunMeta {
    pub(crate) id: String,
    pub(crate) caller: Arc<Caller>,
    pub(crate) thread: String,
    pub(crate) previous: Option<String>,
    /// The run that it works for, which drives it.
    pub(crate) parent: Option<String>,
    pub(crate) agent: String,
    pub(crate) profile: Option<String>,
    /// In seconds since 1970.
    pub(crate) created: u64,
    pub(crate) request: StoredRequest,
}

/// What was asked, as it is written down beside a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct StoredRequest {
    /// It goes on for nobody who waits, in another process too.
    pub(crate) is_durable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) instructions: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) max_tokens: Option<u32>,
    /// When it came, in seconds since 1970: its run may begin later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) came: Option<u64>,
    /// The request of Responses without its input, of which much is given back.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub(crate) body: Value,
    /// The items that the request brought.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) input: Vec<Value>,
    /// Names of tools that the caller runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) caller_tools: Vec<String>,
    /// Which of its tools it uses.
    #[serde(skip_serializing_if = "ToolChoice::is_free")]
    pub(crate) choice: ToolChoice,
    /// Calls of its thread that waited for a person when it began.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) open: Vec<OpenCall>,
    /// It ends where calls wait for a person: whoever asked is that person.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) asks_caller: bool,
    /// What the request said yes or no to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) decided: Vec<DecidedCall>,
    /// What is said of its conversation beside the items.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) conversation: Option<ConversationNote>,
}

impl StoredRequest {
    /// What goes with every call of its run, in whichever process.
    pub(super) fn options(&self) -> BatchOptions {
        let message = self.body.pointer(A2A_MESSAGE);
        let message = message.and_then(|it| AgentMessage::read(it, WireForm::Current));
        let hops = message.map_or(0, |message| message.hops());
        BatchOptions { hops, ..BatchOptions::default() }
    }
}

/// What a request leaves of an agent. It has the names of tools as they were when the request
/// came, so that its run goes on with the same ones elsewhere.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ToolChoice {
    /// What the first turn has to call; `None`: what the author of the agent says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) force: Option<Vec<String>>,
    /// All that may be called; `None`: whatever there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) allowed: Option<Vec<String>>,
    /// What the user left out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) disabled: Vec<String>,
}

impl ToolChoice {
    fn is_free(&self) -> bool {
        *self == Self::default()
    }
}

/// A call that an answer before put to whoever asked, and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct DecidedCall {
    /// Of the item that asked.
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) source: String,
    /// JSON.
    pub(crate) arguments: String,
    /// They said yes, and it is over.
    pub(crate) has_run: bool,
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

/// A conversation as it stood when a run or an edit of it began. Each of them has it, so that it
/// stays when the older ones are pruned.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ConversationNote {
    /// In seconds since 1970.
    pub(crate) created: u64,
    pub(crate) metadata: Map<String, Value>,
    /// Of an edit: items before it that are gone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) deleted: Vec<String>,
    /// Of an edit: the one before, in whose place it stands.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) replaces: Option<String>,
}

impl ConversationNote {
    /// The same for what comes behind it.
    pub(crate) fn head(&self) -> Self {
        let Self { created, metadata, .. } = self;
        Self { created: *created, metadata: metadata.clone(), ..Self::default() }
    }
}

/// A call that waits, as far as its thread has been told.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct OpenCall {
    pub(crate) ticket: TicketId,
    pub(crate) tool: String,
    /// It was made under it; under another one there is no such ticket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) profile: Option<String>,
}

impl RunMeta {
    pub(super) fn of(summary: RunSummary, request: &str) -> Result<Self, LedgerError> {
        let request: StoredRequest = serde_json::from_str(request).map_err(LedgerError::new)?;
        Ok(Self {
            created: request.came.unwrap_or_else(|| seconds(summary.created)),
            id: summary.id,
            caller: Arc::new(summary.caller),
            thread: summary.thread,
            previous: summary.previous,
            parent: summary.parent,
            agent: summary.agent,
            profile: summary.profile,
            request,
        })
    }

    /// The same as a ledger takes it.
    pub(crate) fn written(&self) -> NewRun {
        NewRun {
            id: self.id.clone(),
            caller: Caller::clone(&self.caller),
            thread: self.thread.clone(),
            previous: self.previous.clone(),
            parent: self.parent.clone(),
            agent: self.agent.clone(),
            profile: self.profile.clone(),
            request: serde_json::to_string(&self.request).unwrap_or_default(),
        }
    }
}

/// Whether a run with this agent is an edit of a conversation: it has none, and did nothing.
pub(crate) fn is_edit(agent: &str) -> bool {
    agent.is_empty()
}

/// A moment in seconds since 1970.
pub(crate) fn seconds(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

impl LiveRun {
    pub(super) fn new(meta: RunMeta, state: LiveState, stop: CancellationToken) -> Self {
        let (state, cancel) = (watch::Sender::new(state), CancellationToken::new());
        Self { meta, state, cancel, stop, lead: Mutex::default() }
    }

    /// Takes what is written for what is known, unless somebody drives it, who knows more.
    pub(super) fn becomes(&self, written: LiveState) {
        let lead = self.lead();
        if !lead.is_driven {
            self.state.send_replace(written);
        }
    }

    pub(crate) fn stage(&self) -> RunStage {
        self.state.borrow().stage
    }

    pub(super) fn note(&self, event: RunEvent) {
        self.state.send_modify(|state| {
            if matches!(event, RunEvent::Ended { .. }) {
                state.stage = RunStage::Ended;
            }
            state.events.push(event);
            state.changed = seconds(SystemTime::now());
        });
    }

    pub(super) fn stands(&self, stage: RunStage, tickets: Vec<TicketId>) {
        self.state.send_modify(|state| {
            state.stage = stage;
            state.tickets = tickets;
        });
    }

    fn lead(&self) -> MutexGuard<'_, LiveLead> {
        self.lead.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_driven(&self) -> bool {
        self.lead().is_driven
    }

    /// Whether whoever asks is to drive it from now on; else whoever does looks once more.
    pub(super) fn takes_the_lead(&self) -> bool {
        let mut lead = self.lead();
        lead.is_to_look |= lead.is_driven;
        !std::mem::replace(&mut lead.is_driven, true)
    }

    /// Whether nobody drives it from now on; else something was decided meanwhile.
    pub(super) fn gives_the_lead_up(&self) -> bool {
        let mut lead = self.lead();
        if std::mem::take(&mut lead.is_to_look) {
            return false;
        }
        lead.is_driven = false;
        true
    }

    /// Waits until it has ended, or waits for a person; or until the server stops.
    pub(crate) async fn paused(&self) {
        self.reaches(|state| state.stage != RunStage::Running).await;
    }

    /// Waits until it has ended, or until the server stops and another one goes on with it.
    pub(crate) async fn ended(&self) {
        self.reaches(|state| state.stage == RunStage::Ended).await;
    }

    async fn reaches(&self, is_there: impl FnMut(&LiveState) -> bool) {
        let mut state = self.state.subscribe();
        tokio::select! {
            // It cannot be dropped before: it is held here.
            _ = state.wait_for(is_there) => {}
            () = self.goes_on_elsewhere() => {}
        }
    }

    /// Waits until the server stops, of a run that the next one goes on with.
    pub(crate) async fn goes_on_elsewhere(&self) {
        if !self.meta.request.is_durable {
            return std::future::pending().await;
        }
        self.stop.cancelled().await;
    }
}
