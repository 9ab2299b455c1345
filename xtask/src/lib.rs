//! The project's chores: `cargo xtask test`, `check`, `api`, `web`, `peers`, `fleet`, `bench`,
//! `book` and `dist`.
//!
//! Reading order: `check` (the steps that run no test), `test` (everything a commit must pass),
//! `web` (the page), `fleet` (several servers over one database), `bench`, `book` (the documents), `dist` (what is shipped), `instruments` (what both measure
//! with), `tools` and `peers` (what is installed for them), `report` (how a run is told), `machine`
//! (the only file that starts programs, reads the environment and prints).
//! What is true of the whole repository is tested in `tests/it`.

mod bench;
mod book;
mod check;
mod dist;
mod fleet;
mod instruments;
pub mod machine;
mod peers;
mod report;
mod test;
mod tools;
mod web;

use std::process::ExitCode;

use machine::say;
use peers::Peers;
use report::RunReport;

const HELP: &str = "\
usage: cargo xtask WORD

  test    install what the tests need into .tools, then run `check` and every test
  check   format, lints, documentation, public API, features, book, fuzz targets, dependencies; no
          tests
  api     write down what the library offers, in crates/apps/toolcrib/public-api.txt
  web     build the page of `toolcrib serve` from `web` into what the binary embeds; needs Node
  peers   install the servers of others that tests speak with, and tell where they are
  fleet [--seconds=N] [--every=N]
          three servers over one database behind a balancer, of which one is killed or exchanged
          every so many seconds while clients call, approve and hold sessions; then each call must
          have one end that is true. 60 seconds each if nothing is said
  bench   run the benchmarks; further words go to `cargo bench`
  bench gateway [--seconds=N] [--server=PATH] [--json]
          what a way through `toolcrib serve` costs, against the same server asked directly
  bench agents [--server=PATH] [--json]
          what a turn of an agent costs beside its model and beside agents of others, how much later
          its first word comes, and what runs take that wait for a person
  bench a2a [--server=PATH] [--json]
          what a message to an agent takes over A2A, and one that a source sends, beside the client
          and the server of the SDK in Python; and what many open tasks take
  bench rollout [--trajectories=N] [--server=PATH] [--json]
          many trajectories at once beside the slowest of them and beside a loop in which all wait
          for the slowest of each turn, what a slow tool costs the others, and memory
  bench soak [--minutes=N] [--rate=N] [--json]
          calls of all kinds at a steady rate, and what they leave behind
  bench retrieval [--small] [--partitions] [--json]
          how well tools are found on the labelled sets, and at which size, and how they are shared
          out over agents (`--partitions`: that alone); with TOOLCRIB_MINILM
          in the environment, as `peers` tells it, with a model too
  bench gold [--tasks=N] [--delay=MS] [--server=PATH] [--json]
          the gold calls of BFCL's multi-turn tasks by an agent of `toolcrib serve`: calls that are
          lost or different, states that differ, time a turn, and what calls at once save
  bench tokens
          what 17, 100 and 1,000 tools take in a prompt, shown directly and lazily
  book    make pages for a browser of the documents, in target/book
  dist [--plain] [--server=PATH] [--out=FOLDER]
          what is shipped: the binary, guided by a profile that is made on the spot, with manual
          pages, completions, licences and a unit, in one archive with its checksum; needs the
          program that merges profiles (`rustup component add llvm-tools`, or Debian's llvm-19),
          or `--plain`; `--server` packs a binary that is there
  help    this page

With CI=true in the environment, whatever had to be skipped counts as failed.";

/// Does the chore that the first word names; the words are those after `cargo xtask`.
pub fn main(words: &[String]) -> ExitCode {
    let (word, rest) = words.split_first().map_or(("help", words), |(word, rest)| (word, rest));
    match (word, rest) {
        ("test", []) => test::run(),
        ("check", []) => {
            let mut report = RunReport::default();
            check::run(&mut report);
            report.end()
        }
        ("api", []) => match check::public_api::write() {
            Ok(()) => ExitCode::SUCCESS,
            Err(problem) => refuse(&format!("{problem:#}")),
        },
        ("web", []) => match web::write() {
            Ok(()) => ExitCode::SUCCESS,
            Err(problem) => refuse(&format!("{problem:#}")),
        },
        ("peers", []) => {
            let mut report = RunReport::default();
            Peers::install(&mut report).tell();
            report.end()
        }
        ("fleet", _) => fleet::run(rest),
        ("bench", _) => bench::run(rest),
        ("book", []) => book::run(),
        ("dist", _) => dist::run(rest),
        ("help" | "--help" | "-h", _) => {
            say(HELP);
            ExitCode::SUCCESS
        }
        ("test" | "check" | "api" | "web" | "peers" | "book", _) => {
            refuse(&format!("`{word}` takes no further words"))
        }
        _ => refuse(&format!("unknown word `{word}`")),
    }
}

fn refuse(problem: &str) -> ExitCode {
    say(&format!("error: {problem}\n\n{HELP}"));
    ExitCode::from(2)
}
