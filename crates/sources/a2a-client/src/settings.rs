//! How an agent is reached, and what becomes of it.

use std::time::Duration;

use serde_json::{Map, Value};
use toolcrib_core::Secret;
use toolcrib_egress::Network;
use url::Url;

use crate::protocol::signed_card::CardKeys;
use crate::protocol::wire::{ProtocolBinding, ProtocolVersion};

/// All that is said of one remote agent.
#[derive(Debug, Clone, PartialEq)]
pub struct A2aSettings {
    /// Where its card is. An address without a path: at the well-known place there.
    pub card: Url,
    /// Where it is spoken to, in place of what the card says.
    pub url: Option<Url>,
    /// The only way that is used; `None`: the first of the card that is spoken here.
    pub binding: Option<ProtocolBinding>,
    /// The version that is spoken, whatever the card says.
    pub version: Option<ProtocolVersion>,
    /// Whose cards are believed; `None`: the card of whoever answers.
    pub keys: Option<CardKeys>,
    /// Who we are there: sent to the origin of the card, and of `url`.
    pub credential: Option<A2aCredential>,
    /// Headers that go with each request.
    pub headers: Vec<(String, Secret)>,
    /// Private addresses that may be reached besides those that the settings name.
    pub network: Network,
    pub tools: A2aTools,
    pub conversation: ConversationScope,
    /// JSON Schema of the arguments in place of the usual ones; arguments go as data.
    pub input: Option<Map<String, Value>>,
    /// What a model reads of the argument `message`.
    pub message: Option<String>,
    /// The tools that an agent of toolcrib has to call, by their names there.
    pub force: Vec<String>,
    /// How long one call may take, without the time in which a person is asked.
    pub timeout: Duration,
    /// How often a task is asked about at the least often.
    pub poll: Duration,
    /// Our own address, where an agent that does not stream tells that a task has moved on, at
    /// [`NOTIFIED`](crate::NOTIFIED) and a name. `None`: tasks are asked about.
    pub push: Option<Url>,
    /// Whether requests carry `traceparent`, the place of the call in a trace.
    pub trace_context: bool,
    /// How long a stream may be silent before the task is looked up.
    pub idle: Duration,
    pub bounds: A2aBounds,
}

/// Who we are.
#[derive(Debug, Clone, PartialEq)]
pub enum A2aCredential {
    Bearer(Secret),
    Basic {
        user: String,
        password: Secret,
    },
    /// A key, in the header that the card names for one.
    Key(Secret),
}

/// What of an agent becomes a tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum A2aTools {
    /// One tool, `ask`.
    #[default]
    Agent,
    /// One for each skill of the card.
    Skill,
}

/// How long an agent remembers what was said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ConversationScope {
    /// Every call begins anew.
    #[default]
    Call,
    /// The calls of one session of one caller are one conversation, one after the other.
    Session,
}

/// What is read of an agent at the most, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct A2aBounds {
    pub card: u64,
    /// One answer or one event, and all artifacts of a call together.
    pub answer: u64,
    /// All events of a call together.
    pub stream: u64,
}

impl Default for A2aBounds {
    fn default() -> Self {
        Self { card: 1024 * 1024, answer: 8 * 1024 * 1024, stream: 64 * 1024 * 1024 }
    }
}

impl A2aSettings {
    /// The settings of an agent of which nothing is said but its card.
    pub fn new(card: Url) -> Self {
        Self {
            card,
            url: None,
            binding: None,
            version: None,
            keys: None,
            credential: None,
            headers: Vec::new(),
            network: Network::default(),
            tools: A2aTools::default(),
            conversation: ConversationScope::default(),
            input: None,
            message: None,
            force: Vec::new(),
            timeout: Duration::from_mins(10),
            poll: Duration::from_secs(2),
            push: None,
            trace_context: false,
            idle: Duration::from_mins(1),
            bounds: A2aBounds::default(),
        }
    }

    /// Whether anything goes with the requests that not everybody may have.
    pub(crate) fn has_secrets(&self) -> bool {
        self.credential.is_some() || !self.headers.is_empty()
    }
}
