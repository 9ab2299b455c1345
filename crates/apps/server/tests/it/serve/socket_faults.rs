//! What a socket is not to be thrown by: bad input, peers that vanish, and its own server that stops.

use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::agents::{ALL, serving};
use super::keys::make;
use super::sockets::{Socket, code, knowing};
use super::support::{Serving, bearer, eventually, head};
use crate::process::Folder;

/// A model that is slow when it is told to wait.
fn slow() -> ScriptedModel {
    ScriptedModel::by(|_, body| {
        let said = ScriptedTurn::says("Done.");
        let waits = body["messages"].to_string().contains("wait");
        let long = Duration::from_mins(2);
        if waits { ScriptedTurn::Waits(long, Box::new(said)) } else { said }
    })
    .unwrap()
}

#[test]
fn what_is_wrong_with_a_message_is_an_event_and_the_socket_goes_on() {
    let model = knowing();
    let serving = serving(&model, ALL);
    let mut socket = Socket::connect(&serving);
    let twice =
        "{\"type\":\"response.create\",\"model\":\"assistant\",\"input\":\"a\",\"input\":\"b\"}";
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let cases: Vec<(Message, u16, &str, &str)> = vec![
        (Message::text("no JSON"), 400, "invalid_request", "no usable JSON"),
        (Message::text(""), 400, "invalid_request", "no usable JSON"),
        (Message::text("[1]"), 400, "invalid_request", "it must be an object"),
        (Message::text(twice), 400, "invalid_request", "no usable JSON"),
        (Message::text(deep), 400, "invalid_request", "no usable JSON"),
        (Message::binary(b"{}".to_vec()), 400, "invalid_request", "as a text of JSON"),
        (Message::text("{}"), 400, "invalid_request", "`type` is ``"),
        (
            Message::text("{\"type\":\"response.steer\"}"),
            400,
            "invalid_request",
            "`response.steer`",
        ),
        (
            Message::text("{\"type\":\"response.create\"}"),
            400,
            "invalid_request",
            "must be a text or a list",
        ),
        (
            Message::text("{\"type\":\"response.create\",\"model\":\"nobody\"}"),
            400,
            "invalid_request",
            "must be a text or a list",
        ),
        (
            Message::text("{\"type\":\"response.create\",\"model\":\"nobody\",\"input\":\"x\"}"),
            404,
            "model_not_found",
            "no agent `nobody`",
        ),
        (
            Message::text(
                "{\"type\":\"response.create\",\"model\":\"assistant\",\"input\":\"x\",\
                 \"background\":true}",
            ),
            400,
            "invalid_request",
            "a socket has no `background`",
        ),
    ];
    for (message, status, name, words) in cases {
        socket.0.send(message.clone()).unwrap();
        let event = socket.next().unwrap();
        let seen = (event["type"].as_str(), event["status"].as_u64(), code(&event));
        assert_eq!(seen, (Some("error"), Some(status.into()), name), "{message}: {event}");
        assert!(event["error"]["message"].as_str().unwrap().contains(words), "{message}: {event}");
    }
    assert_eq!(socket.answer(json!({ "input": "x" }))["status"], "completed");
}

#[test]
fn a_message_may_come_in_pieces_and_none_may_be_too_large() {
    let model = knowing();
    let serving = serving(&model, &format!("{ALL}\n[server.limits]\nbody = \"64KiB\"\n"));
    let mut socket = Socket::connect(&serving);
    let event = json!({ "type": "response.create", "model": "assistant", "input": "pieces" });
    let text = event.to_string();
    let (first, rest) = text.split_at(30);
    let (second, third) = rest.split_at(1);
    let frame = |piece: &str, kind, is_last| {
        Message::Frame(Frame::message(piece.to_owned(), OpCode::Data(kind), is_last))
    };
    socket.0.send(frame(first, Data::Text, false)).unwrap();
    socket.0.send(frame(second, Data::Continue, false)).unwrap();
    socket.0.send(Message::Ping(b"between".to_vec().into())).unwrap();
    socket.0.send(frame(third, Data::Continue, true)).unwrap();
    let last = socket.rest().pop().unwrap();
    assert_eq!(last["response"]["status"], "completed", "{last}");
    // Whether one frame is too large, or all of a message.
    let large = "x".repeat(100_000);
    let mut other = Socket::connect(&serving);
    other.0.send(Message::text(large.as_str())).unwrap();
    let half = &large[..50_000];
    socket.0.send(frame(half, Data::Text, false)).unwrap();
    socket.0.send(frame(half, Data::Continue, true)).unwrap();
    for socket in [&mut socket, &mut other] {
        let event = socket.next().unwrap();
        assert_eq!((&event["status"], code(&event)), (&json!(413), "too_large"), "{event}");
        assert_eq!(socket.next(), Err((1009, "the message is too large".to_owned())));
    }
}

