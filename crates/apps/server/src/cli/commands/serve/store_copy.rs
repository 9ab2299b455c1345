//! `toolcrib store copy`: a whole record from one store to another.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde_json::json;
use toolcrib_config::Config;
use toolcrib_store::copy::{CopyProgress, RecordReader, RecordWriter, copy};
use toolcrib_store::{CopiedFile, StoreError};

use crate::cli::CommandExit;
use crate::cli::args::StoreCommand;
use crate::cli::output::Output;
use crate::config::record::StorePlace;

pub(crate) fn store(output: &Output, command: &StoreCommand) -> Result<CommandExit> {
    let StoreCommand::Copy { from, to } = command;
    let mut from: Box<dyn RecordReader> = match place(from, "FROM")? {
        StorePlace::File(path) => Box::new(CopiedFile::source(&path)?),
        StorePlace::Database(database, _) => Box::new(database.source()?),
    };
    let to: Box<dyn RecordWriter> = match place(to, "TO")? {
        StorePlace::File(path) => Box::new(CopiedFile::target(&path)?),
        StorePlace::Database(database, _) => Box::new(database.target()?),
    };
    let is_watched = output.is_watched() && !output.json;
    let copied = copy(&mut *from, to, &mut |progress| {
        let CopyProgress { table, copied, of } = progress;
        if is_watched {
            output.status(&format!("{table}: {copied} of {of}"));
        }
    });
    if is_watched {
        output.end_status();
    }
    let copied = copied.map_err(|error| {
        // Whoever takes an unconfirmed copy for none may go on with the source, beside it.
        let is_known = !matches!(error, StoreError::Unconfirmed { .. });
        let told = if is_known {
            "nothing was copied"
        } else {
            "it is not known whether all was copied or nothing"
        };
        anyhow::Error::new(error).context(told)
    })?;
    if output.json {
        let tables = copied.iter().map(|of| (of.table.to_owned(), of.copied.into()));
        output.value(&json!({ "copied": tables.collect::<serde_json::Map<_, _>>() }))?;
    } else {
        let rows = copied.iter().map(|of| [of.table.to_owned(), of.copied.to_string()]);
        output.table(["TABLE", "ROWS"], rows)?;
    }
    Ok(CommandExit::Done)
}

/// An address as a configuration would name it.
fn place(address: &str, word: &str) -> Result<StorePlace> {
    let text = format!("[store]\nurl = {}\n", toml_text(address));
    let read = Config::read(&text, word);
    let Some(checked) = read.config else {
        let lines: Vec<_> = read.problems.iter().map(ToString::to_string).collect();
        bail!("{word} is no address of a store:\n{}", lines.join("\n"));
    };
    let place = StorePlace::find(Path::new(""), &checked)?;
    Ok(place.with_context(|| format!("{word} names no store"))??)
}

/// A text of TOML. JSON writes one in the same way, but for a character that TOML wants escaped.
fn toml_text(text: &str) -> String {
    json!(text).to_string().replace('\u{7f}', "\\u007f")
}
