//! Peers that are too large, too slow or too many.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::support::{Serving, bearer, eventually, head};

const LARGEST: usize = 4 * 1024 * 1024;

/// `{"calls": [], "x": "aaa.."}` of this many bytes.
fn body(bytes: usize) -> String {
    let empty = r#"{"calls":[],"plan":""}"#;
    format!(r#"{{"calls":[],"plan":"{}"}}"#, "a".repeat(bytes - empty.len()))
}

#[test]
fn a_body_of_the_limit_is_read_and_one_byte_more_is_not() {
    let serving = Serving::start(&[]);
    let send = |bytes| serving.ask("POST", "/v1/calls", &body(bytes)).problem();
    assert_eq!(send(LARGEST), "404 unknown-plan");
    assert_eq!(send(LARGEST + 1), "413 too-large");
    // In chunks, without a word about the length.
    let lines = [bearer(&serving.token), "Content-Type: application/json".to_owned()];
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    let head = head("POST", "/v1/calls", &serving, &lines);
    let text = body(LARGEST + 1);
    let chunk = format!(
        "{head}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n{:x}\r\n{text}\r\n0\r\n\r\n",
        text.len()
    );
    assert_eq!(serving.raw(chunk.as_bytes()).problem(), "413 too-large");
}

#[test]
fn a_head_is_bounded_in_bytes_and_lines() {
    let serving = Serving::start(&[]);
    let send = |lines: &[String]| {
        let lines: Vec<_> = lines.iter().map(String::as_str).collect();
        serving.send(&head("GET", "/healthz", &serving, &lines), "").status
    };
    let padded = |bytes: usize| send(&[format!("X-Pad: {}", "a".repeat(bytes))]);
    assert_eq!(padded(31 * 1024), 200);
    assert_eq!(padded(33 * 1024), 431);
    assert_eq!(padded(65 * 1024), 431);
    let many =
        |count: usize| send(&(0..count).map(|number| format!("X-{number}: 1")).collect::<Vec<_>>());
    // `Host` and `Connection` count too.
    assert_eq!(many(98), 200);
    assert_eq!(many(99), 431);
    assert_eq!(many(5_000), 431);
    let long = format!("/{}", "a".repeat(40 * 1024));
    assert!([414, 431].contains(&serving.send(&head("GET", &long, &serving, &[]), "").status));
}

/// How long it takes until the peer hangs up, and what it says before.
fn until_closed(mut stream: TcpStream) -> (Duration, String) {
    let began = Instant::now();
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text);
    (began.elapsed(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn whoever_is_silent_or_slow_is_let_go_and_others_are_served() {
    let serving = Serving::start(&[]);
    let half = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\nX-Half", serving.address);
    let lines = [bearer(&serving.token), "Content-Type: application/json".to_owned()];
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    let posts = head("POST", "/v1/calls", &serving, &lines);
    let stuck = format!("{posts}Content-Length: 100\r\n\r\n{{");
    let opened = |text: &str| {
        let mut stream = serving.connect();
        stream.write_all(text.as_bytes()).unwrap();
        stream
    };
    let mut drips = opened(&half);
    let mut writes = drips.try_clone().unwrap();
    let slow: Vec<_> = (0..50)
        .flat_map(|_| [serving.connect(), opened(&half), opened(&stuck)])
        .map(|stream| std::thread::spawn(|| until_closed(stream)))
        .collect();
    // A head that goes on letter by letter has the same time as one that stops.
    let dripping = std::thread::spawn(move || {
        while writes.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(500));
        }
    });
    let began = Instant::now();
    let _ = drips.read_to_end(&mut Vec::new());
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    assert_eq!(serving.ask("GET", "/v1/tools", "").status, 200);
    for slow in slow {
        let (time, said) = slow.join().unwrap();
        assert!(time < Duration::from_secs(30), "{time:?} {said}");
        assert!(said.is_empty() || said.contains("408"), "{said}");
    }
    dripping.join().unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn more_peers_than_files_cost_neither_the_server_nor_the_patient() {
    let serving = Serving::start_with_files(64);
    let peers: Vec<_> = (0..200).map(|_| serving.connect()).collect();
    drop(peers);
    let answers = || serving.ask("GET", "/v1/tools", "").status == 200;
    assert!(eventually(answers));
    let told = serving.told.lock().unwrap().clone();
    assert!(!told.contains("crash"), "{told}");
}

#[test]
fn requests_of_one_connection_follow_each_other() {
    let serving = Serving::start(&[]);
    let one = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\n\r\n", serving.address);
    let mut stream = serving.connect();
    stream.write_all(one.repeat(3).as_bytes()).unwrap();
    let mut text = String::new();
    let mut bytes = [0; 4096];
    while text.matches(r#"{"status":"ok"}"#).count() < 3 {
        let count = stream.read(&mut bytes).unwrap();
        assert!(count > 0, "{text}");
        text.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    let smuggled = format!(
        "POST /v1/plan HTTP/1.1\r\nHost: {}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        serving.address
    );
    let answer = serving.raw(smuggled.as_bytes());
    assert!([400, 401].contains(&answer.status), "{answer:?}");
    assert_eq!(answer.body.matches("HTTP/1.1").count(), 0, "{answer:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn whoever_does_not_read_is_let_go() {
    let serving = Serving::start(&[]);
    let one = format!("GET /v1/openapi.json HTTP/1.1\r\nHost: {}\r\n\r\n", serving.address);
    let mut deaf = serving.connect();
    let port = deaf.local_addr().unwrap().port();
    deaf.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
    // Far more than the system takes in for a reader.
    let _ = deaf.write_all(one.repeat(2_000).as_bytes());
    assert!(eventually(|| is_held(&serving, port)));
    let until = Instant::now() + Duration::from_mins(2);
    while is_held(&serving, port) {
        assert!(Instant::now() < until, "it is still held");
        std::thread::sleep(Duration::from_millis(200));
    }
    drop(deaf);
}

/// Whether a server has an open file for the connection that comes from this port.
#[cfg(target_os = "linux")]
fn is_held(serving: &Serving, port: u16) -> bool {
    let table = std::fs::read_to_string(format!("/proc/{}/net/tcp", serving.child.id())).unwrap();
    let from = format!(":{port:04X}");
    table.lines().any(|line| {
        let fields: Vec<_> = line.split_whitespace().collect();
        // Its own address, the one of the peer, and the file, which a closed one has no more.
        let is_own = fields.get(2).is_some_and(|peer| peer.ends_with(&from));
        is_own && fields.get(9).is_some_and(|file| *file != "0")
    })
}
