//! `cargo xtask book`: the documents as pages for a browser, in `target/book`.

use std::process::ExitCode;

use crate::machine::{program, say};
use crate::report::Report;
use crate::tools;

/// Builds the book; mdBook is installed first if it is not there.
pub(crate) fn run() -> ExitCode {
    let mut report = Report::default();
    step(&mut report);
    say("the book is in target/book, if nothing failed");
    report.end()
}

/// A page that is missing, or a file that it includes, fails the step.
pub(crate) fn step(report: &mut Report) {
    if let Some(mdbook) = tools::mdbook(report) {
        report.step("book", program(mdbook).args(["build", "docs"]));
    }
}
