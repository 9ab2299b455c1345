//! Judges a gateway of MCP from both ends.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolcrib_testkit::intermediary::main(std::env::args().skip(1))
}
