//! `cargo xtask fleet`: three replicas over one database, killed and exchanged while clients work.

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

use crate::machine::cargo;
use crate::peers::find_postgres;
use crate::report::{RunReport, finish};

/// How long each of its tests takes where nothing else is said, in seconds.
const SECONDS: u64 = 60;

pub(crate) fn run(words: &[String]) -> ExitCode {
    let mut report = RunReport::default();
    report.work("fleet", || disturb(words));
    report.end()
}

/// Runs the tests of replicas for as long as the words say.
fn disturb(words: &[String]) -> Result<()> {
    let (mut seconds, mut every) = (SECONDS, None);
    for word in words {
        match word.split_once('=') {
            Some(("--seconds", number)) => seconds = whole(number)?,
            Some(("--every", number)) => every = Some(whole(number)?),
            _ => bail!("`{word}` is none of `--seconds=N` and `--every=N`"),
        }
    }
    let mut tests = cargo();
    tests.args(["test", "--package", "toolcrib-server", "--test", "it", "fleet::"]);
    tests.args(["--", "--nocapture", "--test-threads=1"]);
    tests.env("TOOLCRIB_POSTGRES", find_postgres()?);
    tests.env("TOOLCRIB_TEST_FLEET", seconds.to_string());
    if let Some(every) = every {
        tests.env("TOOLCRIB_TEST_FLEET_EVERY", every.to_string());
    }
    finish(&mut tests)
}

fn whole(number: &str) -> Result<u64> {
    number.parse().with_context(|| format!("`{number}` is no whole number of seconds"))
}
