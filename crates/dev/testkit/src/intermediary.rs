//! `mcp-intermediary-suite`: the checks of a gateway of MCP, made from both ends.
//!
//! A client before the gateway and a server behind it are ours; what lies between is judged by its
//! address. Read in this order: `words` (the command line, with a page that teaches it), `checks`
//! (what is checked), `bench` (both ends of a check), `client` and `events` (before the gateway),
//! `upstream` and `relay` (behind it), `report`.

#![expect(
    clippy::indexing_slicing,
    reason = "what a JSON value lacks reads as null, and members are written into our own alone"
)]

mod bench;
mod check;
mod checks;
mod client;
mod events;
mod relay;
mod report;
mod upstream;
mod words;

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::ExitCode;
use std::time::Instant;

use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use toolcrib_egress::{Egress, Network};

pub use report::{IntermediaryLevel, IntermediaryMark, IntermediaryReport, IntermediaryVerdict};
pub use words::IntermediaryRevision;

use bench::{Bench, all_of};
use check::Check;
use client::ClientPlace;
use upstream::FixtureUpstream;
use words::IntermediaryWords;

/// The `main` of the program; the words are those after its name.
pub fn main(words: impl IntoIterator<Item = String>) -> ExitCode {
    let words: Vec<String> = words.into_iter().collect();
    if let [first, address] = words.as_slice()
        && first == "relay"
    {
        return relay::run(address);
    }
    let words = match IntermediaryWords::read(words) {
        Ok(Some(words)) => words,
        // Nobody may be reading any more.
        Ok(None) => return told(words::PAGE),
        Err(why) => {
            return not_run(&format!("{why}\n\n`mcp-intermediary-suite --help` tells more"));
        }
    };
    if words.lists {
        return told(&list());
    }
    let suite = IntermediarySuite::listen(&words.upstream);
    match suite.and_then(|suite| suite.judge_within(&words)) {
        Err(why) => not_run(&why),
        Ok(report) => {
            let text = if words.is_json { format!("{:#}\n", report.json()) } else { report.text() };
            let _ = write!(std::io::stdout(), "{text}");
            if report.conforms() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
    }
}

fn told(text: &str) -> ExitCode {
    let _ = write!(std::io::stdout(), "{text}");
    ExitCode::SUCCESS
}

fn not_run(why: &str) -> ExitCode {
    let _ = writeln!(std::io::stderr(), "error: {why}");
    ExitCode::from(2)
}

/// All checks, in lines.
fn list() -> String {
    let mut text = String::new();
    for check in checks::all() {
        let revisions: Vec<_> = check.revisions().map(IntermediaryRevision::word).collect();
        let needs = check.needs.map(|needs| format!(", of `{needs}`")).unwrap_or_default();
        let (id, level, name) = (check.id, check.level.word(), check.name);
        let _ = writeln!(text, "{id}  {level}, {}{needs}\n  {name}", revisions.join(" and "));
        let _ = writeln!(text, "  it rests on: {}", check.rests_on);
    }
    text
}

/// The server of a run, which listens before the gateway is there.
pub struct IntermediarySuite {
    runtime: Runtime,
    upstream: FixtureUpstream,
}

impl IntermediarySuite {
    /// # Errors
    /// Nobody can listen at this address; in words.
    pub fn listen(address: &str) -> Result<Self, String> {
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let upstream = runtime.block_on(FixtureUpstream::listen(address))?;
        Ok(Self { runtime, upstream })
    }

    /// Where the gateway finds the server, as `127.0.0.1:7499`.
    pub fn upstream(&self) -> String {
        self.upstream.address().to_string()
    }

    /// Judges a gateway; `words` as the program takes them, without `--upstream`.
    ///
    /// # Errors
    /// The words are wrong, or the gateway does not serve the tools of the server; in words.
    pub fn judge(self, words: &[&str]) -> Result<IntermediaryReport, String> {
        let words = IntermediaryWords::read(words.iter().map(|word| (*word).to_owned()))?;
        self.judge_within(&words.ok_or("these words ask for help")?)
    }

    fn judge_within(self, words: &IntermediaryWords) -> Result<IntermediaryReport, String> {
        let Self { runtime, upstream } = self;
        runtime.block_on(judged(upstream, words))
    }
}

async fn judged(
    upstream: FixtureUpstream,
    words: &IntermediaryWords,
) -> Result<IntermediaryReport, String> {
    let address = words.address.as_ref().ok_or("name the address of a gateway")?;
    let egress = Egress::only([address.clone()], Network::default());
    let egress = egress.map_err(|error| error.message().to_owned())?;
    let route = egress.route(address).map_err(|error| error.message().to_owned())?;
    let (own, patience) = (words.own.clone(), words.patience);
    let first = *words.revisions.first().ok_or("name a revision")?;
    let place = ClientPlace { egress, route, own, revision: first, patience };
    let mut bench = Bench::new(upstream, place, words.other.clone());
    let mut report = IntermediaryReport {
        place: address.to_string(),
        revisions: words.revisions.clone(),
        marks: Vec::new(),
    };
    for revision in &words.revisions {
        bench.place.revision = *revision;
        learn_names(&mut bench).await?;
        bench.begins(*revision).await?;
        for check in checks::all().into_iter().filter(|check| words.wants(check.id)) {
            if check.revisions().any(|own| own == *revision) {
                report.marks.push(asked(&check, &bench, &words.lacks).await);
            }
        }
    }
    if report.marks.is_empty() {
        return Err("no check has a name that `--only` begins".to_owned());
    }
    Ok(report)
}

async fn asked(check: &Check, bench: &Bench, lacks: &[String]) -> IntermediaryMark {
    let start = Instant::now();
    let is_lacking = |needs: &&str| lacks.iter().any(|lacks| lacks == needs);
    let verdict = match check.needs.filter(is_lacking) {
        Some(needs) => IntermediaryVerdict::Skipped(format!("the gateway lacks `{needs}`")),
        None => match (check.run)(bench).await {
            Ok(()) => IntermediaryVerdict::Passed,
            Err(fault) => fault.into(),
        },
    };
    let milliseconds = u64::try_from(start.elapsed().as_millis()).unwrap_or(u64::MAX);
    let Check { id, name, rests_on, level, .. } = *check;
    let revision = bench.place.revision;
    IntermediaryMark { id, name, rests_on, level, revision, verdict, milliseconds }
}

/// Waits until the gateway lists the tools of the fixture, and learns what it calls them.
async fn learn_names(bench: &mut Bench) -> Result<(), String> {
    let end = Instant::now() + bench.patience();
    loop {
        let why = match listed(bench).await {
            Ok(names) => {
                for own in upstream::NAMES {
                    let is_own = |name: &&String| *name == own || name.ends_with(own);
                    let exact = names.iter().find(|name| *name == own);
                    if let Some(name) = exact.or_else(|| names.iter().find(is_own)) {
                        bench.names.insert(own.to_owned(), name.clone());
                    }
                }
                if bench.names.contains_key("echo") {
                    return Ok(());
                }
                format!("it lists no `echo` of the fixture, but {names:?}")
            }
            Err(why) => why,
        };
        if Instant::now() > end {
            let revision = bench.place.revision.word();
            return Err(format!("the gateway does not serve the fixture in {revision}: {why}"));
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

async fn listed(bench: &Bench) -> Result<Vec<String>, String> {
    let client = bench.client().await?;
    Ok(all_of(&client, "tools").await?.iter().map(|tool| words_of(&tool["name"])).collect())
}

fn words_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
