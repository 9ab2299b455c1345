//! What is sent in less bytes, and what never is.

use std::io::{Read as _, Write as _};

use flate2::read::GzDecoder;

use super::support::{Serving, bearer, eventually, head};

const JSON: &str = "Content-Type: application/json";

#[test]
fn long_answers_are_compressed_for_whoever_takes_them_so_and_sessions_never() {
    let serving = Serving::start(&[]);
    let token = bearer(&serving.token);
    let ask = |method: &str, path: &str, headers: &[&str], body: &str| {
        let headers = [&[token.as_str(), JSON, "Connection: close"], headers].concat();
        let head = head(method, path, &serving, &headers);
        let (mut stream, mut answer) = (serving.connect(), Vec::new());
        write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|window| window == b"\r\n\r\n").unwrap() + 4;
        let body = answer.split_off(end);
        (String::from_utf8(answer).unwrap(), body)
    };
    let gzip = "Accept-Encoding: br, gzip";
    let counted = || ask("GET", "/v1/catalog", &[], "").1.ends_with(b"\"tokens_counted\":true}");
    assert!(eventually(counted));
    let (_, plain) = ask("GET", "/v1/catalog", &[], "");
    let (head, packed) = ask("GET", "/v1/catalog", &[gzip], "");
    assert!(head.contains("content-encoding: gzip\r\n"), "{head}");
    assert!(head.contains("vary: accept-encoding\r\n"), "{head}");
    assert!(packed.len() * 2 < plain.len(), "{} of {}", packed.len(), plain.len());
    let mut whole = Vec::new();
    GzDecoder::new(&packed[..]).read_to_end(&mut whole).unwrap();
    assert_eq!(whole, plain);
    // A tag of either answer is a tag of both.
    let tag = head.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap();
    assert!(tag.starts_with("W/\""), "{tag}");
    let (same, _) = ask("GET", "/v1/catalog", &[gzip, &format!("If-None-Match: {tag}")], "");
    assert!(same.starts_with("HTTP/1.1 304"), "{same}");
    let short = ask("GET", "/healthz", &[gzip], "");
    let session = ask("POST", "/v1/session", &[gzip], "{}");
    let shown = ask("GET", "/v1/session", &[gzip], "");
    let refused = ask("GET", "/v1/tools?limit=x", &[gzip], "");
    for (head, _) in [short, session, shown, refused] {
        assert!(!head.contains("content-encoding"), "{head}");
    }
}
