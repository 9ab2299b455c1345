//! Whoever sees what the gate decides and how calls end: logs, figures, traces, an audit.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use crate::BoxFuture;
use crate::call::CallKey;
use crate::call::arguments::Arguments;
use crate::call::caller::Caller;
use crate::call::host::Progress;
use crate::call::name::SourceId;
use crate::call::trace::Trace;
use crate::ledger::error::LedgerError;
use crate::ledger::ticket::id::TicketId;
use crate::outcome::ToolOutcome;
use crate::tool::fingerprint::Fingerprint;
use crate::tool::spec::ToolSpec;

/// Sees every call that comes to the gate: once when it is decided, and once when it is over.
///
/// A copy of another call of its batch is no call of its own, nor is one that is answered from the
/// record under its key.
pub trait Observer: Send + Sync {
    /// A call was decided on, and nothing of it has run. An error stops a call that may change
    /// something, as one of the ledger does; a call that only reads should not be kept waiting.
    fn decided<'a>(&'a self, call: CallDecided<'a>) -> BoxFuture<'a, Result<(), LedgerError>>;

    /// A call is over; must return at once.
    fn ended(&self, call: CallFinished<'_>);

    /// What was asked of somebody else for a call is over; must return at once. A call that was
    /// given up may hear of it after its own end. It is told of calls alone whose traces are
    /// recorded, and whoever records those records this too: the other side was told its place.
    fn returned(&self, _request: OutboundFinished<'_>) {}

    /// What a running call asked under a ticket, and what came of that; must return at once.
    fn questioned(&self, _question: QuestionEvent<'_>) {}

    /// It was looked up whether a call took effect whose outcome nobody knew; must return at once.
    fn looked_up(&self, _lookup: LookupFinished) {}

    /// A ticket was used up, and what came of it is on record; must return at once.
    fn redeemed(&self, _ticket: &TicketId) {}

    /// A call tells how far it is; must return at once.
    fn progress(&self, _call: CallKey, _progress: &Progress) {}

    /// The provider of a model made a call and answered it: no gate was passed, and what is told is
    /// the provider's word. It is heard of afterwards; must return at once.
    fn provided(&self, _call: ProvidedCall<'_>) {}
}

/// A call that the provider of a model made.
#[derive(Debug, Clone, Copy)]
pub struct ProvidedCall<'a> {
    pub caller: &'a Caller,
    pub agent: &'a str,
    /// The run; empty if it is not written down.
    pub run: &'a str,
    /// The tool; where the caller has none, the word of the provider.
    pub name: &'a str,
    pub source: Option<&'a SourceId>,
    /// JSON; as much of it as the provider tells.
    pub arguments: &'a str,
    pub is_failed: bool,
}

/// The tool of a call.
#[derive(Debug, Clone, Copy)]
pub struct ToolIdentity<'a> {
    pub spec: &'a Arc<ToolSpec>,
    pub fingerprint: Fingerprint,
}

/// A call that was decided on.
#[derive(Clone, Copy)]
pub struct CallDecided<'a> {
    pub key: CallKey,
    pub caller: &'a Arc<Caller>,
    pub tool: ToolIdentity<'a>,
    pub arguments: &'a Arguments,
    pub ruling: Ruling<'a>,
    /// The ticket that it waits under, or by which it comes back.
    pub ticket: Option<&'a TicketId>,
    /// Who decided about the ticket by which it comes back.
    pub decider: Option<&'a Arc<Caller>>,
    /// Which policy decided, if it can tell.
    pub policy: Option<Fingerprint>,
    pub trace: Option<Trace>,
}

/// A question of a running call that a person is asked under a ticket. What is asked and answered
/// is nobody's but theirs.
#[derive(Clone, Copy)]
pub struct QuestionEvent<'a> {
    pub key: CallKey,
    pub caller: &'a Arc<Caller>,
    pub tool: ToolIdentity<'a>,
    pub ticket: &'a TicketId,
    pub stage: QuestionStage,
    /// Who answered.
    pub by: Option<&'a Caller>,
}

/// A lookup that is over.
#[derive(Debug, Clone, Copy)]
pub struct LookupFinished {
    /// Of the call that it was about.
    pub key: CallKey,
    /// Whether that took effect; `None`: the lookup could not tell.
    pub took_effect: Option<bool>,
    pub took: Duration,
}

/// How far a question is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuestionStage {
    Asked,
    Answered,
    Declined,
    Expired,
}

impl QuestionStage {
    /// One word for records.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Asked => "asked",
            Self::Answered => "answered",
            Self::Declined => "declined",
            Self::Expired => "expired",
        }
    }
}

/// What is to become of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ruling<'a> {
    Allowed,
    /// A person is asked, for this reason.
    Asked(&'a str),
    Denied(&'a str),
}

/// A call that is over.
#[derive(Clone, Copy)]
pub struct CallFinished<'a> {
    pub key: CallKey,
    pub caller: &'a Arc<Caller>,
    /// The name that was called, which came from a model.
    pub name: &'a str,
    /// What the model's API calls the call; `None`: whoever took it in made a name up.
    pub call_id: Option<&'a str>,
    /// `None`: the caller has no tool of this name.
    pub tool: Option<ToolIdentity<'a>>,
    pub outcome: &'a ToolOutcome,
    /// Whether `decided` told of it before; if not, the call itself was refused.
    pub was_decided: bool,
    pub attempts: u32,
    pub waited: Duration,
    pub ran: Duration,
    pub trace: Option<Trace>,
}

impl Ruling<'_> {
    /// One word for records.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Allowed => "allow",
            Self::Asked(_) => "ask",
            Self::Denied(_) => "deny",
        }
    }

    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Allowed => None,
            Self::Asked(reason) | Self::Denied(reason) => Some(reason),
        }
    }
}

/// A name by the conventions of OpenTelemetry, and what it is of this request.
pub type SpanAttribute = (&'static str, Value);

/// A request that is over, as an observer sees it.
#[derive(Clone, Copy)]
pub struct OutboundFinished<'a> {
    /// Of the call that it was for.
    pub call: CallKey,
    /// Where the tool of the call comes from.
    pub source: &'a SourceId,
    /// Which attempt of the call it belongs to; an attempt may need several.
    pub attempt: u32,
    /// What was asked for, of few different values: a method and a tool, or `GET /pets/{id}`.
    pub name: &'a str,
    pub notes: &'a [SpanAttribute],
    /// Why it came to nothing, in one word or a number of its protocol.
    pub error: Option<&'a str>,
    /// Its own place, which the other side was told; its parent is the call.
    pub trace: Trace,
    pub took: Duration,
}
