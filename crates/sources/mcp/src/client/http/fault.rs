//! What the errors of the SDK's transports mean.

use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use super::exchange::HttpExchangeError;
use crate::client::fault::McpFault;
use crate::client::oauth::OAuthError;
use crate::protocol::frame;

/// `was_sent`: whether the server may have seen the request.
pub(crate) fn of_transport(error: DynamicTransportError, was_sent: bool) -> McpFault {
    let gone =
        |why: &str| if was_sent { McpFault::broken(why) } else { McpFault::unreachable(why) };
    let http = match error.error.downcast::<StreamableHttpError<HttpExchangeError>>() {
        Ok(http) => *http,
        Err(other) => {
            return match other.downcast::<HttpExchangeError>() {
                Ok(wire) => of_wire(*wire, gone("the line broke")),
                Err(other) => gone("it does not take what is written").because(other),
            };
        }
    };
    of_http(http, was_sent)
}

/// The same of one request over HTTP.
#[expect(clippy::wildcard_enum_match_arm, reason = "the SDK's errors grow with every release")]
pub(crate) fn of_http(http: StreamableHttpError<HttpExchangeError>, was_sent: bool) -> McpFault {
    let gone =
        |why: &str| if was_sent { McpFault::broken(why) } else { McpFault::unreachable(why) };
    match http {
        StreamableHttpError::Client(error) => of_wire(error, gone("the line broke")),
        // The worker has tried to begin anew, and the request was not taken either time.
        StreamableHttpError::SessionExpired => {
            McpFault::unreachable("it has forgotten the session")
        }
        StreamableHttpError::ReinitializationFailed(error) => McpFault::unreachable(format!(
            "it refuses a new session: {}",
            crate::protocol::text::clean(&error.message)
        )),
        other => gone("the line broke").because(other),
    }
}

pub(super) fn of_wire(error: HttpExchangeError, broken: McpFault) -> McpFault {
    match error {
        HttpExchangeError::NotConnected(cause) => {
            McpFault::unreachable("it cannot be connected to").because(cause)
        }
        HttpExchangeError::Status { status, retry_after } => McpFault::Http { status, retry_after },
        HttpExchangeError::Unauthorized(cause) => {
            let why = cause.to_string();
            // The text is the whole of it, as the cause of its own it would be told twice.
            if cause.downcast_ref::<OAuthError>().is_some_and(OAuthError::passes) {
                return McpFault::unreachable(why);
            }
            McpFault::Unauthorized { why, cause: None }
        }
        HttpExchangeError::Unreadable(what) => McpFault::Unreadable(what),
        HttpExchangeError::TooLarge => McpFault::Unreadable(frame::TOO_LARGE),
        HttpExchangeError::Silent => broken,
        HttpExchangeError::Broken(cause) => broken.because(cause),
    }
}
