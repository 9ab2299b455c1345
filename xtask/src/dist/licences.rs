//! The licences of everything that is linked into the binary, with their texts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::machine::{cargo, output, root};

const NAMES: [&str; 4] = ["licen", "copying", "notice", "copyright"];

/// What cargo says is in the binary for this machine: each package, its licence, and the texts that
/// lie in it; equal texts stand once.
pub(super) fn text(host: &str) -> Result<String> {
    let linked = linked(host)?;
    let metadata = output(cargo().args(["metadata", "--locked", "--format-version", "1"]))?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let packages = metadata.get("packages").and_then(Value::as_array);
    let packages = packages.context("`cargo metadata` lists no package")?;
    let mut list = String::from("toolcrib contains the packages below, under these licences.\n\n");
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in
        packages.iter().filter(|package| package.get("source").is_some_and(Value::is_string))
    {
        let word = |field: &str| package.get(field).and_then(Value::as_str).unwrap_or_default();
        let name = format!("{} v{}", word("name"), word("version"));
        if !linked.contains(&name) {
            continue;
        }
        let licence = word("license");
        writeln!(list, "{name}: {}", if licence.is_empty() { "see below" } else { licence })?;
        let folder =
            Path::new(word("manifest_path")).parent().context("a manifest lies nowhere")?;
        for text in texts_of(folder)? {
            texts.entry(text).or_default().insert(name.clone());
        }
    }
    for (text, names) in texts {
        let names: Vec<_> = names.into_iter().collect();
        writeln!(list, "\n{}\n{}\n\n{text}", "-".repeat(80), names.join(", "))?;
    }
    // The page has a list of its own, which comes with it.
    let page = root().join("crates/apps/server/page/third-party.txt");
    let page = fs::read_to_string(page).context("the page has no list of its packages")?;
    writeln!(list, "\n{}\nIn the page:\n\n{page}", "-".repeat(80))?;
    Ok(list)
}

/// The packages that code of the binary comes from, as `name v1.2.3`.
fn linked(host: &str) -> Result<BTreeSet<String>> {
    let mut tree = cargo();
    tree.args(["tree", "--locked", "--package", "toolcrib-server", "--edges", "normal"]);
    tree.args(["--prefix", "none", "--format", "{p}", "--target", host]);
    let lines = output(&mut tree)?;
    let named = |line: &str| {
        let mut words = line.split_whitespace();
        Some(format!("{} {}", words.next()?, words.next()?))
    };
    let found: BTreeSet<_> = lines.lines().filter_map(named).collect();
    ensure!(found.len() > 100, "`cargo tree` lists only {} packages", found.len());
    Ok(found)
}

fn texts_of(folder: &Path) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot look into `{}`", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().to_lowercase();
        if NAMES.iter().any(|start| name.starts_with(start)) && entry.file_type()?.is_file() {
            texts.push(fs::read_to_string(entry.path())?.trim_end().to_owned());
        }
    }
    Ok(texts)
}
