//! Ctrl-C: once stops what has not started and answers the rest, twice stops at once.

use std::pin::pin;

use anyhow::Result;
use tokio::runtime::Builder;
use tokio::signal::ctrl_c;
use toolcrib::BatchOptions;

/// What came of work that a person could interrupt.
pub(super) struct Finished<T> {
    /// `None` if nobody waited for it any more.
    pub(super) answer: Option<T>,
    pub(super) interrupted: bool,
}

/// Runs work on a runtime of its own; whoever cancels batches takes the options along.
pub(super) fn interruptible<T, F: Future<Output = T>>(
    work: impl FnOnce(BatchOptions) -> F,
) -> Result<Finished<T>> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let finished = runtime.block_on(async {
        let options = BatchOptions::default();
        let cancel = options.cancel.clone();
        let mut working = pin!(work(options));
        tokio::select! {
            biased;
            done = &mut working => {
                return Ok(Finished { answer: Some(done), interrupted: false });
            }
            heard = ctrl_c() => heard?,
        }
        cancel.cancel();
        let answer = tokio::select! {
            biased;
            done = &mut working => Some(done),
            heard = ctrl_c() => {
                heard?;
                None
            }
        };
        Ok(Finished { answer, interrupted: true })
    });
    // A thread that still waits for a line of the person is left behind.
    runtime.shutdown_background();
    finished
}
