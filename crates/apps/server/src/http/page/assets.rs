//! The files of the page, which are in the binary: `cargo xtask web` makes them.

use http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use http::{HeaderMap, HeaderValue};

use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::{HttpReply, octets};
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;

/// A file of the page.
struct PageFile {
    /// Its name below `assets`; empty: the document.
    name: &'static str,
    kind: &'static str,
    plain: &'static [u8],
    /// The same in brotli, where that is smaller.
    brotli: Option<&'static [u8]>,
}

include!("../../../page/files.rs");

/// The name of each file but that of the document is made of what it holds.
const FOR_EVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

pub(crate) fn document(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move { found("", &asked.headers) })
}

pub(crate) fn asset(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let mut reply = found(asked.segment(), &asked.headers)?;
        reply.headers_mut().insert(CACHE_CONTROL, FOR_EVER);
        Ok(reply)
    })
}

fn found(name: &str, headers: &HeaderMap) -> Result<HttpReply, HttpProblem> {
    let file = FILES.iter().find(|file| file.name == name);
    let file = file.ok_or_else(|| {
        let detail = "the page has no such file: load the page again";
        HttpProblem::new(ProblemKind::UnknownRoute, detail)
    })?;
    let brotli = file.brotli.filter(|_| takes_brotli(headers));
    let mut reply = octets(brotli.unwrap_or(file.plain));
    let told = reply.headers_mut();
    told.insert(CONTENT_TYPE, HeaderValue::from_static(file.kind));
    if file.brotli.is_some() {
        told.insert(VARY, HeaderValue::from_static("accept-encoding"));
    }
    if brotli.is_some() {
        told.insert(CONTENT_ENCODING, HeaderValue::from_static("br"));
    }
    Ok(reply)
}

/// Whether a client says that it takes brotli, and not that it takes none (`br;q=0`).
fn takes_brotli(headers: &HeaderMap) -> bool {
    let texts = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    texts.flat_map(|text| text.split(',')).any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let weight = weight.trim().strip_prefix("q=").map_or(Ok(1.0), str::parse::<f32>);
        name.trim().eq_ignore_ascii_case("br") && weight.is_ok_and(|weight| weight > 0.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brotli_goes_to_those_alone_who_take_it() {
        let takes = |text: &str| {
            let value = HeaderValue::from_str(text).unwrap();
            takes_brotli(&[(ACCEPT_ENCODING, value)].into_iter().collect())
        };
        assert!(
            ["br", "gzip, BR", "gzip;q=1, br;q=0.5", "deflate,br ; q=1"].map(takes) == [true; 4]
        );
        let others = ["", "gzip", "br;q=0", "br;q=0.000", "br;q=x", "brotli", "*"];
        assert!(others.map(takes) == [false; 7]);
        assert!(!takes_brotli(&HeaderMap::new()));
    }

    #[test]
    fn every_file_has_a_name_a_type_and_a_smaller_copy_if_any() {
        let names: Vec<_> = FILES.iter().map(|file| file.name).collect();
        assert!(names.contains(&"") && names.len() > 2, "{names:?}");
        for file in FILES {
            let smaller = file.brotli.is_none_or(|brotli| brotli.len() < file.plain.len());
            assert!(smaller && !file.plain.is_empty(), "{}", file.name);
            assert!(HeaderValue::from_str(file.kind).is_ok());
        }
    }
}
