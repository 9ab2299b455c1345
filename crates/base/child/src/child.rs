//! A running program: its pipes, its end, and how to end it.

pub(crate) mod exit;

use std::fmt;
use std::time::Duration;

use rustix::process::Signal;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::time::timeout;

use crate::error::SpawnError;
use crate::program::Program;
use crate::stderr::StderrTail;
use crate::supervisor::{self, ExitWatcher, KillOnDrop, SpawnedProgram};
use exit::Exit;

/// How long a program has to end after its input closed, and again after `SIGTERM`.
const GRACE: Duration = Duration::from_secs(2);

/// How long the kernel has to carry out `SIGKILL` and we to find the last descendant.
const DEATH: Duration = Duration::from_secs(5);

/// How long after the end the last words may take to arrive.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// A running program; dropped, it is killed at once with everything it spawned.
///
/// Killing takes a moment and a drop does not wait for it; [`Child::stop`] does.
pub struct Child {
    pipes: Option<(ChildStdin, ChildStdout)>,
    stderr: StderrTail,
    leash: KillOnDrop,
}

impl Child {
    /// Starts a program; it must be called within a Tokio runtime, which its pipes belong to.
    pub async fn spawn(program: &Program) -> Result<Self, SpawnError> {
        let SpawnedProgram { stdin, stdout, stderr, leash } =
            supervisor::start(program.clone()).await?;
        let failed = |source| SpawnError::Start { command: program.name(), source };
        let stderr = StderrTail::follow(stderr, program.limits.stderr).map_err(failed)?;
        let pipes = (
            ChildStdin::from_std(stdin).map_err(failed)?,
            ChildStdout::from_std(stdout).map_err(failed)?,
        );
        Ok(Self { pipes: Some(pipes), stderr, leash })
    }

    /// Its input and output; `None` the second time.
    pub fn take_pipes(&mut self) -> Option<(ChildStdin, ChildStdout)> {
        self.pipes.take()
    }

    /// Its process id, which is also that of its session and its group.
    pub fn id(&self) -> u32 {
        self.leash.id()
    }

    /// The end of what it wrote to its standard error; stays readable after the child is gone.
    pub fn stderr(&self) -> StderrTail {
        self.stderr.clone()
    }

    /// Waits for its end; what it spawned may still run.
    ///
    /// By then [`Child::stderr`] has all that was written before, unless a descendant holds on to
    /// the pipe.
    pub async fn ended(&self) -> Exit {
        let exit = self.leash.ending().ended().await;
        let _ = timeout(LAST_WORDS, self.stderr.closed()).await;
        exit
    }

    /// Its end, for whoever waits for it and does not hold the child.
    pub fn ending(&self) -> ExitWatcher {
        self.leash.ending().clone()
    }

    /// Ends it: closes its input, sends `SIGTERM` to its group after 2 s and `SIGKILL` after 2
    /// more, then kills and reaps every descendant that is left.
    ///
    /// Whoever took the pipes should drop the input first; else the first 2 s pass in vain.
    pub async fn stop(mut self) -> Exit {
        // The output stays open until the end, so that a last answer does not break the program.
        let _output = self.pipes.take().map(|(_input, output)| output);
        for signal in [None, Some(Signal::TERM)] {
            if let Some(signal) = signal {
                self.leash.signal(signal);
            }
            if timeout(GRACE, self.leash.ending().ended()).await.is_ok() {
                break;
            }
        }
        self.kill().await
    }

    /// Ends it without a word: `SIGKILL`, then kills and reaps every descendant.
    pub async fn kill(self) -> Exit {
        self.leash.finish();
        timeout(DEATH, self.leash.gone()).await.unwrap_or_default()
    }
}

impl fmt::Debug for Child {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Child").field("id", &self.id()).finish_non_exhaustive()
    }
}
