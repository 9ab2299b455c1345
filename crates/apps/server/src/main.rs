//! The toolcrib binary.

use std::process::ExitCode;

/// A call takes memory a hundred times, from one thread and gives it back on another: it costs half
/// of what the system's own costs.
#[cfg(target_os = "linux")]
#[global_allocator]
static MEMORY: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    toolcrib_server::main()
}
