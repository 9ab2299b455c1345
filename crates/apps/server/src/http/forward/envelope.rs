//! A forwarded request as it is sent: a mark, a head, and the body as its client sent it.

use bytes::{BufMut, Bytes, BytesMut};
use http::{HeaderMap, HeaderName, HeaderValue, header};
use serde::{Deserialize, Serialize};
use toolcrib_auth::{ClusterKey, MARK};
use toolcrib_core::{Caller, Trace};

/// Bytes of the head at the most.
pub(crate) const LARGEST_HEAD: usize = 256 * 1024;
/// Bytes before the head: the mark, and how long the head is.
const BEFORE: usize = MARK + size_of::<u32>();
/// What is marked, so that no mark of anything else is one of it.
const WHAT: &[u8] = b"a request, form 1";
/// Requests are forwarded once.
pub(crate) const FIRST_HOP: u8 = 1;

/// What stands before the body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EnvelopeHead {
    /// What the home gave out for this one request.
    pub(crate) stamp: String,
    /// Who is to answer it.
    pub(crate) home: String,
    pub(crate) hop: u8,
    /// As whoever was asked found it.
    pub(crate) caller: Caller,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    /// A `traceparent`.
    pub(crate) trace: String,
}

/// Why an envelope is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EnvelopeFault {
    /// It is cut off, or its mark is none of this cluster.
    Forged,
    /// It was marked by a replica that writes it in another way.
    Unreadable,
    /// It was forwarded before.
    TooFar,
}

/// An envelope as it is sent.
pub(crate) fn seal(key: &ClusterKey, head: &EnvelopeHead, body: &[u8]) -> Option<Bytes> {
    let head = serde_json::to_vec(head).ok().filter(|head| head.len() <= LARGEST_HEAD)?;
    let length = u32::try_from(head.len()).ok()?;
    let mark = key.mark(&[WHAT, &head, body]);
    let mut message = BytesMut::with_capacity(BEFORE + head.len() + body.len());
    message.put_slice(&mark);
    message.put_u32(length);
    message.put_slice(&head);
    message.put_slice(body);
    Some(message.freeze())
}

/// The head and the body. Nothing of what came is read before its mark was found to be right.
pub(crate) fn open(
    key: &ClusterKey,
    message: &Bytes,
) -> Result<(EnvelopeHead, Bytes), EnvelopeFault> {
    let (mark, rest) = message.split_at_checked(MARK).ok_or(EnvelopeFault::Forged)?;
    let (length, rest) = rest.split_first_chunk().ok_or(EnvelopeFault::Forged)?;
    let length = usize::try_from(u32::from_be_bytes(*length)).unwrap_or(usize::MAX);
    if length > LARGEST_HEAD {
        return Err(EnvelopeFault::Forged);
    }
    let (head, body) = rest.split_at_checked(length).ok_or(EnvelopeFault::Forged)?;
    if !key.is_mark(mark, &[WHAT, head, body]) {
        return Err(EnvelopeFault::Forged);
    }
    let read: EnvelopeHead = serde_json::from_slice(head).map_err(|_| EnvelopeFault::Unreadable)?;
    if read.hop != FIRST_HOP {
        return Err(EnvelopeFault::TooFar);
    }
    Ok((read, message.slice_ref(body)))
}

/// What of a request goes with it: what its answer depends on. What shows who its client is does not,
/// and neither does what is of the connection.
pub(crate) fn passed_on(headers: &HeaderMap) -> Vec<(String, String)> {
    let goes = |name: &HeaderName| {
        [header::ACCEPT, header::CONTENT_TYPE].contains(name)
            || ["mcp-", "toolcrib-"].iter().any(|own| name.as_str().starts_with(own))
    };
    let passed = headers.iter().filter(|(name, _)| goes(name));
    passed
        .filter_map(|(name, value)| Some((name.to_string(), value.to_str().ok()?.to_owned())))
        .collect()
}

