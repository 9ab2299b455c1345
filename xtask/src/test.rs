//! `cargo xtask test`: everything a commit must pass.

mod tally;

use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::machine::{cargo, program, say, unattended};
use crate::peers::Peers;
use crate::report::{RunReport, finish};
use crate::{check, tools, web};
use tally::TestTally;

/// Installs, checks, tests; the last line tells how many tests passed and failed.
pub(crate) fn run() -> ExitCode {
    let mut report = RunReport::default();
    let python = tools::python(&mut report);
    let peers = Peers::install(&mut report);
    check::run(&mut report);
    web::steps(&mut report);
    let all = ["test", "--workspace", "--all-features", "--no-fail-fast"];
    // Nothing is heard while the tests are built, and silence ends them.
    report.step("build of the tests", cargo().args(all).arg("--no-run"));
    let mut tests = cargo();
    tests.args(all);
    for (name, place) in [(PYTHON, python)].iter().chain(peers.variables()) {
        // One of the caller's would be another version.
        tests.env_remove(name).envs(place.as_ref().map(|place| (name, place)));
    }
    let mut tally = TestTally::default();
    report.work("tests", || stream(&mut tests, &mut tally));
    for skipped in &tally.skipped {
        report.skip(skipped.clone());
    }
    let end = report.end();
    if !tally.tale().is_empty() {
        say(tally.tale());
    }
    say(&tally.line());
    end
}

/// Tests that compare us with a Python peer find it under this name, and skip without it.
const PYTHON: &str = "TOOLCRIB_PYTHON";

/// No test is silent for so long.
const LONGEST_SILENCE: Duration = Duration::from_mins(15);

fn stream(tests: &mut Command, tally: &mut TestTally) -> Result<()> {
    if unattended() {
        // A group of their own, so that all of it can be ended; a person ends them with Ctrl-C.
        tests.process_group(0);
    }
    let mut running = tests.stdout(Stdio::piped()).spawn().context("cannot start `cargo`")?;
    let output = running.stdout.take().context("`cargo test` has no output")?;
    let (says, said) = mpsc::channel();
    let reader = thread::spawn(move || {
        BufReader::new(output).split(b'\n').try_for_each(|line| says.send(line).ok())
    });
    let mut terminal = std::io::stdout();
    loop {
        let line = match said.recv_timeout(LONGEST_SILENCE) {
            Ok(line) => line,
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if !unattended() => continue,
            Err(RecvTimeoutError::Timeout) => {
                let group = format!("-{}", running.id());
                finish(program("kill").args(["-KILL", "--", &group]))?;
                bail!("silent for {LONGEST_SILENCE:?}, ended; still ran: {}", tally.unended());
            }
        };
        let mut line = line.context("cannot read what the tests say")?;
        tally.read(&String::from_utf8_lossy(&line));
        line.push(b'\n');
        terminal.write_all(&line).context("cannot tell what the tests say")?;
    }
    ensure!(reader.join().is_ok(), "the reader of the tests' output failed");
    let status = running.wait().context("cannot wait for `cargo test`")?;
    ensure!(status.success(), "`cargo test` ended with {status}");
    Ok(())
}
