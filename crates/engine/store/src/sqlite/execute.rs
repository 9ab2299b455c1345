//! Does what the writer is asked, in the statements of SQLite, within the transaction of a group.

use rusqlite::Connection;
use toolcrib_core::IdempotencyKey;

use super::prune;
use super::statements::{calls, history, keys, results, run_notes, runs, sessions, tickets};
use crate::options::StoreOptions;
use crate::writes::task::WriteTask;
use crate::writes::unwritten_end::UnwrittenEnd;

/// One part of a group. What came of it, the task keeps.
pub(super) fn execute(
    task: &mut WriteTask,
    connection: &Connection,
    options: &StoreOptions,
) -> rusqlite::Result<()> {
    match task {
        WriteTask::Queue(call) => calls::queue(connection, call),
        WriteTask::Read(read) => read.run(|call, end| calls::plan(connection, call, end)),
        WriteTask::Plan(plan) => plan.run(|plan| {
            bind_all(&plan.keys, connection)?;
            calls::plan(connection, &plan.call, None).map(Ok)
        }),
        WriteTask::End(end) => write_end(&end.owed, connection),
        WriteTask::Resolve(resolve) => {
            resolve.run(|resolve| calls::resolve(connection, &resolve.key, resolve.ending, None))
        }
        WriteTask::Judge(judge) => judge.run(|judge| {
            calls::resolve(connection, &judge.key, judge.end.ending(), Some(&judge.by))?;
            history::any(connection, &judge.key)
        }),
        WriteTask::FindUnknown(find) => {
            find.run(|find| calls::unknown(connection, &find.like, find.after))
        }
        WriteTask::Begin(claim) => claim.run(|claim| {
            keys::begin(&claim.key, connection, (claim.arguments, claim.hold), options)
        }),
        WriteTask::Bind(bind) => bind.run(|bind| bind_all(&bind.0, connection).map(Ok)),
        WriteTask::Checkpoint(leave) => leave.run(|leave| {
            leave.keys.iter().try_for_each(|key| keys::checkpoint(key, connection, &leave.written))
        }),
        WriteTask::TakeUp(take) => take.run(|take| keys::take_up(&take.0, connection)),
        WriteTask::Park(park) => {
            park.run(|park| tickets::park(connection, &park.0, options.tickets))
        }
        WriteTask::Claim(claim) => {
            claim.run(|claim| tickets::claim(connection, &claim.ticket, &claim.caller, options))
        }
        WriteTask::Keep(keep) => keep.run(|keep| {
            let handle = results::write(connection, &keep.0, options)?;
            Ok((handle, results::holders(connection, Some(&keep.0.tenant))?))
        }),
        WriteTask::CreateRun(create) => create.run(|create| runs::create(connection, &create.0)),
        WriteTask::AdvanceRun(advance) => {
            advance.run(|advance| runs::advance(connection, &advance.run, &advance.step))
        }
        WriteTask::ForgetRun(forget) => {
            forget.run(|forget| runs::forget(connection, &forget.caller, &forget.run))
        }
        WriteTask::Note(note) => note
            .run(|note| run_notes::write(connection, &note.run, &note.name, note.text.as_deref())),
        WriteTask::Session(session) => session.run(|asked| sessions::write(connection, asked)),
        WriteTask::Prune(prune) => prune.run(|_| prune::step(connection, options)),
        WriteTask::Flush(flush) => flush.run(|_| Ok(())),
        #[cfg(test)]
        WriteTask::Stop(stop) => stop.run(|stop| {
            stop.stand();
            Ok(())
        }),
    }
}

/// The end of a call or of a key.
pub(super) fn write_end(owed: &UnwrittenEnd, connection: &Connection) -> rusqlite::Result<()> {
    match owed {
        UnwrittenEnd::Call { key, end, .. } => calls::end(connection, key, end),
        UnwrittenEnd::IdempotencyKey { key, settled } => keys::settle(key, connection, settled),
    }
}

fn bind_all(keys: &[IdempotencyKey], connection: &Connection) -> rusqlite::Result<()> {
    keys.iter().try_for_each(|key| keys::bind(key, connection))
}
