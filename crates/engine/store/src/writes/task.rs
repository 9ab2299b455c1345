//! All that can be a part of a group.

use super::awaited::AwaitedWrite;
use super::key_claim::KeyClaimTask;
use super::read_calls::ReadCallTask;
use super::requests::session_requests::WriteSession;
use super::requests::{
    BindKeys, ClaimTicket, FindUnknown, FlushAll, JudgeCall, KeepResult, LeaveCheckpoint,
    ParkTicket, PlanCall, PruneStep, ResolveCall, TakeUpKey,
};
use super::retry_queue::EndTask;
use super::run_requests::{AdvanceRun, CreateRun, ForgetRun, WriteNote};
#[cfg(test)]
use super::stop::Stop;
use crate::error::StoreError;
use crate::rows::calls::NewCall;

/// A part of a group. An error undoes this part alone, unless the whole was undone. It is done anew
/// if the group was undone for another's sake.
pub enum WriteTask {
    /// The row of a call that waits for its turn; nobody waits for the row.
    Queue(NewCall),
    /// The row of a call that only reads; nobody waits for it either.
    Read(ReadCallTask),
    Plan(AwaitedWrite<PlanCall>),
    /// The end of a call or of a key, which is kept if it cannot be written now.
    End(EndTask),
    Resolve(AwaitedWrite<ResolveCall>),
    Judge(AwaitedWrite<JudgeCall>),
    /// Reads behind all that came before.
    FindUnknown(AwaitedWrite<FindUnknown>),
    Begin(KeyClaimTask),
    Bind(AwaitedWrite<BindKeys>),
    Checkpoint(AwaitedWrite<LeaveCheckpoint>),
    TakeUp(AwaitedWrite<TakeUpKey>),
    Park(AwaitedWrite<ParkTicket>),
    Claim(AwaitedWrite<ClaimTicket>),
    Keep(AwaitedWrite<KeepResult>),
    CreateRun(Box<AwaitedWrite<CreateRun>>),
    AdvanceRun(AwaitedWrite<AdvanceRun>),
    ForgetRun(AwaitedWrite<ForgetRun>),
    Note(AwaitedWrite<WriteNote>),
    Session(AwaitedWrite<WriteSession>),
    Prune(AwaitedWrite<PruneStep>),
    Flush(AwaitedWrite<FlushAll>),
    #[cfg(test)]
    Stop(AwaitedWrite<Stop>),
}

impl WriteTask {
    /// Tells how the group and this part in it ended.
    pub fn answer(self, group: Result<(), StoreError>) {
        match self {
            // Where it has no row, none is missed: whoever waits was not accepted yet.
            Self::Queue(_) => {}
            Self::Read(read) => read.answer(&group),
            Self::Plan(plan) => plan.answer(group),
            Self::End(end) => end.answer(group),
            Self::Resolve(resolve) => resolve.answer(group),
            Self::Judge(judge) => judge.answer(group),
            Self::FindUnknown(find) => find.answer(group),
            Self::Begin(claim) => claim.answer(group),
            Self::Bind(bind) => bind.answer(group),
            Self::Checkpoint(leave) => leave.answer(group),
            Self::TakeUp(take) => take.answer(group),
            Self::Park(park) => park.answer(group),
            Self::Claim(claim) => claim.answer(group),
            Self::Keep(keep) => keep.answer(group),
            Self::CreateRun(create) => create.answer(group),
            Self::AdvanceRun(advance) => advance.answer(group),
            Self::ForgetRun(forget) => forget.answer(group),
            Self::Note(note) => note.answer(group),
            Self::Session(session) => session.answer(group),
            Self::Prune(prune) => prune.answer(group),
            Self::Flush(flush) => flush.answer(group),
            #[cfg(test)]
            Self::Stop(stop) => stop.answer(group),
        }
    }
}

/// Has each request be the part of a group that is named for it.
macro_rules! parts {
    ($($request:ident => $part:ident),+ $(,)?) => {
        $(impl From<AwaitedWrite<$request>> for WriteTask {
            fn from(awaited: AwaitedWrite<$request>) -> Self {
                Self::$part(awaited)
            }
        })+
    };
}

parts! {
    PlanCall => Plan,
    ResolveCall => Resolve,
    JudgeCall => Judge,
    FindUnknown => FindUnknown,
    BindKeys => Bind,
    LeaveCheckpoint => Checkpoint,
    TakeUpKey => TakeUp,
    ParkTicket => Park,
    ClaimTicket => Claim,
    KeepResult => Keep,
    AdvanceRun => AdvanceRun,
    ForgetRun => ForgetRun,
    WriteNote => Note,
    WriteSession => Session,
    PruneStep => Prune,
    FlushAll => Flush,
}

#[cfg(test)]
parts! { Stop => Stop }

impl From<AwaitedWrite<CreateRun>> for WriteTask {
    fn from(awaited: AwaitedWrite<CreateRun>) -> Self {
        Self::CreateRun(Box::new(awaited))
    }
}
