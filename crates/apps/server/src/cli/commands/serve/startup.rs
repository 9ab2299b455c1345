//! What `serve` starts from: its file, its record, its signals.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use tokio_rustls::TlsAcceptor;
use toolcrib_auth::SigningKey;
use toolcrib_config::{Config, ListenerSettings, Overlay, SecretLookup as _};
use toolcrib_core::Fingerprint;
use toolcrib_engine::pins::PinFile;
use toolcrib_store::{self as store, Store, StoreError, StoreOptions};

use crate::cli::args::{CONFIG, LOCK};
use crate::cli::context::DEFAULT;
use crate::cli::output::Output;
use crate::cli::trust;
use crate::config::overlays::{self, OverlayFile};
use crate::config::registry::RegistryEntry;
use crate::config::{self, servers};
use crate::http::changes::overlay_door::OverlayDoor;
use crate::http::listen::tls::acceptor;

/// The file, and what was read in it last.
pub(crate) struct ServeConfig {
    pub(in crate::cli) path: PathBuf,
    /// `None`: there is no file, and the default holds.
    pub(in crate::cli) text: Option<String>,
    /// The text with what was changed over it.
    pub(in crate::cli) folded: Option<String>,
    /// Where that is kept; `None`: it is done without.
    pub(in crate::cli) overlay: Option<OverlayFile>,
    pub(in crate::cli) checked: Config,
    /// Nobody named it.
    pub(in crate::cli) is_found: bool,
    /// What was changed over it when it was read.
    pub(in crate::cli) held: Overlay,
}

impl ServeConfig {
    /// The file of this name, which must be there; else `crib.toml`, if it is there.
    pub(in crate::cli) fn open(
        named: Option<&PathBuf>,
        without_overlay: bool,
        output: &Output,
    ) -> Result<Self> {
        let (path, text) = match named {
            Some(path) => (path.clone(), Some(config::file(path)?)),
            None => (PathBuf::from(CONFIG), config::file_if_any(CONFIG.as_ref())?),
        };
        if text.is_none() {
            output.note(&format!("there is no `{CONFIG}`: serving a calendar, tasks and mail of its own, and a few harmless tools"));
        }
        let shown = path.display().to_string();
        let overlay = (!without_overlay).then(|| OverlayFile::of(&path)).flatten();
        let held = overlay.as_ref().map(OverlayFile::read).transpose()?.unwrap_or_default();
        let own = text.as_deref().unwrap_or(DEFAULT);
        // One moment for both: what ends between them would stay in force.
        let now = overlays::now();
        let read = Config::read_over(own, &shown, &held, now);
        let folded = Some(held.folded(own, &shown, now));
        if !held.rows.is_empty() {
            output.note(&format!("`{shown}` was changed: `toolcrib overlay` lists how"));
        }
        output.warn(&read.warnings);
        let mut checked = read.config.ok_or_else(|| {
            let lines: Vec<_> = read.problems.iter().map(ToString::to_string).collect();
            anyhow!("`{shown}` cannot be used:\n{}", lines.join("\n"))
        })?;
        let is_found = named.is_none();
        if is_found {
            trust::pass(&path, &mut checked, || Config::read(own, &shown).config, output)?;
        }
        Ok(Self { path, text, folded, overlay, checked, is_found, held })
    }

    /// By which the page changes fields over it.
    pub(in crate::cli) fn overlay_door(&self) -> OverlayDoor {
        match &self.overlay {
            Some(kept) => {
                let default = self.text.is_none().then(|| DEFAULT.to_owned());
                OverlayDoor::of(self.path.clone(), kept.clone(), default)
            }
            None => OverlayDoor::off(
                "the server was started with `--no-overlay`, or has no folder to keep changes in \
                 (`HOME` or `XDG_STATE_HOME`): start it without the first and with the second",
            ),
        }
    }
}

/// The database that the file names, else one of its own in the state folder; `None`: there is no
/// place to keep one.
pub(super) fn kept(file: &ServeConfig) -> Result<Option<Store>> {
    if let Some(store) = store(file)? {
        return Ok(Some(store));
    }
    let Some(folder) = config::state_folder().map(|state| state.join("records")) else {
        return Ok(None);
    };
    let cure = "name a file to keep it in: `[store]` with `url = \"sqlite://crib.db\"`";
    config::private_folder(&folder)
        .with_context(|| format!("cannot make `{}` for the record; {cure}", folder.display()))?;
    let whole = std::path::absolute(&file.path).unwrap_or_else(|_| file.path.clone());
    let name = Fingerprint::of(&whole.display().to_string().into());
    let path = folder.join(format!("{name}.db"));
    let path = store::path(&format!("sqlite://{}", path.display()));
    let opened = path.and_then(|path| Store::open(&path, bounds(&file.checked)));
    opened.map(Some).with_context(|| format!("cannot keep the record; {cure}"))
}

/// The database that the file names; a path in it starts where the file is.
pub(crate) fn store(file: &ServeConfig) -> Result<Option<Store>> {
    store_of(&file.path, &file.checked)
}

