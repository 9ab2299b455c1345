//! One request to the server, and what its answer means.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, ETAG, IF_MATCH, IF_NONE_MATCH, LOCATION};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use toolcrib_core::Secret;
use toolcrib_egress::{
    Egress, EgressBody, EgressError, EgressErrorKind, EgressRequest, EgressTimeouts,
};
use url::Url;

use super::xml::XmlElement;
use crate::backend::{BackendError, BackendErrorKind};

/// Redirects that are followed, one after the other.
const MOST_REDIRECTS: usize = 5;

pub(super) struct CalDavClient {
    egress: Egress,
    authorization: HeaderValue,
    timeout: Duration,
    max_bytes: u64,
}

/// What is asked. A condition is one on the object's tag (`ETag`).
pub(super) enum CalDavRequest<'a> {
    Find { depth: &'static str, body: String },
    Report { body: String },
    Make { body: String },
    Get,
    Put { body: String, condition: EtagCondition<'a> },
    Delete { condition: EtagCondition<'a> },
}

#[derive(Clone, Copy)]
pub(super) enum EtagCondition<'a> {
    /// There is none of it yet.
    New,
    /// It is as it was read.
    Is(&'a str),
}

/// An answer that is none of the usual refusals.
pub(super) struct CalDavResponse {
    pub(super) status: StatusCode,
    pub(super) etag: Option<String>,
    /// Where it came from, after redirects.
    pub(super) url: Url,
    location: Option<String>,
    body: Bytes,
}

impl CalDavClient {
    pub(super) fn new(
        egress: Egress,
        user: &str,
        password: &Secret,
        timeout: Duration,
        max_bytes: u64,
    ) -> Result<Self, BackendError> {
        let pair = BASE64_STANDARD.encode(format!("{user}:{}", password.expose()));
        let authorization = HeaderValue::from_str(&format!("Basic {pair}")).map_err(|error| {
            BackendError::new(BackendErrorKind::Invalid, "no such name").because(error)
        })?;
        Ok(Self { egress, authorization, timeout, max_bytes })
    }

    /// Asks, and follows redirects of what only reads, as long as they stay at the same origin.
    pub(super) async fn ask(
        &self,
        url: &Url,
        ask: &CalDavRequest<'_>,
    ) -> Result<CalDavResponse, BackendError> {
        let mut url = url.clone();
        for _ in 0..=MOST_REDIRECTS {
            let answer = self.send(&url, ask).await?;
            if !answer.status.is_redirection() {
                return Ok(answer);
            }
            let to = answer.location.as_deref().filter(|_| ask.only_reads());
            let to = to.and_then(|to| url.join(to).ok()).ok_or_else(|| moved(&url))?;
            url = at_home(&url, to)?;
        }
        Err(moved(&url))
    }

    async fn send(
        &self,
        url: &Url,
        ask: &CalDavRequest<'_>,
    ) -> Result<CalDavResponse, BackendError> {
        let mut request = EgressRequest::new(ask.method()?, url.clone());
        let total = self.timeout;
        let connect = EgressTimeouts::default().connect.min(total);
        request.timeouts = EgressTimeouts { connect, first_byte: total, idle: total, total };
        request.headers = ask.headers()?;
        request.headers.insert(AUTHORIZATION, self.authorization.clone());
        request.body = match ask {
            CalDavRequest::Find { body, .. }
            | CalDavRequest::Report { body }
            | CalDavRequest::Make { body }
            | CalDavRequest::Put { body, .. } => EgressBody::Bytes(Bytes::from(body.clone())),
            CalDavRequest::Get | CalDavRequest::Delete { .. } => EgressBody::Empty,
        };
        let told = |error| told(error, ask.only_reads());
        let response = self.egress.send(request).await.map_err(told)?;
        let (status, headers) = (response.status, response.headers.clone());
        let body = match response.bytes(self.max_bytes).await {
            Ok(body) => body,
            // What was done is done, however its words end; and a refusal is one.
            Err(_) if !ask.only_reads() || !status.is_success() => Bytes::new(),
            Err(error) => return Err(told(error)),
        };
        let text = |name: HeaderName| {
            headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        refusal(status, ask.only_reads())?;
        let (etag, location) = (text(ETAG), text(LOCATION));
        Ok(CalDavResponse { status, etag, url: url.clone(), location, body })
    }
}

impl CalDavRequest<'_> {
    fn only_reads(&self) -> bool {
        matches!(
            self,
            CalDavRequest::Find { .. } | CalDavRequest::Report { .. } | CalDavRequest::Get
        )
    }

    fn method(&self) -> Result<Method, BackendError> {
        let named = |name: &str| {
            Method::from_bytes(name.as_bytes()).map_err(|error| {
                BackendError::new(BackendErrorKind::Broken, "no such method").because(error)
            })
        };
        match self {
            CalDavRequest::Find { .. } => named("PROPFIND"),
            CalDavRequest::Report { .. } => named("REPORT"),
            CalDavRequest::Make { .. } => named("MKCALENDAR"),
            CalDavRequest::Get => Ok(Method::GET),
            CalDavRequest::Put { .. } => Ok(Method::PUT),
            CalDavRequest::Delete { .. } => Ok(Method::DELETE),
        }
    }

    fn headers(&self) -> Result<HeaderMap, BackendError> {
        let mut headers = HeaderMap::new();
        match self {
            CalDavRequest::Find { .. }
            | CalDavRequest::Report { .. }
            | CalDavRequest::Make { .. } => {
                let xml = HeaderValue::from_static("application/xml; charset=utf-8");
                headers.insert(CONTENT_TYPE, xml);
            }
            CalDavRequest::Put { .. } => {
                let calendar = HeaderValue::from_static("text/calendar; charset=utf-8");
                headers.insert(CONTENT_TYPE, calendar);
            }
            CalDavRequest::Get | CalDavRequest::Delete { .. } => {}
        }
        match self {
            CalDavRequest::Find { depth, .. } => {
                headers.insert("depth", HeaderValue::from_static(depth));
            }
            CalDavRequest::Report { .. } => {
                headers.insert("depth", HeaderValue::from_static("1"));
            }
            CalDavRequest::Put { condition, .. } | CalDavRequest::Delete { condition } => {
                match condition {
                    EtagCondition::New => {
                        headers.insert(IF_NONE_MATCH, HeaderValue::from_static("*"));
                    }
                    EtagCondition::Is(etag) => {
                        let etag = HeaderValue::from_str(etag).map_err(|error| {
                            not_understood("an ETag that no header holds").because(error)
                        })?;
                        headers.insert(IF_MATCH, etag);
                    }
                }
            }
            CalDavRequest::Make { .. } | CalDavRequest::Get => {}
        }
        Ok(headers)
    }
}

impl CalDavResponse {
    pub(super) fn text(&self) -> Result<&str, BackendError> {
        std::str::from_utf8(&self.body)
            .map_err(|error| not_understood("a text that is not UTF-8").because(error))
    }

    /// The `multistatus` of an answer to a question.
    pub(super) fn multistatus(&self) -> Result<XmlElement, BackendError> {
        if self.status != StatusCode::MULTI_STATUS {
            return Err(not_understood(&format!("the status {}", self.status.as_u16())));
        }
        let read = XmlElement::read(self.text()?);
        let read = read.map_err(|error| not_understood(&format!("XML: {error}")).because(error))?;
        if read.is(super::xml::DAV, "multistatus") {
            Ok(read)
        } else {
            Err(not_understood("XML of something else"))
        }
    }

    /// What an address in the answer means, if it is at the same origin.
    pub(super) fn resolve(&self, href: &str) -> Result<Url, BackendError> {
        let url = self.url.join(href);
        let url = url.map_err(|error| not_understood("an address that is none").because(error))?;
        at_home(&self.url, url)
    }
}

/// An address, if the password may go there.
fn at_home(from: &Url, mut to: Url) -> Result<Url, BackendError> {
    if from.origin() != to.origin() {
        let place = to.origin().ascii_serialization();
        let message = format!(
            "the server sends us on to `{place}`, where the password does not go: tell the user \
             to name the address there in the configuration"
        );
        return Err(BackendError::new(BackendErrorKind::Refused, message));
    }
    to.set_fragment(None);
    // Some servers write the name of the account into addresses.
    let cleared = to.set_username("").and_then(|()| to.set_password(None));
    cleared.map_err(|()| not_understood("an address that is none"))?;
    Ok(to)
}

fn moved(url: &Url) -> BackendError {
    let message = format!(
        "the server sends us on from `{}`: tell the user to name the new address in the \
         configuration",
        url.path()
    );
    BackendError::new(BackendErrorKind::Broken, message)
}

pub(super) fn not_understood(what: &str) -> BackendError {
    let message = format!("the calendar server answered with {what}, which is not understood");
    BackendError::new(BackendErrorKind::Broken, message)
}

/// A status that refuses what was asked, whatever it was.
fn refusal(status: StatusCode, only_reads: bool) -> Result<(), BackendError> {
    let (kind, message) = match status {
        StatusCode::UNAUTHORIZED => (
            BackendErrorKind::Refused,
            "the calendar server does not accept the name and password: tell the user to set them \
             in the configuration",
        ),
        StatusCode::FORBIDDEN | StatusCode::PAYMENT_REQUIRED => {
            (BackendErrorKind::Refused, "the calendar server does not allow it to this account")
        }
        StatusCode::PRECONDITION_FAILED | StatusCode::LOCKED => (
            BackendErrorKind::Conflict,
            "it was changed by somebody else in the meantime: look at it again, then decide",
        ),
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            (BackendErrorKind::Busy, "the calendar server is busy: try again later")
        }
        StatusCode::PAYLOAD_TOO_LARGE => {
            (BackendErrorKind::Invalid, "it is too large for the calendar server: say it shorter")
        }
        StatusCode::INSUFFICIENT_STORAGE => {
            (BackendErrorKind::Invalid, "the calendar server has no room left: delete old things")
        }
        status if status.is_server_error() && only_reads => {
            (BackendErrorKind::Interrupted, "the calendar server failed: try again")
        }
        status if status.is_server_error() => (
            BackendErrorKind::Unknown,
            "the calendar server failed, and it may have been done: look before you repeat it",
        ),
        _ => return Ok(()),
    };
    Err(BackendError::new(kind, message))
}

/// A request without an answer.
fn told(error: EgressError, only_reads: bool) -> BackendError {
    let (kind, advice) = match (error.kind, error.never_sent()) {
        (EgressErrorKind::Refused, _) => {
            (BackendErrorKind::Refused, "the configuration does not allow it")
        }
        (EgressErrorKind::TooLarge, _) => {
            (BackendErrorKind::Invalid, "ask for a shorter stretch of time")
        }
        (_, true) => (BackendErrorKind::Unreachable, "nothing was sent; try again later"),
        (_, false) if only_reads => (BackendErrorKind::Interrupted, "try again"),
        (_, false) => {
            (BackendErrorKind::Unknown, "it may have been done: look before you repeat it")
        }
    };
    BackendError::new(kind, format!("{error}: {advice}")).because(error)
}
