//! `toolcrib audit verify`: whether a record of decisions is whole.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use serde_json::json;
use toolcrib_config::Config;

use crate::cli::CommandExit;
use crate::cli::args::{CONFIG, GlobalArgs};
use crate::cli::output::Output;
use crate::{audit, config};

pub(crate) fn verify(
    global: &GlobalArgs,
    output: &Output,
    (file, after): (Option<&PathBuf>, Option<&str>),
) -> Result<CommandExit> {
    let file = match file {
        Some(file) => file.clone(),
        None => of_configuration(global)?,
    };
    let shown = file.display();
    let found = audit::verify(&file, after).with_context(|| format!("cannot read `{shown}`"))?;
    match found {
        Ok(whole) if !whole.ends => {
            let audit::VerifiedChain { records, hash, .. } = whole;
            let what = format!(
                "`{shown}.head`, which names the last record, is not here or cannot be read: \
                 whether records were taken out of the end, nobody can tell"
            );
            if output.json {
                output.value(
                    &json!({ "whole": false, "records": records, "hash": hash, "what": what }),
                )?;
            } else {
                output.text(&format!("`{shown}` may have been cut: {what}"))?;
                output.note(&format!("{records} records are whole; the hash of the last: {hash}"));
            }
            Ok(CommandExit::Failed)
        }
        Ok(whole) => {
            if output.json {
                let audit::VerifiedChain { records, hash, files, .. } = whole;
                output.value(
                    &json!({ "whole": true, "records": records, "hash": hash, "files": files }),
                )?;
            } else {
                let audit::VerifiedChain { records, hash, files, .. } = whole;
                let files = if files == 1 { String::new() } else { format!(" in {files} files") };
                output.text(&format!("`{shown}` is whole: {records} records{files}"))?;
                output.note(&format!("its last hash, to keep somewhere else: {hash}"));
            }
            Ok(CommandExit::Done)
        }
        Err(broken) => {
            if output.json {
                let audit::ChainFault { record, file, what } = &broken;
                let file = file.display().to_string();
                output.value(
                    &json!({ "whole": false, "record": record, "file": file, "what": what }),
                )?;
            } else {
                let audit::ChainFault { record, file, what } = broken;
                let shown = file.display();
                output.text(&format!("`{shown}` is broken at record {record}: {what}"))?;
            }
            Ok(CommandExit::Failed)
        }
    }
}

fn of_configuration(global: &GlobalArgs) -> Result<PathBuf> {
    let path = global.config.as_deref().unwrap_or(Path::new(CONFIG));
    let name = path.display().to_string();
    let read = Config::read(&config::file(path)?, &name);
    let checked =
        read.config.with_context(|| format!("`{name}` cannot be used: `toolcrib check`"))?;
    let audit = checked.audit.ok_or_else(|| {
        anyhow!(
            "`{name}` keeps no record: add `[audit]` with `file = \"audit.jsonl\"`, or name a file"
        )
    })?;
    Ok(audit.file)
}
