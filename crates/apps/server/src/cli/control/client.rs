//! A running server, asked over its REST door with the token of this machine.

use std::net::SocketAddr;
use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, StatusCode};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use toolcrib_config::Config;
use toolcrib_core::Secret;
use toolcrib_egress as egress;
use toolcrib_egress::{Egress, EgressBody, EgressRequest, Network};
use url::Url;

use crate::cli::CommandExit;
use crate::cli::args::{CONFIG, GlobalArgs, RemoteArgs};
use crate::cli::signals::told_to_end;
use crate::config::{self, servers, tokens};
use crate::gateway::listen_address::LISTEN;

/// Largest answer that is read, in bytes.
const LARGEST: u64 = 16 * 1024 * 1024;
/// How often whoever follows looks.
const BEAT: Duration = Duration::from_millis(500);

pub(crate) struct BlockingClient {
    runtime: Runtime,
    server: ControlClient,
}

/// Where one server is, and what opens it.
pub(crate) struct ControlClient {
    egress: Egress,
    base: Url,
    token: Secret,
    /// Where the token is for a server of this user alone; `None`: a person named the server.
    ours: Option<SocketAddr>,
}

impl BlockingClient {
    pub(crate) fn open(global: &GlobalArgs, words: &RemoteArgs) -> Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let server = runtime.block_on(async { ControlClient::meant(global, words) })?;
        Ok(Self { runtime, server })
    }

    pub(crate) fn base(&self) -> &str {
        self.server.base()
    }

    /// Asks once and gives the JSON of the answer.
    pub(crate) fn ask(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value> {
        self.runtime.block_on(self.server.ask(method, path, body))
    }

    /// Looks again and again until a person has seen enough. `tell` is given what a look at `path`
    /// found, and says where to look next.
    pub(crate) fn follow(
        &self,
        mut path: String,
        mut tell: impl FnMut(&Value) -> Result<String>,
    ) -> Result<CommandExit> {
        self.runtime.block_on(followed(async || {
            let seen = self.server.ask(Method::GET, &path, None).await?;
            path = tell(&seen)?;
            Ok(())
        }))
    }
}

/// Looks again and again until a person has seen enough.
pub(crate) async fn followed(mut look: impl AsyncFnMut() -> Result<()>) -> Result<CommandExit> {
    // One for the whole time: another would not know of what a person pressed before it.
    let mut told = pin!(told_to_end());
    loop {
        let looked = async {
            look().await?;
            tokio::time::sleep(BEAT).await;
            anyhow::Ok(())
        };
        tokio::select! {
            biased;
            heard = &mut told => return heard.map(|()| CommandExit::Interrupted).map_err(Into::into),
            looked = looked => looked?,
        }
    }
}

/// What a server says that does not do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[error("{title}: {detail}")]
pub(crate) struct ServerRefusal {
    pub(crate) status: StatusCode,
    title: String,
    pub(crate) detail: String,
    /// What came of what was decided before; `None`: it says nothing of that.
    pub(crate) recorded: Option<Value>,
}

/// No server of this user listens where one is looked for.
#[derive(Debug, thiserror::Error)]
#[error(
    "no server of yours listens at {0}: start one with `toolcrib serve`, or name another with `--url`"
)]
pub(crate) struct ServerNotFound(String);

/// Nobody says which server is meant, and which one could be is not plain.
#[derive(Debug, thiserror::Error)]
#[error("name the server that is meant with `--url`: yours listen at {0}")]
pub(crate) struct AmbiguousServer(String);

impl ControlClient {
    /// To be called within the runtime that it will be asked in: the pool of connections takes hold
    /// of that.
    pub(crate) fn new(base: Url, token: Secret) -> Result<Self> {
        let made = Egress::only([base.clone()], Network::default());
        let egress = made.with_context(|| format!("`{base}` cannot be asked"))?;
        Ok(Self { egress, base, token, ours: None })
    }

    /// The one that the words or the configuration name, else the only one of this user.
    pub(crate) fn meant(global: &GlobalArgs, words: &RemoteArgs) -> Result<Self> {
        let (base, found) = base(global, words)?;
        let server = Self::new(base, token(words.token_file.as_deref())?)?;
        Ok(Self { ours: found.filter(|_| words.token_file.is_none()), ..server })
    }

    pub(crate) fn base(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }

