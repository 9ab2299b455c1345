//! The store as a ledger.

use std::sync::Arc;
use std::time::Duration;

use toolcrib_core::{
    BoxFuture, CallKey, CallLedger, CallStatus, Caller, Checkpoint, Content, Effect, Ending,
    EndingReport, Fingerprint, KeyLedger, KeyResult, LedgerError, OpenTickets, ParkedCall,
    PlannedCall, ResultHandle, ResultLedger, TicketError, TicketId, TicketLedger, UncertainCall,
};

use super::Store;
use crate::rows::calls::{DuplicateQuery, NewCall};
use crate::rows::history::CallRecord;
use crate::rows::keys::{IdempotencyKey, KeyHold, KeySettlement, KeyState};
use crate::rows::tickets::NewTicket;
use crate::writes::job::Durability;
use crate::writes::requests::{
    BindKeys, ClaimTicket, LeaveCheckpoint, ParkTicket, PlanCall, PlanRefusal, ResolveCall,
    TakeUpKey,
};
use crate::writes::task::WriteTask;

impl CallLedger for Store {
    fn queued<'a>(&'a self, call: PlannedCall<'a>) -> BoxFuture<'a, Result<(), LedgerError>> {
        let new = NewCall::of(&call);
        Box::pin(async move { Ok(self.0.writer.hand_over(WriteTask::Queue(new)).await?) })
    }

    fn planned<'a>(&'a self, call: PlannedCall<'a>) -> BoxFuture<'a, Result<(), LedgerError>> {
        let new = NewCall::of(&call);
        Box::pin(async move {
            if call.tool.effect == Effect::Read {
                let shared = Arc::clone(self.0.writer.shared());
                let row = self.0.reading.begin(call.key, new, shared);
                return Ok(self.0.writer.hand_over(WriteTask::Read(row)).await?);
            }
            let shared = self.0.writer.shared();
            let lapsed = || shared.lease.lapsed(&shared.path).map_or(Ok(()), Err);
            lapsed()?;
            let replica = shared.lease.name();
            let guard = shared.lease.take_asked(call.key);
            let plan = PlanCall { call: new, keys: call.keys.to_vec(), guard };
            let planned = self.0.writer.ask(Durability::Sync, plan).await?;
            planned.map_err(LedgerError::new)?;
            // This process may have been stopped meanwhile, and the others gone on without it.
            lapsed()?;
            // Or it goes on as another one since, and the call has an end.
            if shared.lease.name() != replica {
                return Err(LedgerError::new(PlanRefusal::Lost));
            }
            Ok(())
        })
    }

    fn finished(&self, call: CallKey, ending: Ending) -> BoxFuture<'_, Result<(), LedgerError>> {
        self.ended(call, ending.into())
    }

    fn ended(&self, call: CallKey, finish: EndingReport) -> BoxFuture<'_, Result<(), LedgerError>> {
        Box::pin(async move { Ok(self.finish(call, finish).await?) })
    }

    fn resolved(&self, call: CallKey, ending: Ending) -> BoxFuture<'_, Result<(), LedgerError>> {
        let resolve = ResolveCall { key: call.to_string(), ending };
        Box::pin(async move { Ok(self.0.writer.ask(Durability::Commit, resolve).await?) })
    }

    fn unknown_like<'a>(
        &'a self,
        call: PlannedCall<'a>,
        window: Duration,
    ) -> BoxFuture<'a, Result<Option<UncertainCall>, LedgerError>> {
        let (key, like) = (call.key, DuplicateQuery::of(&call));
        Box::pin(async move { Ok(self.unknown_like(key, like, window).await?) })
    }

    fn status<'a>(
        &'a self,
        caller: &'a Caller,
        call: &'a str,
    ) -> BoxFuture<'a, Result<Option<CallStatus>, LedgerError>> {
        Box::pin(async move { Ok(self.call(caller, call).await?.map(CallRecord::stands)) })
    }

    fn supports_status(&self) -> bool {
        true
    }
}

