//! What a group makes ready, holds and takes out, in the transaction in which it happens.

use toolcrib_core::RunStage;
use toolcrib_store::writes::job::WriteJob;
use toolcrib_store::writes::task::WriteTask;
use toolcrib_store::writes::unwritten_end::UnwrittenEnd;

use super::{begin, claim, hold, lock_lanes, make_ready, release, take_out, waits};
use crate::session::{Answer, Session};

/// What the parts of a group mean for jobs.
#[derive(Default)]
struct JobChanges {
    /// Runs that begin.
    begun: Vec<String>,
    /// Runs that wait for people from now on.
    waiting: Vec<String>,
    ended: Vec<String>,
    /// Runs that are asked for, or given back.
    moved: Vec<String>,
    /// Tickets about which somebody decided.
    settled: Vec<String>,
}

/// Does it behind all else that the group does. A process that is alone takes up its runs by itself.
pub(in crate::statements) async fn write(
    session: &Session,
    owed: &[UnwrittenEnd],
    jobs: &mut [WriteJob],
) -> Answer<()> {
    if session.is_alone() {
        return jobs.iter_mut().try_for_each(|job| answer(&mut job.task));
    }
    JobChanges::of(owed, jobs).write(session).await?;
    for job in &mut *jobs {
        if let WriteTask::HoldRun(asked) = &mut job.task {
            asked.run_async(async |asked| hold(session, asked).await).await?;
        }
        if let WriteTask::ReleaseRun(asked) = &mut job.task {
            asked.run_async(async |asked| release(session, asked).await).await?;
        }
    }
    // What was made ready just now is among it.
    for job in jobs {
        if let WriteTask::ClaimRuns(asked) = &mut job.task {
            asked.run_async(async |asked| claim(session, asked).await).await?;
        }
    }
    Ok(())
}

/// What a process is answered that is alone.
fn answer(task: &mut WriteTask) -> Answer<()> {
    if let WriteTask::ClaimRuns(asked) = task {
        asked.run(|_| Answer::Ok(Vec::new()))?;
    }
    if let WriteTask::HoldRun(asked) = task {
        asked.run(|_| Answer::Ok(true))?;
    }
    if let WriteTask::ReleaseRun(asked) = task {
        asked.run(|_| Answer::Ok(()))?;
    }
    Ok(())
}

impl JobChanges {
    fn of(owed: &[UnwrittenEnd], jobs: &mut [WriteJob]) -> Self {
        let mut changes = Self::default();
        for owed in owed {
            changes.settle(owed);
        }
        for job in jobs {
            changes.note(&mut job.task);
        }
        changes
    }

    fn note(&mut self, task: &mut WriteTask) {
        if let WriteTask::End(end) = task {
            self.settle(&end.owed);
        }
        if let WriteTask::CreateRun(create) = task {
            create.revise(|create, done| {
                let (run, stage) = (&create.0.run, create.0.step.stage);
                if done.is_ok() && run.parent.is_none() && stage != RunStage::Ended {
                    self.begun.push(run.id.clone());
                    self.stand(&run.id, stage);
                }
            });
        }
        if let WriteTask::AdvanceRun(advance) = task {
            advance.revise(|of, done| {
                if done.is_ok() {
                    self.stand(&of.run, of.step.stage);
                }
            });
        }
        if let WriteTask::HoldRun(asked) = task {
            self.moved.push(asked.request().run.clone());
        }
        if let WriteTask::ReleaseRun(asked) = task {
            self.moved.push(asked.request().run.clone());
        }
    }

    /// A run stands so from now on.
    fn stand(&mut self, run: &str, stage: RunStage) {
        match stage {
            RunStage::Running => {}
            RunStage::Waiting => self.waiting.push(run.to_owned()),
            RunStage::Ended => self.ended.push(run.to_owned()),
        }
    }

    fn settle(&mut self, owed: &UnwrittenEnd) {
        if let UnwrittenEnd::IdempotencyKey { key, .. } = owed {
            self.settled.extend(key.ticket().map(str::to_owned));
        }
    }

    async fn write(self, session: &Session) -> Answer<()> {
        let Self { begun, waiting, ended, moved, settled } = self;
        let mut woken = Vec::new();
        if !(waiting.is_empty() && settled.is_empty()) {
            waits::lock_tickets(session, &settled, &waiting).await?;
            waits::clear(session, &waiting).await?;
            waits::put(session, &waiting).await?;
            woken = waits::wake(session, &settled).await?;
        }
        let touched = [&begun[..], &ended, &moved, &woken].concat();
        if touched.is_empty() {
            return Ok(());
        }
        lock_lanes(session, &touched).await?;
        if !begun.is_empty() {
            begin(session, &begun).await?;
        }
        if !ended.is_empty() {
            waits::clear(session, &ended).await?;
            take_out(session, &ended).await?;
        }
        if !woken.is_empty() {
            make_ready(session, &woken).await?;
        }
        Ok(())
    }
}
