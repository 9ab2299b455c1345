//! Ctrl-C, or a wish of the system that we end: once stops what has not started and answers the
//! rest, twice stops at once.

use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use tokio::runtime::Runtime;
use tokio::signal::ctrl_c;
use toolcrib_core::{BatchOptions, FormFallback, Host};

use super::output::Output;
use crate::cli::output::terminal::TerminalHost;

/// Until a person presses Ctrl-C, or the system asks us to end. To be killed would leave behind
/// what hides from the death of its parent.
pub(super) async fn told_to_end() -> io::Result<()> {
    #[cfg(unix)]
    {
        let mut asked = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
        tokio::select! {
            heard = ctrl_c() => heard,
            _ = asked.recv() => Ok(()),
        }
    }
    #[cfg(not(unix))]
    ctrl_c().await
}

/// After each such time a person is told that a call still runs.
const LONG: Duration = Duration::from_secs(5);

/// What came of work that a person could interrupt.
pub(super) struct InterruptibleResult<T> {
    /// `None` if nobody waited for it any more.
    pub(super) answer: Option<T>,
    pub(super) interrupted: bool,
}

/// Runs work of which a person sees and steers the calls; whoever cancels batches takes the
/// options along. `asker`: the tool that is called, if it is one.
pub(super) fn interruptible<T, F: Future<Output = T>>(
    runtime: &Runtime,
    (output, asker): (&Output, Option<&str>),
    work: impl FnOnce(BatchOptions) -> F,
) -> Result<InterruptibleResult<T>> {
    runtime.block_on(async {
        let host: Arc<dyn Host> = Arc::new(TerminalHost::new(output.clone(), asker));
        // A ticket would end with this command.
        let unheard = FormFallback::Refused;
        let options = BatchOptions { host: Some(host), unheard, ..BatchOptions::default() };
        let cancel = options.cancel.clone();
        let mut working = pin!(work(options));
        let mut told = pin!(told_to_end());
        let begun = Instant::now();
        loop {
            tokio::select! {
                biased;
                done = &mut working => {
                    return Ok(InterruptibleResult { answer: Some(done), interrupted: false });
                }
                heard = &mut told => {
                    heard?;
                    break;
                }
                // Whoever waits long is told that it goes on; a question tells that itself.
                () = tokio::time::sleep(LONG), if output.is_watched() => if !output.asks() {
                    let what = asker.map_or_else(|| "it".to_owned(), |name| format!("`{name}`"));
                    output.note(&format!("{what} runs since {} s", begun.elapsed().as_secs()));
                }
            }
        }
        cancel.cancel();
        let answer = tokio::select! {
            biased;
            done = &mut working => Some(done),
            heard = told_to_end() => {
                heard?;
                None
            }
        };
        Ok(InterruptibleResult { answer, interrupted: true })
    })
}
