//! Many samples at once, none of which waits for another: where one ends, the next begins.

use std::panic::{AssertUnwindSafe, resume_unwind};
use std::sync::Arc;

use anyhow::{Error, Result};
use futures_util::FutureExt as _;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use toolcrib_agent::Trajectory;

use super::judge::Judge;
use super::out_file::OutFile;
use super::progress::Progress;
use super::solver::Solver;
use super::tasks::PlannedSample;
use crate::cli::output::Output;
use crate::cli::signals::told_to_end;

/// So many samples in a row that do not reach their model end the rollout: the rest would not
/// either.
const MOST_UNREACHED: usize = 16;
/// Faults of a model that no other sample will be spared.
const HOPELESS: [&str; 3] = ["unreachable", "unauthorized", "not_found"];

/// Everything that samples share.
pub(super) struct Crew<'a> {
    pub(super) solver: Arc<Solver>,
    pub(super) judge: Option<Arc<Judge>>,
    pub(super) output: &'a Output,
    /// Samples that are under way at a time.
    pub(super) places: usize,
}

/// How a rollout ended before all was done.
pub(super) enum CrewEnd {
    Done,
    Interrupted,
    /// What is written no more, or who is not reached.
    Stopped(Error),
}

/// A rollout under way.
struct CrewShift<'a> {
    crew: &'a Crew<'a>,
    out: &'a mut OutFile,
    progress: &'a mut Progress,
    running: JoinSet<(String, Option<Trajectory>)>,
    judging: JoinSet<(Trajectory, serde_json::Result<String>)>,
    cancel: CancellationToken,
    unreached: usize,
    end: CrewEnd,
}

impl Crew<'_> {
    /// Does all of them, or as many as can be done.
    pub(super) async fn work(
        &self,
        samples: Vec<PlannedSample>,
        out: &mut OutFile,
        progress: &mut Progress,
    ) -> Result<CrewEnd> {
        let mut shift = CrewShift {
            crew: self,
            out,
            progress,
            running: JoinSet::new(),
            judging: JoinSet::new(),
            cancel: CancellationToken::new(),
            unreached: 0,
            end: CrewEnd::Done,
        };
        shift.work(samples).await?;
        shift.progress.clear(self.output);
        let end = shift.end;
        out.sync()?;
        Ok(end)
    }
}

impl CrewShift<'_> {
    async fn work(&mut self, samples: Vec<PlannedSample>) -> Result<()> {
        let mut samples = samples.into_iter();
        let mut tick = interval(self.progress.pace());
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut told = Box::pin(told_to_end());
        loop {
            self.begin(&mut samples);
            if self.running.is_empty() && self.judging.is_empty() {
                return Ok(());
            }
            tokio::select! {
                biased;
                heard = &mut told => {
                    heard?;
                    if self.cancel.is_cancelled() {
                        // Twice: at once.
                        return Ok(());
                    }
                    self.stop(CrewEnd::Interrupted);
                    let under_way = self.running.len();
                    self.progress.clear(self.crew.output);
                    self.crew.output.note(&format!(
                        "stopping: {under_way} under way begin anew with `--resume`; again to \
                         stop at once"
                    ));
                    told = Box::pin(told_to_end());
                }
                Some(judged) = self.judging.join_next() => self.judged(judged),
                Some(ended) = self.running.join_next() => self.ended(ended),
                _ = tick.tick() => {
                    self.progress.tell(self.running.len(), self.crew.output);
                }
            }
        }
    }

    /// Begins as many as there are places for. A slow judge holds no place of the model, but it is
    /// waited for before there is too much for it.
    fn begin(&mut self, samples: &mut impl Iterator<Item = PlannedSample>) {
        let places = self.crew.places;
        while self.running.len() < places
            && self.judging.len() < places
            && !self.cancel.is_cancelled()
        {
            let Some(sample) = samples.next() else { return };
            let (id, solver) = (sample.id.clone(), Arc::clone(&self.crew.solver));
            let cancel = self.cancel.clone();
            self.running.spawn(async move {
                let running = AssertUnwindSafe(solver.rollout(sample).run(&cancel));
                let ended = running.catch_unwind().await;
                // However it ended.
                let trajectory = ended.as_ref().ok().and_then(Option::as_ref);
                solver.release(&id, trajectory).await;
                (id, ended.unwrap_or_else(|panic| resume_unwind(panic)))
            });
        }
    }

    fn ended(&mut self, ended: Result<(String, Option<Trajectory>), JoinError>) {
        match ended {
            Ok((_, None)) => {}
            Ok((_, Some(trajectory))) => self.judge(trajectory),
            Err(error) => {
                self.progress.clear(self.crew.output);
                self.crew.output.warn(&[format!("a trajectory was lost to a fault: {error}")]);
            }
        }
    }

    fn judge(&mut self, mut one: Trajectory) {
        let judge = self.crew.judge.clone().filter(|_| !one.is_faulty());
        self.judging.spawn(async move {
            if let Some(judge) = judge {
                judge.judge(&mut one).await;
            }
            let line = serde_json::to_string(&one);
            (one, line)
        });
    }

    fn judged(&mut self, judged: Result<(Trajectory, serde_json::Result<String>), JoinError>) {
        let (one, line) = match judged {
            Ok((one, Ok(line))) => (one, line),
            Ok((_, Err(error))) => return self.stop(CrewEnd::Stopped(error.into())),
            Err(error) => return self.stop(CrewEnd::Stopped(error.into())),
        };
        if let Err(error) = self.out.write(&line) {
            return self.stop(CrewEnd::Stopped(error));
        }
        self.progress.ended(&one);
        let fault = one.fault.filter(|fault| HOPELESS.contains(&fault.kind.as_str()));
        let Some(fault) = fault else {
            self.unreached = 0;
            return;
        };
        self.unreached += 1;
        if self.unreached >= MOST_UNREACHED.min(self.crew.places.max(2)) {
            self.stop(CrewEnd::Stopped(anyhow::anyhow!(
                "{}; `--resume` goes on once it answers",
                fault.message
            )));
        }
    }

    /// Nothing begins any more, and what runs is told to end. The first reason counts.
    fn stop(&mut self, end: CrewEnd) {
        self.cancel.cancel();
        if matches!(self.end, CrewEnd::Done) {
            self.end = end;
        }
    }
}
