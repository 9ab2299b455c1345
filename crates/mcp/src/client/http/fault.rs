//! What the errors of the SDK's transports mean.

use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;

use super::exchange::WireError;
use crate::client::fault::Fault;
use crate::client::oauth::OAuthError;
use crate::protocol::frame;

/// `was_sent`: whether the server may have seen the request.
pub(crate) fn of_transport(error: DynamicTransportError, was_sent: bool) -> Fault {
    let gone = |why: &str| if was_sent { Fault::broken(why) } else { Fault::unreachable(why) };
    let http = match error.error.downcast::<StreamableHttpError<WireError>>() {
        Ok(http) => *http,
        Err(other) => {
            return match other.downcast::<WireError>() {
                Ok(wire) => of_wire(*wire, gone("the line broke")),
                Err(other) => gone("it does not take what is written").because(other),
            };
        }
    };
    of_http(http, was_sent)
}

/// The same of one request over HTTP.
#[expect(clippy::wildcard_enum_match_arm, reason = "the SDK's errors grow with every release")]
pub(crate) fn of_http(http: StreamableHttpError<WireError>, was_sent: bool) -> Fault {
    let gone = |why: &str| if was_sent { Fault::broken(why) } else { Fault::unreachable(why) };
    match http {
        StreamableHttpError::Client(error) => of_wire(error, gone("the line broke")),
        // The worker has tried to begin anew, and the request was not taken either time.
        StreamableHttpError::SessionExpired => Fault::unreachable("it has forgotten the session"),
        StreamableHttpError::ReinitializationFailed(error) => Fault::unreachable(format!(
            "it refuses a new session: {}",
            crate::protocol::text::clean(&error.message)
        )),
        other => gone("the line broke").because(other),
    }
}

pub(super) fn of_wire(error: WireError, broken: Fault) -> Fault {
    match error {
        WireError::NotConnected(cause) => {
            Fault::unreachable("it cannot be connected to").because(cause)
        }
        WireError::Status { status, retry_after } => Fault::Http { status, retry_after },
        WireError::Unauthorized(cause) => {
            let why = cause.to_string();
            // The text is the whole of it, as the cause of its own it would be told twice.
            if cause.downcast_ref::<OAuthError>().is_some_and(OAuthError::passes) {
                return Fault::unreachable(why);
            }
            Fault::Unauthorized { why, cause: None }
        }
        WireError::Unreadable(what) => Fault::Unreadable(what),
        WireError::TooLarge => Fault::Unreadable(frame::TOO_LARGE),
        WireError::Silent => broken,
        WireError::Broken(cause) => broken.because(cause),
    }
}
