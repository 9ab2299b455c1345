//! What one server may say, each bound at one less, at itself and at one more.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use serde_json::{Value, json};
use toolcrib_core::{ErrorKind, Source as _};
use toolcrib_mcp::{McpBounds, McpEra, McpSourceSettings, McpTransport};

use crate::lists::{List, tool};
use crate::support::{crib, failed, run, settings, source};

/// The settings of a program with these bounds.
fn within(options: &[&str], bounds: McpBounds) -> McpSourceSettings {
    McpSourceSettings { bounds, ..settings(options) }
}

#[tokio::test]
async fn a_line_is_as_long_as_it_may_be() {
    for era in ["legacy", "modern"] {
        let bounds = McpBounds { message: 40_000, ..McpBounds::default() };
        let crib = crib(&source(within(&[era], bounds))).await;
        for bytes in [39_999, 40_000] {
            let answer = run(&crib, "line", json!({ "bytes": bytes })).await;
            assert!(answer.outcome.is_done(), "{bytes}: {answer:?}");
        }
        let (kind, message) = failed(&run(&crib, "line", json!({ "bytes": 40_001 })).await);
        assert_eq!(kind, ErrorKind::UnknownOutcome, "{message}");
        assert!(message.contains("it is larger than `limits.message` allows"), "{message}");
    }
}

#[tokio::test]
async fn a_message_is_as_deep_as_it_may_be() {
    let bounds = McpBounds { depth: 20, ..McpBounds::default() };
    let crib = crib(&source(within(&["modern"], bounds))).await;
    // The message and its result stand around it.
    for depth in [17, 18] {
        let answer = run(&crib, "deep", json!({ "depth": depth })).await;
        assert!(answer.outcome.is_done(), "{depth}: {answer:?}");
    }
    let (_, message) = failed(&run(&crib, "deep", json!({ "depth": 19 })).await);
    assert!(message.contains("it is nested deeper than `limits.depth` allows"), "{message}");
}

#[tokio::test]
async fn a_list_has_as_many_pages_and_entries_as_it_may_have() {
    let listed = async |pages: u64, bounds: McpBounds| {
        let settings = within(&["modern", &format!("pages={pages}")], bounds);
        let loaded = source(settings).load().await;
        loaded.map(|set| set.len()).map_err(|error| error.to_string())
    };
    let pages = McpBounds { pages: 3, ..McpBounds::default() };
    assert_eq!((listed(2, pages).await, listed(3, pages).await), (Ok(2), Ok(3)));
    let why = "MCP server `far`: its list of tools has more than 3 pages: `limits.pages`";
    assert_eq!(listed(4, pages).await, Err(why.to_owned()));
    let entries = McpBounds { entries: 3, ..McpBounds::default() };
    assert_eq!((listed(2, entries).await, listed(3, entries).await), (Ok(2), Ok(3)));
    let why = "MCP server `far`: it lists more than 3 tools: `limits.entries`";
    assert_eq!(listed(4, entries).await, Err(why.to_owned()));
}

#[tokio::test]
async fn one_source_lists_five_thousand_tools_and_no_more() {
    for (count, is_taken) in [(4_999, true), (5_000, true), (5_001, false)] {
        let tools: Vec<_> = (0..count).map(|number| tool(&format!("t{number}"))).collect();
        let list = List::new(&format!("many-{count}"), &json!(tools));
        let loaded = source(settings(&["modern", &list.option()])).load().await;
        assert_eq!(loaded.map(|set| set.len()).ok(), is_taken.then_some(count));
    }
}