/// The same of a file that stands at a path.
pub(crate) fn store_of(path: &Path, checked: &Config) -> Result<Option<Store>> {
    let Some(path) = store_path(path, checked)? else { return Ok(None) };
    let opened = path.and_then(|path| Store::open(&path, bounds(checked)));
    Ok(Some(opened.context(UNOPENED)?))
}

/// Fails as [`store`] would, and leaves all as it is.
pub(super) fn try_store(file: &ServeConfig) -> Result<()> {
    let Some(path) = store_path(&file.path, &file.checked)? else { return Ok(()) };
    path.and_then(|path| Store::try_out(&path)).context(UNOPENED)
}

/// What is said of a database that cannot be used.
const UNOPENED: &str = "cannot open the store";

/// Where the database is that the file names, or why its address is none.
fn store_path(file: &Path, checked: &Config) -> Result<Option<Result<PathBuf, StoreError>>> {
    let address = checked.store(&config::ProcessLookup).map_err(|missing| {
        let lines: Vec<_> = missing.iter().map(ToString::to_string).collect();
        anyhow!("the address of the store is not there: {}", lines.join("; "))
    })?;
    let Some(address) = address else { return Ok(None) };
    let text = address.expose();
    let path = text.strip_prefix("sqlite://").or_else(|| text.strip_prefix("sqlite:"));
    let folder = file.parent().unwrap_or(Path::new(""));
    // What is no path of ours is refused by the store in its own words.
    let path = match path {
        Some(path) if !path.is_empty() && !path.starts_with(':') => {
            store::path(&format!("sqlite://{}", folder.join(path).display()))
        }
        _ => store::path(text),
    };
    Ok(Some(path))
}

/// How much is kept, and for how long.
pub(crate) fn bounds(checked: &Config) -> StoreOptions {
    let (kept, default) = (&checked.kept, StoreOptions::default());
    StoreOptions {
        calls_for: kept.calls_for.unwrap_or(default.calls_for),
        most_calls: kept.most_calls.unwrap_or(default.most_calls),
        results_for: kept.results_for.unwrap_or(default.results_for),
        result_bytes_per_tenant: kept.results_per_tenant.unwrap_or(default.result_bytes_per_tenant),
        keys_for: kept.keys_for.unwrap_or(default.keys_for),
        tickets: checked.limits.tickets,
        max_bytes: kept.max_size.or(default.max_bytes),
    }
}

/// Lets the commands of this user find the server.
pub(super) fn name(bound: SocketAddr, output: &Output) -> Option<RegistryEntry> {
    let named = servers::name(bound);
    let told = "other commands find this server by `--url` alone";
    named.inspect_err(|error| output.warn(&[format!("{told}: {error:#}")])).ok()
}

/// TLS of our own, if the file names any.
pub(super) fn tls(front: &ListenerSettings, output: &Output) -> Result<Option<TlsAcceptor>> {
    if let Some(files) = &front.tls
        && config::ProcessLookup.is_open_to_others(&files.key)
    {
        let shown = files.key.display();
        output.warn(&[format!("others can read the key `{shown}`: `chmod 600` it")]);
    }
    own_tls(front)
}

/// The same without a word.
pub(super) fn own_tls(front: &ListenerSettings) -> Result<Option<TlsAcceptor>> {
    let Some(files) = &front.tls else { return Ok(None) };
    acceptor(files).context("there is no TLS to be had from `[server.tls]`").map(Some)
}

/// What signs the cards of agents, if the file names it.
pub(super) fn card_key(front: &ListenerSettings, output: &Output) -> Result<Option<SigningKey>> {
    if let Some(path) = &front.card_key
        && config::ProcessLookup.is_open_to_others(path)
    {
        let shown = path.display();
        output.warn(&[format!("others can read the key `{shown}`: `chmod 600` it")]);
    }
    own_card_key(front)
}

/// The same without a word.
pub(super) fn own_card_key(front: &ListenerSettings) -> Result<Option<SigningKey>> {
    let Some(path) = &front.card_key else { return Ok(None) };
    let key = SigningKey::of_pem(&config::file(path)?);
    let shown = path.display();
    let key = key.map_err(|why| anyhow!("`{shown}` holds no key that signs: {why}"));
    key.context("cards cannot be signed by `server.card_key`").map(Some)
}

/// The signals that end a server.
pub(super) struct StopSignals {
    #[cfg(unix)]
    end: tokio::signal::unix::Signal,
}

impl StopSignals {
    pub(super) fn new() -> Result<Self> {
        Ok(Self {
            #[cfg(unix)]
            end: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?,
        })
    }

    pub(super) async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            _ = self.end.recv() => {}
        }
        #[cfg(not(unix))]
        let _ = tokio::signal::ctrl_c().await;
    }
}

/// The pin file beside a configuration, if there is one.
pub(super) fn pins(file: &Path) -> Result<Option<PinFile>> {
    let lock = file.with_file_name(LOCK);
    let pins = config::file_if_any(&lock)?.map(|text| PinFile::parse(&text)).transpose();
    pins.with_context(|| format!("cannot use `{}`", lock.display()))
}
