//! `toolcrib overlay`: single fields and sources that hold over the configuration.

use anyhow::{Context as _, Result};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use toolcrib_config::{AddedSource, OverlayRow, OverlayStanding};

use crate::cli::CommandExit;
use crate::cli::args::{CONFIG, GlobalArgs, OverlayCommand};
use crate::cli::context::DEFAULT;
use crate::cli::output::Output;
use crate::config::overlays::now;
use crate::config::overlays::overlaid_config::{
    self, EditedOverlay, FieldChange, FieldChanges, LONGEST_HOLD, OverlaidConfig, OverlayEdit,
};
use crate::config::{self, tokens};

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
    let over = OverlaidConfig::of(&path, text)
        .context("there is no place to keep a change: set `HOME` or `XDG_STATE_HOME`")?;
    let report = OverlayReport { over };
    match command.unwrap_or(OverlayCommand::Show) {
        OverlayCommand::Show => report.show(output),
        OverlayCommand::Set { path, value, why, lasts } => {
            let changes = OverlayReport::changes((&path, &value), (why, lasts.as_deref()))?;
            report.set(output, changes)
        }
        OverlayCommand::Undo { numbers } => report.take_back(output, &OverlayEdit::Undo(numbers)),
        OverlayCommand::Clear => report.take_back(output, &OverlayEdit::Clear),
        OverlayCommand::Export => {
            let folded = report.over.folded(&report.over.read()?);
            if output.json {
                output.value(&json!({ "toml": folded }))?;
            } else {
                output.text(folded.trim_end())?;
            }
            Ok(CommandExit::Done)
        }
    }
}

/// The changes over a configuration, for a terminal.
struct OverlayReport {
    over: OverlaidConfig,
}

impl OverlayReport {
    fn changes(
        (path, value): (&str, &str),
        (why, lasts): (Option<String>, Option<&str>),
    ) -> Result<FieldChanges> {
        let path = overlaid_config::path(path)?;
        // What is no JSON is a text: `read`, `5s`.
        let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
        let until = lasts.map(|lasts| until(lasts, now())).transpose()?;
        let fields = vec![FieldChange { path, value: Some(value), row: None }];
        Ok(FieldChanges { fields, by: tokens::LOCAL.to_owned(), why, until })
    }

    fn set(&self, output: &Output, changes: FieldChanges) -> Result<CommandExit> {
        let edited = self.edit(output, &OverlayEdit::Set(changes))?;
        if output.json {
            output.value(&edited.made.first().map_or(Value::Null, |row| json!(row)))?;
        }
        for row in edited.landed.iter().filter(|_| !output.json) {
            output.note(&format!("`{}` is {} in the file already", row.path, row.value));
        }
        for row in edited.made.iter().filter(|_| !output.json) {
            let undo = format!("`toolcrib overlay undo {}` takes it back", row.id);
            if let Some(words) = source_words(row) {
                output.note(&format!("`{}` is added: it {words}; {undo}", row.path));
                continue;
            }
            let was = if row.was.is_null() { "not set".to_owned() } else { row.was.to_string() };
            output.note(&format!("`{}` is {} now (the file: {was}); {undo}", row.path, row.value));
        }
        Ok(CommandExit::Done)
    }

    fn edit(&self, output: &Output, edit: &OverlayEdit) -> Result<EditedOverlay> {
        let edited = self.over.edit(edit, None, tokens::LOCAL, |_| Ok(()))?;
        if let Some(cause) = &edited.unnoted {
            output.warn(&[format!("the history of the tools lacks it: {cause}")]);
        }
        Ok(edited)
    }

    fn take_back(&self, output: &Output, edit: &OverlayEdit) -> Result<CommandExit> {
        let edited = self.edit(output, edit)?;
        self.taken_back(output, edited.gone.len())
    }

    fn taken_back(&self, output: &Output, gone: usize) -> Result<CommandExit> {
        if output.json {
            output.value(&json!({ "undone": gone }))?;
        } else {
            let changes = if gone == 1 { "1 change".to_owned() } else { format!("{gone} changes") };
            output.note(&format!("{changes} over `{}` taken back", self.over.shown()));
        }
        Ok(CommandExit::Done)
    }

    fn show(&self, output: &Output) -> Result<CommandExit> {
        let overlay = self.over.read()?;
        let standings = self.over.standings(&overlay);
        let said_of_file = self.over.said_of_each(&overlay);
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
            output.note(&format!("nothing was changed over `{}`", self.over.shown()));
            return Ok(CommandExit::Done);
        }
        let headings = ["NO", "FIELD", "NOW", "FILE", "STATE", "BY", "MADE", "UNTIL", "WHY"];
        let said = |value: &Value| if value.is_null() { "-".to_owned() } else { value.to_string() };
        output.table(
            headings,
            rows.into_iter().zip(said_of_file).map(|((row, standing), of_file)| {
                [
                    row.id.to_string(),
                    row.path.to_string(),
                    source_words(row).unwrap_or_else(|| said(&row.value)),
                    said(&of_file),
                    words(standing, row.path.is_source()).to_owned(),
                    row.by.clone(),
                    time(row.at),
                    row.until.map_or_else(|| "-".to_owned(), time),
                    row.why.clone().unwrap_or_else(|| "-".to_owned()),
                ]
            }),
        )?;
        Ok(CommandExit::Done)
    }
}

/// What a source does that a row adds, word for word; `None`: it adds none.
fn source_words(row: &OverlayRow) -> Option<String> {
    let source = AddedSource::of(&row.value).filter(|_| row.path.is_source())?;
    let off = if row.value.get("enabled") == Some(&Value::Bool(false)) { "(off) " } else { "" };
    let does = match (source.command(), source.address()) {
        // As JSON, so that each word ends where it seems to.
        (Some(command), _) => format!("starts {}", json!(command)),
        (None, Some(address)) => format!("asks {address}"),
        (None, None) => row.value.to_string(),
    };
    Some(format!("{off}{does}"))
}

fn words(standing: OverlayStanding, is_source: bool) -> &'static str {
    match standing {
        OverlayStanding::InForce => "in force",
        OverlayStanding::FileDiffers => "in force, and the file has changed",
        OverlayStanding::Landed if is_source => "the file has a source of this id now",
        OverlayStanding::Landed => "the file says the same",
        OverlayStanding::Orphan => "its source or profile is gone",
        OverlayStanding::Over => "its time is over",
    }
}

pub(super) fn until(lasts: &str, now: u64) -> Result<u64> {
    let lasts: Option<SignedDuration> = match lasts.strip_suffix('d').map(str::parse::<u32>) {
        Some(Ok(days)) => SignedDuration::try_from_hours(i64::from(days) * 24),
        Some(Err(_)) | None => lasts.parse().ok(),
    };
    let seconds = lasts.and_then(|lasts| u64::try_from(lasts.as_secs()).ok());
    let seconds = seconds.filter(|seconds| (1..=LONGEST_HOLD).contains(seconds));
    let seconds =
        seconds.context("`--for` is a time such as 30m, 2h or 7d, ten years at the most")?;
    Ok(now + seconds)
}

pub(super) fn time(seconds: u64) -> String {
    let at = i64::try_from(seconds).ok().and_then(|at| Timestamp::from_second(at).ok());
    at.map_or_else(|| seconds.to_string(), |at| at.to_string())
}
