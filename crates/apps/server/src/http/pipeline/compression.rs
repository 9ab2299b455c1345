//! Answers that are sent in less bytes to whoever takes them so.
//!
//! Lists of the page repeat the names of their fields, and come to a tenth. What signs anybody in is
//! never compressed: its length would tell of a secret what stands beside it.

use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::{HeaderMap, HeaderValue, Method, header};
use http_body_util::BodyExt as _;
use hyper::body::Body as _;
use std::io::Write as _;
use tokio::task::spawn_blocking;

use crate::http::routes::reply::{HttpReply, whole};
use crate::http::routes::route::Route;

/// Less than this is sent as it is.
const LEAST: u64 = 1024;
/// More than this is compressed where it holds nobody up.
const LARGE: usize = 64 * 1024;

/// Whether an answer of this route may be compressed for whoever sent these headers.
pub(crate) fn takes(method: &Method, route: &Route, headers: &HeaderMap) -> bool {
    let is_open = route.path.starts_with("/v1/") && !route.path.starts_with("/v1/session");
    is_open && method == Method::GET && accepts(headers)
}

fn accepts(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter();
    let texts = values.filter_map(|value| value.to_str().ok());
    texts.flat_map(|text| text.split(',')).any(|word| {
        let (name, weight) = word.split_once(';').unwrap_or((word, ""));
        let weight = weight.trim().trim_start_matches("q=").trim();
        let is_refused = !weight.is_empty() && weight.parse::<f32>().is_ok_and(|it| it == 0.0);
        name.trim().eq_ignore_ascii_case("gzip") && !is_refused
    })
}

/// The same answer in less bytes, if it is JSON and there at once.
pub(crate) async fn compressed(reply: HttpReply) -> HttpReply {
    let is_json = reply.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == JSON);
    let is_long = reply.body().size_hint().exact().is_some_and(|size| size >= LEAST);
    if !is_json || !is_long {
        return reply;
    }
    let (mut head, body) = reply.into_parts();
    let Ok(plain) = body.collect().await.map(http_body_util::Collected::to_bytes) else {
        // A body that is there at once cannot break off.
        return HttpReply::from_parts(head, whole(Bytes::new()));
    };
    let packed = if plain.len() > LARGE {
        let plain = plain.clone();
        spawn_blocking(move || gzip(&plain)).await.ok().flatten()
    } else {
        gzip(&plain)
    };
    let Some(packed) = packed else { return HttpReply::from_parts(head, whole(plain)) };
    head.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    head.headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    // A strong tag would say that the bytes are the same.
    let tag = head.headers.get(header::ETAG).and_then(|tag| tag.to_str().ok());
    if let Some(weak) = tag.and_then(|tag| HeaderValue::from_str(&format!("W/{tag}")).ok()) {
        head.headers.insert(header::ETAG, weak);
    }
    HttpReply::from_parts(head, whole(packed))
}

const JSON: &str = "application/json";

fn gzip(plain: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(plain).ok()?;
    encoder.finish().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whoever_names_it_gets_it() {
        let accepts = |value: &'static str| {
            let value = HeaderValue::from_static(value);
            accepts(&[(header::ACCEPT_ENCODING, value)].into_iter().collect())
        };
        for yes in ["gzip", "br, gzip;q=0.5", "deflate,GZIP ; q=1", "gzip, deflate, br, zstd"] {
            assert!(accepts(yes), "{yes}");
        }
        for no in ["", "br", "gzip;q=0", "gzip; q=0.000", "x-gzip", "*"] {
            assert!(!accepts(no), "{no}");
        }
        assert!(!super::accepts(&HeaderMap::new()));
    }
}