/// The same where they are read.
pub(crate) fn received(passed: &[(String, String)]) -> Option<HeaderMap> {
    let pairs = passed.iter().map(|(name, value)| {
        let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
        Some((name, HeaderValue::from_str(value).ok()?))
    });
    let pairs: Option<Vec<_>> = pairs.collect();
    let mut headers = HeaderMap::new();
    for (name, value) in pairs? {
        headers.append(name, value);
    }
    Some(headers)
}

/// The place in a trace as headers have it.
pub(crate) fn traceparent(trace: Trace) -> String {
    let flags = u8::from(trace.is_sampled());
    format!("00-{}-{}-{flags:02x}", trace.trace_id(), trace.span_id())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use toolcrib_core::Secret;

    use super::*;

    fn key(secret: &str) -> ClusterKey {
        ClusterKey::new(&Secret::new(secret), "forwards between replicas")
    }

    fn head() -> EnvelopeHead {
        EnvelopeHead {
            stamp: "1.2".to_owned(),
            home: "b".to_owned(),
            hop: FIRST_HOP,
            caller: Caller::new("t", "ann").with_scopes(["tools"]),
            method: "POST".to_owned(),
            path: "/mcp".to_owned(),
            headers: vec![("accept".to_owned(), "text/event-stream".to_owned())],
            trace: String::new(),
        }
    }

    #[test]
    fn an_envelope_opens_under_its_own_secret_and_as_it_was_sealed() {
        let sealed = seal(&key("ours"), &head(), b"{}").unwrap();
        assert_eq!(open(&key("ours"), &sealed), Ok((head(), Bytes::from_static(b"{}"))));
        assert_eq!(open(&key("theirs"), &sealed), Err(EnvelopeFault::Forged));
        for length in 0..sealed.len() {
            assert_eq!(open(&key("ours"), &sealed.slice(..length)), Err(EnvelopeFault::Forged));
        }
        for place in 0..sealed.len() {
            let mut changed = sealed.to_vec();
            changed[place] ^= 1;
            assert_eq!(open(&key("ours"), &changed.into()), Err(EnvelopeFault::Forged), "{place}");
        }
    }

    #[test]
    fn what_was_forwarded_once_is_not_forwarded_again() {
        for hop in [0, 2, u8::MAX] {
            let sealed = seal(&key("ours"), &EnvelopeHead { hop, ..head() }, b"").unwrap();
            assert_eq!(open(&key("ours"), &sealed), Err(EnvelopeFault::TooFar));
        }
    }

    #[test]
    fn what_shows_who_a_client_is_stays_where_it_came_in() {
        let all = [
            ("authorization", "Bearer crib"),
            ("cookie", "session=1"),
            ("host", "crib.test"),
            ("x-forwarded-for", "10.0.0.1"),
            ("mcp-session-id", "s"),
            ("mcp-protocol-version", "2025-11-25"),
            ("accept", "application/json"),
        ];
        let headers: HeaderMap = all
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect();
        let mut passed = passed_on(&headers);
        passed.sort();
        let names: Vec<_> = passed.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["accept", "mcp-protocol-version", "mcp-session-id"]);
        assert_eq!(received(&passed).unwrap().len(), 3);
    }

    proptest! {
        #[test]
        fn whatever_comes_is_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            prop_assert_eq!(open(&key("ours"), &bytes.clone().into()), Err(EnvelopeFault::Forged));
            // Also with a mark that is right, as one of a replica of another version may have.
            let ours = key("ours");
            for length in 0..bytes.len().min(40) {
                let (head, body) = bytes.split_at(length);
                let mut message = ours.mark(&[WHAT, head, body]).to_vec();
                message.extend(u32::try_from(length).unwrap().to_be_bytes());
                message.extend(&bytes);
                prop_assert_eq!(open(&ours, &message.into()), Err(EnvelopeFault::Unreadable));
            }
        }
    }
}
