//! A server of the Model Context Protocol that does what it is told, and mostly what it must not.
//!
//! It is written by hand, byte by byte, because no library would let it break the rules.
//! Read in this order: [`WORDS`] (what can be asked of it), `answer` (what it does on a request),
//! `tools` (what it lists), `stdio` and [`HostileServer`] (how it says it).

mod answer;
mod http;
mod script;
mod stdio;
mod tools;

use std::io::Write as _;
use std::process::ExitCode;

pub use http::HostileServer;
pub use script::WORDS;
pub use tools::HIDDEN;

use script::HostileScript;

/// The `main` of a program that plays the server; the words are those after its name.
///
/// Cargo builds no programs of a dependency, so a crate that wants one writes an example of one
/// line: `fn main() -> ExitCode { toolcrib_testkit::hostile::main(std::env::args().skip(1)) }`.
pub fn main(words: impl IntoIterator<Item = String>) -> ExitCode {
    let mut words: Vec<String> = words.into_iter().collect();
    let is_http = words.first().is_some_and(|word| word == "http");
    if is_http || words.first().is_some_and(|word| word == "stdio") {
        words.remove(0);
    }
    let result = if is_http {
        HostileServer::start(&words.iter().map(String::as_str).collect::<Vec<_>>()).and_then(
            |server| {
                writeln!(std::io::stdout(), "{}", server.url())
                    .map_err(|error| error.to_string())?;
                server.wait();
                Ok(())
            },
        )
    } else {
        HostileScript::parse(&words)
            .and_then(|script| stdio::run(&script).map_err(|error| error.to_string()))
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            let _ = writeln!(std::io::stderr(), "error: {problem}\n\n{}", script::page());
            ExitCode::from(2)
        }
    }
}
