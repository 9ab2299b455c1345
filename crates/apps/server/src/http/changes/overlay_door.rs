//! Where the changes over the file of this server are kept, and how whoever follows them hears of
//! one.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result};
use tokio::sync::{Notify, watch};

use crate::config;
use crate::config::overlays::OverlayFile;
use crate::config::overlays::overlaid_config::OverlaidConfig;
use crate::http::routes::problem::{HttpProblem, ProblemKind};

/// How long a change is waited for until it is in force.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) struct OverlayDoor {
    place: OverlayPlace,
    /// Somebody has changed it just now.
    changed: Notify,
    /// The version that was looked at last, in force or refused.
    followed: watch::Sender<u64>,
}

enum OverlayPlace {
    File {
        path: PathBuf,
        kept: OverlayFile,
        /// What holds where there is no file.
        default: Option<String>,
    },
    /// There are none, for this reason.
    Off(&'static str),
}

impl OverlayDoor {
    /// `default`: what the configuration is as long as there is no file.
    pub(crate) fn of(path: PathBuf, kept: OverlayFile, default: Option<String>) -> Self {
        Self::at(OverlayPlace::File { path, kept, default })
    }

    /// `why`: why nothing can be changed here.
    pub(crate) fn off(why: &'static str) -> Self {
        Self::at(OverlayPlace::Off(why))
    }

    fn at(place: OverlayPlace) -> Self {
        Self { place, changed: Notify::new(), followed: watch::Sender::new(0) }
    }

    /// The file as it is now, with what holds over it.
    pub(super) fn config(&self) -> Result<OverlaidConfig, HttpProblem> {
        let (path, kept, default) = match &self.place {
            OverlayPlace::File { path, kept, default } => (path, kept, default),
            OverlayPlace::Off(why) => {
                return Err(HttpProblem::new(ProblemKind::OverlayOff, *why));
            }
        };
        let read = || -> Result<OverlaidConfig> {
            let text = config::file_if_any(path)?.or_else(|| default.clone());
            let text = text.context("the configuration is gone: put it back first")?;
            Ok(OverlaidConfig::in_file(path, text, kept.clone()))
        };
        read().map_err(|error| HttpProblem::new(ProblemKind::Unavailable, format!("{error:#}")))
    }

    /// Resolves when somebody has changed something here.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// This version was looked at.
    pub(crate) fn follows(&self, version: u64) {
        self.followed.send_replace(version);
    }

    /// Waits until a version was looked at; whether it was in time.
    pub(super) async fn wait_for(&self, version: u64) -> bool {
        let mut followed = self.followed.subscribe();
        self.changed.notify_one();
        let waiting = followed.wait_for(|seen| *seen >= version);
        tokio::time::timeout(PATIENCE, waiting).await.is_ok_and(|seen| seen.is_ok())
    }
}
