//! What a host may add to a batch.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use crate::call::caller::Caller;
use crate::call::host::{FormFallback, Host};
use crate::call::trace::{Trace, TraceState};
use crate::catalog::Catalog;
use crate::ledger::IdempotencyKey;
use crate::outcome::ToolError;

/// Tells why a tool is not in a snapshot that may be there soon, for a caller and the name of it.
pub type MissingToolExplainer =
    Arc<dyn Fn(&Caller, &str, &Catalog) -> Option<ToolError> + Send + Sync>;

/// For whom results are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Audience {
    /// A model reads all of it: what is too large for one is cut.
    #[default]
    Model,
    /// A program that hands on what it wants to: texts are cut as for a model, and images, files
    /// and data come whole.
    Program,
    /// The same of a program that is to see what a server said and nothing else: arguments go as
    /// they came and results come as they are, unless the configuration says otherwise.
    Client,
}

/// What a host may add to a batch.
#[derive(Clone, Default)]
pub struct BatchOptions {
    /// Stops the batch: what has not started does not run.
    pub cancel: CancellationToken,
    /// Hears what the calls tell while they run, and answers what they ask.
    pub host: Option<Arc<dyn Host>>,
    /// What becomes of a form that the host cannot put to anybody.
    pub unheard: FormFallback,
    /// Where the batch stands in a trace.
    pub trace: Option<Trace>,
    /// What others wrote beside that place.
    pub trace_state: Option<TraceState>,
    /// How many agents have handed the request on before it came here, as far as they say so.
    pub hops: u32,
    /// The host's own mark of the request that the calls came by; what is parked bears it.
    pub mark: Option<Arc<str>>,
    /// Under which the host began the batch as a whole.
    pub key: Option<IdempotencyKey>,
    /// Why a tool may be missing that is not among those of the plan; `None`: there is none.
    pub missing: Option<MissingToolExplainer>,
    /// Who decides about a ticket in place of its own caller, for the record.
    pub decider: Option<Arc<Caller>>,
    pub audience: Audience,
}
