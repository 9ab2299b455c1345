//! Each phase has its own patience, and the error says whose ended.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::io;
use std::net::IpAddr;
use std::time::Duration;

use http::Method;
use toolcrib_egress::{
    AddressLookup, AddressLookupFuture, Egress, EgressErrorKind, EgressPhase, EgressRequest,
    EgressScope, EgressTimeouts, Network,
};
use url::Url;

use crate::server::{Say, Server, answer};

const SOON: Duration = Duration::from_millis(50);
const LATE: Duration = Duration::from_secs(20);
const PATIENT: EgressTimeouts =
    EgressTimeouts { connect: LATE, first_byte: LATE, idle: LATE, total: LATE };

/// How a request to a server ends: which phase, and whether nothing was sent.
async fn ends(egress: &Egress, url: Url, timeouts: EgressTimeouts) -> (EgressErrorKind, bool) {
    let request = EgressRequest { timeouts, ..EgressRequest::new(Method::GET, url) };
    let error = match egress.send(request).await {
        Ok(response) => response.bytes(1000).await.unwrap_err(),
        Err(error) => error,
    };
    (error.kind, error.never_sent())
}

/// Never finds anything.
struct Silent;

impl AddressLookup for Silent {
    fn lookup<'a>(&'a self, _: &'a str) -> AddressLookupFuture<'a> {
        Box::pin(std::future::pending::<io::Result<Vec<IpAddr>>>())
    }
}

#[tokio::test]
async fn a_lookup_without_end_is_given_up_before_anything_is_sent() {
    let url = Url::parse("http://named.test/").unwrap();
    let egress =
        Egress::with_lookup(EgressScope::Named, [url.clone()], Network::default(), Silent).unwrap();
    let ended = ends(&egress, url.clone(), EgressTimeouts { connect: SOON, ..PATIENT }).await;
    assert_eq!(ended, (EgressErrorKind::Timeout(EgressPhase::Connect), true));
    let ended = ends(&egress, url, EgressTimeouts { total: SOON, ..PATIENT }).await;
    assert_eq!(ended, (EgressErrorKind::Timeout(EgressPhase::Total), true));
}

#[tokio::test]
async fn tls_without_end_is_given_up_before_anything_is_sent() {
    let server = Server::start(Say::Silence(Vec::new())).await;
    let url = Url::parse(&format!("https://{}/", server.address)).unwrap();
    let egress = Egress::only([url.clone()], Network::default()).unwrap();
    let ended = ends(&egress, url, EgressTimeouts { connect: SOON, ..PATIENT }).await;
    assert_eq!(
        (ended, server.heard()),
        ((EgressErrorKind::Timeout(EgressPhase::Connect), true), Vec::new())
    );
}

#[tokio::test]
async fn a_server_that_says_nothing_may_have_done_it() {
    let server = Server::start(Say::Silence(Vec::new())).await;
    let egress = server.egress();
    let ended =
        ends(&egress, server.url("/"), EgressTimeouts { first_byte: SOON, ..PATIENT }).await;
    assert_eq!(ended, (EgressErrorKind::Timeout(EgressPhase::FirstByte), false));
    let ended = ends(&egress, server.url("/"), EgressTimeouts { total: SOON, ..PATIENT }).await;
    assert_eq!(ended, (EgressErrorKind::Timeout(EgressPhase::Total), false));
}

#[tokio::test]
async fn a_body_that_stops_half_way_is_given_up() {
    let part = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf".to_vec();
    let server = Server::start(Say::Silence(part)).await;
    let egress = server.egress();
    let ended = ends(&egress, server.url("/"), EgressTimeouts { idle: SOON, ..PATIENT }).await;
    assert_eq!(ended, (EgressErrorKind::Timeout(EgressPhase::Body), false));
    let total = Duration::from_millis(500);
    let ended = ends(&egress, server.url("/"), EgressTimeouts { total, ..PATIENT }).await;
    assert_eq!(ended, (EgressErrorKind::Timeout(EgressPhase::Total), false));
}

#[tokio::test]
async fn a_body_that_drips_ends_with_the_total() {
    let mut parts = vec![b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n".to_vec()];
    parts.extend(std::iter::repeat_n(b"x".to_vec(), 500));
    let server = Server::start(Say::Bytes(parts, 20)).await;
    let timeouts = EgressTimeouts { idle: LATE, total: Duration::from_millis(500), ..PATIENT };
    let ended = ends(&server.egress(), server.url("/"), timeouts).await;
    assert_eq!(ended, (EgressErrorKind::Timeout(EgressPhase::Total), false));
}

#[tokio::test]
async fn a_slow_answer_within_its_patience_comes_whole() {
    let parts = vec![
        b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n".to_vec(),
        b"ab".to_vec(),
        b"cd".to_vec(),
    ];
    let server = Server::start(Say::Bytes(parts, 30)).await;
    let request =
        EgressRequest { timeouts: PATIENT, ..EgressRequest::new(Method::GET, server.url("/")) };
    let response = server.egress().send(request).await.unwrap();
    assert_eq!(response.bytes(4).await.unwrap(), "abcd");
}

#[tokio::test]
async fn a_timeout_longer_than_any_clock_is_no_fault() {
    let server = Server::start(Say::Bytes(vec![answer("200 OK", "", b"a")], 0)).await;
    let timeouts = EgressTimeouts {
        connect: Duration::MAX,
        first_byte: Duration::MAX,
        idle: Duration::MAX,
        total: Duration::MAX,
    };
    let request = EgressRequest { timeouts, ..EgressRequest::new(Method::GET, server.url("/")) };
    let response = server.egress().send(request).await.unwrap();
    assert_eq!(response.bytes(1).await.unwrap(), "a");
}
