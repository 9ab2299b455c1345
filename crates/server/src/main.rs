//! The toolcrib binary.

mod cli;
mod config;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
