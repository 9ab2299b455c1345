//! Does what a group is asked, within its transaction. None of those who ask has an answer before
//! the group ends, so that they may be done in any order, but for what nobody waits for: the row of
//! a call comes before its end.

use toolcrib_store::StoreOptions;
use toolcrib_store::writes::job::WriteJob;
use toolcrib_store::writes::requests::PlanRefusal;
use toolcrib_store::writes::task::WriteTask;
use toolcrib_store::writes::unwritten_end::UnwrittenEnd;

use super::calls::{self, CallEnds, CallRows};
use super::{history, keys, prune, results, runs_written, tickets};
use crate::client_sessions;
use crate::session::{Answer, Session};

/// What is owed, and then the jobs.
pub(crate) async fn execute(
    session: &Session,
    owed: &[UnwrittenEnd],
    jobs: &mut [WriteJob],
    options: &StoreOptions,
) -> Answer<()> {
    write_ends(session, owed.iter()).await?;
    for job in &*jobs {
        if let WriteTask::End(end) = &job.task
            && let UnwrittenEnd::IdempotencyKey { key, settled } = &end.owed
        {
            keys::settle(session, key, settled).await?;
        }
    }
    let mut claims = Vec::new();
    for job in &mut *jobs {
        if let WriteTask::Begin(claim) = &mut job.task {
            claims.push(claim);
        }
    }
    keys::begin_all(session, &mut claims, options).await?;
    plan(session, jobs).await?;
    let mut ends = CallEnds::default();
    for job in &*jobs {
        if let WriteTask::End(end) = &job.task
            && let UnwrittenEnd::Call { key, end, .. } = &end.owed
        {
            ends.push(key, end);
        }
    }
    ends.write(session).await?;
    for job in jobs {
        others(session, &mut job.task, options).await?;
    }
    Ok(())
}

/// Ends in the order in which they came.
async fn write_ends(session: &Session, owed: impl Iterator<Item = &UnwrittenEnd>) -> Answer<()> {
    let mut ends = CallEnds::default();
    for owed in owed {
        match owed {
            UnwrittenEnd::Call { key, end, .. } => ends.push(key, end),
            UnwrittenEnd::IdempotencyKey { key, settled } => {
                keys::settle(session, key, settled).await?;
            }
        }
    }
    ends.write(session).await
}

/// The rows of calls: first those that wait, since one of them may be planned in the same group.
async fn plan(session: &Session, jobs: &mut [WriteJob]) -> Answer<()> {
    let (mut queued, mut planned) = (CallRows::default(), CallRows::default());
    let mut bound = Vec::new();
    for job in &mut *jobs {
        if let WriteTask::Queue(call) = &job.task {
            queued.push(call, None);
        }
        if let WriteTask::Read(read) = &job.task {
            read.write(|call, end| planned.push(call, end));
        }
        if let WriteTask::Plan(plan) = &job.task
            && plan.is_awaited()
        {
            bound.extend_from_slice(&plan.request().keys);
        }
    }
    let held = keys::bind_all(session, &bound).await?;
    for job in &mut *jobs {
        if let WriteTask::Plan(plan) = &mut job.task {
            plan.run(|plan| {
                let is_held = keys::are_held(&plan.keys, &held);
                if is_held {
                    planned.push_guarded(&plan.call, plan.guard);
                }
                Answer::Ok(if is_held { Ok(()) } else { Err(PlanRefusal::Lost) })
            })?;
        }
    }
    queued.write(session, false).await?;
    let written = planned.write(session, true).await?;
    let mut sent = Vec::new();
    for job in jobs {
        if let WriteTask::Plan(plan) = &mut job.task {
            plan.revise(|plan, answer| {
                if answer.is_ok() && !written.contains(&plan.call.key.to_string()) {
                    let is_guarded = plan.guard.is_some();
                    *answer =
                        Err(if is_guarded { PlanRefusal::Guarded } else { PlanRefusal::Lost });
                }
                if answer.is_ok() {
                    sent.extend_from_slice(&plan.keys);
                }
            });
        }
    }
    keys::redeemed(session, &sent).await
}

