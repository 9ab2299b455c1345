//! Why a request is refused: in words of the protocol, or before it is read.

use toolcrib_a2a_client::protocol::message::AgentMessage;
use toolcrib_a2a_client::protocol::metadata::hops::{HOPS, MOST_HOPS};
use toolcrib_a2a_server::{A2aFault, A2aFaultKind};

use crate::http::agents::api_error::ApiError;
use crate::http::routes::problem::{HttpProblem, ProblemKind};

/// Of a task of which nothing more comes.
pub(super) fn ended(kind: A2aFaultKind) -> A2aFault {
    A2aFault::new(kind, "the task has ended: `GetTask` tells how")
}

/// Refuses what agents have handed on so often that they must ask each other in a ring.
pub(super) fn takes_on(message: &AgentMessage) -> Result<(), A2aFault> {
    if message.hops() <= MOST_HOPS {
        return Ok(());
    }
    let told = format!(
        "more than {MOST_HOPS} agents have handed this request on (`message.metadata.{HOPS}`), and \
         agents that ask each other in a ring do not end: take this agent away from the tools of \
         the one that asks"
    );
    Err(A2aFault::new(A2aFaultKind::UnsupportedOperation, told))
}

pub(super) enum Refusal {
    Fault(A2aFault),
    Problem(HttpProblem),
}

impl From<A2aFault> for Refusal {
    fn from(fault: A2aFault) -> Self {
        Self::Fault(fault)
    }
}

impl From<HttpProblem> for Refusal {
    fn from(problem: HttpProblem) -> Self {
        Self::Problem(problem)
    }
}

impl From<ApiError> for Refusal {
    fn from(error: ApiError) -> Self {
        Self::Problem(error.problem(ProblemKind::UnknownRun))
    }
}

impl Refusal {
    /// The same as the protocol says it; a problem that is none of it stays one of HTTP, such as
    /// what a token may not do.
    pub(super) fn fault(self) -> Result<A2aFault, HttpProblem> {
        let problem = match self {
            Self::Fault(fault) => return Ok(fault),
            Self::Problem(problem) => problem,
        };
        let (kind, detail) = problem.told();
        let kind = match kind {
            ProblemKind::UnknownRun | ProblemKind::UnknownTicket => A2aFaultKind::TaskNotFound,
            ProblemKind::RunBusy => {
                let message = "the context has a task that has not ended: send what you have to say \
                               to that task, wait for it, or cancel it";
                return Ok(A2aFault::new(A2aFaultKind::UnsupportedOperation, message));
            }
            ProblemKind::TicketRefused => A2aFaultKind::UnsupportedOperation,
            ProblemKind::BadRequest
            | ProblemKind::InvalidBody
            | ProblemKind::InvalidQuery
            | ProblemKind::NothingLeft => A2aFaultKind::InvalidParams,
            ProblemKind::TooMany => A2aFaultKind::TooMany,
            ProblemKind::Unavailable | ProblemKind::SourceStarting => A2aFaultKind::Unavailable,
            ProblemKind::OutcomeUnknown | ProblemKind::Broken => A2aFaultKind::Internal,
            ProblemKind::BadHost
            | ProblemKind::BadOrigin
            | ProblemKind::Unauthenticated
            | ProblemKind::Forbidden
            | ProblemKind::InsufficientScope
            | ProblemKind::UnknownRoute
            | ProblemKind::WrongMethod
            | ProblemKind::NotJson
            | ProblemKind::TooLarge
            | ProblemKind::TooSlow
            | ProblemKind::UnknownTool
            | ProblemKind::UnknownProfile
            | ProblemKind::UnknownPlan
            | ProblemKind::OtherProfile
            | ProblemKind::UnknownCall
            | ProblemKind::UnknownCursor
            | ProblemKind::UnknownResult
            | ProblemKind::UnknownSource
            | ProblemKind::UnknownAgent
            | ProblemKind::UnknownSession
            | ProblemKind::NoRoom
            | ProblemKind::NotAReply
            | ProblemKind::EndKnown
            | ProblemKind::OverlayOff
            | ProblemKind::VersionConflict
            | ProblemKind::ChangeRefused
            | ProblemKind::UnknownChange
            | ProblemKind::UnknownFreeze
            | ProblemKind::DriftRefused
            | ProblemKind::KeyConflict
            | ProblemKind::KeyInUse => return Err(problem),
        };
        Ok(A2aFault::new(kind, detail))
    }
}
