//! A person signs in: an address for their browser, which then comes back to this machine.
//!
//! RFC 8252 with a port of the loopback, RFC 7636 with S256; what Google wants beside them:
//! <https://developers.google.com/identity/protocols/oauth2/native-app>.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use toolcrib_core::Secret;
use url::Url;
use uuid::Uuid;

use super::settings::{GoogleSettings, Refresh, SCOPES};
use super::tokens::{Denial, request};
use super::{store, wire};
use crate::backend::{Fault, FaultKind};

/// How long a person may take.
const PATIENCE: Duration = Duration::from_mins(5);
/// How long a browser may take to say what it wants.
const REQUEST: Duration = Duration::from_secs(10);
const LONGEST_REQUEST: usize = 16 * 1024;
/// Browsers open connections ahead of need; more than these are left waiting.
const CONNECTIONS: usize = 16;

/// What came back by way of the browser.
struct Answer {
    code: Option<Secret>,
    error: Option<String>,
}

pub(super) async fn sign_in(
    settings: &GoogleSettings,
    open: impl FnOnce(&str),
) -> Result<Secret, Fault> {
    settings.check()?;
    let egress = wire::way_out(settings)?;
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.map_err(no_port)?;
    let port = listener.local_addr().map_err(no_port)?.port();
    let redirect = format!("http://127.0.0.1:{port}/");
    let (verifier, state) = (unguessable(), unguessable());
    open(address(settings, &redirect, &verifier, &state).as_str());
    let answer = timeout(PATIENCE, wait(&listener, &redirect, &state)).await.map_err(|_| {
        Fault::new(FaultKind::Refused, "nobody signed in within five minutes: start again")
    })?;
    let code = match answer {
        Answer { code: Some(code), error: None } => code,
        Answer { .. } => {
            return Err(Fault::new(FaultKind::Refused, "the sign-in at Google was declined"));
        }
    };
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", code.expose()),
        ("redirect_uri", &redirect),
        ("code_verifier", verifier.expose()),
    ];
    let given = request(settings, &egress, &fields).await.map_err(|denial| match denial {
        Denial::Grant => Fault::new(
            FaultKind::Refused,
            "Google does not accept the answer of the browser: start again",
        ),
        Denial::Other(fault) => fault,
    })?;
    let refresh = given.refresh_token.map(Secret::new).ok_or_else(|| {
        Fault::new(
            FaultKind::Refused,
            "Google gave no refresh token: take this client's access away in the settings of the \
             account, then sign in again",
        )
    })?;
    if let Refresh::File(path) = &settings.refresh {
        store::write(path, settings, &refresh)?;
    }
    Ok(refresh)
}

fn no_port(cause: std::io::Error) -> Fault {
    Fault::new(FaultKind::Refused, "no port of this machine can be listened on").because(cause)
}

/// `access_type` and `prompt` make Google give a refresh token, also to whom it gave one before.
fn address(settings: &GoogleSettings, redirect: &str, verifier: &Secret, state: &Secret) -> Url {
    let challenge = BASE64_URL_SAFE_NO_PAD.encode(Sha256::digest(verifier.expose()));
    let mut url = settings.authorize.clone();
    url.query_pairs_mut().extend_pairs([
        ("response_type", "code"),
        ("client_id", &settings.client_id),
        ("redirect_uri", redirect),
        ("scope", SCOPES),
        ("state", state.expose()),
        ("code_challenge", &challenge),
        ("code_challenge_method", "S256"),
        ("access_type", "offline"),
        ("prompt", "consent"),
    ]);
    url
}

/// 64 letters, 244 of their bits random; RFC 7636 wants 43 to 128 letters.
fn unguessable() -> Secret {
    Secret::new(format!("{}{}", Uuid::new_v4().simple(), Uuid::new_v4().simple()))
}

/// The answer that carries our state; whatever else knocks is turned away.
async fn wait(listener: &TcpListener, redirect: &str, state: &Secret) -> Answer {
    let mut visitors = JoinSet::new();
    loop {
        tokio::select! {
            arrived = listener.accept(), if visitors.len() < CONNECTIONS => {
                if let Ok((stream, _)) = arrived {
                    visitors.spawn(visit(stream, redirect.to_owned(), state.clone()));
                } else {
                    // Out of file handles, most likely: they come back.
                    sleep(Duration::from_millis(50)).await;
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

async fn visit(mut stream: TcpStream, redirect: String, state: Secret) -> Option<Answer> {
    let target = timeout(REQUEST, target(&mut stream)).await.ok()??;
    let answer = read(&redirect, &target, &state);
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

/// The answer in the target of a request, if it is ours.
fn read(redirect: &str, target: &str, own: &Secret) -> Option<Answer> {
    let redirect = Url::parse(redirect).ok()?;
    let url = redirect.join(target).ok()?;
    if url.origin() != redirect.origin() || url.path() != redirect.path() {
        return None;
    }
    let (mut code, mut state, mut error) = (None, None, None);
    for (name, value) in url.query_pairs() {
        // Of a field that comes twice the first counts.
        match &*name {
            "code" => drop(code.get_or_insert_with(|| Secret::new(&*value))),
            "state" => drop(state.get_or_insert_with(|| value.into_owned())),
            "error" => drop(error.get_or_insert_with(|| value.into_owned())),
            _ => {}
        }
    }
    // Digests, so that the time it takes tells nothing of how much was right.
    let is_ours = Sha256::digest(own.expose()) == Sha256::digest(state?);
    is_ours.then_some(Answer { code, error })
}

/// The target of a GET request: `/?code=...`.
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
