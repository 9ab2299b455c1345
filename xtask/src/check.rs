//! The steps that need no test: format, lints, documentation, what the library offers, its features,
//! book, fuzz targets, dependencies.

pub(crate) mod public_api;

use crate::machine::{cargo, program, target};
use crate::report::RunReport;
use crate::{book, tools};

/// Runs every step, also after one has failed.
pub(crate) fn run(report: &mut RunReport) {
    report.step("format", cargo().args(["fmt", "--all", "--check"]));
    report.step("format of fuzz", cargo().args(["fmt", "--check"]).args(FUZZ));
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
    public_api::step(report);
    for features in FEATURES {
        let check = ["check", "--quiet", "-p", "toolcrib", "--lib", "--features", features];
        report.step(&format!("features `{features}`"), cargo().args(check));
    }
    let check = ["check", "--quiet", "-p", "toolcrib-server", "--no-default-features"];
    report.step(
        "binary with its command line alone",
        cargo().args(check).args(["--features", "cli"]),
    );
    report.step(
        "what a file is told of what was left out",
        cargo().args(["test", "--quiet", "-p", "toolcrib-config", "--no-default-features"]).args([
            "--test",
            "it",
            "this_program_was_built_without",
        ]),
    );
    book::step(report);
    // Without its default feature a target is type-checked but compiles and links no C++.
    report.step(
        "fuzz targets",
        cargo().args(["check", "--no-default-features", "--target-dir"]).arg(target()).args(FUZZ),
    );
    // Advisories stay out: their database is fetched anew at every run, and is no part of a commit.
    if let Some(cargo_deny) = tools::cargo_deny(report) {
        report.step(
            "dependencies",
            program(cargo_deny).args(["check", "bans", "licenses", "sources"]),
        );
    }
}

const FUZZ: [&str; 2] = ["--manifest-path", "fuzz/Cargo.toml"];
/// Of the library: each builds alone.
const FEATURES: [&str; 16] = [
    "",
    "agent",
    "auth",
    "basics",
    "caldav",
    "config",
    "desk",
    "egress",
    "gateway",
    "google",
    "imap",
    "mcp",
    "openapi",
    "postgres",
    "sentence-model",
    "store",
];
const DENY: [&str; 3] = ["--", "-D", "warnings"];
