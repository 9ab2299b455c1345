//! `toolcrib overlay`: single fields that hold over the configuration.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use toolcrib::config::{Config, Overlay, OverlayPath, OverlayRow, OverlayStanding};

use crate::cli::CommandExit;
use crate::cli::args::{CONFIG, GlobalArgs, OverlayCommand};
use crate::cli::context::DEFAULT;
use crate::cli::output::Output;
use crate::config::overlays::{OverlayFile, now};
use crate::config::{self, tokens};

/// Longest word of why, in characters.
const LONGEST_WHY: usize = 500;

pub(crate) fn overlay(
    global: &GlobalArgs,
    output: &Output,
    command: Option<OverlayCommand>,
) -> Result<CommandExit> {
    let path = global.config.clone().unwrap_or_else(|| CONFIG.into());
    let text = match &global.config {
        Some(path) => config::file(path)?,
        None => config::file_if_any(&path)?.unwrap_or_else(|| DEFAULT.to_owned()),
    };
    let file = OverlayFile::of(&path)
        .context("there is no place to keep a change: set `HOME` or `XDG_STATE_HOME`")?;
    let over = OverlaidConfig { path, text, file };
    match command.unwrap_or(OverlayCommand::Show) {
        OverlayCommand::Show => over.show(output),
        OverlayCommand::Set { path, value, why, lasts } => {
            let row = over.row(&path, &value, (why, lasts.as_deref()))?;
            over.set(output, row)
        }
        OverlayCommand::Undo { numbers } => over.undo(output, &numbers),
        OverlayCommand::Clear => over.clear(output),
        OverlayCommand::Export => {
            let folded = over.file.read()?.folded(&over.text, &over.shown(), now());
            if output.json {
                output.value(&json!({ "toml": folded }))?;
            } else {
                output.text(folded.trim_end())?;
            }
            Ok(CommandExit::Done)
        }
    }
}

struct OverlaidConfig {
    path: PathBuf,
    text: String,
    file: OverlayFile,
}

impl OverlaidConfig {
    fn row(
        &self,
        path: &str,
        value: &str,
        (why, lasts): (Option<String>, Option<&str>),
    ) -> Result<OverlayRow> {
        let path: OverlayPath = path.parse().map_err(|error: String| anyhow!(error))?;
        // What is no JSON is a text: `read`, `5s`.
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        if why.as_ref().is_some_and(|why| why.chars().count() > LONGEST_WHY) {
            bail!("`--why` has more than {LONGEST_WHY} characters: make it shorter");
        }
        let until = lasts.map(|lasts| until(lasts, now())).transpose()?;
        let was = Overlay::said(&path, &self.text, &self.shown());
        let by = tokens::LOCAL.to_owned();
        Ok(OverlayRow { id: 0, path, value, was, by, at: now(), why, until })
    }

    /// A row of the same path is replaced, since only one of them could hold; rules are added.
    fn set(&self, output: &Output, row: OverlayRow) -> Result<CommandExit> {
        let (row, is_kept) = self.file.change(|overlay| {
            overlay.version += 1;
            let row = OverlayRow { id: overlay.version, ..row };
            overlay.rows.retain(|other| other.path != row.path || row.path.is_rules());
            overlay.rows.push(row.clone());
            let read = Config::read_over(&self.text, &self.shown(), overlay, now());
            if let Some(problem) = read.problems.first() {
                bail!("{problem}");
            }
            let standings = overlay.standings(&self.text, &self.shown(), now());
            match standings.last() {
                Some(OverlayStanding::Orphan) => bail!(
                    "`{}` has no source or profile of `{}`: nothing was changed",
                    self.shown(),
                    row.path
                ),
                Some(OverlayStanding::Landed) => {
                    // The row is not needed; one that stood there is gone.
                    overlay.rows.pop();
                    Ok((row, false))
                }
                Some(_) | None => Ok((row, true)),
            }
        })?;
        if output.json {
            output.value(&if is_kept { json!(row) } else { Value::Null })?;
        } else if !is_kept {
            output.note(&format!("`{}` is {} in the file already", row.path, row.value));
        } else {
            let was = if row.was.is_null() { "not set".to_owned() } else { row.was.to_string() };
            let undo = format!("`toolcrib overlay undo {}` takes it back", row.id);
            output.note(&format!("`{}` is {} now (the file: {was}); {undo}", row.path, row.value));
        }
        Ok(CommandExit::Done)
    }

