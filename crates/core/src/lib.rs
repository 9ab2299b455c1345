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
pub use call::host::{Ask, Host, LogEntry, LogLevel, Progress, Question, Unanswered, Unheard};
pub use call::json_fields::Fields;
pub use call::name::{InvalidName, LONGEST_NAME, SourceId, ToolName};
pub use call::trace::{Trace, TraceState};
pub use call::{Call, CallKey, RawArguments, Wire};
pub use catalog::{Assembly, Catalog, CatalogBounds, Listed, Quarantine, Quarantined, Shelf};
pub use gate::{Audience, BatchOptions, Executor, Missing, Redemption};
pub use ledger::error::LedgerError;
pub use ledger::ticket::{Decision, Parked, TicketBounds, TicketError, TicketId};
pub use ledger::{
    Attempt, Begun, Doubtful, Ending, Finish, KeyEnd, LONGEST_KEY, Ledger, OnceKey, OpenTickets,
    Planned, ResultHandle, Stands,
};
pub use observe::failpoint;
pub use observe::observer::{
    Decided, Note, Over, QuestionStage, Questioned, Returned, Ruling, ToolIdentity, Witness,
};
pub use observe::outbound::Errand;
pub use outcome::content::{Content, Excerpt, IntoContent, Json, Part, Place, Reference};
pub use outcome::messages;
pub use outcome::protocol_error::Refusal;
pub use outcome::response::{Cited, Debug, Flag, Report, Response};
pub use outcome::run::{Run, Turn};
pub use outcome::{ErrorKind, Pending, ToolError, ToolOutcome};
pub use plan::{
    Beside, ChoiceScope, Discovery, Exposure, Extra, Plan, PlanError, PlannedTool, Request,
    Showing, Shown, Warning, Why,
};
pub use policy::approval;
pub use policy::limits::CribLimits;
pub use policy::{AllowAll, AskBeforeDestroying, Intent, Leave, Policy, Unlisted, Verdict};
pub use redact::secret::Secret;
pub use redact::{Mask, Redactor, Secrets};
pub use resource::{
    About, Address, CodeLibrary, Following, Held, Holdings, Inquiry, KeptOut, Kind, Library, Named,
    Offer, Said, Stock, Stocked, Visitor,
};
pub use tool::canonical;
pub use tool::compact_json::Packed;
pub use tool::effect::{Effect, Hints};
pub use tool::fingerprint::Fingerprint;
pub use tool::source::Source;
pub use tool::source_error::SourceError;
pub use tool::spec::{Guidance, Limits, Origin, Say, ToolSpec, Traits, Validation};
pub use tool::toolset::{Aside, Conflict, NotRenamed, Shelved, Toolset};
pub use tool::verify::Verify;
pub use tool::{Tool, brief, raw_tool, tool, tool_with};

/// A future that a trait object returns.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
