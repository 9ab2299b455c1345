//! A gateway in the making.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, Result};
use toolcrib_auth::{KEY_PREFIX, ScopedPolicy};
use toolcrib_config::{Environment, ProfileView, SourceRegistry};
use toolcrib_core::{DoorHints, Ledger, Policy, Secret, Source, SourceId, Toolset};
use toolcrib_engine::catalog::{LOAD_DEADLINE, NamedSource};
use toolcrib_engine::policy::strictest;
use toolcrib_store::Store;

use super::error::GatewayError;
use super::follow::WatchedTokens;
use super::follow::toolset_splits;
use super::hints;
use super::listen_address::ListenWishes;
use super::notices::{NoticeLevel, Notices, ReporterFunction, traced};
use super::running::Gateway;
use super::serve_config::{self, ServeConfig, ServeFile};
use super::start::{self, GatewayBackend, GatewayStart};
use crate::config::freezes::FreezeFile;
use crate::config::overlays::OverlayFile;
use crate::config::record;
use crate::config::tokens::CallerToken;
use crate::config::{self, ProcessLookup};
use crate::freeze::{FreezeGuard, FreezePolicy};
use crate::http::listen::workers::Workers;
use crate::http::rest::sources::pins::LivePins;
use crate::sources;

/// Shortest token, in bytes: it must not be guessed.
const SHORTEST_TOKEN: usize = 32;

/// A gateway in the making: [`GatewayBuilder::start`] starts it.
pub struct GatewayBuilder {
    config: Option<PathBuf>,
    sources: Vec<NamedSource>,
    policy: Option<Arc<dyn Policy>>,
    wishes: ListenWishes,
    tokens: Vec<CallerToken>,
    notices: Notices,
}

impl Gateway {
    /// A gateway with tools, a file, callers and an address of one's own.
    pub fn builder() -> GatewayBuilder {
        GatewayBuilder {
            config: None,
            sources: Vec::new(),
            policy: None,
            wishes: ListenWishes {
                listen: None,
                hosts: Vec::new(),
                insecure_local: false,
                behind_proxy: false,
                elsewhere: "name another address with `GatewayBuilder::listen`",
                told: Into::into,
            },
            tokens: Vec::new(),
            notices: Notices::to(ReporterFunction(traced)),
        }
    }
}

impl GatewayBuilder {
    /// Follows a `crib.toml`: its sources, rules, agents and limits, as `toolcrib serve` follows it,
    /// and what was changed over it or frozen on this machine. The program that names it trusts it.
    /// Without one there are the sources of the program, and what may destroy is asked about first.
    #[must_use]
    pub fn config(self, path: impl Into<PathBuf>) -> Self {
        Self { config: Some(path.into()), ..self }
    }

    /// Adds tools of the program, as the source `code`. They pass the same gate as all others, and
    /// the rules of the file hold for them.
    #[must_use]
    pub fn tools(self, tools: Toolset) -> Self {
        self.source(SourceId::code().as_str(), tools)
    }

    /// Adds a source of the program. A profile of the file that names its sources has none of them.
    #[must_use]
    pub fn source(mut self, id: &str, source: impl Source + 'static) -> Self {
        self.sources.push((SourceId::new(id), Arc::new(source), LOAD_DEADLINE));
        self
    }

    /// Adds a policy that holds beside the rules of the file: the stricter of both wins.
    #[must_use]
    pub fn policy(self, policy: impl Policy + 'static) -> Self {
        Self { policy: Some(Arc::new(policy)), ..self }
    }

    /// Where to listen; else where the file says, else at 127.0.0.1:7411. With port 0 the system
    /// chooses one, which [`Gateway::address`] tells.
    #[must_use]
    pub fn listen(mut self, address: impl Into<SocketAddr>) -> Self {
        self.wishes.listen = Some(address.into());
        self
    }

    /// Adds a name that requests may call it by, such as `tools.example` or `localhost:8080`.
    #[must_use]
    pub fn host(mut self, name: impl Into<String>) -> Self {
        self.wishes.hosts.push(name.into());
        self
    }

    /// Lets a caller come in by a token, which is sent as `Authorization: Bearer TOKEN`. The caller
    /// `local` is the one who operates the gateway. A token has 32 bytes at least; [`new_token`]
    /// makes one.
    ///
    /// [`new_token`]: super::new_token
    #[must_use]
    pub fn token(mut self, caller: impl Into<String>, token: Secret) -> Self {
        self.tokens.push(CallerToken { name: caller.into(), token });
        self
    }

    /// Asks nobody for a token: every program of this machine may call the tools. Refused on any
    /// address but those of this machine.
    #[must_use]
    pub fn without_tokens(mut self) -> Self {
        self.wishes.insecure_local = true;
        self
    }

    /// Has a function told what there is to say beside the answers, on whatever thread it comes to
    /// pass. Without one these words are events of `tracing`.
    #[must_use]
    pub fn on_notice(self, tell: impl Fn(NoticeLevel, &str) + Send + Sync + 'static) -> Self {
        Self { notices: Notices::to(ReporterFunction(tell)), ..self }
    }

