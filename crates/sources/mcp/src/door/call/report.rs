//! What a call has to say in the end, to its own request or to whoever asks for its task.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::ErrorData;
use serde_json::{Value, json};
use toolcrib_core::{
    Audience, BatchOptions, Caller, Decision, ErrorKind, LedgerError, ParkedCall, PendingTicket,
    Plan, Redemption, Refusal, RefusalReason, Response, Run, TicketError, TicketId, ToolError,
    ToolOutcome, Trace,
};
use toolcrib_engine::Crib;

use super::refusal_code;
use super::result::{result, waiting};
use super::running::{CallIdentity, CallLifetime, McpCallEnd, RunningMcpCall};
use crate::door::client::features::ClientFeatures;
use crate::door::provider::CribProvider;
use crate::protocol::json::borrowed_json::BorrowedJson;

/// How long somebody who comes too late for a ticket waits for the end of its call.
const PATIENCE: Duration = Duration::from_secs(30);

/// One call as it looks when it is over, and its ticket while it is not.
pub(crate) struct CallReport<'a> {
    pub(crate) cribs: &'a Arc<dyn CribProvider>,
    /// Of its request.
    pub(crate) crib: &'a Crib,
    pub(crate) client: &'a ClientFeatures,
    pub(crate) plan: &'a Plan,
    pub(crate) identity: &'a CallIdentity,
    pub(crate) tool: &'a str,
}

impl CallReport<'_> {
    /// The result, or the error where a client is told of it by its code.
    pub(crate) fn told<'a>(&self, response: &'a Response) -> Result<BorrowedJson<'a>, ErrorData> {
        match &response.outcome {
            ToolOutcome::Failed(error) if self.is_of_protocol(error) => Err(error_data(error)),
            ToolOutcome::Done(_)
            | ToolOutcome::Failed(_)
            | ToolOutcome::Denied { .. }
            | ToolOutcome::Pending(_) => Ok(result(response, || self.promises_data(), self.client)),
        }
    }

    /// Whether this client was promised data of a schema as a result.
    fn promises_data(&self) -> bool {
        let tool = self.plan.get(self.tool);
        let output = tool.as_ref().and_then(|tool| tool.listed.spec.output.as_ref());
        output.is_some_and(|schema| self.client.takes_output(schema))
    }

    /// A call that waits for a person, who is not asked by this client and decides by a command.
    pub(crate) fn awaited(&self, pending: &PendingTicket, command: &str) -> Value {
        let told = to_be_decided(pending, command);
        waiting(&pending.ticket, &told, self.promises_data(), self.client)
    }

    /// Whether a client is told of an error by its code, and not a model by its words.
    fn is_of_protocol(&self, error: &ToolError) -> bool {
        let lacks = |refusal: &Refusal| {
            let is_so = match refusal.reason {
                RefusalReason::HostLacks(_) => true,
                RefusalReason::Origin { code, .. } => code == refusal_code::CLIENT_LACKS,
                RefusalReason::UnknownMethod
                | RefusalReason::InvalidRequest
                | RefusalReason::NoResource { .. } => false,
            };
            is_so && self.client.is_modern
        };
        let is_sole = || self.crib.sole().is_some();
        let refusal = error.refusal.as_deref();
        // A model that names a wrong tool to one that passes calls on is to read what it did.
        let is_relay = || {
            self.plan.meta_tools().relay.as_ref().is_some_and(|relay| relay.as_str() == self.tool)
        };
        let is_missing = [ErrorKind::UnknownTool, ErrorKind::SourceStarting].contains(&error.kind);
        (is_missing && !is_relay()) || refusal.is_some_and(|refusal| lacks(refusal) || is_sole())
    }

    /// A door that stands for one server passes on what that one says and nothing else.
    pub(crate) fn audience(&self) -> Audience {
        if self.crib.sole().is_some() { Audience::Client } else { Audience::Program }
    }

    /// Redeems a ticket for whoever decided.
    pub(crate) fn redeem(
        &self,
        caller: Arc<Caller>,
        ticket: TicketId,
        decision: Decision,
        trace: Option<Trace>,
    ) -> RunningMcpCall {
        // The rules may be others by now than when the call was made.
        let cribs = Arc::clone(self.cribs);
        let profile = self.identity.profile.clone();
        let audience = self.audience();
        RunningMcpCall::start(
            self.identity.clone(),
            self.client,
            CallLifetime::WithItsClient,
            |options| {
                let options = BatchOptions { trace, audience, ..options };
                Box::pin(async move {
                    let Some(crib) = cribs.crib(profile.as_deref()) else {
                        return McpCallEnd::of_call(Err(TicketError::Unknown));
                    };
                    McpCallEnd::of_call(
                        redeem(&*cribs, &crib, &caller, &ticket, decision, options).await,
                    )
                })
            },
        )
    }

    /// The call under a ticket, as long as nobody decided about it.
    pub(crate) async fn parked(
        &self,
        ticket: &TicketId,
    ) -> Result<Option<ParkedCall>, LedgerError> {
        let caller = &self.identity.caller;
        let parked = self.crib.ticket(caller, ticket).await?;
        Ok(parked.filter(|parked| self.cribs.may_see(caller, parked)))
    }

    /// What came of a call under a ticket that somebody decided about.
    pub(crate) async fn redeemed(&self, ticket: &TicketId) -> Option<Response> {
        redeemed(self.crib, &self.identity.caller, ticket).await
    }
}

