//! `cargo xtask dist`: what is shipped, made from the checkout and the registries alone.
//!
//! Reading order: `profile` (how the calls of a server guide its compiler), `licences` (of all that
//! is in the binary), `archive` (one folder, one file, its checksum).

mod archive;
mod licences;
mod profile;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::machine::{output, program, root, say, target};
use crate::report::RunReport;

/// What the words of the command ask for.
#[derive(Debug, Default, PartialEq, Eq)]
struct DistOptions {
    /// No training run: the compiler is not guided.
    is_plain: bool,
    /// A binary that was built before is packed in the place of a new one.
    server: Option<PathBuf>,
    out: Option<PathBuf>,
}

pub(crate) fn run(words: &[String]) -> ExitCode {
    let mut report = RunReport::default();
    report.work("dist", || make(&DistOptions::read(words)?));
    report.end()
}

impl DistOptions {
    fn read(words: &[String]) -> Result<Self> {
        let mut wishes = Self::default();
        for word in words {
            match word.split_once('=') {
                None if word == "--plain" => wishes.is_plain = true,
                Some(("--server", path)) => wishes.server = Some(root().join(path)),
                Some(("--out", path)) => wishes.out = Some(root().join(path)),
                _ => bail!("unknown word `{word}`: `cargo xtask help` lists those of `dist`"),
            }
        }
        Ok(wishes)
    }
}

fn make(wishes: &DistOptions) -> Result<()> {
    let host = profile::Compiler::ask()?.host;
    let server = match &wishes.server {
        Some(built) => built.clone(),
        None => profile::build(&host, !wishes.is_plain)?,
    };
    let out = wishes.out.clone().unwrap_or_else(|| target().join("dist"));
    let name = format!("toolcrib-{}-{host}", version(&server)?);
    let folder = out.join(&name);
    archive::fill(&folder, &server)?;
    archive::write(&folder.join("THIRD-PARTY.txt"), &licences::text(&host)?)?;
    let packed = archive::pack(&folder)?;
    try_out(&packed, &name)?;
    say(&format!("made {} and its checksum", packed.display()));
    Ok(())
}

/// What the binary says of itself: `toolcrib 0.1.0`.
fn version(server: &Path) -> Result<String> {
    let said = output(program(server).arg("--version"))?;
    let version = said.split_whitespace().nth(1);
    Ok(version.with_context(|| format!("`{}` tells no version", server.display()))?.to_owned())
}

/// Unpacks the archive into an empty folder and has the program that lies there list its tools.
fn try_out(packed: &Path, name: &str) -> Result<()> {
    let empty = packed.with_extension("tried");
    archive::unpack(packed, &empty)?;
    let mut list = program(empty.join(name).join("bin/toolcrib"));
    list.args(["tools", "--json"]).current_dir(&empty).env("HOME", &empty);
    list.env("XDG_STATE_HOME", empty.join("state"));
    output(&mut list).context("the program of the archive does not run")?;
    fs::remove_dir_all(&empty)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_is_not_known_is_named() {
        let words = ["--plian".to_owned()];
        let error = DistOptions::read(&words).unwrap_err().to_string();
        assert_eq!(error, "unknown word `--plian`: `cargo xtask help` lists those of `dist`");
    }

    #[test]
    fn the_words_say_what_is_built_and_where_it_goes() {
        let words = ["--plain", "--server=/s/toolcrib", "--out=/o"].map(str::to_owned);
        let wishes = DistOptions {
            is_plain: true,
            server: Some("/s/toolcrib".into()),
            out: Some("/o".into()),
        };
        assert_eq!(DistOptions::read(&words).expect("they are known"), wishes);
    }
}
