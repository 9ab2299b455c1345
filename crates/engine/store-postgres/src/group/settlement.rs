//! Tells those who wait for a group whose confirmation did not come, once the database says whether
//! it is there.

use toolcrib_core::Ending;
use toolcrib_store::StoreError;
use toolcrib_store::rows::calls::CallEnd;
use toolcrib_store::writes::job::WriteJob;
use toolcrib_store::writes::task::WriteTask;
use toolcrib_store::writes::unwritten_end::UnwrittenEnd;

use super::unsettled::UnsettledGroup;
use super::{PostgresGroup, needs_sync};

impl PostgresGroup {
    /// Looks at once, and else whenever the database is tried again.
    pub(super) fn postpone(
        &mut self,
        owed: Vec<UnwrittenEnd>,
        jobs: Vec<WriteJob>,
        error: StoreError,
    ) {
        *self.shared.fault() = Some(error.clone());
        let number = self.progress.next();
        self.unsettled = Some(UnsettledGroup { number, owed, jobs, error });
        if let Ok(session) = self.reach() {
            self.session = Some(session);
        }
    }

    /// Tells those who asked, as the database has so many groups.
    pub(super) fn settle(&mut self, groups: i64) {
        let Some(UnsettledGroup { number, owed, jobs, error }) = self.unsettled.take() else {
            return;
        };
        if groups < number {
            *self.shared.fault() = Some(error.clone());
            self.shared.give_back(owed);
            for job in jobs {
                job.task.answer(Err(error.clone()));
            }
            return;
        }
        // Those were given back in this group. Given back once more, one that was claimed anew in
        // it would be open again, and its call would run twice.
        self.unheard.clear();
        self.take_back(&jobs);
        let sync = needs_sync(&jobs);
        self.progress.note_group(sync);
        self.confirm(owed, jobs);
    }

    /// Whoever waits no more was told that it was not done, and so it must not stand there as done.
    /// A key that nobody heard of comes back by itself.
    fn take_back(&mut self, jobs: &[WriteJob]) {
        for job in jobs {
            if let WriteTask::Plan(plan) = &job.task
                && !plan.is_awaited()
            {
                let end = CallEnd::now(Ending::NotExecuted.into());
                UnwrittenEnd::call(plan.request().call.key, end, &self.shared).later(&self.shared);
            }
            if let WriteTask::Claim(claim) = &job.task
                && !claim.is_awaited()
            {
                let of = claim.request();
                self.unheard.push((of.ticket.clone(), of.caller.clone()));
            }
        }
    }

    /// Nobody will know.
    pub(super) fn give_up(&mut self, error: &StoreError) {
        let Some(UnsettledGroup { owed, jobs, .. }) = self.unsettled.take() else { return };
        self.shared.give_back(owed);
        for job in jobs {
            job.task.answer(Err(error.clone()));
        }
    }
}
