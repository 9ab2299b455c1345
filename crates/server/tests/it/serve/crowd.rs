//! Crowds of peers that want nothing: nobody else pays for them.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::support::{Serving, eventually, head};
use crate::process::Folder;

/// How long the server takes to answer whoever means it, the median of some.
fn pace(serving: &Serving) -> Duration {
    let mut times: Vec<_> = (0..21)
        .map(|_| {
            let began = Instant::now();
            assert_eq!(serving.ask("GET", "/v1/tools", "").status, 200);
            began.elapsed()
        })
        .collect();
    times.sort();
    times[10]
}

#[test]
fn silent_slow_and_deaf_peers_cost_nobody_else() {
    // The times that hold if nobody sets them are tested elsewhere; here they are a crowd.
    let folder = Folder::new();
    let limits = "head_time = \"10s\"\nbody_pause = \"10s\"\nstall = \"10s\"";
    let basics = "[[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n";
    folder.write("crib.toml", &format!("[server.limits]\n{limits}\n\n{basics}"));
    let serving = Serving::start_in(folder, &[]);
    let alone = pace(&serving);
    let opened = |text: &str| {
        let mut stream = serving.connect();
        stream.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
        let _ = stream.write_all(text.as_bytes());
        stream
    };
    let half = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\nX-Half", serving.address);
    let token = super::support::bearer(&serving.token);
    let lines = [token.as_str(), "Content-Type: application/json"];
    let post = head("POST", "/v1/calls", &serving, &lines) + "Content-Length: 100\r\n\r\n{";
    let one = head("GET", "/v1/openapi.json", &serving, &[]) + "\r\n";
    let mut peers: Vec<TcpStream> = (0..400).map(|_| serving.connect()).collect();
    peers.extend((0..100).map(|_| opened(&half)));
    // Bodies of one caller are as many as its places, and others of it are told so.
    let others = serving.token_of("other");
    let slow = post.replace(&token, &super::support::bearer(&others));
    peers.extend((0..50).map(|_| opened(&slow)));
    peers.extend((0..20).map(|_| opened(&one.repeat(400))));
    let crowded = pace(&serving);
    let count = peers.len();
    writeln!(
        std::io::stdout(),
        "crowd: {alone:?} alone, {crowded:?} beside {count} silent, slow and deaf peers"
    )
    .unwrap();
    let began = Instant::now();
    for peer in &mut peers {
        // All of them are let go, whatever they were told before.
        peer.set_read_timeout(Some(Duration::from_mins(1))).unwrap();
        let mut rest = [0; 8_192];
        while peer.read(&mut rest).is_ok_and(|read| read > 0) {}
    }
    assert!(began.elapsed() < Duration::from_mins(1), "{:?}", began.elapsed());
    assert_eq!(serving.ask("GET", "/v1/tools", "").status, 200);
}

#[cfg(target_os = "linux")]
#[test]
fn more_peers_than_files_are_told_and_then_there_is_room_again() {
    let mut serving = Serving::start_with_files(256);
    let ready = || serving.send(&head("GET", "/readyz", &serving, &[]), "").status == 200;
    assert!(eventually(ready));
    let peers: Vec<_> = (0..1_000).map(|_| serving.connect()).collect();
    // Nobody is told that it is ready while there is no room.
    let mut asking = serving.connect();
    asking.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    asking.write_all((head("GET", "/readyz", &serving, &[]) + "\r\n").as_bytes()).unwrap();
    let mut said = [0; 12];
    assert!(asking.read_exact(&mut said).is_err() || &said != b"HTTP/1.1 200");
    drop((peers, asking));
    let began = Instant::now();
    assert!(eventually(ready));
    writeln!(std::io::stdout(), "crowd: ready again after {:?}", began.elapsed()).unwrap();
    assert_eq!(serving.ask("GET", "/v1/tools", "").status, 200);
    assert!(serving.child.try_wait().unwrap().is_none());
    let told = serving.told.lock().unwrap().clone();
    assert!(!told.contains("crash"), "{told}");
}
