//! A server of the Model Context Protocol that breaks the rules as it is told.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolcrib_testkit::hostile::main(std::env::args().skip(1))
}
