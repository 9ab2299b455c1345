//! The project's chores: `cargo xtask test`, `check` and `bench`.
//!
//! Reading order: `check` (the steps that run no test), `test` (everything a commit must pass),
//! `tools` (what is installed for them), `report` (how a run is told), `machine` (the only file
//! that starts programs, reads the environment and prints).
//! What is true of the whole repository is tested in `tests/it`.

mod check;
pub mod machine;
mod report;
mod tally;
mod test;
mod tools;

use std::process::ExitCode;

use machine::say;
use report::Report;

const HELP: &str = "\
usage: cargo xtask WORD

  test    install what the tests need into .tools, then run `check` and every test
  check   format, lints, documentation, fuzz targets, dependencies; no tests
  bench   run the benchmarks; further words go to `cargo bench`
  help    this page

With CI=true in the environment, whatever had to be skipped counts as failed.";

/// Does the chore that the first word names; the words are those after `cargo xtask`.
pub fn main(words: &[String]) -> ExitCode {
    let (word, rest) = words.split_first().map_or(("help", words), |(word, rest)| (word, rest));
    match (word, rest) {
        ("test", []) => test::run(),
        ("check", []) => {
            let mut report = Report::default();
            check::run(&mut report);
            report.end()
        }
        ("bench", _) => {
            let mut report = Report::default();
            report.step("bench", machine::cargo().args(["bench", "--workspace"]).args(rest));
            report.end()
        }
        ("help" | "--help" | "-h", _) => {
            say(HELP);
            ExitCode::SUCCESS
        }
        ("test" | "check", _) => refuse(&format!("`{word}` takes no further words")),
        _ => refuse(&format!("unknown word `{word}`")),
    }
}

fn refuse(problem: &str) -> ExitCode {
    say(&format!("error: {problem}\n\n{HELP}"));
    ExitCode::from(2)
}
