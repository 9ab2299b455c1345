//! Answers that are read as they come, on connections that sleep between two of them.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "helpers of tests")]

use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt as _;
use http::{HeaderMap, Method, StatusCode};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use toolcrib_egress::{Egress, EgressError, EgressErrorKind, Network};
use url::Url;

use crate::server::{Say, Server, answer};

const LONG: Duration = Duration::from_secs(10);

async fn exchange(egress: &Egress, url: &Url) -> Result<(StatusCode, String), EgressError> {
    let route = egress.route(url)?;
    let mut answer =
        egress.exchange(&route, Method::POST, HeaderMap::new(), Bytes::from("body")).await?;
    let mut text = Vec::new();
    while let Some(chunk) = answer.next().await {
        text.extend_from_slice(&chunk?);
    }
    Ok((answer.status, String::from_utf8(text).unwrap()))
}

/// A server of which each connection answers as often as is said and then closes.
async fn closing_after(answers: usize) -> (Url, tokio::sync::mpsc::UnboundedReceiver<usize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = Url::parse(&format!("http://{}/path", listener.local_addr().unwrap())).unwrap();
    let (tell, told) = tokio::sync::mpsc::unbounded_channel();
    tokio::spawn(async move {
        for number in 1.. {
            let (stream, _) = listener.accept().await.unwrap();
            tell.send(number).unwrap();
            tokio::spawn(async move {
                let mut stream = stream;
                for _ in 0..answers {
                    read_one(&mut stream).await;
                    stream.write_all(&answer("200 OK", "", b"hello")).await.unwrap();
                }
            });
        }
    });
    (url, told)
}

async fn read_one(stream: &mut TcpStream) {
    let mut heard = Vec::new();
    while !heard.ends_with(b"\r\n\r\nbody") {
        let mut buffer = [0; 1024];
        let read = stream.read(&mut buffer).await.unwrap();
        assert!(read > 0, "the line ended early");
        heard.extend_from_slice(&buffer[..read]);
    }
}

#[tokio::test]
async fn only_what_http_needs_is_added_to_a_request() {
    let server = Server::start(Say::Bytes(vec![answer("200 OK", "", b"hello")], 0)).await;
    let said = exchange(&server.egress(), &server.url("/a%2Fb?c=d#e")).await.unwrap();
    assert_eq!(said, (StatusCode::OK, "hello".to_owned()));
    let expected = format!(
        "post /a%2fb?c=d http/1.1\r\nuser-agent: toolcrib/0.1.0\r\nhost: {}\r\ncontent-length: 4\
         \r\n\r\nbody",
        server.address
    );
    assert_eq!(server.heard().join("\n").to_ascii_lowercase(), expected);
}

#[tokio::test]
async fn one_connection_serves_one_exchange_after_the_other() {
    let (url, mut connected) = closing_after(100).await;
    let egress = Egress::only([url.clone()], Network::default()).unwrap();
    for _ in 0..20 {
        assert_eq!(exchange(&egress, &url).await.unwrap().1, "hello");
    }
    assert_eq!((connected.try_recv(), connected.try_recv().is_err()), (Ok(1), true));
}

#[tokio::test]
async fn a_connection_that_was_closed_in_its_sleep_is_replaced() {
    let (url, mut connected) = closing_after(1).await;
    let egress = Egress::only([url.clone()], Network::default()).unwrap();
    for _ in 0..5 {
        assert_eq!(exchange(&egress, &url).await.unwrap().1, "hello");
        // Until the other side's end has come.
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let mut connections = 0;
    while connected.try_recv().is_ok() {
        connections += 1;
    }
    assert_eq!(connections, 5);
}

#[tokio::test]
async fn many_exchanges_at_once_have_a_connection_each() {
    let (url, mut connected) = closing_after(100).await;
    let egress = Egress::only([url.clone()], Network::default()).unwrap();
    let all = futures_util::future::join_all((0..8).map(|_| exchange(&egress, &url))).await;
    assert!(all.iter().all(|said| said.as_ref().unwrap().1 == "hello"));
    let mut connections = 0;
    while connected.try_recv().is_ok() {
        connections += 1;
    }
    assert_eq!(connections, 8);
}

#[tokio::test]
async fn an_answer_is_read_while_it_comes_and_dropping_it_hangs_up() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = Url::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
    let egress = Egress::only([url.clone()], Network::default()).unwrap();
    let route = egress.route(&url).unwrap();
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_one(&mut stream).await;
        let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n";
        stream.write_all(head).await.unwrap();
        // Nothing more is said: the other side has to leave.
        let mut rest = Vec::new();
        timeout(LONG, stream.read_to_end(&mut rest)).await.unwrap().unwrap();
        rest
    });
    let body = Bytes::from("body");
    let mut answer = egress.exchange(&route, Method::POST, HeaderMap::new(), body).await.unwrap();
    assert_eq!(answer.next().await.unwrap().unwrap(), "first");
    drop(answer);
    assert_eq!(server.await.unwrap(), b"");
}

#[tokio::test]
async fn a_line_that_breaks_is_told_and_not_asked_again() {
    for whole in ["", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "no HTTP at all\r\n\r\n"]
    {
        let server = Server::start(Say::Bytes(vec![whole.into()], 0)).await;
        let error = exchange(&server.egress(), &server.url("/")).await.unwrap_err();
        assert_eq!(
            (error.kind, error.never_sent()),
            (EgressErrorKind::Broken, false),
            "{whole:?}: {error:?}"
        );
        assert_eq!(server.connects(), 1);
    }
}

#[tokio::test]
async fn a_place_that_no_rule_opens_is_no_route() {
    let server = Server::start(Say::Garbage).await;
    let egress = server.egress();
    for other in ["http://127.0.0.1:1/", "https://example.com/", "http://localhost/", "ftp://a/"] {
        let refused = egress.route(&Url::parse(other).unwrap()).err().unwrap();
        assert_eq!(
            (refused.kind, refused.never_sent()),
            (EgressErrorKind::Refused, true),
            "{other}"
        );
    }
    assert_eq!(server.connects(), 0);
}

#[tokio::test]
async fn nobody_there_is_told_as_such() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = Url::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
    drop(listener);
    let egress = Egress::only([url.clone()], Network::default()).unwrap();
    let error = exchange(&egress, &url).await.unwrap_err();
    assert_eq!(
        (error.kind, error.never_sent()),
        (EgressErrorKind::NotConnected, true),
        "{error:?}"
    );
}
