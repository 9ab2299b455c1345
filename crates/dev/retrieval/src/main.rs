//! `toolcrib-retrieval [FOLDER] [--step=N] [--json] [--small] [--partitions] [--vectors=FILE]`: what
//! `cargo xtask bench retrieval` runs, in a build that is optimised. `--partitions`: only how tools
//! are shared out.
//!
//! With `TOOLCRIB_MINILM` naming the folder of a model, what that adds is measured too; its vectors
//! are kept in the file.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::{Value, json};
use toolcrib_retrieval::{
    EmbeddingModel, LabelledSet, RetrievalError, folder, measure, partitions, shared, table,
};

/// Sizes of catalogs whose cost is measured.
const SIZES: [usize; 3] = [1_000, 10_000, 100_000];

/// The set whose tools are shared out, the last of all.
const LARGEST: &str = "stabletoolbench";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let told = match run(&words) {
        Ok(found) if words.iter().any(|word| word == "--json") => format!("{found:#}"),
        Ok(found) if found.get("sets").is_none() => format!("{found:#}\n{}", shared(&found)),
        Ok(found) => format!("{found:#}\n\n{}", table(&found)),
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {error}");
            return ExitCode::FAILURE;
        }
    };
    // Nobody may be reading any more.
    let _ = writeln!(std::io::stdout(), "{told}");
    ExitCode::SUCCESS
}

fn run(words: &[String]) -> Result<Value, RetrievalError> {
    let named = words.iter().find(|word| !word.starts_with("--")).map(PathBuf::from);
    if words.iter().any(|word| word == "--partitions") {
        let set = LabelledSet::read(&named.unwrap_or_else(folder), LARGEST)?;
        return Ok(json!({ "partitions": partitions(&set)? }));
    }
    let step = words.iter().find_map(|word| word.strip_prefix("--step="));
    let step = step.map_or(Ok(1), str::parse)?;
    let sizes: &[usize] = if words.iter().any(|word| word == "--small") { &[] } else { &SIZES };
    let file = words.iter().find_map(|word| word.strip_prefix("--vectors=")).map(PathBuf::from);
    let model = model().map(|folder| EmbeddingModel::open(&folder, file)).transpose()?;
    measure(&named.unwrap_or_else(folder), step, sizes, model.as_ref())
}

#[expect(clippy::disallowed_methods, reason = "the run names its peers by the environment")]
fn model() -> Option<PathBuf> {
    std::env::var_os("TOOLCRIB_MINILM").filter(|folder| !folder.is_empty()).map(PathBuf::from)
}
