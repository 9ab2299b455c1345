//! The binary of the `dist` profile, guided by a profile of the usual calls that is made on the
//! spot.
//!
//! The compiler puts what runs often side by side and what never runs away, and inlines where it
//! pays: <https://doc.rust-lang.org/rustc/profile-guided-optimization.html>.
//! A profile fits one compiler and one state of the code, so none is kept.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::instruments::Instruments;
use crate::machine::{cargo, output, program, target};
use crate::report::finish;

/// Calls of each tool by each client: enough that what happens once in a start counts for nothing.
const CALLS: &str = "--calls=3000";

/// Builds the server and tells where it lies.
pub(super) fn build(host: &str, is_guided: bool) -> Result<PathBuf> {
    if !is_guided {
        return compile(host, "plain", "");
    }
    let work = target().join("guided");
    let raw = work.join("raw");
    let _ = fs::remove_dir_all(&raw);
    fs::create_dir_all(&raw)?;
    let compiler = Compiler::ask()?;
    compiler.try_merging(&work)?;
    let counting = compile(host, "counting", &generate(&raw))?;
    watch(&counting, &work)?;
    let profile = work.join("usual.profdata");
    merge(&compiler.mergers(), &raw, &profile)?;
    compile(host, "guided", &format!("-Cprofile-use={}", profile.display()))
}

/// Builds with these flags in a folder of their own, so that other builds stay as they are. With a
/// named target the flags reach neither build scripts nor macros.
fn compile(host: &str, folder: &str, flags: &str) -> Result<PathBuf> {
    let work = target().join("guided").join(folder);
    let mut build = cargo();
    build.args(["build", "--profile", "dist", "--package", "toolcrib-server", "--target", host]);
    finish(build.arg("--target-dir").arg(&work).env("RUSTFLAGS", flags))?;
    Ok(work.join(host).join("dist/toolcrib"))
}

fn generate(raw: &Path) -> String {
    format!("-Cprofile-generate={}", raw.display())
}

pub(super) struct Compiler {
    /// The machine it compiles for, which is this one.
    pub host: String,
    sysroot: PathBuf,
}

impl Compiler {
    pub(super) fn ask() -> Result<Self> {
        let told = output(program("rustc").arg("-vV"))?;
        let host = told.lines().find_map(|line| line.strip_prefix("host: "));
        let host = host.context("`rustc -vV` names no host")?.to_owned();
        let sysroot = output(program("rustc").args(["--print", "sysroot"]))?;
        Ok(Self { host, sysroot: sysroot.trim().into() })
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

    /// What may be able to merge profiles: that of the compiler itself where rustup has it, and
    /// what the system has. The form is as old as LLVM 19.
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
        merge.args(["merge", "--sparse", "-o"]).args([profile, raw]);
        output(&mut merge).is_ok()
    });
    ensure!(
        merged,
        "nothing here can merge the profile in {}: run `rustup component add llvm-tools`, install \
         Debian's `llvm-19` or newer, or build with `--plain`",
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
             install Debian's `llvm-19` or newer, or build with `--plain`"
        );
    }
}
