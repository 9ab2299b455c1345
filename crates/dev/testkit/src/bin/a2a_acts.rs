//! Judges an agent of A2A by the conformance tests of that protocol.

use std::process::ExitCode;

fn main() -> ExitCode {
    toolcrib_testkit::acts::main(std::env::args().skip(1))
}
