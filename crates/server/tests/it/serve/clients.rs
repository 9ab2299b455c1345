//! How clients find us: snippets, and the pipes of `toolcrib mcp`.

use serde_json::{Value, json};

use super::support::Serving;
use crate::process::{Folder, Piped, run};

#[test]
fn every_client_is_told_how_and_never_the_token() {
    for client in ["claude-desktop", "claude-code", "vscode", "cursor", "curl"] {
        let ran = run(&["connect", client, "--url", "http://127.0.0.1:8000", "--profile", "p"]);
        assert_eq!(ran.code, 0, "{ran:?}");
        assert!(!ran.out.contains("tc_"), "{ran:?}");
        if client != "curl" {
            let _: Value = ran.json();
        }
        let expected = match client {
            "claude-desktop" => "\"mcp\"",
            "curl" => "http://127.0.0.1:8000/v1/tools",
            _ => "http://127.0.0.1:8000/mcp/p",
        };
        assert!(ran.out.contains(expected), "{ran:?}");
    }
    assert_eq!(run(&["connect", "curl", "--url", "nowhere"]).code, 2);
}

#[test]
fn a_server_says_where_mcp_clients_come_in_and_what_tells_them() {
    for (words, more) in [(&[][..], ""), (&["--insecure-local"], "; leave its token out")] {
        let serving = Serving::start(words);
        let url = format!("http://{}", serving.address);
        serving.hears(&format!(
            "MCP clients: {url}/mcp; `toolcrib connect CLIENT --url {url}` prints what to tell one \
             of claude-desktop, claude-code, vscode, cursor{more}\n"
        ));
        let ran = run(&["connect", "cursor", "--url", &url]);
        assert!(ran.out.contains(&format!("\"{url}/mcp\"")), "{ran:?}");
    }
}

#[test]
fn one_client_is_served_over_pipes_until_it_hangs_up() {
    let folder = Folder::new();
    let asked = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"calculate","arguments":{"expression":"6*7"}}}"#,
    ];
    let mut pipe = Piped::open(&folder, &["mcp"]);
    let read = |line: String| serde_json::from_str::<Value>(&line).unwrap();
    let greeting = read(pipe.ask(asked[0]));
    pipe.say(asked[1]);
    let called = read(pipe.ask(asked[2]));
    assert_eq!((&greeting["id"], &called["id"]), (&json!(1), &json!(2)), "{greeting} {called}");
    assert!(called.to_string().contains("42"), "{called}");
    assert_eq!(pipe.hang_up(), (Some(0), vec![]));
}

#[test]
fn a_client_that_signs_in_is_given_no_token() {
    let base = ["--url", "https://crib.example.com", "--profile", "small", "--sign-in"];
    for client in ["claude-code", "vscode", "cursor"] {
        let ran = run(&[&["connect", client], &base[..]].concat());
        assert!(ran.out.contains("https://crib.example.com/mcp/small"), "{ran:?}");
        assert!(!ran.out.contains("Authorization") && ran.err.contains("sign in"), "{ran:?}");
    }
    for client in ["claude-desktop", "curl"] {
        assert_eq!(run(&[&["connect", client], &base[..]].concat()).code, 2);
    }
}
