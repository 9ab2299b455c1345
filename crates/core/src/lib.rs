//! The nouns of toolcrib and the one gate every tool call passes.
//!
//! Read in this order: [`ToolSpec`] and [`Tool`], [`Toolset`], [`Catalog`], [`Plan`], [`Executor`],
//! [`Response`].
//!
//! This crate opens no socket, reads no file and no environment. Whatever runs a tool does it
//! through [`Executor`], since nothing else can make a [`CallContext`].

use std::future::Future;
use std::pin::Pin;

pub mod advice;
pub mod approval;
mod arguments;
mod batch;
mod calendar;
mod call;
mod caller;
pub mod canonical;
mod catalog;
mod content;
mod context;
mod effect;
mod errand;
mod fields;
mod fingerprint;
mod host;
mod ledger;
mod ledger_error;
mod library;
mod limits;
mod memo;
pub mod moment;
mod name;
mod nearest;
mod outcome;
mod packed;
mod plain;
pub mod plan;
mod policy;
mod redact;
mod refusal;
mod response;
mod run;
mod secret;
mod source;
mod source_error;
mod spec;
mod ticket;
mod tool;
mod toolset;
mod trace;
mod verify;
mod witness;

pub use arguments::Arguments;
pub use batch::{Audience, BatchOptions, Executor, Missing, Redemption};
pub use call::{Call, CallKey, RawArguments, Wire};
pub use caller::Caller;
pub use catalog::{Assembly, Catalog, CatalogBounds, Listed, Quarantine, Quarantined, Shelf};
pub use content::{Content, Excerpt, IntoContent, Json, Part, Place, Reference};
pub use context::CallContext;
pub use effect::{Effect, Hints};
pub use errand::Errand;
pub use fields::Fields;
pub use fingerprint::Fingerprint;
pub use host::{Ask, Host, LogEntry, LogLevel, Progress, Question, Unanswered, Unheard};
pub use ledger::{
    Attempt, Begun, Doubtful, Ending, Finish, KeyEnd, LONGEST_KEY, Ledger, OnceKey, OpenTickets,
    Planned, ResultHandle, Stands,
};
pub use ledger_error::LedgerError;
pub use library::{
    About, Address, CodeLibrary, Following, Held, Holdings, Inquiry, KeptOut, Kind, Library, Named,
    Offer, Said, Stock, Stocked, Visitor,
};
pub use limits::CribLimits;
pub use name::{InvalidName, LONGEST_NAME, SourceId, ToolName};
pub use outcome::{ErrorKind, Pending, ToolError, ToolOutcome};
pub use packed::Packed;
pub use plan::{
    Beside, ChoiceScope, Discovery, Exposure, Extra, Plan, PlanError, PlannedTool, Request,
    Showing, Shown, Warning, Why,
};
pub use policy::{AllowAll, AskBeforeDestroying, Intent, Leave, Policy, Unlisted, Verdict};
pub use redact::{Mask, Redactor, Secrets};
pub use refusal::Refusal;
pub use response::{Cited, Debug, Flag, Report, Response};
pub use run::{Run, Turn};
pub use secret::Secret;
pub use source::Source;
pub use source_error::SourceError;
pub use spec::{Guidance, Limits, Origin, Say, ToolSpec, Traits, Validation};
pub use ticket::{Decision, Parked, TicketBounds, TicketError, TicketId};
pub use tool::{Tool, brief, raw_tool, tool, tool_with};
pub use toolset::{Aside, Conflict, NotRenamed, Shelved, Toolset};
pub use trace::{Trace, TraceState};
pub use verify::Verify;
pub use witness::{
    Decided, Note, Over, QuestionStage, Questioned, Returned, Ruling, ToolIdentity, Witness,
};

/// A future that a trait object returns.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
