//! The toolcrib binary.

mod audit;
mod cli;
mod config;
mod http;
mod secrets;
mod sources;
mod telemetry;

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(all(debug_assertions, unix))]
    config::dies_at();
    cli::main()
}
