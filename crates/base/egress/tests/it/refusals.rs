//! What is refused opens no connection, also where one would be taken.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, Ordering};

use http::{HeaderName, HeaderValue, Method};
use toolcrib_egress::{Egress, EgressErrorKind, EgressRequest, EgressScope, Network};
use url::Url;

use crate::server::{Say, Server, answer};

const OPENED: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
const CLOSED: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn hello() -> Say {
    Say::Bytes(vec![answer("200 OK", "Connection: close\r\n", b"hello")], 0)
}

#[tokio::test]
async fn a_name_that_turns_private_is_left_alone() {
    let canary = Server::start_on(CLOSED, 0, hello()).await;
    let port = canary.address.port();
    let server = Server::start_on(OPENED, port, hello()).await;
    let turned = AtomicBool::new(false);
    let lookup = move |_: &str| {
        let turned = turned.swap(true, Ordering::SeqCst);
        Ok(vec![if turned { CLOSED } else { OPENED }])
    };
    let network = Network { private: vec!["127.0.0.2".parse().unwrap()] };
    let egress = Egress::with_lookup(EgressScope::Public, [], network, lookup).unwrap();
    let url = Url::parse(&format!("http://turning.test:{port}/")).unwrap();
    let first = egress.send(EgressRequest::new(Method::GET, url.clone())).await.unwrap();
    assert_eq!(first.bytes(5).await.unwrap(), "hello");
    // The end of the line comes over a socket, and nothing tells of it.
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    let second = egress.send(EgressRequest::new(Method::GET, url)).await.unwrap_err();
    assert_eq!((second.kind, second.never_sent()), (EgressErrorKind::Refused, true));
    assert!(!second.to_string().contains("127.0.0.1"), "{second}");
    assert!(second.causes().unwrap().contains("127.0.0.1"), "{second:?}");
    assert_eq!((server.connects(), canary.connects()), (1, 0));
}

#[tokio::test]
async fn canaries_on_loopback_hear_nothing() {
    let canary = Server::start(hello()).await;
    let port = canary.address.port();
    let lookup = |_: &str| Ok(vec![CLOSED]);
    let open = Egress::with_lookup(EgressScope::Public, [], Network::default(), lookup).unwrap();
    let named = Url::parse("http://named.test").unwrap();
    let only =
        Egress::with_lookup(EgressScope::Named, [named], Network::default(), lookup).unwrap();
    let hosts = [
        "127.0.0.1",
        "127.1",
        "localhost",
        "localhost.",
        "[::ffff:127.0.0.1]",
        "a.test",
        "named.test",
    ];
    for host in hosts {
        let url = Url::parse(&format!("http://{host}:{port}/")).unwrap();
        for egress in [&open, &only] {
            let error =
                egress.send(EgressRequest::new(Method::GET, url.clone())).await.unwrap_err();
            assert_eq!((error.kind, error.never_sent()), (EgressErrorKind::Refused, true), "{url}");
        }
    }
    assert_eq!(canary.connects(), 0);
}

#[tokio::test]
async fn headers_of_the_connection_are_refused() {
    let server = Server::start(hello()).await;
    let ours = [
        "host",
        "content-length",
        "transfer-encoding",
        "connection",
        "keep-alive",
        "te",
        "trailer",
        "upgrade",
        "expect",
        "proxy-authorization",
        "proxy-connection",
        "accept-encoding",
    ];
    for name in ours {
        let mut request = EgressRequest::new(Method::POST, server.url("/"));
        request.headers.insert(HeaderName::from_static(name), HeaderValue::from_static("1"));
        let error = server.egress().send(request).await.unwrap_err();
        let expected = format!("the header `{name}` is set by the connection; leave it out");
        assert_eq!(
            (error.kind, error.never_sent(), error.message()),
            (EgressErrorKind::Refused, true, &*expected)
        );
    }
    for method in [Method::CONNECT, Method::TRACE] {
        let error =
            server.egress().send(EgressRequest::new(method, server.url("/"))).await.unwrap_err();
        assert_eq!((error.kind, error.never_sent()), (EgressErrorKind::Refused, true));
    }
    assert_eq!(server.connects(), 0);
}

#[test]
fn an_origin_that_is_none_is_not_named() {
    for url in ["file:///etc/passwd", "http://user:password@named.test", "http://named.test:0"] {
        let error = Egress::only([Url::parse(url).unwrap()], Network::default()).err().unwrap();
        assert_eq!(error.kind, EgressErrorKind::Refused, "{url}");
        assert!(!error.to_string().contains("password@"), "{error}");
    }
}
