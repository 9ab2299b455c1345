//! The only file here that starts programs, reads the environment and prints.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// The folder of the repository.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}

/// A program that will run in the folder of the repository, with our environment.
#[expect(clippy::disallowed_methods, reason = "chores run the developer's own programs")]
pub fn program(name: impl AsRef<Path>) -> Command {
    let mut command = Command::new(name.as_ref());
    command.current_dir(root());
    command
}

/// The cargo that `PATH` names; rustup gives it the toolchain of the one that started us.
pub fn cargo() -> Command {
    let mut cargo = program("cargo");
    // Of the cargo that started us, about this program: build scripts that look at them would have
    // all rebuilt that was built without us.
    for (name, _) in std::env::vars_os() {
        let is_of_us = name.to_str().is_some_and(|name| {
            ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|start| name.starts_with(start))
        });
        if is_of_us {
            cargo.env_remove(name);
        }
    }
    cargo
}

/// What a program prints; what it says of its faults goes into the error.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let ended = command.output().with_context(|| format!("cannot start `{name}`"))?;
    let why = String::from_utf8_lossy(&ended.stderr);
    ensure!(ended.status.success(), "`{name}` ended with {}: {}", ended.status, why.trim());
    Ok(String::from_utf8(ended.stdout)?)
}

/// Where builds go: `CARGO_TARGET_DIR`, else `target`.
pub(crate) fn target() -> PathBuf {
    root().join(variable("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()))
}

/// Whether nobody is watching, so that a skipped check must not pass for a done one.
pub(crate) fn unattended() -> bool {
    variable("CI").is_some_and(|value| value == "true")
}

/// One line or more for whoever runs the chore.
#[expect(clippy::print_stdout, reason = "a chore tells its progress on the terminal")]
pub(crate) fn say(text: &str) {
    println!("{text}");
}

#[expect(clippy::disallowed_methods, reason = "a chore is steered by the environment")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}
