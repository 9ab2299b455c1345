//! A configuration with what holds over it: how it is changed, by the command line and by the page.

use std::path::Path;

use anyhow::anyhow;
use serde_json::Value;
use toolcrib_config::{Config, ConfigProblem, Overlay, OverlayPath, OverlayRow, OverlayStanding};

pub(crate) use super::change_problem::ChangeProblem;
use super::{OverlayFile, added_sources, now};
use crate::config::history::{HistoryEntry, HistoryFile};

/// Longest word of why, in characters.
pub(crate) const LONGEST_WHY: usize = 500;
/// How long a change may be meant to hold, in seconds.
pub(crate) const LONGEST_HOLD: u64 = 10 * 366 * 86_400;

pub(crate) struct OverlaidConfig {
    shown: String,
    pub(crate) text: String,
    file: OverlayFile,
    history: Option<HistoryFile>,
}

/// What is to become of the changes.
pub(crate) enum OverlayEdit {
    Set(FieldChanges),
    /// These rows are taken back.
    Undo(Vec<u64>),
    Clear,
}

/// Fields, and who changes them.
pub(crate) struct FieldChanges {
    pub(crate) fields: Vec<FieldChange>,
    pub(crate) by: String,
    pub(crate) why: Option<String>,
    /// In seconds since 1970.
    pub(crate) until: Option<u64>,
}

pub(crate) struct FieldChange {
    pub(crate) path: OverlayPath,
    /// `None`: what was changed there is taken back.
    pub(crate) value: Option<Value>,
    /// Which row alone is taken back.
    pub(crate) row: Option<u64>,
}

/// What came of an edit.
#[derive(Debug)]
pub(crate) struct EditedOverlay {
    pub(crate) before: Overlay,
    pub(crate) after: Overlay,
    /// What is new.
    pub(crate) made: Vec<OverlayRow>,
    /// What the file says already, so that no row is needed.
    pub(crate) landed: Vec<OverlayRow>,
    pub(crate) gone: Vec<OverlayRow>,
    /// The moment that it was looked at, in seconds since 1970.
    pub(crate) at: u64,
    /// Why the history does not have it, if it was made.
    pub(crate) unnoted: Option<String>,
}

