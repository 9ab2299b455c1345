//! How clients find us: snippets, and the pipes of `toolcrib mcp`.

use serde_json::{Value, json};

use super::support::Serving;
use crate::process::{Folder, Piped, run, shell};

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
fn a_token_goes_to_no_other_machine_for_a_file_that_was_only_found() {
    let folder = Folder::new();
    // An address of documents, which nobody has: nothing is sent to it.
    folder.write("crib.toml", "[server]\nlisten = \"192.0.2.7:80\"\n");
    let ran = shell(&folder, "toolcrib calls");
    let told = "error: `crib.toml` names `192.0.2.7:80`, to which your token would go: if that is \
                your server, say so with `--config crib.toml` or `--url`\n";
    assert_eq!((ran.code, ran.err.as_str()), (2, told), "{ran:?}");
}

#[test]
fn a_client_is_told_of_the_configuration_that_is_there() {
    let folder = Folder::new();
    let file = "[server]\nlisten = \"127.0.0.1:7599\"\n[profile.small]\n[profile.other]\n";
    folder.write("crib.toml", file);
    let whole = folder.path().join("crib.toml").canonicalize().unwrap().display().to_string();
    // The same whether it is found or named.
    for named in ["", " --config crib.toml"] {
        let connect = |words: &str| shell(&folder, &format!("toolcrib connect {words}{named}"));
        let started = connect("claude-desktop --profile small").json();
        let arguments = json!(["mcp", "--config", whole, "--profile", "small"]);
        assert_eq!(started["mcpServers"]["toolcrib"]["args"], arguments);
        let code = connect("claude-code").json();
        assert_eq!(code["mcpServers"]["toolcrib"]["url"], "http://127.0.0.1:7599/mcp");
        let elsewhere = connect("cursor --url http://127.0.0.1:8000").json();
        assert_eq!(elsewhere["mcpServers"]["toolcrib"]["url"], "http://127.0.0.1:8000/mcp");
        let refused = connect("cursor --profile smal");
        let told = "error: there is no profile `smal`: the file has `other`, `small`\n";
        assert_eq!((refused.code, refused.err.as_str()), (2, told), "{refused:?}");
    }
    // A server elsewhere has profiles of its own.
    let elsewhere = shell(&folder, "toolcrib connect curl --url http://10.0.0.7 --profile far");
    assert_eq!(elsewhere.code, 0, "{elsewhere:?}");
    let others = "[server]\nlisten = \"0.0.0.0:8443\"\n";
    for (more, url) in [
        (
            "hosts = [\"crib.example.com\"]\nbehind_proxy = [\"10.0.0.5\"]",
            "https://crib.example.com",
        ),
        ("url = \"https://crib.example.com\"", "https://crib.example.com"),
        (
            "hosts = [\"c.example\"]\ntls = { certificate = \"c.pem\", key = \"k.pem\" }",
            "https://c.example:8443",
        ),
    ] {
        folder.write("crib.toml", &format!("{others}{more}\n"));
        let ran = shell(&folder, "toolcrib connect cursor");
        assert_eq!(ran.json()["mcpServers"]["toolcrib"]["url"], format!("{url}/mcp"), "{ran:?}");
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
