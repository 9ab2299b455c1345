//! `cargo xtask book`: the documents as pages for a browser, in `target/book`.

use std::process::ExitCode;

use crate::machine::program;
use crate::report::RunReport;
use crate::tools;

/// Builds the book; mdBook is installed first if it is not there.
pub(crate) fn run() -> ExitCode {
    let mut report = RunReport::default();
    step(&mut report);
    report.end()
}

/// A page that the list of the book names and that is missing fails the step; what pages include is
/// looked at by a test.
pub(crate) fn step(report: &mut RunReport) {
    if let Some(mdbook) = tools::mdbook(report) {
        report.step("book", program(mdbook).args(["build", "docs"]));
    }
}
