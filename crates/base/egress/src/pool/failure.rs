//! Why a request got no answer, and whether anything of it left.

use std::error::Error;

use h2::Reason;
use hyper_util::client::legacy::Error as ClientError;

use crate::error::{EgressError, EgressErrorKind};
use crate::origin::UrlOrigin;
use crate::rules::EgressRefusal;

/// `was_given`: whether a connection had the message.
pub(crate) fn failed(error: ClientError, place: &UrlOrigin, was_given: bool) -> EgressError {
    let mut was_given = was_given;
    let mut next: Option<&(dyn Error + 'static)> = Some(&error);
    while let Some(cause) = next {
        if let Some(refusal) = cause.downcast_ref::<EgressRefusal>() {
            return refusal.to_error();
        }
        was_given &= !cause.downcast_ref::<h2::Error>().is_some_and(was_turned_away);
        next = cause.source();
    }
    if error.is_connect() {
        let message = format!("`{place}` cannot be connected to");
        return EgressError::new(EgressErrorKind::NotConnected, message).unsent().because(error);
    }
    let broken = EgressError::new(EgressErrorKind::Broken, format!("`{place}`: the line broke"));
    let broken = if was_given { broken } else { broken.unsent() };
    broken.because(error)
}

/// Whether the other side says that it did nothing with the request: HTTP/2 has words for it.
fn was_turned_away(error: &h2::Error) -> bool {
    let reason = error.reason();
    let refused = error.is_reset() && reason == Some(Reason::REFUSED_STREAM);
    let leaving = error.is_go_away() && reason == Some(Reason::NO_ERROR);
    error.is_remote() && (refused || leaving)
}
