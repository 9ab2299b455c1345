//! `cargo xtask guided`: the release, guided by a profile of the usual calls.
//!
//! The compiler puts what runs often side by side and what never runs away, and inlines where it
//! pays: <https://doc.rust-lang.org/rustc/profile-guided-optimization.html>.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};

use crate::machine::{cargo, flags, output, program, say, target};
use crate::report::{Report, finish};

/// Calls of each tool by each client: enough that what happens once in a start counts for nothing.
const CALLS: &str = "--calls=3000";

pub(crate) fn run() -> ExitCode {
    let mut report = Report::default();
    report.work("guided", make);
    report.end()
}

fn make() -> Result<()> {
    let work = target().join("guided");
    let raw = work.join("raw");
    let _ = fs::remove_dir_all(&raw);
    fs::create_dir_all(&raw)?;
    let compiler = Compiler::ask()?;
    compiler.try_merging(&work)?;
    let counting = compiler.build(&work, &option("generate", &raw))?;
    watch(&counting, &work)?;
    let profile = work.join("usual.profdata");
    merge(&compiler.mergers(), &raw, &profile)?;
    let made = compiler.build(&work, &option("use", &profile))?;
    say(&format!("made {}", made.display()));
    say(&format!("measure it: cargo xtask bench gateway --server={}", made.display()));
    Ok(())
}

fn option(what: &str, path: &Path) -> OsString {
    let mut option = OsString::from(format!("-Cprofile-{what}="));
    option.push(path);
    option
}

struct Compiler {
    /// The machine it compiles for, which is this one.
    host: String,
    sysroot: PathBuf,
}

impl Compiler {
    fn ask() -> Result<Self> {
        let told = output(program("rustc").arg("-vV"))?;
        let host = told.lines().find_map(|line| line.strip_prefix("host: "));
        let sysroot = output(program("rustc").args(["--print", "sysroot"]))?;
        Ok(Self {
            host: host.context("`rustc -vV` names no host")?.to_owned(),
            sysroot: sysroot.trim().into(),
        })
    }

    /// The server with one more option for the compiler; nothing else may differ, since a function's
    /// counts are found by its name, and all options of the profile are part of that. Naming the
    /// machine keeps the option from what runs while things are built.
    fn build(&self, work: &Path, option: &OsStr) -> Result<PathBuf> {
        let mut build = cargo();
        build.args(["build", "--release", "--package", "toolcrib-server", "--bin", "toolcrib"]);
        build.args(["--target", &self.host]).arg("--target-dir").arg(work);
        // What a call runs through lies in a dozen crates: only one pass over all of them can put
        // it together as the profile says.
        build.env("CARGO_PROFILE_RELEASE_LTO", "fat");
        finish(build.env("CARGO_ENCODED_RUSTFLAGS", flags(option)))?;
        Ok(work.join(&self.host).join("release/toolcrib"))
    }

    /// Counts what runs of the smallest program and merges it, before a long build finds out that
    /// nothing here can.
    fn try_merging(&self, work: &Path) -> Result<()> {
        let (text, made, raw) = (work.join("least.rs"), work.join("least"), work.join("least-raw"));
        let _ = fs::remove_dir_all(&raw);
        fs::write(&text, "fn main() {}\n")?;
        let mut compile = program("rustc");
        compile.args([&text, Path::new("-o"), &made]).arg(option("generate", &raw));
        output(&mut compile)?;
        output(&mut program(&made))?;
        merge(&self.mergers(), &raw, &work.join("least.profdata"))
    }

    /// What may be able to merge profiles: that of the compiler itself where rustup has it, and what
    /// the system has. The form is as old as LLVM 19.
    fn mergers(&self) -> Vec<PathBuf> {
        let bin = self.sysroot.join("lib/rustlib").join(&self.host).join("bin");
        let of_system = (19..=30).rev().map(|version| format!("llvm-profdata-{version}").into());
        let mut mergers = vec![bin.join("llvm-profdata"), "llvm-profdata".into()];
        mergers.extend(of_system);
        mergers
    }
}

/// Has the load client ask the counting server; it writes its counts when it ends.
fn watch(server: &Path, work: &Path) -> Result<()> {
    let mut build = cargo();
    build.args(["build", "--release", "--package", "toolcrib-load", "--package", "toolcrib-mcp"]);
    finish(build.args(["--bin", "toolcrib-load", "--example", "echo"]))?;
    let made = |name: &str| target().join("release").join(name);
    let mut client = program(made("toolcrib-load"));
    finish(client.arg("usual").args([server, &made("examples/echo"), work]).arg(CALLS))
}

/// An older program than the compiler's cannot read what a newer compiler counts, so each is tried.
fn merge(mergers: &[PathBuf], raw: &Path, profile: &Path) -> Result<()> {
    let merged = mergers.iter().any(|merger| {
        let mut merge = program(merger);
        merge.args(["merge", "-o"]).args([profile, raw]);
        output(&mut merge).is_ok()
    });
    ensure!(
        merged,
        "nothing here can merge the profile in {}: run `rustup component add llvm-tools`, or install \
         Debian's `llvm-19` or newer",
        raw.display()
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_compiler_s_own_merger_is_tried_first_and_then_newer_before_older() {
        let compiler =
            Compiler { host: "x86_64-unknown-linux-gnu".to_owned(), sysroot: "/s".into() };
        let mergers = compiler.mergers();
        let own = "/s/lib/rustlib/x86_64-unknown-linux-gnu/bin/llvm-profdata";
        assert_eq!(mergers[..2], [own, "llvm-profdata"].map(PathBuf::from));
        assert!(mergers[2..].is_sorted_by(|newer, older| newer > older), "{mergers:?}");
    }

    #[test]
    fn without_a_program_that_merges_profiles_the_cure_is_told() {
        let nowhere = [PathBuf::from("/nowhere/llvm-profdata"), "/nowhere/older".into()];
        let error = merge(&nowhere, Path::new("/t/raw"), Path::new("/t/profile")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "nothing here can merge the profile in /t/raw: run `rustup component add llvm-tools`, \
             or install Debian's `llvm-19` or newer"
        );
    }
}
