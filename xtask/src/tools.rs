//! What tests and checks need beyond cargo, installed into `.tools`, where git does not look.
//!
//! A tool that cannot be had is noted as skipped: the rest can be checked without it.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::machine::{cargo, program, root};
use crate::report::{RunReport, finish};

const CARGO_DENY: &str = "0.20.2";
const MDBOOK: &str = "0.5.4";

/// The checker of licences, duplicates and bans.
pub(crate) fn cargo_deny(report: &mut RunReport) -> Option<PathBuf> {
    report.tool("cargo-deny", || install("cargo-deny", CARGO_DENY, &[]))
}

/// What makes a book of the documents.
pub(crate) fn mdbook(report: &mut RunReport) -> Option<PathBuf> {
    report.tool("mdBook", || install("mdbook", MDBOOK, &["--features", "search"]))
}

/// A Python with the peers that tests compare us with, at the versions of the requirements file.
pub(crate) fn python(report: &mut RunReport) -> Option<PathBuf> {
    report.tool("Python", || install_venv("python", "xtask/python-requirements.txt"))
}

fn install(name: &str, version: &str, more: &[&str]) -> Result<PathBuf> {
    let place = root().join(".tools");
    let installed = place.join("bin").join(name);
    if says_version(&installed, version) {
        return Ok(installed);
    }
    // Built without optimisation and without what we do not use, such as the half that needs a
    // network: a minute instead of many. It does its work within a second all the same.
    finish(
        cargo()
            .args(["install", "--quiet", "--locked", "--debug", "--no-default-features", "--root"])
            .arg(&place)
            .args(more)
            .arg(format!("{name}@{version}"))
            .env("CARGO_PROFILE_DEV_DEBUG", "false")
            .env_remove("CARGO_TARGET_DIR"),
    )?;
    Ok(installed)
}

/// A Python of its own in a folder of `.tools`, with what a requirements file lists.
pub(crate) fn install_venv(folder: &str, requirements: &str) -> Result<PathBuf> {
    let place = root().join(".tools").join(folder);
    let python = place.join("bin/python");
    let requirements = root().join(requirements);
    let wanted = read(&requirements)?;
    // The copy is written last, so an install that broke off is done again.
    let installed = place.join("installed-requirements.txt");
    if says_version(&python, "3.") && read(&installed).is_ok_and(|text| text == wanted) {
        return Ok(python);
    }
    finish(program("python3").args(["-m", "venv", "--clear"]).arg(&place))?;
    finish(
        program(&python)
            .args(["-m", "pip", "install", "--quiet", "--no-input", "--requirement"])
            .arg(&requirements),
    )?;
    std::fs::write(&installed, wanted).context("cannot note the installed requirements")?;
    Ok(python)
}

/// The packages of a requirements file in a folder of `.tools`, without what they name.
pub(crate) fn install_alone(folder: &str, requirements: &str) -> Result<PathBuf> {
    let requirements = root().join(requirements);
    let place = root().join(".tools").join(folder);
    let wanted = read(&requirements)?;
    // The copy is written last, so an install that broke off is done again.
    let installed = place.join("installed-requirements.txt");
    if !read(&installed).is_ok_and(|text| text == wanted) {
        finish(
            program("python3")
                .args(["-m", "pip", "install", "--quiet", "--no-input", "--no-deps", "--upgrade"])
                .arg("--target")
                .arg(&place)
                .arg("--requirement")
                .arg(&requirements),
        )?;
        std::fs::write(&installed, wanted).context("cannot note the installed packages")?;
    }
    Ok(place)
}

fn says_version(program_path: &Path, version: &str) -> bool {
    program(program_path)
        .arg("--version")
        .output()
        .is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(version))
}

pub(crate) fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))
}