    fn undo(&self, output: &Output, numbers: &[u64]) -> Result<CommandExit> {
        let gone = self.file.change(|overlay| {
            let has = |number: &u64| overlay.rows.iter().any(|row| row.id == *number);
            if let Some(unknown) = numbers.iter().find(|number| !has(number)) {
                bail!("there is no change {unknown}: `toolcrib overlay` lists them");
            }
            overlay.version += 1;
            overlay.rows.retain(|row| !numbers.contains(&row.id));
            let read = Config::read_over(&self.text, &self.shown(), overlay, now());
            match read.problems.first() {
                Some(problem) => bail!("{problem}"),
                None => Ok(numbers.len()),
            }
        })?;
        self.taken_back(output, gone)
    }

    fn clear(&self, output: &Output) -> Result<CommandExit> {
        let gone = self.file.change(|overlay| {
            overlay.version += 1;
            Ok(std::mem::take(&mut overlay.rows).len())
        })?;
        self.taken_back(output, gone)
    }

    fn taken_back(&self, output: &Output, gone: usize) -> Result<CommandExit> {
        if output.json {
            output.value(&json!({ "undone": gone }))?;
        } else {
            let changes = if gone == 1 { "1 change".to_owned() } else { format!("{gone} changes") };
            output.note(&format!("{changes} over `{}` taken back", self.shown()));
        }
        Ok(CommandExit::Done)
    }

    fn show(&self, output: &Output) -> Result<CommandExit> {
        let overlay = self.file.read()?;
        let standings = overlay.standings(&self.text, &self.shown(), now());
        let rows: Vec<_> = overlay.rows.iter().zip(standings).collect();
        if output.json {
            let rows: Vec<_> = rows
                .iter()
                .map(|(row, standing)| {
                    let mut row = json!(row);
                    if let Value::Object(fields) = &mut row {
                        fields.insert("state".to_owned(), json!(standing));
                    }
                    row
                })
                .collect();
            output.value(&json!({ "version": overlay.version, "rows": rows }))?;
            return Ok(CommandExit::Done);
        }
        if rows.is_empty() {
            output.note(&format!("nothing was changed over `{}`", self.shown()));
            return Ok(CommandExit::Done);
        }
        let headings = ["NO", "FIELD", "NOW", "FILE", "STATE", "BY", "MADE", "UNTIL", "WHY"];
        let said = |value: &Value| if value.is_null() { "-".to_owned() } else { value.to_string() };
        output.table(
            headings,
            rows.into_iter().map(|(row, standing)| {
                [
                    row.id.to_string(),
                    row.path.to_string(),
                    said(&row.value),
                    said(&Overlay::said(&row.path, &self.text, &self.shown())),
                    words(standing).to_owned(),
                    row.by.clone(),
                    time(row.at),
                    row.until.map_or_else(|| "-".to_owned(), time),
                    row.why.clone().unwrap_or_else(|| "-".to_owned()),
                ]
            }),
        )?;
        Ok(CommandExit::Done)
    }

    fn shown(&self) -> String {
        Path::new(&self.path).display().to_string()
    }
}

fn words(standing: OverlayStanding) -> &'static str {
    match standing {
        OverlayStanding::InForce => "in force",
        OverlayStanding::FileDiffers => "in force, and the file has changed",
        OverlayStanding::Landed => "the file says the same",
        OverlayStanding::Orphan => "its source or profile is gone",
        OverlayStanding::Over => "its time is over",
    }
}

fn until(lasts: &str, now: u64) -> Result<u64> {
    let lasts: Option<SignedDuration> = match lasts.strip_suffix('d').map(str::parse::<u32>) {
        Some(Ok(days)) => SignedDuration::try_from_hours(i64::from(days) * 24),
        Some(Err(_)) | None => lasts.parse().ok(),
    };
    let seconds = lasts.and_then(|lasts| u64::try_from(lasts.as_secs()).ok());
    let seconds = seconds.filter(|seconds| (1..=10 * 366 * 86_400).contains(seconds));
    let seconds =
        seconds.context("`--for` is a time such as 30m, 2h or 7d, ten years at the most")?;
    Ok(now + seconds)
}

fn time(seconds: u64) -> String {
    let at = i64::try_from(seconds).ok().and_then(|at| Timestamp::from_second(at).ok());
    at.map_or_else(|| seconds.to_string(), |at| at.to_string())
}
