//! Reading the card of an agent.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use http::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderName, HeaderValue, LOCATION};
use http::{Method, StatusCode};
use serde_json::Value;
use toolcrib_core::SourceError;
use toolcrib_egress::{Egress, EgressError, EgressErrorKind, EgressRequest};
use url::Url;

use crate::interface::place;
use crate::protocol::card::AgentCard;
use crate::settings::{A2aCredential, A2aSettings};
use crate::transport::reply::cut;

/// Where a card is if nobody says it, of 0.3 and later and of before.
const WELL_KNOWN: [&str; 2] = ["/.well-known/agent-card.json", "/.well-known/agent.json"];

/// How often a card may be somewhere else.
const MOST_REDIRECTS: usize = 3;

/// Fetches the card.
pub(crate) async fn fetch(settings: &A2aSettings) -> Result<AgentCard, SourceError> {
    let headers = headers(settings, None)?;
    if settings.card.path() != "/" {
        return at(settings, settings.card.clone(), &headers).await?.map_err(missing(settings));
    }
    for path in WELL_KNOWN {
        let mut url = settings.card.clone();
        url.set_path(path);
        if let Ok(card) = at(settings, url, &headers).await? {
            return Ok(card);
        }
    }
    Err(SourceError::new(format!(
        "`{}` has no card at `{}`: write the whole address of the card into `card`",
        place(&settings.card),
        WELL_KNOWN.join("` nor at `")
    )))
}

fn missing(settings: &A2aSettings) -> impl Fn(StatusCode) -> SourceError {
    let card = settings.card.to_string();
    move |status| {
        SourceError::new(format!(
            "there is no card at `{card}` (HTTP {}): correct `card` of this source",
            status.as_u16()
        ))
    }
}

/// The card at one place, wherever that points to; the inner error: there is none.
async fn at(
    settings: &A2aSettings,
    mut url: Url,
    headers: &HeaderMap,
) -> Result<Result<AgentCard, StatusCode>, SourceError> {
    let first = url.clone();
    // Where others point must be public.
    let way =
        Egress::open([first.clone()], settings.network.clone()).map_err(unreachable(&first))?;
    for _ in 0..=MOST_REDIRECTS {
        let is_home = url.origin() == first.origin();
        let mut request = EgressRequest::new(Method::GET, url.clone());
        if is_home {
            request.headers = headers.clone();
        }
        request.headers.insert(ACCEPT, HeaderValue::from_static("application/json"));
        let answer = way.send(request).await.map_err(unreachable(&url))?;
        let status = answer.status;
        if status.is_redirection() {
            url = target(&url, answer.headers.get(LOCATION))?;
            continue;
        }
        if matches!(status, StatusCode::NOT_FOUND | StatusCode::GONE) {
            return Ok(Err(status));
        }
        if !status.is_success() {
            return Err(refused(&url, status));
        }
        let bytes = answer.bytes(settings.bounds.card).await;
        let bytes = bytes.map_err(|error| unread(&url, settings.bounds.card, error))?;
        let value = json(&bytes, &url)?;
        return believed(value, &url, settings).and_then(|card| read(&card, &url)).map(Ok);
    }
    Err(SourceError::new(format!(
        "the card of `{first}` is somewhere else more than {MOST_REDIRECTS} times: write its last \
         address into `card`"
    )))
}

fn target(from: &Url, location: Option<&HeaderValue>) -> Result<Url, SourceError> {
    let target = location.and_then(|target| target.to_str().ok());
    let target = target.and_then(|target| from.join(target).ok());
    target.ok_or_else(|| {
        let message = format!("`{from}` points to another place and does not say where");
        SourceError::new(message)
    })
}

