//! What goes out, and what comes back.

use http::{Method, StatusCode};
use toolcrib_egress::{EgressBody, EgressRequest};

use crate::server::{Say, Server, answer};

#[tokio::test]
async fn a_request_goes_out_and_its_answer_comes_back() {
    let whole = answer("200 OK", "X-Own: 1\r\n", b"hello");
    let server = Server::start(Say::Bytes(vec![whole], 0)).await;
    let mut request = EgressRequest::new(Method::POST, server.url("/a%2Fb?c=d#e"));
    request.headers.insert("authorization", "Bearer abc".parse().unwrap());
    request.body = EgressBody::Bytes("body".into());
    let response = server.egress().send(request).await.unwrap();
    assert_eq!(
        (response.status, &response.headers["x-own"]),
        (StatusCode::OK, &"1".parse().unwrap())
    );
    assert_eq!(response.bytes(5).await.unwrap(), "hello");
    let heard = server.heard().join("\n").to_ascii_lowercase();
    let expected = format!(
        "post /a%2fb?c=d http/1.1\r\nauthorization: bearer abc\r\naccept-encoding: gzip\r\n\
         accept: */*\r\nuser-agent: toolcrib/0.1.0\r\nhost: {}\r\ncontent-length: 4\r\n\r\nbody",
        server.address
    );
    assert_eq!(heard, expected);
}

#[tokio::test]
async fn a_redirect_comes_back_as_it_is() {
    let aim = Server::start(Say::Bytes(vec![answer("200 OK", "", b"caught")], 0)).await;
    let moved = answer("302 Found", &format!("Location: {}\r\n", aim.url("/")), b"");
    let server = Server::start(Say::Bytes(vec![moved], 0)).await;
    let response =
        server.egress().send(EgressRequest::new(Method::GET, server.url("/"))).await.unwrap();
    assert_eq!(response.status, StatusCode::FOUND);
    assert_eq!(response.headers["location"], aim.url("/").as_str());
    assert_eq!(aim.connects(), 0);
}
