//! `cargo xtask web`: the page, from `web` to what the binary embeds.
//!
//! What comes of it is committed, so that a build of the binary needs no Node. A step of
//! `cargo xtask test` builds it again and compares, and another looks at it in a browser.

mod browser;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::machine::{program, root};
use crate::report::{RunReport, finish};
use crate::tools::read;

/// What the binary embeds.
const EMBEDDED: &str = "crates/apps/server/page";

/// Builds the page into its place.
pub(crate) fn write() -> Result<()> {
    install()?;
    build(&root().join(EMBEDDED))
}

/// Builds it beside its place, and looks at it in a browser.
pub(crate) fn steps(report: &mut RunReport) {
    if report.tool("packages of the page", install).is_none() {
        return;
    }
    report.work("page", || {
        let again = root().join("target/page-again");
        build(&again)?;
        let (again, committed) = (files(&again)?, files(&root().join(EMBEDDED))?);
        ensure!(again == committed, "{}", difference(&again, &committed));
        Ok(())
    });
    if let Some(browser) = report.tool("browser", browser::install) {
        report.work("page in a browser", || browser.run());
    }
}

/// The packages of the page, as its lock file has them.
fn install() -> Result<()> {
    let wanted = read(&web().join("package-lock.json"))?;
    // The copy is written last, so an install that broke off is done again.
    let installed = web().join("node_modules/installed-package-lock.json");
    if read(&installed).is_ok_and(|text| text == wanted) {
        return Ok(());
    }
    // No package needs to run anything when it is installed, so none may.
    let quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
    finish(program("npm").current_dir(web()).args(["ci", "--ignore-scripts"]).args(quiet))?;
    std::fs::write(&installed, wanted).context("cannot note the installed packages of the page")
}

fn build(out: &Path) -> Result<()> {
    let (built, types) = (root().join("target/page-built"), "src/lib/schema.d.ts");
    let document = root().join("docs/openapi.json");
    finish(tool("openapi-typescript").arg(document).args([
        "--empty-objects-unknown",
        "-o",
        types,
    ]))?;
    finish(tool("svelte-check").args(["--fail-on-warnings", "--output", "human"]))?;
    finish(tool("vite").args(["build", "--logLevel", "warn", "--outDir"]).arg(&built))?;
    finish(program("node").current_dir(web()).arg("pack.mjs").arg(&built).arg(out))
}

/// A program of the packages.
fn tool(name: &str) -> Command {
    let mut tool = program(web().join("node_modules/.bin").join(name));
    tool.current_dir(web());
    tool
}

fn web() -> PathBuf {
    root().join("web")
}

/// What lies in a folder, and below it.
fn files(folder: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(at) = waiting.pop() {
        let entries = std::fs::read_dir(&at);
        for entry in entries.with_context(|| format!("cannot list `{}`", at.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                waiting.push(path);
            } else {
                let bytes = std::fs::read(&path)?;
                found.insert(path.strip_prefix(folder)?.to_owned(), bytes);
            }
        }
    }
    Ok(found)
}

fn difference(
    again: &BTreeMap<PathBuf, Vec<u8>>,
    committed: &BTreeMap<PathBuf, Vec<u8>>,
) -> String {
    let names = again.keys().chain(committed.keys());
    let mut other: Vec<_> = names.filter(|name| again.get(*name) != committed.get(*name)).collect();
    other.sort();
    other.dedup();
    let other: Vec<_> = other.iter().map(|name| name.display().to_string()).collect();
    format!(
        "`{EMBEDDED}` is not what `web` makes now ({}): run `cargo xtask web`",
        other.join(", ")
    )
}
