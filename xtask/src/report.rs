//! How a run is told: each step with its seconds, and at the end all that failed or was skipped.

use std::process::{Command, ExitCode};
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use crate::machine::{say, unattended};

/// What went wrong so far; a failed step does not keep the next ones from running.
#[derive(Default)]
pub(crate) struct RunReport {
    failed: Vec<String>,
    skipped: Vec<String>,
}

impl RunReport {
    /// Runs a program to its end; its output goes straight through.
    pub(crate) fn step(&mut self, name: &str, command: &mut Command) {
        self.work(name, || finish(command));
    }

    /// Does a piece of work under a name; `None` if it failed.
    pub(crate) fn work<T>(&mut self, name: &str, work: impl FnOnce() -> Result<T>) -> Option<T> {
        timed(name, work).map_err(|problem| self.failed.push(problem)).ok()
    }

    /// Gets a tool; without it, what needs it is skipped.
    pub(crate) fn tool<T>(&mut self, name: &str, get: impl FnOnce() -> Result<T>) -> Option<T> {
        timed(name, get).map_err(|problem| self.skipped.push(problem)).ok()
    }

    /// Notes what was not checked, and why.
    pub(crate) fn skip(&mut self, what: String) {
        self.skipped.push(what);
    }

    /// Tells the end of the run and decides it.
    pub(crate) fn end(self) -> ExitCode {
        for skipped in &self.skipped {
            say(&format!("skipped: {skipped}"));
        }
        for failed in &self.failed {
            say(&format!("failed: {failed}"));
        }
        let skips_count = unattended() && !self.skipped.is_empty();
        if skips_count {
            say("failed: with CI=true nothing may be skipped");
        }
        if skips_count || !self.failed.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}

fn timed<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<T, String> {
    say(&format!("== {name}"));
    let start = Instant::now();
    let result = work().map_err(|error| format!("{name}: {error:#}"));
    let end = if result.is_ok() { "done" } else { "FAILED" };
    say(&format!("-- {name}: {end}, {:.1} s", start.elapsed().as_secs_f64()));
    result
}

/// Runs a program to its end and makes an error of any end but success.
pub(crate) fn finish(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("cannot start `{name}`"))?;
    ensure!(status.success(), "`{name}` ended with {status}");
    Ok(())
}
