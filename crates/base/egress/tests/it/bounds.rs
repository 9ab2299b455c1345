//! No answer is larger than it may be, packed or not.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::io::Write;

use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use http::Method;
use toolcrib_egress::{EgressError, EgressErrorKind, EgressRequest};

use crate::server::{Say, Server, answer};

const MIB: usize = 1024 * 1024;
const PACKED: &str = "Content-Encoding: gzip\r\n";

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

/// What of an answer arrives where `max` bytes are taken.
async fn arrives(whole: Vec<u8>, max: usize) -> Result<usize, EgressErrorKind> {
    let server = Server::start(Say::Bytes(vec![whole], 0)).await;
    let response =
        server.egress().send(EgressRequest::new(Method::GET, server.url("/"))).await.unwrap();
    let body = response.bytes(u64::try_from(max).unwrap()).await;
    body.map(|body| body.len()).map_err(|error: EgressError| {
        assert!(!error.never_sent(), "{error:?}");
        error.kind
    })
}

#[tokio::test]
async fn a_plain_answer_is_taken_up_to_its_bound() {
    let body = vec![b'x'; 1000];
    assert_eq!(arrives(answer("200 OK", "", &body), 1000).await, Ok(1000));
    assert_eq!(arrives(answer("200 OK", "", &body), 999).await, Err(EgressErrorKind::TooLarge));
    assert_eq!(arrives(answer("200 OK", "", b""), 0).await, Ok(0));
    // Without a length the bytes themselves are counted.
    let endless = [b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), body].concat();
    assert_eq!(arrives(endless.clone(), 1000).await, Ok(1000));
    assert_eq!(arrives(endless, 999).await, Err(EgressErrorKind::TooLarge));
    // What is not packed is not measured by how far it unpacks.
    let large = vec![b'x'; 3 * MIB];
    assert_eq!(arrives(answer("200 OK", "", &large), 4 * MIB).await, Ok(3 * MIB));
}

#[tokio::test]
async fn a_packed_answer_is_counted_unpacked() {
    let body: Vec<u8> = (0..20_000_u32).flat_map(u32::to_be_bytes).collect();
    let packed = gzip(&body);
    assert!(packed.len() < body.len());
    assert_eq!(arrives(answer("200 OK", PACKED, &packed), body.len()).await, Ok(body.len()));
    let bound = arrives(answer("200 OK", PACKED, &packed), body.len() - 1).await;
    assert_eq!(bound, Err(EgressErrorKind::TooLarge));
    // Parts that were packed one by one are one answer.
    let twice = [packed.clone(), packed].concat();
    let taken = arrives(answer("200 OK", PACKED, &twice), body.len() * 2).await;
    assert_eq!(taken, Ok(body.len() * 2));
}

#[tokio::test]
async fn what_unpacks_to_a_multiple_is_refused() {
    let bomb = gzip(&vec![0; 64 * MIB]);
    assert!(bomb.len() < MIB, "{} bytes", bomb.len());
    assert_eq!(
        arrives(answer("200 OK", PACKED, &bomb), 1000 * MIB).await,
        Err(EgressErrorKind::TooLarge)
    );
    // Little is little, whatever its multiple.
    let small = gzip(&vec![0; MIB]);
    assert_eq!(arrives(answer("200 OK", PACKED, &small), MIB).await, Ok(MIB));
    let nothings = gzip(b"").repeat(10_000);
    assert_eq!(
        arrives(answer("200 OK", PACKED, &nothings), 1000).await,
        Err(EgressErrorKind::TooLarge)
    );
}

#[tokio::test]
async fn what_came_unpacks_to_a_hundred_times_its_size_and_no_more() {
    const SIZE: usize = 2_000_000;
    // The comment of the packer makes it as long as it is wanted.
    let packed = |bytes: usize| {
        let pack = |comment: usize| {
            let builder = GzBuilder::new().comment(vec![b'c'; comment]);
            let mut encoder = builder.write(Vec::new(), Compression::best());
            encoder.write_all(&vec![0; SIZE]).unwrap();
            encoder.finish().unwrap()
        };
        pack(bytes - pack(0).len())
    };
    for (bytes, taken) in
        [(20_001, Ok(SIZE)), (20_000, Ok(SIZE)), (19_999, Err(EgressErrorKind::TooLarge))]
    {
        let packed = packed(bytes);
        assert_eq!(packed.len(), bytes);
        assert_eq!(arrives(answer("200 OK", PACKED, &packed), 4 * MIB).await, taken, "{bytes}");
    }
}

#[tokio::test]
async fn what_is_packed_wrongly_is_refused() {
    let packed = gzip(b"hello hello hello");
    let cut = &packed[..packed.len() - 4];
    assert_eq!(arrives(answer("200 OK", PACKED, cut), 100).await, Err(EgressErrorKind::Broken));
    assert_eq!(
        arrives(answer("200 OK", PACKED, b"plain"), 100).await,
        Err(EgressErrorKind::Broken)
    );
    for other in ["br", "deflate", "gzip, gzip", "zstd", "\u{e9}"] {
        let header = format!("Content-Encoding: {other}\r\n");
        assert_eq!(
            arrives(answer("200 OK", &header, &packed), 100).await,
            Err(EgressErrorKind::Broken)
        );
    }
    assert_eq!(arrives(answer("200 OK", "Content-Encoding: identity\r\n", b"ab"), 2).await, Ok(2));
    assert_eq!(arrives(answer("200 OK", "Content-Encoding: GZIP\r\n", &packed), 17).await, Ok(17));
    assert_eq!(arrives(answer("200 OK", PACKED, b""), 100).await, Ok(0));
}

#[tokio::test]
async fn a_head_without_end_is_refused() {
    let filler = "X-Filler: ".to_owned() + &"x".repeat(1000) + "\r\n";
    let head = format!("HTTP/1.1 200 OK\r\n{}\r\n", filler.repeat(2000));
    let server = Server::start(Say::Bytes(vec![head.into_bytes()], 0)).await;
    let sent = server.egress().send(EgressRequest::new(Method::GET, server.url("/"))).await;
    assert_eq!(sent.err().map(|error| error.kind), Some(EgressErrorKind::Broken));
}