#[test]
fn bytes_that_are_no_frames_end_the_socket() {
    let model = knowing();
    let serving = serving(&model, ALL);
    let mut socket = Socket::connect(&serving);
    // Not masked, as a client must.
    socket.0.get_mut().write_all(&[0x81, 0x01, b'x']).unwrap();
    assert_eq!(socket.next(), Err((1002, "this is no WebSocket".to_owned())));
    let mut socket = Socket::connect(&serving);
    let frame = Frame::message(vec![0xff, 0xfe], OpCode::Data(Data::Text), true);
    socket.0.send(Message::Frame(frame)).unwrap();
    assert_eq!(socket.next(), Err((1007, "a text must be UTF-8".to_owned())));
    let mut socket = Socket::connect(&serving);
    assert_eq!(socket.answer(json!({ "input": "x" }))["status"], "completed");
    socket.0.close(None).unwrap();
    assert!(matches!(socket.0.read(), Ok(Message::Close(_)) | Err(_)));
}

#[test]
fn one_answer_at_a_time_is_made_on_a_socket() {
    let model = slow();
    let serving = serving(&model, ALL);
    let mut socket = Socket::connect(&serving);
    socket.create(json!({ "input": "wait" }));
    let id = socket.next().unwrap()["response"]["id"].clone();
    assert_eq!(socket.next().unwrap()["type"], "response.in_progress");
    socket.create(json!({ "input": "meanwhile", "stream_id": "two" }));
    let event = socket.next().unwrap();
    let seen = (&event["status"], code(&event), &event["stream_id"]);
    assert_eq!(seen, (&json!(409), "response_in_progress", &json!("two")));
    // The one that is made goes on; whoever wants another one may connect again.
    let mut other = Socket::connect(&serving);
    assert_eq!(other.answer(json!({ "input": "x" }))["status"], "completed");
    let path = format!("/v1/responses/{}/cancel", id.as_str().unwrap());
    assert_eq!(serving.ask("POST", &path, "{}").json()["status"], "cancelled");
    assert_eq!(socket.rest().pop().unwrap()["response"]["status"], "cancelled");
    assert_eq!(socket.answer(json!({ "input": "x" }))["status"], "completed");
}

#[test]
fn a_client_that_vanishes_gives_its_answer_up() {
    let model = ScriptedModel::by(|_, _| {
        ScriptedTurn::Waits(Duration::from_secs(2), Box::new(ScriptedTurn::says("Late.")))
    })
    .unwrap();
    let serving = serving(&model, ALL);
    let mut socket = Socket::connect(&serving);
    socket.create(json!({ "input": "x", "background": false }));
    let id = socket.next().unwrap()["response"]["id"].as_str().unwrap().to_owned();
    drop(socket);
    let path = format!("/v1/responses/{id}");
    let status = || serving.ask("GET", &path, "").json()["status"].clone();
    assert!(eventually(|| status() == "cancelled"), "{}", status());
}

#[test]
fn a_server_that_stops_says_goodbye_to_its_sockets() {
    let model = slow();
    let mut serving = serving(&model, ALL);
    let (mut idle, mut busy) = (Socket::connect(&serving), Socket::connect(&serving));
    busy.create(json!({ "input": "wait" }));
    assert_eq!(busy.next().unwrap()["type"], "response.created");
    assert!(eventually(|| model.asked().len() == 1));
    serving.signal("TERM");
    let goodbye = Err((1001, "the server stops".to_owned()));
    assert_eq!(idle.next(), goodbye);
    let last = busy.rest().pop().unwrap();
    assert_eq!(last["response"]["status"], "cancelled", "{last}");
    assert_eq!(busy.next(), goodbye);
    drop((idle, busy));
    let begun = Instant::now();
    assert!(serving.child.wait().unwrap().success());
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[test]
fn a_peer_that_is_silent_is_let_go_and_so_is_one_that_stays_too_long() {
    let model = knowing();
    let limits = "[server.limits]\nstall = \"1s\"\nbody_time = \"1s\"\n";
    let other = serving(&model, &format!("{ALL}\n{limits}longest_session = \"3s\"\n"));
    let serving = serving(&model, &format!("{ALL}\n{limits}"));
    let mut mute = Socket::connect(&serving);
    let mut bytes = Vec::new();
    // It is asked whether it is there, and does not answer.
    mute.0.get_mut().read_to_end(&mut bytes).unwrap();
    assert!(bytes.starts_with(&[0x89, 0]), "{bytes:?}");
    // One that answers stays, though it wants nothing.
    let mut quiet = Socket::connect(&other);
    let event = quiet.next().unwrap();
    let seen = (&event["status"], code(&event));
    assert_eq!(seen, (&json!(400), "websocket_connection_limit_reached"), "{event}");
    assert_eq!(quiet.next(), Err((1001, "connect again".to_owned())));
}

/// The status and the words of an answer to a handshake with these headers in it.
fn handshake(serving: &Serving, path: &str, headers: &[&str]) -> (u16, String) {
    let usual = ["Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Upgrade: websocket"];
    let all: Vec<&str> = usual.into_iter().chain(headers.iter().copied()).collect();
    let head = head("GET", path, serving, &all) + "\r\n";
    let mut stream = serving.connect();
    stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or_else(|| unreachable!("{answer}")), answer)
}

