//! `a2a-acts`: the conformance tests of the `Agent2Agent` protocol (ACTS), asked of any agent.
//!
//! The tests are files of YAML that others wrote; their grammar is `docs/acts-specification.md` of
//! a2aproject/A2A. Read in this order: `words` (the command line, with a page that teaches it),
//! `suite` (the files), `agent` (who is judged), `special` (which tests can be asked), `play` (one
//! test), `matching` and `stream` (what is expected), `binding` and `wire` (how it is asked),
//! `client` (the tests of clients), `report`.
//!
//! Where suite and specification differ, the specification is followed: the suite says so itself.

mod agent;
mod binding;
mod client;
mod matching;
mod play;
mod report;
mod special;
mod stream;
mod suite;
mod values;
mod wire;
mod words;

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Instant;

pub use binding::ActsBinding;
pub use report::{ActsCount, ActsMark, ActsReport};
pub use special::ActsVerdict;
pub use suite::{ActsLevel, SuiteFault};

use agent::{AgentAddress, JudgedAgent};
use suite::ActsTest;
use words::ActsWords;

/// The `main` of the program; the words are those after its name.
pub fn main(words: impl IntoIterator<Item = String>) -> ExitCode {
    let words = match ActsWords::read(words) {
        Ok(Some(words)) => words,
        Ok(None) => {
            // Nobody may be reading any more.
            let _ = write!(std::io::stdout(), "{}", words::PAGE);
            return ExitCode::SUCCESS;
        }
        Err(why) => return not_run(&format!("{why}\n\n`a2a-acts --help` tells more")),
    };
    match judge_within(&words) {
        Err(why) => not_run(&why),
        Ok(report) => {
            let text = if words.is_json { format!("{:#}\n", report.json()) } else { report.text() };
            let _ = write!(std::io::stdout(), "{text}");
            if report.conforms() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
    }
}

fn not_run(why: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "error: {why}");
    ExitCode::from(2)
}

/// What the program does with these words, as a value.
///
/// # Errors
/// The words are wrong, the suite cannot be read, or there is no agent; in words.
pub fn judge(words: &[&str]) -> Result<ActsReport, String> {
    let words = ActsWords::read(words.iter().map(|word| (*word).to_owned()))?;
    judge_within(&words.ok_or("these words ask for help")?)
}

fn judge_within(words: &ActsWords) -> Result<ActsReport, String> {
    let mut tests = suite::read(&words.suite).map_err(|fault| fault.to_string())?;
    tests.retain(|test| words.wants(&test.id));
    if tests.is_empty() {
        return Err("no test has a name that `--only` begins".to_owned());
    }
    let Some(given) = &words.address else { return Ok(judge_client(words, &tests)) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(judge_agent(given, words, &tests))
}

fn judge_client(words: &ActsWords, tests: &[ActsTest]) -> ActsReport {
    let marks = tests.iter().map(|test| {
        let start = Instant::now();
        let verdict = client::ask(test, &words.client, words.patience);
        mark(test, None, verdict, start)
    });
    ActsReport { places: vec![(None, words.client.join(" "))], marks: marks.collect() }
}

fn mark(
    test: &ActsTest,
    binding: Option<ActsBinding>,
    verdict: ActsVerdict,
    start: Instant,
) -> ActsMark {
    let milliseconds = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    let (id, name, level) = (test.id.clone(), test.name.clone(), test.level);
    ActsMark { id, name, level, binding, verdict, milliseconds }
}

async fn judge_agent(
    given: &url::Url,
    words: &ActsWords,
    tests: &[ActsTest],
) -> Result<ActsReport, String> {
    let address = AgentAddress {
        given,
        at: words.at.as_ref(),
        version: &words.version,
        patience: words.patience,
    };
    let card = agent::card(&address, &words.callers).await?;
    let mut report = ActsReport::default();
    for binding in &words.bindings {
        let agent = JudgedAgent::of(*binding, &address, &card, &words.callers)?;
        let Some(agent) = agent else { continue };
        report.places.push((Some(*binding), agent.place.to_string()));
        for test in tests {
            let start = Instant::now();
            let verdict = special::ask(test, &agent, &words.wishes).await;
            report.marks.push(mark(test, Some(*binding), verdict, start));
        }
    }
    if report.places.is_empty() {
        return Err(format!(
            "the card of {} offers neither JSON-RPC nor HTTP+JSON in version {}",
            card.0, words.version
        ));
    }
    Ok(report)
}