impl KeyLedger for Store {
    fn begin<'a>(
        &'a self,
        key: &'a IdempotencyKey,
        arguments: Fingerprint,
    ) -> BoxFuture<'a, Result<KeyState, LedgerError>> {
        Box::pin(async move { Ok(self.begin_with(key, arguments, KeyHold::Loose).await?) })
    }

    fn bind<'a>(&'a self, keys: &'a [IdempotencyKey]) -> BoxFuture<'a, Result<(), LedgerError>> {
        let bind = BindKeys(keys.to_vec());
        Box::pin(async move {
            let bound = self.0.writer.ask(Durability::Sync, bind).await?;
            bound.map_err(LedgerError::new)
        })
    }

    fn settle<'a>(
        &'a self,
        key: &'a IdempotencyKey,
        end: KeyResult,
    ) -> BoxFuture<'a, Result<(), LedgerError>> {
        match &end {
            KeyResult::Told { now, .. } => self.0.told.put(key, now),
            KeyResult::Late(answer) => self.0.told.replace(key, answer),
            KeyResult::Answered(_) | KeyResult::Lost | KeyResult::Free => {}
        }
        Box::pin(async move { Ok(self.write_end(key, KeySettlement::of(&end)).await?) })
    }

    fn checkpoint<'a>(
        &'a self,
        keys: &'a [IdempotencyKey],
        checkpoint: &'a Checkpoint,
    ) -> BoxFuture<'a, Result<(), LedgerError>> {
        let leave = LeaveCheckpoint { keys: keys.to_vec(), written: checkpoint.written() };
        Box::pin(async move { Ok(self.0.writer.ask(Durability::Sync, leave).await?) })
    }

    fn take_up<'a>(
        &'a self,
        key: &'a IdempotencyKey,
    ) -> BoxFuture<'a, Result<Option<Checkpoint>, LedgerError>> {
        let take = TakeUpKey(key.clone());
        Box::pin(async move { Ok(self.0.writer.ask(Durability::Sync, take).await?) })
    }

    fn recorded<'a>(
        &'a self,
        key: &'a IdempotencyKey,
    ) -> BoxFuture<'a, Result<KeyState, LedgerError>> {
        Box::pin(async move {
            Ok(match self.0.readers.recorded(key.clone()).await? {
                KeyState::Ended(later) => KeyState::Ended(self.0.told.get(key).unwrap_or(later)),
                begun @ (KeyState::New
                | KeyState::Running
                | KeyState::Unknown
                | KeyState::Conflict) => begun,
            })
        })
    }
}

impl TicketLedger for Store {
    fn park(&self, parked: ParkedCall) -> BoxFuture<'_, Result<(), LedgerError>> {
        Box::pin(async move {
            let park = ParkTicket(NewTicket::of(parked)?);
            self.0.writer.ask(Durability::Sync, park).await?.map_err(LedgerError::new)
        })
    }

    fn claim<'a>(
        &'a self,
        ticket: &'a TicketId,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<ParkedCall, TicketError>> {
        let claim = ClaimTicket { ticket: ticket.clone(), caller: caller.clone() };
        Box::pin(async move {
            self.0.writer.ask(Durability::Sync, claim).await.map_err(LedgerError::from)?
        })
    }

    fn parked<'a>(
        &'a self,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<Vec<ParkedCall>, LedgerError>> {
        Box::pin(async move { Ok(self.0.readers.parked(caller.clone()).await?) })
    }

    fn open_tickets<'a>(
        &'a self,
        of: Option<&'a Caller>,
        after: u64,
        limit: usize,
    ) -> BoxFuture<'a, Result<OpenTickets, LedgerError>> {
        let of = of.cloned();
        Box::pin(async move { Ok(self.0.readers.open_tickets(of, after, limit).await?) })
    }

    fn owner<'a>(
        &'a self,
        ticket: &'a TicketId,
    ) -> BoxFuture<'a, Result<Option<Caller>, LedgerError>> {
        Box::pin(async move { Ok(self.0.readers.owner(ticket.clone()).await?) })
    }

    fn waiting(&self) -> BoxFuture<'_, Option<u64>> {
        Box::pin(async move { self.0.readers.waiting().await.ok() })
    }

    fn ticket<'a>(
        &'a self,
        ticket: &'a TicketId,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<Option<ParkedCall>, LedgerError>> {
        Box::pin(async move { Ok(self.0.readers.ticket(ticket.clone(), caller.clone()).await?) })
    }
}

impl ResultLedger for Store {
    fn keep<'a>(
        &'a self,
        caller: &'a Caller,
        content: Arc<Content>,
    ) -> BoxFuture<'a, Option<ResultHandle>> {
        Box::pin(async move { self.keep_large(caller, &content).await })
    }

    fn kept<'a>(
        &'a self,
        caller: &'a Caller,
        handle: &'a ResultHandle,
    ) -> BoxFuture<'a, Option<Arc<Content>>> {
        Box::pin(
            async move { self.0.readers.kept(caller.clone(), handle.clone()).await.ok().flatten() },
        )
    }

    fn keeps_for(&self, caller: &Caller) -> bool {
        self.0.writer.shared().holders.has(caller)
    }
}
