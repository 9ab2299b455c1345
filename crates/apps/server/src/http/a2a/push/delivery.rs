//! One notification on its way.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, StatusCode, header};
use toolcrib_a2a_client::protocol::wire::ProtocolVersion;
use toolcrib_a2a_server::PushConfig;
use toolcrib_egress::{Egress, EgressBody, EgressErrorKind, EgressRequest, EgressTimeouts};
use url::Url;

use crate::http::a2a::wire::A2A_JSON;

/// Nobody says how the token is called: the SDK in Python reads the first, the one in Go the other.
const TOKENS: [HeaderName; 2] = [
    HeaderName::from_static("x-a2a-notification-token"),
    HeaderName::from_static("a2a-notification-token"),
];

/// How long a receiver may take.
const TIMES: EgressTimeouts = EgressTimeouts {
    connect: Duration::from_secs(5),
    first_byte: Duration::from_secs(10),
    idle: Duration::from_secs(5),
    total: Duration::from_secs(15),
};

/// Why a notification did not arrive, in words for the operator. They name no secret.
#[derive(Debug)]
pub(super) enum DeliveryFault {
    /// It may arrive later.
    Passing(String),
    /// It never will.
    Lasting(String),
}

/// Sends it once.
pub(super) async fn send(
    egress: &Egress,
    config: &PushConfig,
    body: Bytes,
) -> Result<(), DeliveryFault> {
    let lasting = |what: &str| DeliveryFault::Lasting(what.to_owned());
    let url = Url::parse(&config.url).map_err(|_| lasting("its address is none"))?;
    let mut request = EgressRequest { timeouts: TIMES, ..EgressRequest::new(Method::POST, url) };
    let kind = match config.version {
        ProtocolVersion::V1 => A2A_JSON,
        ProtocolVersion::V03 => "application/json",
    };
    let headers = &mut request.headers;
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    let version = HeaderName::from_static("a2a-version");
    headers.insert(version, HeaderValue::from_static(config.version.as_str()));
    let secret = |text: &str| {
        let value = HeaderValue::from_str(text);
        value.map_err(|_| lasting("its token or its credentials fit no header"))
    };
    for name in config.token.iter().flat_map(|_| TOKENS) {
        headers.insert(name, secret(config.token.as_deref().unwrap_or_default())?);
    }
    if let Some(said) = config.authorization() {
        headers.insert(header::AUTHORIZATION, secret(&said)?);
    }
    request.body = EgressBody::Bytes(body);
    match egress.send(request).await {
        // What the receiver says beside that is not read.
        Ok(answer) => judge(answer.status),
        Err(error) => {
            let causes = error.causes();
            let told = causes.map_or_else(|| error.to_string(), |it| format!("{error} ({it})"));
            match error.kind {
                EgressErrorKind::Refused => Err(DeliveryFault::Lasting(told)),
                EgressErrorKind::NotConnected
                | EgressErrorKind::Broken
                | EgressErrorKind::Timeout(_)
                | EgressErrorKind::TooLarge => Err(DeliveryFault::Passing(told)),
            }
        }
    }
}

/// A redirect leads to an address that nobody named.
fn judge(status: StatusCode) -> Result<(), DeliveryFault> {
    let told = format!("the receiver answered {}", status.as_u16());
    let passes =
        [StatusCode::REQUEST_TIMEOUT, StatusCode::TOO_EARLY, StatusCode::TOO_MANY_REQUESTS];
    if status.is_success() {
        Ok(())
    } else if status.is_server_error() || passes.contains(&status) {
        Err(DeliveryFault::Passing(told))
    } else {
        Err(DeliveryFault::Lasting(told))
    }
}
