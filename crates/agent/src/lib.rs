//! A model that drives the tools of a crib, and what keeps that in bounds.
//!
//! Read in this order: [`ThreadItem`] (what was said), [`model`] (clients of the model APIs),
//! [`Budget`], [`RunState`] (the loop as a function without clock and socket), [`Agent`] (who runs
//! it), [`Team`] (those that work for it), [`RunEvent`] (what is told meanwhile), [`Cassette`] (a run
//! that is played again).

mod agent;
mod budget;
mod event;
mod item;
pub mod model;
mod record;
mod rollout;
mod run;
mod saved;
mod stop;
mod team;
mod usage;

pub use agent::check::{AnswerCheck, CheckPolicy, JudgedAnswer};
pub use agent::drift::{CallDrift, Drift, LiveTools};
pub use agent::replay::{Replay, ReplayDifference, ReplayError, ReplayPlace};
pub use agent::{AgentRun, RunOrder, RunPause};
pub use budget::price::Price;
pub use budget::{Account, Budget};
pub use event::stored::events_of;
pub use event::{CallEnd, CallOutcome, CalledTool, RunEvent, WaitingTool};
pub use item::{CallText, Echo, InputPart, ResultText, ThreadItem};
pub use record::cassette::{Cassette, CassetteError, CassetteHead};
pub use rollout::convert::Trainer;
pub use rollout::sample::Rollout;
pub use rollout::task::{RolloutTask, seed_of};
pub use rollout::trajectory::{
    NodeCall, TRAJECTORY_FORMAT, TokenDrift, Trajectory, TrajectoryChild, TrajectoryFault,
    TrajectoryNode, TrajectoryTask,
};
pub use run::end::RunEnd;
pub use run::notes::{CallNote, ChildNotes, RunNotes, TurnNote, TurnTokens};
pub use run::reference::RunReference;
pub use run::trace::{RequestPurpose, RequestTrace};
pub use run::verdict::{CheckOutcome, CheckVerdict, Evidence};
pub use run::{RunEffect, RunInput, RunState};
pub use saved::{RestoreError, SavedRun};
pub use stop::StopReason;
#[cfg(feature = "fuzz")]
pub use team::fuzz::delegated_task;
pub use team::mode::{AgentMode, TeamLimits};
pub use team::names::AGENTS;
pub use team::{Agent, AgentTools, NewSpecialist, Specialist, Team};
pub use toolcrib_core::{CitedSpan, cited_spans};
pub use usage::{Usage, UsageSource};