/// What is rare, each by itself.
async fn others(session: &Session, task: &mut WriteTask, options: &StoreOptions) -> Answer<()> {
    match task {
        WriteTask::Queue(_)
        | WriteTask::Read(_)
        | WriteTask::Plan(_)
        | WriteTask::End(_)
        | WriteTask::Begin(_) => Ok(()),
        WriteTask::Resolve(resolve) => {
            resolve
                .run_async(async |of| calls::resolve(session, &of.key, of.ending, None).await)
                .await
        }
        WriteTask::Judge(judge) => {
            judge
                .run_async(async |judge| {
                    let ending = judge.end.ending();
                    calls::resolve(session, &judge.key, ending, Some(&judge.by)).await?;
                    history::any(session, &judge.key).await
                })
                .await
        }
        WriteTask::FindUnknown(find) => {
            find.run_async(async |find| calls::unknown(session, &find.like, find.after).await).await
        }
        WriteTask::Bind(_) | WriteTask::Checkpoint(_) | WriteTask::TakeUp(_) => {
            of_keys(session, task).await
        }
        WriteTask::Park(park) => {
            park.run_async(async |park| tickets::park(session, &park.0, options).await).await
        }
        WriteTask::Claim(claim) => {
            claim
                .run_async(async |claim| {
                    tickets::claim(session, &claim.ticket, &claim.caller, options).await
                })
                .await
        }
        WriteTask::Keep(keep) => {
            keep.run_async(async |keep| {
                let handle = results::write(session, &keep.0, options).await?;
                Ok((handle, results::holders(session, Some(&keep.0.tenant)).await?))
            })
            .await
        }
        WriteTask::Prune(prune) => {
            prune.run_async(async |_| prune::step(session, options).await).await
        }
        WriteTask::Session(write) => {
            write.run_async(async |asked| client_sessions::write(session, asked).await).await
        }
        WriteTask::Flush(flush) => flush.run(|_| Ok(())),
        WriteTask::CreateRun(_)
        | WriteTask::AdvanceRun(_)
        | WriteTask::ForgetRun(_)
        | WriteTask::Note(_) => of_runs(session, task).await,
    }
}

async fn of_keys(session: &Session, task: &mut WriteTask) -> Answer<()> {
    if let WriteTask::Bind(bind) = task {
        bind.run_async(async |bind| {
            let held = keys::bind_all(session, &bind.0).await?;
            if !keys::are_held(&bind.0, &held) {
                return Answer::Ok(Err(PlanRefusal::Lost));
            }
            keys::redeemed(session, &bind.0).await?;
            Ok(Ok(()))
        })
        .await?;
    }
    if let WriteTask::Checkpoint(leave) = task {
        leave.run_async(async |of| keys::checkpoint(session, &of.keys, &of.written).await).await?;
    }
    if let WriteTask::TakeUp(take) = task {
        take.run_async(async |take| keys::take_up(session, &take.0).await).await?;
    }
    Ok(())
}

async fn of_runs(session: &Session, task: &mut WriteTask) -> Answer<()> {
    if let WriteTask::CreateRun(create) = task {
        create.run_async(async |create| runs_written::create(session, &create.0).await).await?;
    }
    if let WriteTask::AdvanceRun(advance) = task {
        advance
            .run_async(async |of| runs_written::advance(session, &of.run, &of.step).await)
            .await?;
    }
    if let WriteTask::ForgetRun(forget) = task {
        forget
            .run_async(async |of| runs_written::forget(session, &of.caller, &of.run).await)
            .await?;
    }
    if let WriteTask::Note(note) = task {
        note.run_async(async |note| {
            runs_written::note(session, &note.run, &note.name, note.text.as_deref()).await
        })
        .await?;
    }
    Ok(())
}
