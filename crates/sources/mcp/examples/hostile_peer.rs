//! The server that breaks the rules, for the tests of this crate.

fn main() -> std::process::ExitCode {
    toolcrib_testkit::hostile::main(std::env::args().skip(1))
}
