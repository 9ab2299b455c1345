//! Who may see and call what. A policy gives a verdict, always: it cannot fail open.

pub mod approval;
pub(crate) mod limits;

use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};

use crate::BoxFuture;
use crate::call::arguments::Arguments;
use crate::call::caller::Caller;
use crate::resource::address::ResourceAddress;
use crate::tool::effect::Effect;
use crate::tool::fingerprint::Fingerprint;
use crate::tool::spec::ToolSpec;

/// What is to happen with a call. Of several, the strictest wins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    Allow,
    /// A person is asked, with this reason.
    Ask(String),
    /// Refused; the reason is for the caller and the model.
    Deny(String),
}

impl Verdict {
    fn rank(&self) -> u8 {
        match self {
            Self::Allow => 0,
            Self::Ask(_) => 1,
            Self::Deny(_) => 2,
        }
    }

    /// The stricter of two; of equal ones the first, whose reason came first.
    #[must_use]
    pub fn strictest(self, other: Self) -> Self {
        if other.rank() > self.rank() { other } else { self }
    }
}

/// A call that is about to run.
#[derive(Debug, Clone, Copy)]
pub struct Intent<'a> {
    pub caller: &'a Caller,
    pub tool: &'a ToolSpec,
    pub arguments: &'a Arguments,
}

/// A resource that no list of its source names.
#[derive(Debug, Clone, Copy)]
pub struct UnlistedResource<'a> {
    /// What rules are asked about if it is read.
    pub spec: &'a ToolSpec,
    /// The same of its normal form.
    pub normal: &'a ToolSpec,
    /// How the names begin that the source's resources have in rules.
    pub stem: &'a str,
    pub address: &'a ResourceAddress,
}

/// How far a resource may be asked for that no list names: it may be another spelling of one that
/// is denied. The strictest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnlistedAccess {
    Never,
    /// Where a listed template is fitted by it.
    Fitting,
    /// A rule allows it by name.
    Named,
    /// No resource of its source is treated otherwise than another.
    Any,
}

impl UnlistedAccess {
    /// What two of them leave together: it is enough if one of them names it.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self.min(other), self.max(other)) {
            (Self::Fitting, Self::Named) => Self::Named,
            (least, _) => least,
        }
    }
}

/// Decides for each tool and each call; what cannot be decided is `Deny`.
///
/// The two methods must agree in one direction: a tool that `sees` hides is never asked about.
pub trait Policy: Send + Sync {
    /// Whether the tool exists for this caller. Asked for every tool of every plan, so it
    /// answers from memory.
    fn sees(&self, caller: &Caller, tool: &ToolSpec) -> bool;

    fn decide<'a>(&'a self, intent: Intent<'a>) -> BoxFuture<'a, Verdict>;

    /// Whether `decide` lets every call of the tool run, whatever its arguments. It is asked about
    /// tools that the provider of a model runs: a call of such a one cannot be held, so that where
    /// this says no the model has to ask for the tool first. Answers from memory.
    fn lets_run(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        let _ = (caller, tool);
        false
    }

    /// Whether no call of the tool runs for now, whatever its caller may have and was let: somebody
    /// has stopped it. A model that asked for a tool of its provider has it no more. Answers from
    /// memory.
    fn stops(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        let _ = (caller, tool);
        false
    }

    /// Whether it may ask about or deny one tool, and not another of the same source that does as
    /// much. Where it may, no tool runs of which only the name is known: it may be another name of
    /// one that is denied.
    fn is_per_tool(&self) -> bool {
        true
    }

    /// How far a resource may be asked for that no list names. What `decide` says of it holds
    /// beside this.
    fn leave(&self, caller: &Caller, unlisted: &UnlistedResource<'_>) -> UnlistedAccess {
        if !self.is_per_tool() {
            return UnlistedAccess::Any;
        }
        let is_told = unlisted.address.normal().is_some();
        let is_seen = self.sees(caller, unlisted.normal);
        if is_told && is_seen { UnlistedAccess::Fitting } else { UnlistedAccess::Never }
    }

    /// Which policy this is; another one tells another. Records name it, and as long as it is the
    /// same, `sees` gives the same answers, so that plans may be kept. `None`: it cannot tell.
    fn version(&self) -> Option<Fingerprint> {
        None
    }
}

/// A policy that its host keeps a hand on, to explain or to replace it.
impl<P: Policy + ?Sized> Policy for Arc<P> {
    fn sees(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        (**self).sees(caller, tool)
    }

    fn decide<'a>(&'a self, intent: Intent<'a>) -> BoxFuture<'a, Verdict> {
        (**self).decide(intent)
    }

    fn lets_run(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        (**self).lets_run(caller, tool)
    }

    fn stops(&self, caller: &Caller, tool: &ToolSpec) -> bool {
        (**self).stops(caller, tool)
    }

    fn is_per_tool(&self) -> bool {
        (**self).is_per_tool()
    }

    fn leave(&self, caller: &Caller, unlisted: &UnlistedResource<'_>) -> UnlistedAccess {
        (**self).leave(caller, unlisted)
    }

    fn version(&self) -> Option<Fingerprint> {
        (**self).version()
    }
}

/// The policy of a host that states none: what only reads or writes runs, what may destroy is
/// asked about first.
#[derive(Debug, Clone, Copy, Default)]
pub struct AskBeforeDestroying;

impl Policy for AskBeforeDestroying {
    fn sees(&self, _: &Caller, _: &ToolSpec) -> bool {
        true
    }

    fn decide<'a>(&'a self, intent: Intent<'a>) -> BoxFuture<'a, Verdict> {
        let verdict = match intent.tool.effect {
            Effect::Read | Effect::Write => Verdict::Allow,
            Effect::Destroy => Verdict::Ask("it may destroy data".into()),
        };
        Box::pin(std::future::ready(verdict))
    }

    fn lets_run(&self, _: &Caller, tool: &ToolSpec) -> bool {
        tool.effect != Effect::Destroy
    }

    fn is_per_tool(&self) -> bool {
        false
    }

    fn version(&self) -> Option<Fingerprint> {
        static VERSION: LazyLock<Fingerprint> =
            LazyLock::new(|| Fingerprint::of(&"ask before destroying".into()));
        Some(*VERSION)
    }
}

/// Everything runs unasked: for tests, benchmarks and sandboxes.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllowAll;

impl Policy for AllowAll {
    fn sees(&self, _: &Caller, _: &ToolSpec) -> bool {
        true
    }

    fn decide<'a>(&'a self, _: Intent<'a>) -> BoxFuture<'a, Verdict> {
        Box::pin(std::future::ready(Verdict::Allow))
    }

    fn lets_run(&self, _: &Caller, _: &ToolSpec) -> bool {
        true
    }

    fn is_per_tool(&self) -> bool {
        false
    }
}