    /// Asks once and gives the JSON of the answer.
    pub(crate) async fn ask(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value> {
        // At a port of this machine anybody may listen.
        if self.ours.is_some_and(|address| !servers::listens(address)) {
            return Err(ServerNotFound(self.base().to_owned()).into());
        }
        let mut url = self.base.clone();
        let (path, query) = path.split_once('?').map_or((path, None), |(a, b)| (a, Some(b)));
        url.set_path(&format!("{}{path}", self.base.path().trim_end_matches('/')));
        url.set_query(query);
        let mut request = EgressRequest::new(method, url);
        let token = HeaderValue::from_str(&format!("Bearer {}", self.token.expose()));
        request.headers.insert(AUTHORIZATION, token.context("the token is no text")?);
        if let Some(body) = body {
            let kind = HeaderValue::from_static("application/json");
            request.headers.insert(CONTENT_TYPE, kind);
            request.body = EgressBody::Bytes(body.to_string().into());
        }
        let answer = self.egress.send(request).await.map_err(|error| self.silent(error))?;
        let status = answer.status;
        let bytes = answer.bytes(LARGEST).await.context("the answer cannot be read")?;
        let value: Option<Value> = serde_json::from_slice(&bytes).ok();
        if status.is_success() {
            return value.with_context(|| format!("`{}` is no toolcrib server", self.base));
        }
        Err(self.refused(status, value.as_ref()))
    }

    fn silent(&self, error: egress::EgressError) -> anyhow::Error {
        let (base, error) = (&self.base, anyhow!(error));
        error.context(format!(
            "no server answers at {base}: start one with `toolcrib serve`, or name another with \
             `--url`"
        ))
    }

    fn refused(&self, status: StatusCode, problem: Option<&Value>) -> anyhow::Error {
        if status == StatusCode::UNAUTHORIZED {
            return anyhow!(
                "the server at {} does not take this token: name the file of another with \
                 `--token-file`",
                self.base
            );
        }
        let text = |key: &str| problem.and_then(|problem| problem.get(key)?.as_str());
        let title = text("title").unwrap_or("the server refuses");
        let detail = text("detail").unwrap_or(status.as_str()).to_owned();
        let recorded = problem.and_then(|problem| problem.get("recorded")).cloned();
        ServerRefusal { status, title: title.to_owned(), detail, recorded }.into()
    }
}

/// What the command line names, else where the configuration says that the server listens, else
/// where the only one of this user does, and that address where it is one of this machine. A file
/// that is only found may be somebody else's: the token goes to no other machine for its sake.
fn base(global: &GlobalArgs, words: &RemoteArgs) -> Result<(Url, Option<SocketAddr>)> {
    let (text, found) = if let Some(url) = &words.url {
        (url.clone(), None)
    } else {
        let path = global.config.as_deref().unwrap_or(Path::new(CONFIG));
        let file = config::file_if_any(path)?;
        let read = file.and_then(|text| Config::read(&text, CONFIG).config);
        let said = read.and_then(|file| file.front.listen);
        let listen = said.map_or_else(only, |said| Ok(servers::near(said)))?;
        if global.config.is_none() && !listen.ip().is_loopback() {
            bail!(
                "`{CONFIG}` names `{listen}`, to which your token would go: if that is your \
                 server, say so with `--config {CONFIG}` or `--url`"
            );
        }
        (format!("http://{listen}"), listen.ip().is_loopback().then_some(listen))
    };
    let url = Url::parse(&text).with_context(|| format!("`{text}` is no address"))?;
    if !matches!(url.scheme(), "http" | "https") || !url.username().is_empty() {
        bail!("`{text}` is no address of a server: write `http://127.0.0.1:7411`");
    }
    Ok((url, found))
}

/// Where the only server of this user listens; if there is none, where one would.
fn only() -> Result<SocketAddr> {
    let all = servers::all();
    match all.as_slice() {
        [] => Ok(LISTEN),
        // To another address than one of this machine alone, the token goes where somebody says so.
        [one] if one.ip().is_loopback() => Ok(*one),
        several => {
            let several: Vec<_> = several.iter().map(|one| format!("http://{one}")).collect();
            Err(AmbiguousServer(several.join(", ")).into())
        }
    }
}

fn token(file: Option<&Path>) -> Result<Secret> {
    if let Some(path) = file {
        return Ok(Secret::new(config::file(path)?.trim()));
    }
    let folder = tokens::folder()?;
    if !folder.join(tokens::LOCAL).exists() {
        bail!(
            "there is no token on this machine: `toolcrib serve` makes one, or name the file of \
             one with `--token-file`"
        );
    }
    tokens::token(&folder, tokens::LOCAL)
}
