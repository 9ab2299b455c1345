//! How clients find us: snippets, and the pipes of `toolcrib mcp`.

use serde_json::Value;

use super::support::state;
use crate::process::{Folder, run};

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
fn one_client_is_served_over_pipes_until_it_hangs_up() {
    let folder = Folder::new();
    let asked = [
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"calculate","arguments":{"expression":"6*7"}}}"#,
    ];
    let path = format!("{}/asked", folder.path().display());
    folder.write("asked", &(asked.join("\n") + "\n"));
    let line =
        format!("export XDG_STATE_HOME={}; (cat {path}; sleep 2) | toolcrib mcp", state(&folder));
    let ran = crate::process::shell(&folder, &line);
    assert_eq!(ran.code, 0, "{ran:?}");
    let answers: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ids: Vec<_> = answers.iter().map(|answer| answer["id"].clone()).collect();
    assert_eq!(ids, [1, 2], "{ran:?}");
    assert!(answers[1].to_string().contains("42"), "{ran:?}");
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
