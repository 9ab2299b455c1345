//! Where the browser brings the answer of a log-in: this machine, one port, one answer.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;
use toolcrib_core::Secret;
use url::Url;

use super::error::OAuthError;
use super::pkce::same;

/// How long a person may take.
const PATIENCE: Duration = Duration::from_mins(5);
/// How long a browser may take to say what it wants.
const REQUEST: Duration = Duration::from_secs(10);
const LONGEST_REQUEST: usize = 16 * 1024;
/// Browsers open connections ahead of need; more than these are left waiting.
const CONNECTIONS: usize = 16;

const PATH: &str = "/callback";

/// What an authorization server sends back by way of the browser.
#[derive(Debug, Clone, Default)]
pub struct Answer {
    pub code: Option<Secret>,
    pub state: Option<Secret>,
    /// The issuer that answers, RFC 9207.
    pub issuer: Option<String>,
    pub error: Option<String>,
}

impl Answer {
    /// Reads the query of the address that the browser was sent to.
    pub fn read(url: &Url) -> Self {
        let mut answer = Self::default();
        for (name, value) in url.query_pairs() {
            let value = value.into_owned();
            // Of a field that comes twice the first counts.
            match &*name {
                "code" => drop(answer.code.get_or_insert(Secret::new(value))),
                "state" => drop(answer.state.get_or_insert(Secret::new(value))),
                "iss" => drop(answer.issuer.get_or_insert(value)),
                "error" => drop(answer.error.get_or_insert(value)),
                _ => {}
            }
        }
        answer
    }
}

/// A listener for one answer.
pub(super) struct Callback {
    listener: TcpListener,
    address: Url,
}

impl Callback {
    /// Listens on a port of the system's choice.
    pub(super) async fn listen() -> Result<Self, OAuthError> {
        let failed = |_| OAuthError::Setting("no port of this machine can be listened on");
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        let address = Url::parse(&format!("http://127.0.0.1:{port}{PATH}"));
        Ok(Self { listener, address: address.map_err(|_| OAuthError::Broken)? })
    }

    /// Where the browser is to be sent.
    pub(super) fn address(&self) -> &Url {
        &self.address
    }

    /// The answer that carries this state; whatever else knocks is turned away.
    pub(super) async fn answer(self, state: &Secret) -> Result<Answer, OAuthError> {
        let minutes = PATIENCE.as_secs() / 60;
        timeout(PATIENCE, self.wait(state)).await.map_err(|_| OAuthError::NobodyCame(minutes))
    }

    async fn wait(self, state: &Secret) -> Answer {
        let mut visitors = JoinSet::new();
        loop {
            tokio::select! {
                arrived = self.listener.accept(), if visitors.len() < CONNECTIONS => {
                    if let Ok((stream, _)) = arrived {
                        visitors.spawn(visit(stream, self.address.clone(), state.clone()));
                    } else {
                        // Out of file handles, most likely: they come back.
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                }
                Some(visited) = visitors.join_next() => {
                    if let Ok(Some(answer)) = visited {
                        return answer;
                    }
                }
            }
        }
    }
}

/// Reads one request and answers it.
async fn visit(mut stream: TcpStream, address: Url, state: Secret) -> Option<Answer> {
    let target = timeout(REQUEST, target(&mut stream)).await.ok()??;
    let url = address.join(&target).ok()?;
    let is_ours = url.origin() == address.origin() && url.path() == PATH;
    let answer = Answer::read(&url);
    let right = |given: &Secret| same(&state, given.expose());
    let answer = Some(answer).filter(|it| is_ours && it.state.as_ref().is_some_and(right));
    let (status, text) = match &answer {
        Some(Answer { error: None, .. }) => {
            ("200 OK", "toolcrib has the answer. You can close this page.")
        }
        Some(_) => ("200 OK", "toolcrib was not let in. You can close this page."),
        None => ("404 Not Found", "Nobody waits for this."),
    };
    let reply = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n\
         Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n{text}",
        text.len()
    );
    // The answer counts even if the browser does not stay to hear ours.
    let _ = timeout(REQUEST, async {
        stream.write_all(reply.as_bytes()).await?;
        stream.shutdown().await
    })
    .await;
    answer
}

/// The target of a GET request: `/callback?code=...`.
async fn target(stream: &mut TcpStream) -> Option<String> {
    let mut read = Vec::new();
    while !read.windows(4).any(|end| end == b"\r\n\r\n") {
        if read.len() > LONGEST_REQUEST || stream.read_buf(&mut read).await.ok()? == 0 {
            return None;
        }
    }
    let text = String::from_utf8(read).ok()?;
    let line = text.lines().next()?;
    let target = line.strip_prefix("GET ")?.strip_suffix(" HTTP/1.1")?;
    target.starts_with('/').then(|| target.to_owned())
}
