//! What `serve` starts from: its file, its address, its signals.

use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::{Context, Error, Result, anyhow, bail};
use tokio_rustls::TlsAcceptor;
use toolcrib::Fingerprint;
use toolcrib::config::{Config, Front, Lookup as _};
use toolcrib::store::{self, Options, Store};

use crate::cli::arguments::{CONFIG, ServeWords};
use crate::cli::output::Output;
use crate::cli::room::DEFAULT;
use crate::cli::trust;
use crate::config::alive::Named;
use crate::config::{self, servers};
use crate::http::tls::acceptor;

/// Where to listen if nobody says.
pub(in crate::cli) const LISTEN: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 7411);

/// The file, and what was read in it last.
pub(in crate::cli) struct Configuration {
    pub(in crate::cli) path: PathBuf,
    /// `None`: there is no file, and the default holds.
    pub(in crate::cli) text: Option<String>,
    pub(in crate::cli) checked: Config,
    /// Nobody named it.
    pub(in crate::cli) is_found: bool,
}

impl Configuration {
    /// The file of this name, which must be there; else `crib.toml`, if it is there.
    pub(in crate::cli) fn open(named: Option<&PathBuf>, output: &Output) -> Result<Self> {
        let (path, text) = match named {
            Some(path) => (path.clone(), Some(config::file(path)?)),
            None => (PathBuf::from(CONFIG), config::file_if_any(CONFIG.as_ref())?),
        };
        if text.is_none() {
            output.note(&format!("there is no `{CONFIG}`: serving a calendar, tasks and mail of its own, and a few harmless tools"));
        }
        let shown = path.display().to_string();
        let read = Config::read(text.as_deref().unwrap_or(DEFAULT), &shown);
        output.warn(&read.warnings);
        let mut checked = read.config.ok_or_else(|| {
            let lines: Vec<_> = read.problems.iter().map(ToString::to_string).collect();
            anyhow!("`{shown}` cannot be used:\n{}", lines.join("\n"))
        })?;
        let is_found = named.is_none();
        if is_found {
            trust::pass(&path, &mut checked, output)?;
        }
        Ok(Self { path, text, checked, is_found })
    }
}

/// The database that the file names, else one of its own in the state folder; `None`: there is no
/// place to keep one.
pub(super) fn kept(file: &Configuration) -> Result<Option<Store>> {
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
pub(in crate::cli) fn store(file: &Configuration) -> Result<Option<Store>> {
    let address = file.checked.store(&config::Outside).map_err(|missing| {
        let lines: Vec<_> = missing.iter().map(ToString::to_string).collect();
        anyhow!("the address of the store is not there: {}", lines.join("; "))
    })?;
    let Some(address) = address else { return Ok(None) };
    let text = address.expose();
    let path = text.strip_prefix("sqlite://").or_else(|| text.strip_prefix("sqlite:"));
    let folder = file.path.parent().unwrap_or(Path::new(""));
    // What is no path of ours is refused by the store in its own words.
    let path = match path {
        Some(path) if !path.is_empty() && !path.starts_with(':') => {
            store::path(&format!("sqlite://{}", folder.join(path).display()))
        }
        _ => store::path(text),
    };
    let opened = path.and_then(|path| Store::open(&path, bounds(&file.checked)));
    Ok(Some(opened.context("cannot open the store")?))
}

fn bounds(checked: &Config) -> Options {
    let (kept, default) = (&checked.kept, Options::default());
    Options {
        calls_for: kept.calls_for.unwrap_or(default.calls_for),
        most_calls: kept.most_calls.unwrap_or(default.most_calls),
        results_for: kept.results_for.unwrap_or(default.results_for),
        result_bytes_per_tenant: kept.results_per_tenant.unwrap_or(default.result_bytes_per_tenant),
        keys_for: kept.keys_for.unwrap_or(default.keys_for),
        tickets: checked.limits.tickets,
        max_bytes: kept.max_size.or(default.max_bytes),
    }
}

/// Where to listen. Beyond this machine only behind TLS, under names, and for those whom the file
/// names.
pub(super) fn address(words: &ServeWords, front: &Front) -> Result<SocketAddr> {
    let address = words.listen.or(front.listen).unwrap_or(LISTEN);
    if address.ip().is_loopback() {
        return Ok(address);
    }
    if words.insecure_local {
        bail!(
            "`--insecure-local` asks nobody for a token, and {address} is open to others: leave \
             the option out, or listen on 127.0.0.1"
        );
    }
    if !words.behind_proxy && front.proxies.is_empty() && front.tls.is_none() {
        bail!(
            "{address} is open to others, and tokens would come in the clear: name `certificate` \
             and `key` under `[server.tls]`; or put a proxy that ends TLS before it and say \
             `--behind-proxy`, or name it as `behind_proxy` under `[server]`; or listen on \
             127.0.0.1"
        );
    }
    if words.host.is_empty() && front.hosts.is_empty() {
        bail!(
            "{address} is open to others: say with `--host NAME`, or with `hosts` under \
             `[server]`, by which names it is reached"
        );
    }
    if front.access.is_empty() {
        bail!(
            "{address} is open to others, and the configuration says of nobody that they may come \
             in: make a key with `toolcrib token NAME --key` and put its lines there as \
             `[[server.key]]`; or listen on 127.0.0.1"
        );
    }
    Ok(address)
}

/// What keeps a server from starting, which may be one that listens there already.
pub(super) fn beside(address: SocketAddr, error: Error) -> Error {
    match std::net::TcpListener::bind(address) {
        Err(taken) if taken.kind() == ErrorKind::AddrInUse => error.context(format!(
            "a server listens on {address} already, and this one cannot start beside it: use that \
             one, or name another address with `--listen`, and another record"
        )),
        Ok(_) | Err(_) => error,
    }
}

/// Why nobody can be heard there.
pub(super) fn unheard(address: SocketAddr, error: std::io::Error) -> Error {
    let told = if error.kind() == ErrorKind::AddrInUse {
        format!("another program listens on {address}: name another address with `--listen`")
    } else {
        format!("cannot listen on {address}: name another address with `--listen`")
    };
    anyhow!(error).context(told)
}

/// Lets the commands of this user find the server.
pub(super) fn name(bound: SocketAddr, output: &Output) -> Option<Named> {
    let named = servers::name(bound);
    let told = "other commands find this server by `--url` alone";
    named.inspect_err(|error| output.warn(&[format!("{told}: {error:#}")])).ok()
}

/// TLS of our own, if the file names any.
pub(super) fn tls(front: &Front, output: &Output) -> Result<Option<TlsAcceptor>> {
    let Some(files) = &front.tls else { return Ok(None) };
    if config::Outside.is_open_to_others(&files.key) {
        let shown = files.key.display();
        output.warn(&[format!("others can read the key `{shown}`: `chmod 600` it")]);
    }
    acceptor(files).context("there is no TLS to be had from `[server.tls]`").map(Some)
}

/// The signals that end a server.
pub(super) struct Signals {
    #[cfg(unix)]
    end: tokio::signal::unix::Signal,
}

impl Signals {
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
