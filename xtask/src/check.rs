//! The steps that need no test: format, lints, documentation, dependencies.

use crate::machine::{cargo, program};
use crate::report::Report;
use crate::tools;

/// Runs every step, also after one has failed.
pub(crate) fn run(report: &mut Report) {
    report.step("format", cargo().args(["fmt", "--all", "--check"]));
    report.step(
        "lints",
        cargo().args(["clippy", "--workspace", "--all-targets", "--all-features"]).args(DENY),
    );
    report.step(
        "documentation",
        cargo()
            .args(["doc", "--workspace", "--no-deps", "--all-features"])
            .env("RUSTDOCFLAGS", "-D warnings -D rustdoc::all"),
    );
    // Advisories stay out: their database is fetched anew at every run, and is no part of a commit.
    if let Some(cargo_deny) = tools::cargo_deny(report) {
        report.step(
            "dependencies",
            program(cargo_deny).args(["check", "bans", "licenses", "sources"]),
        );
    }
}

const DENY: [&str; 3] = ["--", "-D", "warnings"];