    /// Listens, and begins to answer. Must be called within a tokio runtime, on which the gateway
    /// follows its file and its sources; connections have threads of their own, one for each
    /// processor. Sources start meanwhile: [`Gateway::ready`] waits for them.
    pub async fn start(self) -> Result<Gateway, GatewayError> {
        self.tokens.iter().try_for_each(check)?;
        let file = read(self.config.as_deref(), &self.notices).map_err(GatewayError::of)?;
        let asks = !self.wishes.insecure_local;
        if asks && self.tokens.is_empty() && file.checked.front.access.is_empty() {
            return Err(GatewayError::AdmitsNobody);
        }
        // Large, and would be a part of whatever awaits it.
        Box::pin(self.begin(file)).await.map_err(GatewayError::of)
    }

    async fn begin(self, file: ServeConfig) -> Result<Gateway> {
        let Self { sources: own_sources, policy, wishes, tokens, notices, .. } = self;
        let start = GatewayStart::of(file, wishes, None, &[], notices.clone())?;
        let path = start.file.has_place().then(|| start.file.path.clone());
        let mut tokens = WatchedTokens::Given(tokens);
        if let Some(found) = tokens.look() {
            start.guard.take(&found);
        }
        let kept = record::store_of(&start.file.path, &start.file.checked)?;
        let sources = Arc::new(sources::ours());
        let telemetry = Arc::clone(&start.telemetry);
        let prepared = async {
            let freezes = FreezeGuard::new(path.as_deref().and_then(FreezeFile::of));
            let splits =
                path.as_ref().and_then(|path| toolset_splits::restored(&sources, path, &notices));
            let pins = match &path {
                Some(path) => serve_config::live_pins(path)?,
                None => LivePins::none(),
            };
            telemetry.resume(kept.as_ref()).await?;
            let workers = Workers::start().context("cannot start the threads that serve")?;
            let means = Environment {
                judge: pins.judge(),
                own_sources,
                ..means(&sources, kept.as_ref(), (policy, &freezes))
            };
            let store = kept.clone();
            let backend = GatewayBackend { store, freezes, pins, means, tokens, splits };
            anyhow::Ok((start.prepare(backend)?, workers))
        };
        match prepared.await {
            Ok((prepared, workers)) => {
                Ok(Gateway::serve(prepared, workers, (sources, telemetry, kept)))
            }
            Err(error) => {
                // What was written meanwhile is kept, as by a server that stops.
                start::stop(&sources, &telemetry, kept.as_ref()).await;
                let _ = tokio::task::spawn_blocking(move || telemetry.close()).await;
                Err(error)
            }
        }
    }
}

/// What a file needs of a program to become a crib.
fn means(
    sources: &Arc<SourceRegistry>,
    store: Option<&Store>,
    (policy, freezes): (Option<Arc<dyn Policy>>, &Arc<FreezeGuard>),
) -> Environment {
    let freezes = Arc::clone(freezes);
    let adapt = move |profile: Option<&str>, view: ProfileView| {
        let rules = match &policy {
            Some(policy) => strictest(view.policy, vec![Arc::clone(policy)]),
            None => view.policy,
        };
        let scoped = Arc::new(ScopedPolicy::new(profile, rules));
        let policy = Arc::new(FreezePolicy::new(Arc::clone(&freezes), scoped));
        ProfileView { policy, ..view }
    };
    let maker = Arc::<SourceRegistry>::clone(sources);
    Environment {
        ledger: store.map(|store| -> Arc<dyn Ledger> { Arc::new(store.clone()) }),
        adapt: Some(Box::new(adapt)),
        // The command that would declare effects knows nothing of the tools of a program.
        hints: DoorHints { declare_effects: None, ..hints::ours() },
        ..Environment::new(Arc::new(ProcessLookup), maker)
    }
}

/// The file of a program; without one there is nothing but what the program adds.
fn read(path: Option<&Path>, notices: &Notices) -> Result<ServeConfig> {
    let (text, overlay) = match path {
        Some(path) => (Some(config::file(path)?), OverlayFile::of(path)),
        None => (None, None),
    };
    let path = path.map(Path::to_owned).unwrap_or_default();
    ServeFile { path, text, default: "", overlay, is_found: false }.read(notices)
}

/// Whether a token can be sent, cannot be guessed, and passes for no key and no signed token.
fn check(CallerToken { name, token }: &CallerToken) -> Result<(), GatewayError> {
    let text = token.expose();
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-' || *byte == b'_';
    let problem = if name.is_empty() || name.len() > 64 || !name.as_bytes().iter().all(is_plain) {
        "the name of its caller must be 1 to 64 letters, digits, `-` and `_`"
    } else if text.len() < SHORTEST_TOKEN {
        "it is shorter than 32 bytes"
    } else if !text.as_bytes().iter().all(is_plain) {
        "it must be letters, digits, `-` and `_`"
    } else if text.starts_with(KEY_PREFIX) {
        "it begins as the keys of a file do"
    } else {
        return Ok(());
    };
    Err(GatewayError::Token { caller: name.clone(), problem })
}
