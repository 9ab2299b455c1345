//! `cargo xtask bench tokens`: what tools take in the prompt of a model, shown directly and lazily.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::machine::{cargo, program, root, say, target};
use crate::report::finish;

/// The first so many operations of the document.
const COUNTS: [usize; 3] = [17, 100, 1_000];
const CONFIG: &str = "\
[[source]]
id = \"github\"
openapi = { document = \"github.json\", base_url = \"http://127.0.0.1:9\" }
";

/// Counts with the binary as it ships; the document is GitHub's, from the data beside the
/// repository.
pub(crate) fn run() -> Result<()> {
    finish(cargo().args([
        "build",
        "--release",
        "--package",
        "toolcrib-server",
        "--bin",
        "toolcrib",
    ]))?;
    let folder = target().join("tokens");
    fs::create_dir_all(&folder)?;
    let packed = root().join("../shared/data/openapi/github-api.github.com.json.gz");
    fs::write(folder.join("github.json"), unpacked(&packed)?)?;
    fs::write(folder.join("crib.toml"), CONFIG)?;
    say("| tools | API | direct | lazy | saved | how |");
    say("|---|---|---|---|---|---|");
    for count in COUNTS {
        for row in rows(&folder, count)? {
            say(&row);
        }
    }
    Ok(())
}

fn unpacked(path: &Path) -> Result<Vec<u8>> {
    let output = program("gzip").arg("-dc").arg(path).output().context("cannot start `gzip`")?;
    ensure!(output.status.success(), "`{}` cannot be unpacked", path.display());
    Ok(output.stdout)
}

fn rows(folder: &Path, count: usize) -> Result<Vec<String>> {
    let mut toolcrib = program(target().join("release/toolcrib"));
    toolcrib.args(["cost", "--json", "--first", &count.to_string()]).current_dir(folder);
    let output = toolcrib.output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let told: Value = serde_json::from_slice(&output.stdout)?;
    let costs = told.get("costs").and_then(Value::as_array).context("no costs")?;
    let of = |mode: &str| {
        let mode = mode.to_owned();
        costs.iter().filter(move |cost| cost.get("mode").is_some_and(|is| *is == mode))
    };
    let text = |cost: &Value, key: &str| {
        let value = cost.get(key).cloned().unwrap_or_default();
        value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned)
    };
    let row = |(direct, lazy): (&Value, &Value)| {
        format!(
            "| {count} | {} | {} | {} | {} % | {} |",
            text(direct, "dialect"),
            text(direct, "tokens"),
            text(lazy, "tokens"),
            text(lazy, "saved_percent"),
            text(lazy, "shown"),
        )
    };
    Ok(of("direct").zip(of("lazy")).map(row).collect())
}
