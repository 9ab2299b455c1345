//! A running server, asked over its REST door with the token of this machine.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::Path;
use std::pin::pin;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Method, StatusCode};
use serde_json::Value;
use tokio::runtime::{Builder, Runtime};
use toolcrib::config::Config;
use toolcrib::egress::{Body, Egress, Network, Request};
use toolcrib::{Secret, egress};
use url::Url;

use super::End;
use super::arguments::{CONFIG, Global, RemoteWords};
use super::interrupt::told_to_end;
use super::serve::LISTEN;
use crate::config::{self, keys};

/// Largest answer that is read, in bytes.
const LARGEST: u64 = 16 * 1024 * 1024;
/// How often whoever follows looks.
const BEAT: Duration = Duration::from_millis(500);

pub(super) struct Remote {
    runtime: Runtime,
    egress: Egress,
    base: Url,
    token: Secret,
}

impl Remote {
    pub(super) fn open(global: &Global, words: &RemoteWords) -> Result<Self> {
        let base = base(global, words)?;
        let token = token(words.token_file.as_deref())?;
        let runtime = Builder::new_current_thread().enable_all().build()?;
        // The pool of connections takes hold of the runtime that it was made in.
        let made = runtime.block_on(async { Egress::only([base.clone()], Network::default()) });
        let egress = made.with_context(|| format!("`{base}` cannot be asked"))?;
        Ok(Self { runtime, egress, base, token })
    }

    /// Asks once and gives the JSON of the answer.
    pub(super) fn ask(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value> {
        self.runtime.block_on(self.asked(method, path, body))
    }

    /// Looks again and again until a person has seen enough. `tell` is given what a look at `path`
    /// found, and says where to look next.
    pub(super) fn follow(
        &self,
        mut path: String,
        mut tell: impl FnMut(&Value) -> Result<String>,
    ) -> Result<End> {
        self.runtime.block_on(async {
            // One for the whole time: another would not know of what a person pressed before it.
            let mut told = pin!(told_to_end());
            loop {
                let look = async {
                    let seen = self.asked(Method::GET, &path, None).await?;
                    let next = tell(&seen)?;
                    tokio::time::sleep(BEAT).await;
                    anyhow::Ok(next)
                };
                path = tokio::select! {
                    biased;
                    heard = &mut told => return heard.map(|()| End::Interrupted).map_err(Into::into),
                    next = look => next?,
                };
            }
        })
    }

    async fn asked(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value> {
        let mut url = self.base.clone();
        let (path, query) = path.split_once('?').map_or((path, None), |(a, b)| (a, Some(b)));
        url.set_path(&format!("{}{path}", self.base.path().trim_end_matches('/')));
        url.set_query(query);
        let mut request = Request::new(method, url);
        let token = HeaderValue::from_str(&format!("Bearer {}", self.token.expose()));
        request.headers.insert(AUTHORIZATION, token.context("the token is no text")?);
        if let Some(body) = body {
            let kind = HeaderValue::from_static("application/json");
            request.headers.insert(CONTENT_TYPE, kind);
            request.body = Body::Bytes(body.to_string().into());
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
        anyhow!("{title}: {detail}")
    }
}

/// What the command line names, else where the configuration says that the server listens. A file
/// that is only found may be somebody else's: the token goes to no other machine for its sake.
fn base(global: &Global, words: &RemoteWords) -> Result<Url> {
    let text = if let Some(url) = &words.url {
        url.clone()
    } else {
        let path = global.config.as_deref().unwrap_or(Path::new(CONFIG));
        let file = config::file_if_any(path)?;
        let read = file.and_then(|text| Config::read(&text, CONFIG).config);
        let mut listen = read.and_then(|file| file.front.listen).unwrap_or(LISTEN);
        // Where all addresses of a machine are listened on, its own is among them.
        match listen.ip() {
            IpAddr::V4(ip) if ip.is_unspecified() => listen.set_ip(Ipv4Addr::LOCALHOST.into()),
            IpAddr::V6(ip) if ip.is_unspecified() => listen.set_ip(Ipv6Addr::LOCALHOST.into()),
            IpAddr::V4(_) | IpAddr::V6(_) => {}
        }
        if global.config.is_none() && !listen.ip().is_loopback() {
            bail!(
                "`{CONFIG}` names `{listen}`, to which your token would go: if that is your \
                 server, say so with `--config {CONFIG}` or `--url`"
            );
        }
        format!("http://{listen}")
    };
    let url = Url::parse(&text).with_context(|| format!("`{text}` is no address"))?;
    if !matches!(url.scheme(), "http" | "https") || !url.username().is_empty() {
        bail!("`{text}` is no address of a server: write `http://127.0.0.1:7411`");
    }
    Ok(url)
}

fn token(file: Option<&Path>) -> Result<Secret> {
    if let Some(path) = file {
        return Ok(Secret::new(config::file(path)?.trim()));
    }
    let folder = keys::folder()?;
    if !folder.join(keys::LOCAL).exists() {
        bail!(
            "there is no token on this machine: `toolcrib serve` makes one, or name the file of \
             one with `--token-file`"
        );
    }
    keys::token(&folder, keys::LOCAL)
}
