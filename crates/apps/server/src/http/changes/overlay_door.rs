//! Where the changes over the file of this server are kept, and how whoever follows them hears of
//! one.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, Result};
use tokio::sync::{Notify, watch};
use toolcrib_config::{Overlay, OverlayPath, OverlayRow, OverlayStanding};

use crate::config;
use crate::config::history::HistoryFile;
use crate::config::overlays::overlaid_config::OverlaidConfig;
use crate::config::overlays::{OverlayFile, now};
use crate::http::routes::problem::{HttpProblem, ProblemKind};

/// How long a change is waited for until it is in force.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) struct OverlayDoor {
    place: OverlayPlace,
    /// Somebody has changed it just now.
    changed: Notify,
    /// What was looked at last, in force or refused.
    followed: watch::Sender<FollowedOverlay>,
}

/// What there is to know of an overlay without a look at the disk.
#[derive(Debug, Clone, Default)]
pub(crate) struct FollowedOverlay {
    pub(crate) version: u64,
    /// The rows that add a source.
    pub(crate) added: Vec<OverlayRow>,
}

struct OverlayPlace {
    /// `None`: it is another process that reads it.
    file: Option<FollowedFile>,
    /// Where changes over it are kept, or why there are none.
    kept: Result<OverlayFile, &'static str>,
}

/// The configuration that is followed.
pub(crate) struct FollowedFile {
    pub(crate) path: PathBuf,
    /// What holds where there is no file.
    pub(crate) default: Option<String>,
}

impl FollowedFile {
    fn text(&self) -> Result<String> {
        let text = config::file_if_any(&self.path)?.or_else(|| self.default.clone());
        text.context("the configuration is gone: put it back first")
    }
}

/// A configuration and what is changed over it, as both are now.
pub(crate) struct ServedFile {
    /// Its path, as people name it.
    pub(crate) shown: String,
    pub(crate) text: String,
    pub(crate) overlay: Overlay,
    /// What each row comes to, in their order.
    pub(crate) standings: Vec<OverlayStanding>,
}

impl OverlayDoor {
    /// `kept`: where changes are kept, or why nothing can be changed here.
    pub(crate) fn of(file: FollowedFile, kept: Result<OverlayFile, &'static str>) -> Self {
        Self::at(OverlayPlace { file: Some(file), kept })
    }

    /// `why`: why nothing can be changed here.
    pub(crate) fn off(why: &'static str) -> Self {
        Self::at(OverlayPlace { file: None, kept: Err(why) })
    }

    fn at(place: OverlayPlace) -> Self {
        Self { place, changed: Notify::new(), followed: watch::Sender::default() }
    }

    /// The file as it is now, with what holds over it.
    pub(super) fn config(&self) -> Result<OverlaidConfig, HttpProblem> {
        let (file, kept) = match (&self.place.file, &self.place.kept) {
            (Some(file), Ok(kept)) => (file, kept),
            (_, Err(why)) => return Err(HttpProblem::new(ProblemKind::OverlayOff, *why)),
            (None, Ok(_)) => {
                let why = "no file is followed here";
                return Err(HttpProblem::new(ProblemKind::OverlayOff, why));
            }
        };
        let text = file.text().map_err(|error| unreadable(&error))?;
        Ok(OverlaidConfig::in_file(&file.path, text, kept.clone()))
    }

    /// The same to read, where nothing can be changed too; `None`: no file is followed here.
    pub(crate) fn served(&self) -> Result<Option<ServedFile>, HttpProblem> {
        let Some(file) = &self.place.file else { return Ok(None) };
        let read = || -> Result<ServedFile> {
            let text = file.text()?;
            let shown = file.path.display().to_string();
            let kept = self.place.kept.as_ref().ok();
            let overlay = kept.map(OverlayFile::read).transpose()?.unwrap_or_default();
            let standings = overlay.standings(&text, &shown, now());
            Ok(ServedFile { shown, text, overlay, standings })
        };
        read().map(Some).map_err(|error| unreadable(&error))
    }

    /// Where it is kept what became of the tools; `None`: nowhere.
    pub(crate) fn history(&self) -> Option<HistoryFile> {
        HistoryFile::of(&self.place.file.as_ref()?.path)
    }

    /// Where the file is; `None`: nothing is changed over it here.
    pub(crate) fn folder(&self) -> Option<PathBuf> {
        let file = self.place.file.as_ref().filter(|_| self.place.kept.is_ok())?;
        file.path.parent().map(Path::to_owned)
    }

    /// Resolves when somebody has changed something here.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// The same, with what is in force from the start.
    pub(crate) fn following(self, held: FollowedOverlay) -> Self {
        self.follows(held);
        self
    }

    /// This was looked at.
    pub(crate) fn follows(&self, held: FollowedOverlay) {
        self.followed.send_replace(held);
    }

    /// The row that adds a source, if one does.
    pub(crate) fn source(&self, id: &str) -> Option<OverlayRow> {
        let path = OverlayPath::of_source(id);
        self.followed.borrow().added.iter().find(|row| row.path == path).cloned()
    }

    /// Waits until a version was looked at; whether it was in time.
    pub(super) async fn wait_for(&self, version: u64) -> bool {
        let mut followed = self.followed.subscribe();
        self.changed.notify_one();
        let waiting = followed.wait_for(|seen| seen.version >= version);
        tokio::time::timeout(PATIENCE, waiting).await.is_ok_and(|seen| seen.is_ok())
    }
}

fn unreadable(error: &anyhow::Error) -> HttpProblem {
    HttpProblem::new(ProblemKind::Unavailable, format!("{error:#}"))
}
