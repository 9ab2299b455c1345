//! Lines that break, and whether the request had left.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::io;
use std::net::{IpAddr, Ipv4Addr};

use http::Method;
use rustls::crypto::CryptoProvider;
use tokio::net::TcpListener;
use toolcrib_egress::{Egress, EgressErrorKind, EgressRequest, EgressScope, Network};
use url::Url;

use crate::server::{Say, Server};

async fn ends(egress: &Egress, url: Url) -> (EgressErrorKind, bool) {
    let error = match egress.send(EgressRequest::new(Method::POST, url)).await {
        Ok(response) => response.bytes(1000).await.unwrap_err(),
        Err(error) => error,
    };
    (error.kind, error.never_sent())
}

#[tokio::test]
async fn a_closed_port_is_told_and_nothing_was_sent() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let url = Url::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
    drop(listener);
    let egress = Egress::only([url.clone()], Network::default()).unwrap();
    assert_eq!(ends(&egress, url.clone()).await, (EgressErrorKind::NotConnected, true));
    let error = egress.send(EgressRequest::new(Method::GET, url)).await.unwrap_err();
    assert!(error.message().ends_with("cannot be connected to"), "{error}");
    assert!(error.causes().unwrap().contains("refused"), "{error:?}");
}

#[tokio::test]
async fn an_unknown_name_is_told_and_nothing_was_sent() {
    let lookup = |_: &str| Err(io::Error::from(io::ErrorKind::NotFound));
    let url = Url::parse("http://named.test/").unwrap();
    let egress =
        Egress::with_lookup(EgressScope::Named, [url.clone()], Network::default(), lookup).unwrap();
    assert_eq!(ends(&egress, url).await, (EgressErrorKind::NotConnected, true));
}

#[tokio::test]
async fn the_second_address_is_tried_when_the_first_is_closed() {
    let body = crate::server::answer("200 OK", "", b"second");
    let server = Server::start(Say::Bytes(vec![body], 0)).await;
    let lookup = |_: &str| {
        Ok(vec![IpAddr::V4(Ipv4Addr::new(127, 0, 0, 9)), IpAddr::V4(Ipv4Addr::LOCALHOST)])
    };
    let url = Url::parse(&format!("http://named.test:{}/", server.address.port())).unwrap();
    let egress =
        Egress::with_lookup(EgressScope::Named, [url.clone()], Network::default(), lookup).unwrap();
    let response = egress.send(EgressRequest::new(Method::GET, url)).await.unwrap();
    assert_eq!(response.bytes(6).await.unwrap(), "second");
}

#[tokio::test]
async fn without_tls_on_the_other_side_nothing_was_sent() {
    let server = Server::start(Say::Garbage).await;
    let url = Url::parse(&format!("https://{}/", server.address)).unwrap();
    let egress = Egress::only([url.clone()], Network::default()).unwrap();
    assert_eq!(ends(&egress, url).await, (EgressErrorKind::NotConnected, true));
    assert_eq!((server.connects(), server.heard()), (1, Vec::new()));
    assert!(CryptoProvider::get_default().is_none(), "TLS was made without one for the process");
}

#[tokio::test]
async fn what_breaks_after_the_request_may_have_been_done() {
    let parts: [&[u8]; 5] = [
        b"",
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 200",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ];
    for part in parts {
        let server = Server::start(Say::Bytes(vec![part.to_vec()], 0)).await;
        let ended = ends(&server.egress(), server.url("/")).await;
        assert_eq!(ended, (EgressErrorKind::Broken, false), "{}", String::from_utf8_lossy(part));
        assert_eq!(server.heard().len(), 1, "it is sent once");
    }
}

#[tokio::test]
async fn a_line_that_was_kept_and_is_gone_is_made_anew() {
    // The server says nothing of closing, and closes.
    let body = crate::server::answer("200 OK", "", b"one");
    let server = Server::start(Say::Bytes(vec![body], 0)).await;
    let egress = server.egress();
    for count in 1..=3 {
        let request = EgressRequest::new(Method::POST, server.url("/"));
        let response = egress.clone().send(request).await.unwrap();
        assert_eq!(response.bytes(3).await.unwrap(), "one");
        // The end of the line comes over a socket, and nothing tells of it.
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        assert_eq!((server.connects(), server.heard().len()), (count, count));
    }
}

#[tokio::test]
async fn what_breaks_on_a_kept_line_is_not_sent_again() {
    let body = crate::server::answer("200 OK", "", b"one");
    let server = Server::start(Say::OnlyOnce(body)).await;
    let egress = server.egress();
    let response = egress.send(EgressRequest::new(Method::POST, server.url("/"))).await.unwrap();
    assert_eq!(response.bytes(3).await.unwrap(), "one");
    assert_eq!(ends(&egress, server.url("/")).await, (EgressErrorKind::Broken, false));
    assert_eq!((server.connects(), server.heard().len()), (1, 2));
}
