//! What runs on one connection, where questions do not say whose they are.

use std::time::Duration;

use tokio::time::Instant;

use crate::client::inflight::asking_habits::SharingRule;

/// For so long a call of which nothing is known runs before others join it.
const FRESH: Duration = Duration::from_millis(100);

/// What runs on one connection.
#[derive(Default)]
pub(super) struct ConnectionLoad {
    pub(super) sharing: usize,
    pub(super) alone: bool,
    /// The one that is alone asks by a ticket.
    pub(super) by_ticket: bool,
    /// Until then nobody joins the call that came last.
    pub(super) fresh: Option<Instant>,
}

/// What a call needs of a connection.
#[derive(Clone, Copy)]
pub(super) struct IsolationNeed {
    pub(super) company: SharingRule,
    /// What it asks waits under a ticket.
    pub(super) by_ticket: bool,
}

impl ConnectionLoad {
    pub(super) fn is_free(&self) -> bool {
        self.sharing == 0 && !self.alone
    }

    pub(super) fn take(
        &mut self,
        IsolationNeed { company, by_ticket }: IsolationNeed,
        now: Instant,
    ) {
        self.alone = company.is_alone();
        self.by_ticket = self.alone && by_ticket;
        self.sharing += usize::from(!self.alone);
        self.fresh = (company == SharingRule::OthersSoon).then(|| now + FRESH);
    }

    pub(super) fn leave(&mut self) {
        if self.sharing == 0 {
            (self.alone, self.by_ticket) = (false, false);
        }
        self.sharing = self.sharing.saturating_sub(1);
    }
}
