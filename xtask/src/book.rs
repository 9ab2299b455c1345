//! `cargo xtask book`: the documents as pages for a browser, in `target/book`.

use std::process::ExitCode;

use crate::machine::program;
use crate::report::Report;
use crate::tools;

/// Builds the book; mdBook is installed first if it is not there.
pub(crate) fn run() -> ExitCode {
    let mut report = Report::default();
    step(&mut report);
    report.end()
}

/// A page that the list of the book names and that is missing fails the step; what pages include is
/// looked at by a test.
pub(crate) fn step(report: &mut Report) {
    if let Some(mdbook) = tools::mdbook(report) {
        report.step("book", program(mdbook).args(["build", "docs"]));
    }
}