#[test]
fn only_a_whole_handshake_of_a_known_caller_from_here_opens_a_socket() {
    let model = knowing();
    let serving = serving(&model, ALL);
    let (path, token) = ("/v1/responses", bearer(&serving.token));
    let (asks, version) = ("Connection: keep-alive, Upgrade", "Sec-WebSocket-Version: 13");
    let (status, answer) = handshake(&serving, path, &[asks, version, &token]);
    let lower = answer.to_lowercase();
    // The key and its answer are those of RFC 6455.
    let accept = "sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo=";
    assert!(status == 101 && lower.contains(accept), "{answer}");
    let origin = "Origin: https://elsewhere.example";
    let own = format!("Origin: http://{}", serving.address);
    let cases: [(&str, &[&str], u16, &str); 8] = [
        (path, &[asks, version], 401, "unauthenticated"),
        (path, &[asks, version, "Authorization: Bearer no"], 401, "unauthenticated"),
        (path, &[asks, version, &token, origin], 403, "bad-origin"),
        (path, &[asks, version, &token, &own], 101, "upgrade"),
        (path, &[asks, &token, "Sec-WebSocket-Version: 8"], 400, "sec-websocket-version: 13"),
        (path, &[version, &token], 400, "connection: upgrade"),
        ("/v1/nowhere", &[asks, version, &token], 404, "unknown-route"),
        ("/v1/models", &[asks, version, &token, "Connection: close"], 200, "assistant"),
    ];
    for (path, headers, status, words) in cases {
        let (seen, answer) = handshake(&serving, path, headers);
        assert!(seen == status && answer.to_lowercase().contains(words), "{headers:?}: {answer}");
    }
    // Without the wish for one, the route is what it was.
    let plain = serving.ask("GET", path, "");
    assert_eq!(plain.problem(), "405 wrong-method");
    assert!(plain.head.to_lowercase().contains("allow: post\r\n"), "{plain:?}");
    let short = handshake(&serving, "/v1/responses?x=1", &[asks, version, &token]);
    assert_eq!(short.0, 400, "{short:?}");
}

#[test]
fn a_socket_counts_as_one_that_listens_and_its_turns_as_requests() {
    let model = slow();
    let serving = serving(&model, &format!("{ALL}\n[server.limits]\nper_caller = 2\n"));
    let mut first = Socket::connect(&serving);
    let mut second = Socket::connect(&serving);
    let third = Socket::connect_as(&serving, &serving.token).map(|_| ());
    assert!(matches!(&third, Err((429, told)) if told.contains("2 streams")), "{third:?}");
    first.create(json!({ "input": "wait" }));
    assert_eq!(first.next().unwrap()["type"], "response.created");
    second.create(json!({ "input": "wait" }));
    assert_eq!(second.next().unwrap()["type"], "response.created");
    assert_eq!(serving.ask("GET", "/v1/tools", "").status, 429);
    drop(first);
    // The place of the turn is free with the socket.
    assert!(eventually(|| serving.ask("GET", "/v1/tools", "").status == 200));
    let mut third = Socket::connect(&serving);
    assert_eq!(third.answer(json!({ "input": "x" }))["status"], "completed");
}

#[test]
fn a_socket_ends_with_what_it_was_opened_by() {
    let model = slow();
    let folder = Folder::new();
    let (taken, entry) = make(&folder, &["taken", "--scope", "tools"]);
    let text = format!("{ALL}\n[model]\nurl = \"{}\"\nname = \"m\"\n", model.url());
    folder.write("crib.toml", &format!("{text}{entry}"));
    let serving = Serving::start_in(folder, &[]);
    let mut socket = Socket::connect_as(&serving, &taken).unwrap_or_else(|_| unreachable!());
    let mut kept = Socket::connect(&serving);
    socket.create(json!({ "input": "wait" }));
    assert_eq!(socket.next().unwrap()["type"], "response.created");
    serving.folder.write("crib.toml", &text);
    let event = loop {
        let event = socket.next().unwrap();
        if event["type"] == "error" {
            break event;
        }
    };
    assert_eq!((&event["status"], code(&event)), (&json!(401), "unauthenticated"));
    assert_eq!(socket.next(), Err((1008, "the token is not accepted any more".to_owned())));
    assert_eq!(kept.answer(json!({ "input": "x" }))["status"], "completed");
}
