//! What `serve` starts from: its words, its file, its socket, its signals.

use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

#[cfg(unix)]
use anyhow::bail;
use anyhow::{Context as _, Error, Result, anyhow};
use toolcrib_engine::pins::PinFile;

use crate::cli::args::{CONFIG, LOCK, ServeArgs};
use crate::cli::context::DEFAULT;
use crate::cli::output::Output;
use crate::cli::trust;
use crate::config::overlays::{self, OverlayFile};
use crate::config::registry::RegistryEntry;
use crate::config::trust::OverFile;
use crate::config::{self, servers};
use crate::gateway::listen_address::{ExposedAddress, ExposureProblem, ListenWishes};
use crate::gateway::serve_config::{ServeConfig, ServeFile};

/// The file of this name, which must be there; else `crib.toml`, if it is there.
pub(crate) fn open_file(
    named: Option<&PathBuf>,
    without_overlay: bool,
    output: &Output,
) -> Result<ServeConfig> {
    let (path, text) = match named {
        Some(path) => (path.clone(), Some(config::file(path)?)),
        None => (PathBuf::from(CONFIG), config::file_if_any(CONFIG.as_ref())?),
    };
    if text.is_none() {
        output.note(&format!(
            "there is no `{CONFIG}`: serving a calendar, tasks and mail of its own, and a few \
             harmless tools"
        ));
    }
    let overlay = (!without_overlay).then(|| OverlayFile::of(&path)).flatten();
    let is_found = named.is_none();
    let file = ServeFile { path, text, default: DEFAULT, overlay, is_found };
    let mut file = file.read(&output.notices())?;
    if is_found {
        let text = file.text.as_deref().unwrap_or(DEFAULT);
        let over = OverFile { text, held: &file.held, at: overlays::now() };
        trust::pass(&file.path, &mut file.checked, over, output)?;
    }
    Ok(file)
}

/// What the words want of the address.
pub(super) fn wishes(words: &ServeArgs) -> ListenWishes {
    ListenWishes {
        listen: words.listen,
        hosts: words.host.clone(),
        insecure_local: words.insecure_local,
        behind_proxy: words.behind_proxy,
        elsewhere: "name another address with `--listen`",
        told,
    }
}

/// Why an address is not served, with the words that would change it.
fn told(ExposedAddress { address, lack }: ExposedAddress) -> Error {
    match lack {
        ExposureProblem::AsksNobody => anyhow!(
            "`--insecure-local` asks nobody for a token, and {address} is open to others: leave \
             the option out, or listen on 127.0.0.1"
        ),
        ExposureProblem::InTheClear => anyhow!(
            "{address} is open to others, and tokens would come in the clear: name `certificate` \
             and `key` under `[server.tls]`; or put a proxy that ends TLS before it and say \
             `--behind-proxy`, or name it as `behind_proxy` under `[server]`; or listen on \
             127.0.0.1"
        ),
        ExposureProblem::Nameless => anyhow!(
            "{address} is open to others: say with `--host NAME`, or with `hosts` under \
             `[server]`, by which names it is reached"
        ),
        ExposureProblem::AdmitsNobody => anyhow!(
            "{address} is open to others, and the configuration says of nobody that they may come \
             in: make a key with `toolcrib token NAME --key` and put its lines there as \
             `[[server.key]]`; or listen on 127.0.0.1"
        ),
    }
}

/// The socket that whoever started us handed over, if anybody did.
#[cfg(unix)]
pub(super) fn handed() -> Result<Option<TcpListener>> {
    let mut all = listenfd::ListenFd::from_env();
    if all.len() > 1 {
        bail!(
            "{} sockets were handed over (`LISTEN_FDS`), and one is served: hand over one",
            all.len()
        );
    }
    let wrong = "what was handed over (`LISTEN_FDS`) cannot be listened to: hand over a TCP socket \
                 that listens";
    let Some(handed) = all.take_tcp_listener(0).context(wrong)? else { return Ok(None) };
    if !rustix::net::sockopt::socket_acceptconn(&handed).context(wrong)? {
        bail!(wrong);
    }
    Ok(Some(handed))
}

#[cfg(not(unix))]
pub(super) fn handed() -> Result<Option<TcpListener>> {
    Ok(None)
}

/// Lets the commands of this user find the server.
pub(super) fn name(bound: SocketAddr, output: &Output) -> Option<RegistryEntry> {
    let named = servers::name(bound);
    let told = "other commands find this server by `--url` alone";
    named.inspect_err(|error| output.warn(&[format!("{told}: {error:#}")])).ok()
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
