//! Servers behind us that say too much, and clients that do: each costs itself alone.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Instant;

use serde_json::json;
use toolcrib_testkit::hostile::HostileServer;

use super::support::{Answer, Serving, bearer, eventually, head};
use super::wire::modern;
use crate::process::Folder;

/// What each server does wrong.
const BOMBS: [&[&str]; 9] = [
    &["huge=67108864"],
    &["endless"],
    &["deep=100000"],
    &["progress=100000"],
    &["list-changed=100000"],
    &["huge@list=67108864"],
    &["endless-pages"],
    &["repeat-cursor"],
    &["bomb=all"],
];

/// Most memory that a process ever held, in MiB.
#[cfg(target_os = "linux")]
fn most_memory(serving: &Serving) -> u64 {
    let status = format!("/proc/{}/status", serving.child.id());
    let status = std::fs::read_to_string(status).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
}

#[cfg(target_os = "linux")]
#[test]
fn servers_that_say_too_much_cost_themselves_alone() {
    let servers = BOMBS.map(|words| HostileServer::start(words).unwrap());
    let folder = Folder::new();
    let basics = "[[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n\n";
    let mut file = format!("allow = [\"*\"]\n\n{basics}");
    for (number, server) in servers.iter().enumerate() {
        let limits = "call_timeout = \"5s\"";
        writeln!(
            file,
            "[[source]]\nid = \"s{number}\"\nmcp = {{ url = \"{}\", {limits} }}\n",
            server.url()
        )
        .unwrap();
    }
    folder.write("crib.toml", &file);
    let serving = Serving::start_in(folder, &[]);
    let before = most_memory(&serving);
    for (number, words) in BOMBS.iter().enumerate() {
        let name = format!("s{number}__echo");
        let call = json!({ "calls": [{ "name": name, "arguments": { "text": "a" } }] });
        let began = Instant::now();
        serving.call(&call);
        let call = json!({ "name": name, "arguments": { "text": "a" } });
        modern(&serving, &serving.token, "/mcp", ("tools/call", call));
        assert!(began.elapsed().as_secs() < 45, "{:?}: {:?}", words, began.elapsed());
        let sum =
            json!({ "calls": [{ "name": "calculate", "arguments": { "expression": "1+1" } }] });
        assert_eq!(serving.call(&sum)["responses"][0]["structured"]["result"], "2");
    }
    let most = most_memory(&serving);
    let told = serving.told.lock().unwrap().clone();
    let lines = told.lines().count();
    writeln!(
        std::io::stdout(),
        "bombs: {before} MiB before, {most} MiB at the most, {lines} lines"
    )
    .unwrap();
    assert!(most < 512, "{most} MiB");
    assert!(lines < 100, "{told}");
}

#[test]
fn bodies_that_are_packed_or_of_another_length_are_refused() {
    let serving = Serving::start(&[]);
    let token = bearer(&serving.token);
    let send = |lines: &[&str], body: &[u8]| -> Answer {
        let common = [token.as_str(), "Content-Type: application/json", "Connection: close"];
        let head = head("POST", "/v1/calls", &serving, &[&common, lines].concat()) + "\r\n";
        serving.raw(&[head.as_bytes(), body].concat())
    };
    // A gigabyte of zeros is packed into a megabyte; nothing here unpacks anything.
    for packed in ["gzip", "zstd", "br", "deflate", "gzip, gzip"] {
        let lines = [&format!("Content-Encoding: {packed}"), "Content-Length: 4"];
        let answer = send(&lines.map(|line| line as &str), b"\x1f\x8b\x08\x00");
        assert!([400, 415].contains(&answer.status), "{packed}: {answer:?}");
    }
    let body = br#"{"calls":[]}"#;
    let lying: [&[&str]; 7] = [
        &["Content-Length: 13, 12"],
        &["Content-Length: 12", "Content-Length: 13"],
        &["Content-Length: -1"],
        &["Content-Length: +12"],
        &["Content-Length: 0x0c"],
        &["Content-Length: 99999999999999999999"],
        &["Transfer-Encoding: gzip, chunked, identity"],
    ];
    for lines in lying {
        let answer = send(lines, body);
        assert!((400..500).contains(&answer.status), "{lines:?}: {answer:?}");
    }
    // One that ends early is a body in itself, and what follows is no request.
    let answer = send(&["Content-Length: 11"], body);
    assert_eq!(answer.status, 400, "{answer:?}");
    let large = send(&["Content-Length: 4294967296"], body);
    assert_eq!(large.problem(), "413 too-large");
    assert!(eventually(|| serving.ask("GET", "/v1/tools", "").status == 200));
}
