//! `toolcrib desk`: files into the calendar and the mailbox that are kept here, and out of them.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use toolcrib_config::{DeskSource, SourceHandle};
use toolcrib_desk::backend::BackendError;

use crate::cli::CommandExit;
use crate::cli::args::{DeskCommand, GlobalArgs};
use crate::cli::context;
use crate::cli::output::Output;
use crate::{config, sources};

pub(crate) fn desk(
    global: &GlobalArgs,
    output: &Output,
    command: DeskCommand,
) -> Result<CommandExit> {
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let found = context::found(global, output)?;
    let sources = sources::ours();
    // Nothing of it is started but the desk, by asking for what it keeps.
    let built = found.checked.build(&config::ProcessLookup, &sources);
    let ids: Vec<_> = built.sources.iter().map(|(id, ..)| id.to_string()).collect();
    let desks = ids.into_iter().filter_map(|id| match sources.get(&id)? {
        SourceHandle::Desk(desk) => Some((id, desk)),
        SourceHandle::Mcp(_) | SourceHandle::Api(_) | SourceHandle::Agent(_) => None,
    });
    let desks: Vec<_> = desks.collect();
    match command {
        DeskCommand::Import { files, source, label } => {
            let desk = chosen(desks, source.as_deref())?;
            import(&runtime, output, &desk, (&files, &label))
        }
        DeskCommand::Export { source } => {
            let desk = chosen(desks, source.as_deref())?;
            let agenda = runtime.block_on(desk.agenda())?.ok_or_else(|| elsewhere("calendar"))?;
            let text = runtime.block_on(agenda.export(desk.owner())).map_err(told)?;
            if output.json {
                output.value(&json!({ "icalendar": text }))?;
            } else {
                output.file(&text)?;
            }
            Ok(CommandExit::Done)
        }
    }
}

/// The desk of this name, or the only one.
fn chosen(
    mut desks: Vec<(String, Arc<DeskSource>)>,
    wanted: Option<&str>,
) -> Result<Arc<DeskSource>> {
    if desks.is_empty() {
        bail!("the configuration has no desk: add a source with `desk = {{}}`");
    }
    let names: Vec<_> = desks.iter().map(|(id, _)| format!("`{id}`")).collect();
    let place = match wanted {
        Some(name) => desks.iter().position(|(id, _)| id == name),
        None if desks.len() == 1 => Some(0),
        None => bail!("say which desk with `--source`: there are {}", names.join(", ")),
    };
    let place = place
        .ok_or_else(|| anyhow!("there is no desk of this name: there is {}", names.join(", ")))?;
    Ok(desks.swap_remove(place).1)
}

/// What a file was, and what became of it.
struct ImportedFile {
    told: String,
    value: Value,
    skipped: usize,
}

fn import(
    runtime: &Runtime,
    output: &Output,
    desk: &DeskSource,
    (files, label): (&[PathBuf], &str),
) -> Result<CommandExit> {
    let (mut values, mut skipped) = (Vec::new(), 0);
    for path in files {
        let shown = path.display().to_string();
        let taken = match path.extension().and_then(|extension| extension.to_str()) {
            Some("ics" | "ical" | "ifb") => calendar(runtime, desk, path),
            Some("mbox" | "mbx") => mail(runtime, desk, path, label),
            _ => Err(anyhow!("rename it: `.ics` for a calendar, `.mbox` for a mailbox")),
        };
        let taken = taken.with_context(|| format!("cannot import `{shown}`"))?;
        skipped += taken.skipped;
        if output.json {
            values.push(json!({ "file": shown, "imported": taken.value }));
        } else {
            output.text(&format!("`{shown}`: {}", taken.told))?;
        }
    }
    if output.json {
        output.value(&json!({ "files": values }))?;
    }
    Ok(if skipped == 0 { CommandExit::Done } else { CommandExit::Failed })
}

fn calendar(runtime: &Runtime, desk: &DeskSource, path: &Path) -> Result<ImportedFile> {
    let agenda = runtime.block_on(desk.agenda())?.ok_or_else(|| elsewhere("calendar"))?;
    let file = config::octets(path)?;
    let imported = runtime.block_on(agenda.import(desk.owner(), file)).map_err(told)?;
    let mut lines = vec![format!("{} events, {} tasks", imported.events, imported.tasks)];
    lines.extend(imported.skipped.iter().map(|reason| format!("  left out: {reason}")));
    lines.extend(imported.notes.iter().map(|note| format!("  note: {note}")));
    Ok(ImportedFile {
        told: lines.join("\n"),
        skipped: imported.skipped.len(),
        value: json!({ "events": imported.events, "tasks": imported.tasks,
            "skipped": imported.skipped, "notes": imported.notes }),
    })
}

fn mail(runtime: &Runtime, desk: &DeskSource, path: &Path, label: &str) -> Result<ImportedFile> {
    let mailbox = runtime.block_on(desk.mailbox())?.ok_or_else(|| elsewhere("mail"))?;
    let file = File::open(path)?;
    let imported = mailbox.import_mbox(desk.owner(), file, label);
    let imported = runtime.block_on(imported).map_err(told)?;
    let mut lines = vec![format!("{} messages, {} known before", imported.added, imported.known)];
    let left = imported.reasons.iter();
    lines.extend(left.map(|left| format!("  left out number {}: {}", left.position, left.reason)));
    let skipped = usize::try_from(imported.skipped).unwrap_or(usize::MAX);
    Ok(ImportedFile { told: lines.join("\n"), skipped, value: json!(imported) })
}

fn elsewhere(what: &str) -> anyhow::Error {
    anyhow!("this desk keeps no {what} of its own: import it where it is kept")
}

fn told(fault: BackendError) -> anyhow::Error {
    match fault.cause {
        Some(cause) => anyhow!("{}: {cause}", fault.message),
        None => anyhow!(fault.message),
    }
}
