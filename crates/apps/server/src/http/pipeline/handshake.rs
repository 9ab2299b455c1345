//! How a request becomes a WebSocket (RFC 6455, section 4.2).

use http::{HeaderMap, HeaderName, HeaderValue, header};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use super::host_check::single;
use crate::http::routes::problem::{HttpProblem, ProblemKind};

/// The only version that there is.
const VERSION: HeaderValue = HeaderValue::from_static("13");
/// Letters of a key: 16 bytes in base64.
const KEY: usize = 24;

/// Whether a request asks to become a WebSocket, well or badly.
pub(crate) fn wants_socket(headers: &HeaderMap) -> bool {
    has_word(headers, &header::UPGRADE, "websocket")
}

/// What the answer proves with that the request was read as one for a WebSocket.
pub(crate) fn accepted(headers: &HeaderMap) -> Result<HeaderValue, HttpProblem> {
    let bad = |what: &str| HttpProblem::new(ProblemKind::BadRequest, what);
    if !has_word(headers, &header::CONNECTION, "upgrade") {
        return Err(bad("a WebSocket is asked for with `Connection: Upgrade` too"));
    }
    if single(headers, &header::SEC_WEBSOCKET_VERSION)? != Some("13") {
        let problem = bad("the version of the WebSocket must be 13: `Sec-WebSocket-Version: 13`");
        return Err(problem.with(header::SEC_WEBSOCKET_VERSION, VERSION));
    }
    let key = single(headers, &header::SEC_WEBSOCKET_KEY)?.filter(|key| key.len() == KEY);
    let key = key.ok_or_else(|| bad("`Sec-WebSocket-Key` must be 16 bytes in base64"))?;
    HeaderValue::from_str(&derive_accept_key(key.as_bytes()))
        .map_err(|_| HttpProblem::new(ProblemKind::Broken, "no answer to this key can be written"))
}

/// Whether a list of words has this one.
fn has_word(headers: &HeaderMap, name: &HeaderName, word: &str) -> bool {
    let lists = headers.get_all(name).iter().filter_map(|list| list.to_str().ok());
    let mut words = lists.flat_map(|list| list.split(','));
    words.any(|other| other.trim().eq_ignore_ascii_case(word))
}
