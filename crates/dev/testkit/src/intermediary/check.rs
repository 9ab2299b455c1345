//! One check: what it says, what it rests on, and how it is asked.

use std::pin::Pin;

use super::bench::{Bench, Checked};
use super::report::IntermediaryLevel;
use super::words::IntermediaryRevision;

type CheckFuture<'a> = Pin<Box<dyn Future<Output = Checked> + 'a>>;
type CheckRun = for<'a> fn(&'a Bench) -> CheckFuture<'a>;

/// One thing that a gateway must or should do.
pub(super) struct Check {
    pub(super) id: &'static str,
    pub(super) name: &'static str,
    /// The clause of the specification, or the reason.
    pub(super) rests_on: &'static str,
    pub(super) level: IntermediaryLevel,
    /// What a gateway may say that it lacks.
    pub(super) needs: Option<&'static str>,
    pub(super) run: CheckRun,
    only: Option<IntermediaryRevision>,
}

impl Check {
    pub(super) fn revisions(&self) -> impl Iterator<Item = IntermediaryRevision> {
        let only = self.only;
        IntermediaryRevision::ALL.into_iter().filter(move |own| only.is_none_or(|it| it == *own))
    }

    pub(super) fn of(self, only: IntermediaryRevision) -> Self {
        Self { only: Some(only), ..self }
    }

    pub(super) fn needs(self, needs: &'static str) -> Self {
        Self { needs: Some(needs), ..self }
    }
}

pub(super) fn must(
    id: &'static str,
    name: &'static str,
    rests_on: &'static str,
    run: CheckRun,
) -> Check {
    Check { id, name, rests_on, level: IntermediaryLevel::Must, needs: None, run, only: None }
}

pub(super) fn should(
    id: &'static str,
    name: &'static str,
    rests_on: &'static str,
    run: CheckRun,
) -> Check {
    Check { level: IntermediaryLevel::Should, ..must(id, name, rests_on, run) }
}
