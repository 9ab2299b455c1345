//! The toolcrib binary.

mod audit;
mod cli;
mod config;
mod freeze;
mod http;
mod secrets;
mod sources;
mod telemetry;

use std::process::ExitCode;

/// A call takes memory a hundred times, from one thread and gives it back on another: it costs half
/// of what the system's own costs.
#[cfg(target_os = "linux")]
#[global_allocator]
static MEMORY: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    #[cfg(all(debug_assertions, unix))]
    config::dies_at();
    cli::main()
}
