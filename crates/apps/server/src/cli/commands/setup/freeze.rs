//! `toolcrib freeze`: calls that do not run until somebody lets them.

use anyhow::{Context as _, Result, bail};
use serde_json::json;

use super::overlay::{time, until};
use crate::cli::CommandExit;
use crate::cli::args::{CONFIG, FreezeCommand, FrozenEffect, GlobalArgs};
use crate::cli::output::Output;
use crate::config::freezes::{FreezeFile, FreezeRow, FreezeScope, LONGEST_NAME, LONGEST_WHY};
use crate::config::kept_file::whole;
use crate::config::overlays::now;
use crate::config::tokens;

pub(crate) fn freeze(
    global: &GlobalArgs,
    output: &Output,
    command: Option<FreezeCommand>,
) -> Result<CommandExit> {
    let path = global.config.clone().unwrap_or_else(|| CONFIG.into());
    let file = FreezeFile::of(&path)
        .context("there is no place to keep a freeze: set `HOME` or `XDG_STATE_HOME`")?;
    match command.unwrap_or(FreezeCommand::List) {
        FreezeCommand::List => list(&file, output),
        FreezeCommand::Set { scope, name, effects, why, lasts } => {
            let row = row((scope, name), &effects, (why, lasts.as_deref()))?;
            let row = file.set(row, |_| Ok(())).context(
                "nothing was frozen; a server that runs can hold a freeze in memory: set it on the \
                 page, or by `POST /v1/freeze`",
            )?;
            let whole = whole(&path);
            if !whole.is_file() {
                let none = "there is no such file: this freezes calls of a server that is started \
                            with it, and of no other";
                output.warn(&[format!("`{}`: {none}", whole.display())]);
            }
            if output.json {
                output.value(&json!(row))?;
            } else {
                let lift = format!("`toolcrib freeze lift {}` lets them run again", row.id);
                let of = whole.display();
                output.note(&format!("frozen: {}; {lift}", row.words()));
                output.note(&format!("it holds for servers of `{of}`"));
            }
            Ok(CommandExit::Done)
        }
        FreezeCommand::Lift { number } => {
            let Some(row) = file.lift(number, |_| Ok(()))? else {
                bail!("there is no freeze {number}: `toolcrib freeze` lists them");
            };
            if output.json {
                output.value(&json!(row))?;
            } else {
                output.note(&format!("lifted: {}", row.words()));
            }
            Ok(CommandExit::Done)
        }
    }
}

fn row(
    (scope, name): (FreezeScope, Option<String>),
    effects: &[FrozenEffect],
    (why, lasts): (Option<String>, Option<&str>),
) -> Result<FreezeRow> {
    if scope == FreezeScope::All && name.is_some() {
        bail!("`all` has no name: leave it out");
    }
    if name.as_ref().is_some_and(|name| name.is_empty() || name.chars().count() > LONGEST_NAME) {
        bail!("a name has from 1 to {LONGEST_NAME} characters");
    }
    if why.as_ref().is_some_and(|why| why.chars().count() > LONGEST_WHY) {
        bail!("`--why` has more than {LONGEST_WHY} characters: make it shorter");
    }
    let until = lasts.map(|lasts| until(lasts, now())).transpose()?;
    let mut effects: Vec<_> = effects.iter().map(|effect| (*effect).into()).collect();
    effects.sort_unstable();
    effects.dedup();
    let by = tokens::LOCAL.to_owned();
    Ok(FreezeRow { id: 0, scope, name, tenant: None, effects, by, at: now(), why, until })
}

fn list(file: &FreezeFile, output: &Output) -> Result<CommandExit> {
    let now = now();
    let mut list = file.read()?;
    list.rows.retain(|row| row.lasts(now));
    if output.json {
        output.value(&json!(list))?;
        return Ok(CommandExit::Done);
    }
    if list.rows.is_empty() {
        output.note("nothing is frozen");
        return Ok(CommandExit::Done);
    }
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    output.table(
        ["NO", "FROZEN", "BY", "SINCE", "UNTIL", "WHY"],
        list.rows.into_iter().map(|row| {
            [
                row.id.to_string(),
                row.words(),
                row.by,
                time(row.at),
                or_dash(row.until.map(time)),
                or_dash(row.why),
            ]
        }),
    )?;
    Ok(CommandExit::Done)
}