async fn redeem(
    cribs: &dyn CribProvider,
    crib: &Crib,
    caller: &Caller,
    ticket: &TicketId,
    decision: Decision,
    options: BatchOptions,
) -> Result<Response, TicketError> {
    let parked = crib.ticket(caller, ticket).await?;
    if parked.is_some_and(|parked| !cribs.may_decide(caller, &parked)) {
        return Err(TicketError::Unknown);
    }
    let run = &Run::default();
    match crib.redeem(Redemption { caller, ticket, decision, run, options }).await {
        // Whoever comes second is told what came of the first.
        Err(TicketError::Used) => redeemed(crib, caller, ticket).await.ok_or(TicketError::Used),
        redeemed => redeemed,
    }
}

async fn redeemed(crib: &Crib, caller: &Caller, ticket: &TicketId) -> Option<Response> {
    crib.redeemed(caller, ticket, PATIENCE).await.ok().flatten()
}

/// What a model reads of a question that a person put away without an answer.
pub(crate) fn undecided(pending: &PendingTicket) -> String {
    if pending.question.is_some() {
        return format!(
            "Waiting for an answer of the user: {}. Nobody answered. The call has begun and goes on \
             when a person has; the question is kept under the ticket `{}`. Do not call it again: \
             tell the user what is asked",
            pending.reason, pending.ticket
        );
    }
    format!(
        "Waiting for approval: {}. Nobody decided. The call has not run; it is kept under the \
         ticket `{}`. Do not call it again: tell the user what you are waiting for",
        pending.reason, pending.ticket
    )
}

/// What a model reads whose client can ask nobody.
fn to_be_decided(pending: &PendingTicket, command: &str) -> String {
    let PendingTicket { reason, ticket, question } = pending;
    if question.is_some() {
        return format!(
            "Waiting for an answer of the user: {reason}. The call has begun and goes on when they \
             have answered; the question is kept under the ticket `{ticket}`. Tell the user to \
             answer in a terminal of this machine, by `{command} answer {ticket} FIELD=VALUE` or \
             `{command} deny {ticket}`; do not do that yourself. Once the user has answered, make \
             the same call again: it tells what came of it, and runs nothing a second time"
        );
    }
    format!(
        "Waiting for approval: {reason}. The call has not run yet; it is kept under the ticket \
         `{ticket}`. Tell the user to decide in a terminal of this machine, by `{command} approve \
         {ticket}` or `{command} deny {ticket}`; do not do that yourself. Once the user has decided, \
         make the same call again: it tells what came of it, and runs nothing a second time"
    )
}

/// What a model reads of a call that a person decided about and that has no end yet.
pub(crate) fn under_way(ticket: &TicketId) -> String {
    format!(
        "A person decided about this call, which was kept under the ticket `{ticket}`, and its end \
         is not known yet. Make the same call again later: it runs nothing a second time"
    )
}

/// An error as the protocol has it.
pub(crate) fn error_data(error: &ToolError) -> ErrorData {
    if let Some(refusal) = &error.refusal {
        return refusal_code::error_data(refusal);
    }
    let kinds = [ErrorKind::InvalidCall, ErrorKind::InvalidArguments, ErrorKind::UnknownTool];
    if kinds.contains(&error.kind) {
        return ErrorData::invalid_params(error.message.clone(), None);
    }
    let after = error.retry_after.map(|after| json!({ "retryAfterMs": after.as_millis() }));
    let data = match after {
        Some(mut data) if error.kind == ErrorKind::SourceStarting => {
            // For programs, which may make the call again.
            if let Some(fields) = data.as_object_mut() {
                fields.insert("error".to_owned(), error.kind.as_str().into());
            }
            Some(data)
        }
        after => after,
    };
    ErrorData::internal_error(error.message.clone(), data)
}
