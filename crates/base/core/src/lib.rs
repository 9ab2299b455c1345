//! The nouns of toolcrib and the one gate every tool call passes.
//!
//! Read in this order: [`ToolSpec`] and [`Tool`], [`Toolset`], [`Catalog`], [`Plan`], [`Executor`],
//! [`Response`].
//!
//! This crate opens no socket, reads no file and no environment. Whatever runs a tool does it
//! through [`Executor`], since nothing else can make a [`CallContext`].

use std::future::Future;
use std::pin::Pin;

mod call;
mod catalog;
mod gate;
mod ledger;
mod observe;
mod outcome;
pub mod plan;
mod policy;
mod redact;
mod resource;
mod tool;

pub use call::arguments::Arguments;
pub use call::caller::Caller;
pub use call::context::CallContext;
pub use call::host::{
    FormFallback, Host, HostQuestion, LogEntry, LogLevel, Progress, QuestionError, QuestionKind,
    QuestionTiming,
};
pub use call::json_fields::JsonFields;
pub use call::name::{InvalidName, LONGEST_NAME, SourceId, ToolName};
pub use call::trace::{Trace, TraceState};
pub use call::{Call, CallKey, CallWire, RawArguments};
pub use catalog::{
    Catalog, CatalogAssembly, CatalogBounds, CatalogTool, QuarantineReason, QuarantinedTool,
    SourceTools,
};
pub use gate::{Audience, BatchOptions, CallTrial, Executor, MissingToolExplainer, Redemption};
pub use ledger::error::LedgerError;
pub use ledger::ticket::{Decision, ParkedCall, TicketBounds, TicketError, TicketId};
pub use ledger::{
    Attempt, CallLedger, CallStatus, Checkpoint, ENDED_FOR, Ending, EndingReport, IdempotencyKey,
    KeyLedger, KeyResult, KeyState, LONGEST_CHECKPOINT, LONGEST_GREETING, LONGEST_KEY, Ledger,
    MOST_NOTES, NewRun, OpenTickets, PlannedCall, ResultHandle, ResultLedger, RunLedger,
    RunLedgerError, RunStage, RunStep, RunSummary, SessionLedger, SessionRecord, StoredRun,
    TicketLedger, UncertainCall,
};
pub use observe::failpoint;
pub use observe::observer::{
    CallDecided, CallFinished, LookupFinished, Observer, OutboundFinished, ProvidedCall,
    QuestionEvent, QuestionStage, Ruling, SpanAttribute, ToolIdentity,
};
pub use observe::outbound::OutboundSpan;
pub use outcome::cited_spans::{CitedSpan, cited_spans};
pub use outcome::content::{Content, ContentPath, Excerpt, IntoContent, Json, Part, Reference};
pub use outcome::door_hints::DoorHints;
pub use outcome::messages;
pub use outcome::refusal::{Refusal, RefusalReason};
pub use outcome::response::{CallFlag, Citation, DebugRecord, Report, Response};
pub use outcome::run::{NextStep, Run};
pub use outcome::{ErrorKind, PendingTicket, ToolError, ToolOutcome};
pub use plan::{
    ChoiceScope, Discovery, Exposure, HostedPlacement, MetaTool, MetaTools, Plan, PlanError,
    PlanRequest, PlanWarning, PlannedTool, Presentation, Presenter, ToolExplanation,
};
pub use policy::approval;
pub use policy::limits::CribLimits;
pub use policy::{
    AllowAll, AskBeforeDestroying, Intent, Policy, UnlistedAccess, UnlistedResource, Verdict,
};
pub use redact::secret::Secret;
pub use redact::{Mask, Redactor, Secrets};
pub use resource::{
    AddressPattern, ClientSession, CodeResources, QuarantinedResource, ResourceAddress,
    ResourceCatalog, ResourceEntry, ResourceKind, ResourceList, ResourceOperation, ResourceRequest,
    Resources, ServerInfo, SourceResources, UpdateStream, WithResources,
};
pub use tool::canonical;
pub use tool::compact_json::CompactJson;
pub use tool::effect::Effect;
pub use tool::fingerprint::Fingerprint;
pub use tool::membership::{
    MembershipReason, TOOLSET_SELECTOR, ToolsetInfo, ToolsetMaker, ToolsetMembership,
};
pub use tool::source::Source;
pub use tool::source_error::SourceError;
pub use tool::spec::{
    Guidance, HostedTool, ToolLimits, ToolOrigin, ToolSpec, ToolTraits, Validation,
    ValidationOrigin,
};
pub use tool::toolset::{NameConflict, NamedTool, RenameError, Toolset, UnusableTool};
pub use tool::verify::Verify;
pub use tool::{Tool, nonblocking, raw_tool, tool, tool_with};

/// A future that a trait object returns.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