/// Why nothing was changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum OverlayRefusal {
    /// Somebody was faster: it has this version now.
    #[error("it was changed meanwhile: it has version {} now", .0.version)]
    Version(Box<Overlay>),
    #[error("{}", .0.iter().map(|problem| problem.message.as_str()).collect::<Vec<_>>().join("\n"))]
    Problems(Vec<ChangeProblem>),
    #[error("there is no change {0}: `toolcrib overlay` lists them")]
    UnknownRow(u64),
    /// Whoever wants it may not have it, for want of this scope.
    #[error("this needs the scope `{0}`")]
    Scope(&'static str),
    #[error(transparent)]
    Other(#[from] anyhow::Error),
}

impl OverlaidConfig {
    /// `None`: there is no place to keep a change.
    pub(crate) fn of(path: &Path, text: String) -> Option<Self> {
        Some(Self::in_file(path, text, OverlayFile::of(path)?))
    }

    pub(crate) fn in_file(path: &Path, text: String, file: OverlayFile) -> Self {
        let history = HistoryFile::of(path);
        Self { shown: path.display().to_string(), text, file, history }
    }

    /// The configuration, as people name it.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    pub(crate) fn read(&self) -> anyhow::Result<Overlay> {
        self.file.read()
    }

    /// What each row comes to now, in their order.
    pub(crate) fn standings(&self, overlay: &Overlay) -> Vec<OverlayStanding> {
        overlay.standings(&self.text, &self.shown, now())
    }

    /// What the file says at the place of each row; `null`: nothing.
    pub(crate) fn said_of_each(&self, overlay: &Overlay) -> Vec<Value> {
        overlay.said_of_each(&self.text, &self.shown)
    }

    /// The text of the file with the rows that are in force.
    pub(crate) fn folded(&self, overlay: &Overlay) -> String {
        overlay.folded(&self.text, &self.shown, now())
    }

    /// What the file with these rows says; `None`: it may not stand so.
    pub(crate) fn config(&self, overlay: &Overlay, at: u64) -> Option<Config> {
        Config::read_over(&self.text, &self.shown, overlay, at).config
    }

    /// Changes it, unless its version is another one than `expect`. `record` hears of it before
    /// anything is written, and nothing is where it fails.
    pub(crate) fn edit(
        &self,
        edit: &OverlayEdit,
        expect: Option<u64>,
        by: &str,
        record: impl FnOnce(&EditedOverlay) -> Result<(), OverlayRefusal>,
    ) -> Result<EditedOverlay, OverlayRefusal> {
        let mut edited = self.file.change(|overlay| -> Result<_, OverlayRefusal> {
            let edited = self.edited(overlay, edit, expect)?;
            record(&edited)?;
            *overlay = edited.after.clone();
            Ok(edited)
        })?;
        // It holds by now, whether that can be noted or not.
        let gone = edited.gone.iter().map(|row| HistoryEntry::taken_back(row, by, edited.at));
        let entries = gone.chain(edited.made.iter().map(HistoryEntry::changed)).collect();
        if let Some(Err(error)) = self.history.as_ref().map(|history| history.add(entries)) {
            edited.unnoted = Some(format!("{error:#}"));
        }
        Ok(edited)
    }

    /// The same, and nothing is changed.
    pub(crate) fn try_out(
        &self,
        edit: &OverlayEdit,
        expect: Option<u64>,
    ) -> Result<EditedOverlay, OverlayRefusal> {
        self.edited(&self.file.read()?, edit, expect)
    }

    fn edited(
        &self,
        before: &Overlay,
        edit: &OverlayEdit,
        expect: Option<u64>,
    ) -> Result<EditedOverlay, OverlayRefusal> {
        if expect.is_some_and(|version| version != before.version) {
            return Err(OverlayRefusal::Version(Box::new(before.clone())));
        }
        let mut after = before.clone();
        let at = now();
        let mut landed = Vec::new();
        match edit {
            OverlayEdit::Set(changes) => {
                let made = self.set(&mut after, changes, at)?;
                landed = self.needless(&mut after, &made, at)?;
                self.check(&after, at)?;
            }
            OverlayEdit::Undo(numbers) => {
                let has = |number: &u64| after.rows.iter().any(|row| row.id == *number);
                if let Some(unknown) = numbers.iter().find(|number| !has(number)) {
                    return Err(OverlayRefusal::UnknownRow(*unknown));
                }
                after.version += 1;
                after.rows.retain(|row| !numbers.contains(&row.id));
                self.check(&after, at)?;
            }
            OverlayEdit::Clear => {
                after.version += 1;
                after.rows.clear();
            }
        }
        let missing = |rows: &[OverlayRow], other: &Overlay| -> Vec<OverlayRow> {
            rows.iter().filter(|row| !other.rows.contains(row)).cloned().collect()
        };
        let (made, gone) = (missing(&after.rows, before), missing(&before.rows, &after));
        let before = before.clone();
        Ok(EditedOverlay { before, after, made, landed, gone, at, unnoted: None })
    }

    /// A row of the same path is replaced, since only one of them could hold; rules are added. Gives
    /// the numbers of the new rows.
    fn set(
        &self,
        overlay: &mut Overlay,
        changes: &FieldChanges,
        at: u64,
    ) -> Result<Vec<u64>, OverlayRefusal> {
        let FieldChanges { fields, by, why, until } = changes;
        if why.as_ref().is_some_and(|why| why.chars().count() > LONGEST_WHY) {
            let message = format!("why has more than {LONGEST_WHY} characters: make it shorter");
            return Err(problem(String::new(), message));
        }
        if until.is_some_and(|until| until <= at || until - at > LONGEST_HOLD) {
            let message = "a change ends later than now, and within ten years".to_owned();
            return Err(problem(String::new(), message));
        }
        let mut made = Vec::new();
        for FieldChange { path, value, row } in fields {
            overlay.version += 1;
            let count = overlay.rows.len();
            let Some(value) = value else {
                let is_other = |other: &OverlayRow| row.is_some_and(|row| row != other.id);
                overlay.rows.retain(|other| other.path != *path || is_other(other));
                if overlay.rows.len() == count {
                    let message = format!("nothing was changed at `{path}`");
                    return Err(problem(path.to_string(), message));
                }
                continue;
            };
            overlay.rows.retain(|other| other.path != *path || path.is_rules());
            overlay.rows.push(OverlayRow {
                id: overlay.version,
                path: path.clone(),
                value: value.clone(),
                was: Value::Null,
                by: by.clone(),
                at,
                why: why.clone(),
                until: *until,
            });
            made.push(overlay.version);
        }
        let said = self.said_of_each(overlay);
        for (row, said) in overlay.rows.iter_mut().zip(said) {
            if made.contains(&row.id) {
                row.was = said;
            }
        }
        Ok(made)
    }

    /// Takes out the new rows that the file says already, and refuses those that do nothing or add
    /// what may not be added.
    fn needless(
        &self,
        overlay: &mut Overlay,
        made: &[u64],
        at: u64,
    ) -> Result<Vec<OverlayRow>, OverlayRefusal> {
        let standings = overlay.standings(&self.text, &self.shown, at);
        let mut problems = added_sources::problems(overlay, made, &standings);
        let mut landed = Vec::new();
        for (row, standing) in overlay.rows.iter().zip(standings) {
            match standing {
                _ if !made.contains(&row.id) => {}
                OverlayStanding::Orphan => problems.push(ChangeProblem {
                    path: row.path.to_string(),
                    message: format!(
                        "`{}` has no source or profile of `{}`: nothing was changed",
                        self.shown, row.path
                    ),
                }),
                OverlayStanding::Landed => landed.push(row.clone()),
                OverlayStanding::InForce | OverlayStanding::FileDiffers | OverlayStanding::Over => {
                }
            }
        }
        if !problems.is_empty() {
            return Err(OverlayRefusal::Problems(problems));
        }
        overlay.rows.retain(|row| !landed.contains(row));
        Ok(landed)
    }

    fn check(&self, overlay: &Overlay, at: u64) -> Result<(), OverlayRefusal> {
        let read = Config::read_over(&self.text, &self.shown, overlay, at);
        if read.problems.is_empty() {
            return Ok(());
        }
        let told = |problem: &ConfigProblem| ChangeProblem {
            path: problem.path.clone(),
            message: problem.to_string(),
        };
        Err(OverlayRefusal::Problems(read.problems.iter().map(told).collect()))
    }
}

fn problem(path: String, message: String) -> OverlayRefusal {
    OverlayRefusal::Problems(vec![ChangeProblem { path, message }])
}

/// A path of the file, or why it is none that may be changed.
pub(crate) fn path(text: &str) -> anyhow::Result<OverlayPath> {
    text.parse().map_err(|error: String| anyhow!(error))
}