#[tokio::test]
async fn a_definition_is_as_large_as_it_may_be_and_a_larger_one_costs_itself_alone() {
    let sized = |name: &str, bytes: usize| {
        let mut tool = tool(name);
        tool["description"] = "".into();
        tool["description"] = "d".repeat(bytes - tool.to_string().len()).into();
        tool
    };
    let list = [sized("less", 999), sized("exact", 1_000), sized("more", 1_001)];
    let list = List::new("definitions", &json!(list));
    let bounds = McpBounds { definition: 1_000, ..McpBounds::default() };
    let source = source(within(&["modern", &list.option()], bounds));
    let toolset = source.load().await.unwrap();
    let names: Vec<_> = toolset.iter().map(|tool| tool.spec.name.to_string()).collect();
    assert_eq!(names, ["less", "exact"]);
    let left_out = source.status().left_out;
    let left_out: Vec<_> = left_out.iter().map(|out| (&*out.tool, &*out.reason)).collect();
    let why = "its definition is larger than 1000 bytes: `limits.definition`";
    assert_eq!(left_out, [("more", why)]);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_program_has_the_limits_that_are_set() {
    let mut settings = settings(&["modern"]);
    settings.program.open_files = 100;
    settings.program.file_size = 1 << 20;
    settings.program.address_space = Some(1 << 32);
    let source = source(settings);
    source.load().await.unwrap();
    let pid = source.status().pid.unwrap();
    let limits = std::fs::read_to_string(format!("/proc/{pid}/limits")).unwrap();
    let limit = |name: &str| {
        let line = limits.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.split_whitespace().next().unwrap().to_owned()
    };
    let found = ["Max open files", "Max file size", "Max address space"].map(limit);
    assert_eq!(found, ["100", "1048576", "4294967296"]);
}

#[tokio::test]
async fn a_program_is_started_as_often_as_it_may_be() {
    let file = std::env::temp_dir().join(format!("toolcrib-starts-{}", std::process::id()));
    let mut settings = settings(&[]);
    let McpTransport::Stdio(stdio) = &mut settings.transport else { unreachable!("it is started") };
    stdio.command = "/bin/sh".into();
    stdio.arguments = vec!["-c".to_owned(), format!("echo x >> {}; exit 1", file.display())];
    settings.revision = Some(McpEra::Legacy);
    settings.restarts.ends = 3;
    settings.restarts.first_pause = std::time::Duration::from_millis(1);
    let source = source(settings);
    let mut starts = Vec::new();
    for _ in 0..5 {
        source.load().await.err().unwrap();
        starts.push(std::fs::read_to_string(&file).unwrap().lines().count());
    }
    let _ = std::fs::remove_file(&file);
    assert_eq!(starts, [1, 2, 3, 3, 3]);
}

#[tokio::test]
async fn an_event_and_a_body_are_as_long_as_they_may_be() {
    // The name of its field is a part of an event.
    for (kind, field) in [("text/event-stream", "data: "), ("application/json", "")] {
        let url = serve(kind, field);
        let mut settings = crate::over_http::settings(&url);
        settings.revision = Some(McpEra::Legacy);
        settings.bounds.message = 5_000;
        assert!(matches!(settings.transport, McpTransport::Http(_)));
        let crib = crib(&source(settings)).await;
        for bytes in [4_999, 5_000] {
            let answer = run(&crib, "sized", json!({ "bytes": bytes - field.len() })).await;
            assert!(answer.outcome.is_done(), "{kind} {bytes}: {answer:?}");
        }
        let answer = run(&crib, "sized", json!({ "bytes": 5_001 - field.len() })).await;
        let (_, message) = failed(&answer);
        assert!(message.contains("`limits.message`"), "{kind}: {message}");
    }
}

/// A server of one tool, whose results are messages of exactly so many bytes, in events or bodies.
fn serve(kind: &'static str, field: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let stream = stream.unwrap();
            std::thread::spawn(move || while answer(&stream, kind, field).is_some() {});
        }
    });
    url
}

/// Answers one request; `None`: there is none.
fn answer(mut stream: &TcpStream, kind: &str, field: &str) -> Option<()> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).ok()?;
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.map_or(0, |length| length.trim().parse().unwrap())];
    stream.read_exact(&mut body).ok()?;
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let result = match asked["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
            "serverInfo": { "name": "sized", "version": "1" },
        }),
        Some("tools/list") => json!({ "tools": [tool("sized")] }),
        Some("tools/call") => Value::Null,
        _ => {
            stream.write_all(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n").ok()?;
            return Some(());
        }
    };
    let told = |result: Value| json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result });
    let text = |text: &str| told(json!({ "content": [{ "type": "text", "text": text }] }));
    let (message, kind, field) = if result.is_null() {
        let bytes = asked["params"]["arguments"]["bytes"].as_u64()?;
        let bytes = usize::try_from(bytes).ok()? - text("").to_string().len();
        (text(&"x".repeat(bytes)), kind, field)
    } else {
        (told(result), "application/json", "")
    };
    let end = if field.is_empty() { "" } else { "\n\n" };
    let body = format!("{field}{message}{end}");
    let head = format!("Content-Type: {kind}\r\nContent-Length: {}", body.len());
    write!(stream, "HTTP/1.1 200 OK\r\n{head}\r\n\r\n{body}").ok()
}
