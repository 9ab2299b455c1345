//! What a server starts from: its file, its record, its keys.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow};
use tokio_rustls::TlsAcceptor;
use toolcrib_auth::SigningKey;
use toolcrib_config::{
    Config, ConfigProblem, ListenerSettings, Overlay, OverlayRow, SecretLookup as _,
};

use super::notices::Notices;
use crate::config::overlays::{self, OverlayFile};
use crate::config::{self, LOCK};
use crate::http::changes::overlay_door::{FollowedFile, FollowedOverlay, OverlayDoor};
use crate::http::listen::tls::acceptor;
use crate::http::rest::sources::pins::LivePins;

/// The file, and what was read in it last.
pub(crate) struct ServeConfig {
    pub(crate) path: PathBuf,
    /// `None`: there is no file.
    pub(crate) text: Option<String>,
    /// What holds then.
    pub(crate) default: &'static str,
    /// The text with what was changed over it.
    pub(crate) folded: Option<String>,
    /// Where that is kept; `None`: it is done without.
    pub(crate) overlay: Option<OverlayFile>,
    pub(crate) checked: Config,
    /// Nobody named it.
    pub(crate) is_found: bool,
    /// What was changed over it when it was read.
    pub(crate) held: Overlay,
}

/// A file that cannot be served, and all that is wrong with it.
#[derive(Debug, thiserror::Error)]
#[error("`{file}` cannot be used:\n{}", lines(.problems))]
pub(crate) struct WrongFile {
    pub(crate) file: String,
    pub(crate) problems: Vec<ConfigProblem>,
}

fn lines(problems: &[ConfigProblem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// A file before it is looked into.
pub(crate) struct ServeFile {
    pub(crate) path: PathBuf,
    /// `None`: there is none.
    pub(crate) text: Option<String>,
    /// What holds as long as there is none.
    pub(crate) default: &'static str,
    /// Where the changes over it are kept; `None`: it is done without.
    pub(crate) overlay: Option<OverlayFile>,
    /// Nobody named it.
    pub(crate) is_found: bool,
}

impl ServeFile {
    /// What it says, with what was changed over it.
    pub(crate) fn read(self, notices: &Notices) -> Result<ServeConfig> {
        let Self { path, text, default, overlay, is_found } = self;
        let shown = path.display().to_string();
        let held = overlay.as_ref().map(OverlayFile::read).transpose()?.unwrap_or_default();
        let own = text.as_deref().unwrap_or(default);
        // One moment for both: what ends between them would stay in force.
        let now = overlays::now();
        let read = Config::read_over(own, &shown, &held, now);
        let folded = Some(held.folded(own, &shown, now));
        if !held.rows.is_empty() {
            notices.note(&format!("`{shown}` was changed: `toolcrib overlay` lists how"));
        }
        notices.warn(&read.warnings);
        let problems = read.problems;
        let checked = read.config.ok_or(WrongFile { file: shown, problems })?;
        Ok(ServeConfig { path, text, default, folded, overlay, checked, is_found, held })
    }
}

impl ServeConfig {
    /// Whether there is a file, or could be one: a program may serve its own tools alone.
    pub(crate) fn has_place(&self) -> bool {
        !self.path.as_os_str().is_empty()
    }

    /// The rows that add a source which the file as it was read last does not have.
    pub(crate) fn added(&self, held: &Overlay, at: u64) -> Vec<OverlayRow> {
        let own = self.text.as_deref().unwrap_or(self.default);
        let shown = self.path.display().to_string();
        held.sources(own, &shown, at).into_iter().cloned().collect()
    }

    /// By which the page changes fields over it.
    pub(crate) fn overlay_door(&self) -> OverlayDoor {
        let default = self.text.is_none().then(|| self.default.to_owned());
        let file = FollowedFile { path: self.path.clone(), default };
        let why_not = if self.has_place() {
            "the server was started with `--no-overlay`, or has no folder to keep changes in \
             (`HOME` or `XDG_STATE_HOME`): start it without the first and with the second"
        } else {
            "the program that serves has no configuration file: give it one, whose fields can be \
             changed"
        };
        let added = self.added(&self.held, overlays::now());
        let held = FollowedOverlay { version: self.held.version, added };
        OverlayDoor::of(file, self.overlay.clone().ok_or(why_not)).following(held)
    }
}

/// TLS of our own, if the file names any.
pub(crate) fn tls(front: &ListenerSettings, notices: &Notices) -> Result<Option<TlsAcceptor>> {
    if let Some(files) = &front.tls
        && config::ProcessLookup.is_open_to_others(&files.key)
    {
        let shown = files.key.display();
        notices.warn(&[format!("others can read the key `{shown}`: `chmod 600` it")]);
    }
    own_tls(front)
}

/// The same without a word.
pub(crate) fn own_tls(front: &ListenerSettings) -> Result<Option<TlsAcceptor>> {
    let Some(files) = &front.tls else { return Ok(None) };
    acceptor(files).context("there is no TLS to be had from `[server.tls]`").map(Some)
}

/// What signs the cards of agents, if the file names it.
pub(crate) fn card_key(front: &ListenerSettings, notices: &Notices) -> Result<Option<SigningKey>> {
    if let Some(path) = &front.card_key
        && config::ProcessLookup.is_open_to_others(path)
    {
        let shown = path.display();
        notices.warn(&[format!("others can read the key `{shown}`: `chmod 600` it")]);
    }
    own_card_key(front)
}

/// The same without a word.
pub(crate) fn own_card_key(front: &ListenerSettings) -> Result<Option<SigningKey>> {
    let Some(path) = &front.card_key else { return Ok(None) };
    let key = SigningKey::of_pem(&config::file(path)?);
    let shown = path.display();
    let key = key.map_err(|why| anyhow!("`{shown}` holds no key that signs: {why}"));
    key.context("cards cannot be signed by `server.card_key`").map(Some)
}

/// The accepted tools of the pin file beside a configuration, if there is one.
pub(crate) fn live_pins(file: &Path) -> Result<Arc<LivePins>> {
    LivePins::open(file.with_file_name(LOCK))
}
