//! What came to a run from outside, as it is written down beside its events: with the thread it is
//! all that a replay needs, and it repeats neither the thread nor the events.

use serde::{Deserialize, Serialize};
use toolcrib_core::{CallWire, Reference, TicketId};

use super::response_entry::ResponseEntry;
use super::words::WordsEntry;
use crate::event::WaitingTool;
use crate::item::CallText;
use crate::model::ModelFault;
use crate::run::verdict::{CheckRules, CheckVerdict};
use crate::stop::StopReason;
use crate::usage::Usage;

/// The form that is written; a later one reads it too.
pub(crate) const TAPE_FORM: u32 = 1;

/// One thing that came, in the order of coming.
///
/// Each is written under its name, and nothing in it is kept for later while it is read, so that
/// numbers stay as they were written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TapeEntry {
    Begun(TapeHead),
    /// Another process took the run up, with an agent that may have changed.
    Resumed(TapeAgent),
    /// A turn of the model.
    Turn(Box<TurnEntry>),
    /// A batch of calls.
    Batch(BatchEntry),
    /// What became of a call that waited.
    Decided {
        ticket: TicketId,
        response: Box<ResponseEntry>,
    },
    /// Nobody decided in time.
    Lapsed {
        ticket: TicketId,
        may_have_run: bool,
    },
    /// What those have cost that worked for the run and ended: it came before their answers.
    Used(Usage),
    /// What judges say of the answer.
    Judged(Vec<CheckVerdict>),
    /// What is known of the calls under the tickets that came to be waited for.
    Waiting(Vec<WaitingTool>),
    GoOn,
    HandBack,
    Cancelled,
    Abandoned,
    /// `at`: in seconds since 1970.
    Ended {
        at: u64,
    },
}

/// How a run began.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TapeHead {
    pub(crate) form: u32,
    /// Items of its thread that were there before.
    pub(crate) items: usize,
    /// Sources that its thread had, in the order of their numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) sources: Vec<Reference>,
    pub(crate) agent: TapeAgent,
}

/// What the loop knows of its agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TapeAgent {
    /// In which results are told.
    pub(crate) dialect: String,
    #[serde(default, skip_serializing_if = "CheckRules::are_none")]
    pub(crate) checks: CheckRules,
}

/// A turn, as it came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct TurnEntry {
    /// The model was asked; else the turn ended before that.
    pub(crate) was_asked: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) said: Vec<WordsEntry>,
    pub(crate) used: Usage,
    pub(crate) end: TurnEnd,
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TurnEnd {
    Answered(AnswerEntry),
    Failed(ModelFault),
    /// The model wants to be asked again, in so many seconds, at this moment.
    Deferred {
        fault: ModelFault,
        wait: u64,
        until: u64,
    },
    /// So many of the oldest items are left out, and the item at this place stands for them.
    Compacted {
        hides: usize,
        item: usize,
    },
    /// The model read less than was thought, and is asked again.
    AskAgain,
    Exhausted(StopReason),
    Cancelled,
}

/// An answer, without what the thread has of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct AnswerEntry {
    /// The place of its item in the thread.
    pub(crate) item: usize,
    /// The thread may not get it: its words are not kept here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_held: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) was_cut: bool,
    /// The API goes on with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_paused: bool,
    /// What the provider founded it on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) citations: Vec<Reference>,
    /// For each of its calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) calls: Vec<CallEntry>,
}

/// A call of the model, without what the thread has of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct CallEntry {
    /// The crib's name of the tool, where it is not the one that the model wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) named: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fault: Option<String>,
    /// Where it is more than the name that the model wrote.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) wire: Option<CallWire>,
    /// As the model wrote it, of an answer that the thread may not get.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) told: Option<CallText>,
    /// Where the tool is from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<String>,
}

/// A batch, as it came.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct BatchEntry {
    /// How many of its calls the budget let run.
    pub(crate) may_run: usize,
    /// Why none was run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) no_plan: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) progress: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) responses: Vec<ResponseEntry>,
}