fn unreachable(url: &Url) -> impl Fn(EgressError) -> SourceError {
    let place = cut(url.as_str(), 200);
    move |error| {
        let cure = match error.kind {
            EgressErrorKind::Refused => {
                "a place that others name must be public: set `card` to it, or open its address \
                 under `private`"
            }
            EgressErrorKind::NotConnected
            | EgressErrorKind::Broken
            | EgressErrorKind::Timeout(_)
            | EgressErrorKind::TooLarge => "start the agent, or correct `card` of this source",
        };
        let message = format!("the card at `{place}` cannot be read: {}; {cure}", error.message());
        SourceError::new(message).because(error)
    }
}

fn unread(url: &Url, most: u64, error: EgressError) -> SourceError {
    if error.kind == EgressErrorKind::TooLarge {
        let message = format!(
            "the card at `{url}` is larger than {most} bytes: correct `card`, or raise \
             `limits.card` of this source"
        );
        return SourceError::new(message).because(error);
    }
    unreachable(url)(error)
}

fn refused(url: &Url, status: StatusCode) -> SourceError {
    let cure = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => "check `auth` of this source",
        _ => "look at the log of the agent",
    };
    let message = format!("the card at `{url}` is refused (HTTP {}): {cure}", status.as_u16());
    SourceError::new(message)
}

fn json(bytes: &[u8], url: &Url) -> Result<Value, SourceError> {
    let value: Result<Value, _> = serde_json::from_slice(bytes);
    value.map_err(|cause| {
        let message = format!("what is at `{url}` is no JSON: correct `card` of this source");
        SourceError::new(message).because(cause)
    })
}

/// What of a card may be believed: all of it, unless the settings have keys. `url`: where it is
/// from, for errors.
pub(crate) fn believed(
    card: Value,
    url: &Url,
    settings: &A2aSettings,
) -> Result<Value, SourceError> {
    let Some(keys) = &settings.keys else { return Ok(card) };
    keys.signed(&card).map_err(|why| {
        SourceError::new(format!(
            "the card at `{url}` is not signed with a key that `keys` of this source has: {why}; \
             look whether the card is the one that you mean, then correct `keys`"
        ))
    })
}

fn read(value: &Value, url: &Url) -> Result<AgentCard, SourceError> {
    AgentCard::read(value).ok_or_else(|| {
        let message = format!("what is at `{url}` is no card of an agent: correct `card`");
        SourceError::new(message)
    })
}

/// What goes with every request: who we are, and what the settings say. `card`: where a key goes.
pub(crate) fn headers(
    settings: &A2aSettings,
    card: Option<&AgentCard>,
) -> Result<HeaderMap, SourceError> {
    let mut headers = HeaderMap::new();
    for (name, secret) in &settings.headers {
        set(&mut headers, name, secret.expose())?;
    }
    match &settings.credential {
        None => {}
        Some(A2aCredential::Bearer(token)) => {
            set(&mut headers, AUTHORIZATION.as_str(), &format!("Bearer {}", token.expose()))?;
        }
        Some(A2aCredential::Basic { user, password }) => {
            let pair = BASE64_STANDARD.encode(format!("{user}:{}", password.expose()));
            set(&mut headers, AUTHORIZATION.as_str(), &format!("Basic {pair}"))?;
        }
        Some(A2aCredential::Key(key)) => match card.map(|card| card.key_headers.as_slice()) {
            // The public card is read without it.
            None => {}
            Some([]) => {
                return Err(SourceError::new(
                    "the card names no header that takes a key: write the key into `headers` of \
                     this source, under the name that the agent wants",
                ));
            }
            Some(names) => {
                for name in names {
                    set(&mut headers, name, key.expose())?;
                }
            }
        },
    }
    Ok(headers)
}

fn set(headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), SourceError> {
    let wrong = || SourceError::new(format!("the header `{}` cannot be sent", cut(name, 80)));
    let key = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
    let mut value = HeaderValue::from_str(value).map_err(|_| wrong())?;
    value.set_sensitive(true);
    headers.insert(key, value);
    Ok(())
}
