//! `cargo xtask fleet`: three replicas over one database, killed and exchanged while clients work.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};

use crate::machine::cargo;
use crate::peers::{find_postgres, install_faketime};
use crate::report::{RunReport, finish};

/// How long each of its tests takes where nothing else is said, in seconds.
const SECONDS: u64 = 60;

pub(crate) fn run(words: &[String]) -> ExitCode {
    let mut report = RunReport::default();
    let clocks = report.tool("faketime", install_faketime);
    report.work("fleet", || disturb(words, clocks.as_deref()));
    report.end()
}

/// What may happen, and a part of the name of the test in which it does.
const FAULTS: [(&str, &str); 5] = [
    ("kill", "replicas_are_killed"),
    ("roll", "replicas_are_exchanged"),
    ("crash", "the_database_crashes"),
    ("failover", "a_standby_takes_over"),
    ("clock", "the_clock_of_the_database_jumps"),
];

/// Runs the tests of replicas for as long as the words say.
fn disturb(words: &[String], clocks: Option<&Path>) -> Result<()> {
    let (mut seconds, mut every) = (SECONDS, None);
    let mut tested = "fleet::";
    for word in words {
        match word.split_once('=') {
            Some(("--seconds", number)) => seconds = whole(number)?,
            Some(("--every", number)) => every = Some(whole(number)?),
            Some(("--fault", name)) => {
                let names = FAULTS.map(|(name, _)| name).join(", ");
                let found = FAULTS.iter().find(|(own, _)| own == &name);
                tested = found.with_context(|| format!("`{name}` must be one of: {names}"))?.1;
            }
            _ => bail!("`{word}` is none of `--seconds=N`, `--every=N` and `--fault=NAME`"),
        }
    }
    let mut tests = cargo();
    tests.args(["test", "--package", "toolcrib-server", "--test", "it", tested]);
    tests.args(["--", "--nocapture", "--test-threads=1"]);
    tests.env("TOOLCRIB_POSTGRES", find_postgres()?);
    tests.envs(clocks.map(|library| ("TOOLCRIB_FAKETIME", library)));
    tests.env("TOOLCRIB_TEST_FLEET", seconds.to_string());
    if let Some(every) = every {
        tests.env("TOOLCRIB_TEST_FLEET_EVERY", every.to_string());
    }
    finish(&mut tests)
}

fn whole(number: &str) -> Result<u64> {
    number.parse().with_context(|| format!("`{number}` is no whole number of seconds"))
}
