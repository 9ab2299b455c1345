//! `cargo xtask guided`: the profile of the usual calls, by which every release is compiled.
//!
//! The compiler puts what runs often side by side and what never runs away, and inlines where it
//! pays: <https://doc.rust-lang.org/rustc/profile-guided-optimization.html>.
//! Functions are found in it by their names, which are those of one compiler and of one way to build
//! them: what counts is built as `cargo build --release` builds, by the script that hands the profile
//! to the compiler.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};

use crate::machine::{cargo, output, program, root, say, target};
use crate::measuring::{Instruments, PROFILE};
use crate::report::{Report, finish};

/// Calls of each tool by each client: enough that what happens once in a start counts for nothing.
const CALLS: &str = "--calls=3000";
/// Where the profile lies, and beside it what `rustc -vV` says of the compiler that it fits.
const MADE: &str = "crates/server/guide/usual.profdata";
const COMPILER: &str = "crates/server/guide/compiler";

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
    let mut build = cargo();
    build.args(["build", "--release"]).arg("--target-dir").arg(&work);
    finish(build.env(PROFILE, generate(&raw)))?;
    watch(&work.join("release/toolcrib"), &work)?;
    merge(&compiler.mergers(), &raw, &root().join(MADE))?;
    fs::write(root().join(COMPILER), &compiler.told)?;
    // Cargo does not know what the script hands on, and would take what it built before.
    finish(cargo().args(["clean", "--release"]))?;
    say(&format!("made {MADE}: `cargo build --release` is guided by it"));
    Ok(())
}

fn generate(raw: &Path) -> String {
    format!("-Cprofile-generate={}", raw.display())
}

struct Compiler {
    /// What it says of itself.
    told: String,
    /// The machine it compiles for, which is this one.
    host: String,
    sysroot: PathBuf,
}

impl Compiler {
    fn ask() -> Result<Self> {
        let told = output(program("rustc").arg("-vV"))?;
        let host = told.lines().find_map(|line| line.strip_prefix("host: "));
        let host = host.context("`rustc -vV` names no host")?.to_owned();
        let sysroot = output(program("rustc").args(["--print", "sysroot"]))?;
        Ok(Self { told, host, sysroot: sysroot.trim().into() })
    }

    /// Counts what runs of the smallest program and merges it, before a long build finds out that
    /// nothing here can.
    fn try_merging(&self, work: &Path) -> Result<()> {
        let (text, made, raw) = (work.join("least.rs"), work.join("least"), work.join("least-raw"));
        let _ = fs::remove_dir_all(&raw);
        fs::write(&text, "fn main() {}\n")?;
        let mut compile = program("rustc");
        compile.args([&text, Path::new("-o"), &made]).arg(generate(&raw));
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
    let Instruments { client, echo } = Instruments::build()?;
    finish(program(client).arg("usual").args([server, &echo, work]).arg(CALLS))
}

/// An older program than the compiler's cannot read what a newer compiler counts, so each is tried.
fn merge(mergers: &[PathBuf], raw: &Path, profile: &Path) -> Result<()> {
    let merged = mergers.iter().any(|merger| {
        let mut merge = program(merger);
        // What never ran needs no place in the repository.
        merge.args(["merge", "--sparse", "-o"]).args([profile, raw]);
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
        let compiler = Compiler {
            told: String::new(),
            host: "x86_64-unknown-linux-gnu".to_owned(),
            sysroot: "/s".into(),
        };
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
