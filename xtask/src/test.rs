//! `cargo xtask test`: everything a commit must pass.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, ensure};

use crate::machine::{cargo, say};
use crate::peers::Peers;
use crate::report::Report;
use crate::tally::Tally;
use crate::{check, tools};

/// Installs, checks, tests; the last line tells how many tests passed and failed.
pub(crate) fn run() -> ExitCode {
    let mut report = Report::default();
    let python = tools::python(&mut report);
    let peers = Peers::install(&mut report);
    check::run(&mut report);
    let mut tests = cargo();
    tests.args(["test", "--workspace", "--all-features", "--no-fail-fast"]);
    for (name, place) in [(PYTHON, python)].iter().chain(peers.variables()) {
        // One of the caller's would be another version.
        tests.env_remove(name).envs(place.as_ref().map(|place| (name, place)));
    }
    let mut tally = Tally::default();
    report.work("tests", || stream(&mut tests, &mut tally));
    for skipped in &tally.skipped {
        report.skip(skipped.clone());
    }
    let end = report.end();
    say(&tally.line());
    end
}

/// Tests that compare us with a Python peer find it under this name, and skip without it.
const PYTHON: &str = "TOOLCRIB_PYTHON";

fn stream(tests: &mut Command, tally: &mut Tally) -> Result<()> {
    let mut running = tests.stdout(Stdio::piped()).spawn().context("cannot start `cargo`")?;
    let output = running.stdout.take().context("`cargo test` has no output")?;
    let mut terminal = std::io::stdout();
    for line in BufReader::new(output).split(b'\n') {
        let mut line = line.context("cannot read what the tests say")?;
        tally.read(&String::from_utf8_lossy(&line));
        line.push(b'\n');
        terminal.write_all(&line).context("cannot tell what the tests say")?;
    }
    let status = running.wait().context("cannot wait for `cargo test`")?;
    ensure!(status.success(), "`cargo test` ended with {status}");
    Ok(())
}
