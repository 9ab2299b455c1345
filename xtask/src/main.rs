//! The door of the chores: `cargo xtask WORD`.

use std::process::ExitCode;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    xtask::main(&words)
}
