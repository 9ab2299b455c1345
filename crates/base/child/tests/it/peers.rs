//! Servers that others wrote start within the usual limits, answer, and end when they are asked to.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use std::io::Write as _;
use std::path::{Path, PathBuf};

use tokio::io::AsyncWriteExt;
use toolcrib_child::{Exit, Program};

use crate::support::{Folder, Talk};

const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;

#[tokio::test]
async fn servers_for_node_start_answer_and_end() {
    let (Some(node), Some(modules)) = (variable("TOOLCRIB_NODE"), variable("TOOLCRIB_NODE_PEERS"))
    else {
        return skip("the servers for Node are not installed");
    };
    let folder = Folder::new();
    let place = folder.path().to_str().unwrap();
    for (script, argument) in [
        ("@modelcontextprotocol/server-everything/dist/index.js", "stdio"),
        ("@modelcontextprotocol/server-filesystem/dist/index.js", place),
        ("@modelcontextprotocol/server-memory/dist/index.js", ""),
        ("@modelcontextprotocol/server-sequential-thinking/dist/index.js", ""),
        ("@modelcontextprotocol/server-github/dist/index.js", ""),
        ("@modelcontextprotocol/server-pdf/dist/index.js", "--stdio"),
        ("@notionhq/notion-mcp-server/bin/cli.mjs", ""),
    ] {
        let mut words = vec![modules.join(script).display().to_string()];
        words.extend((!argument.is_empty()).then(|| argument.to_owned()));
        greet(Program::new(node.clone(), words), place).await;
    }
}

#[tokio::test]
async fn servers_in_python_start_answer_and_end() {
    for (name, servers) in [
        (
            "TOOLCRIB_PYTHON_PEERS",
            &[("mcp-server-time", "--local-timezone=UTC"), ("excel-mcp-server", "stdio")],
        ),
        (
            "TOOLCRIB_PYTHON_PEERS_MCP1",
            &[("mcp-server-sqlite", "--db-path=test.db"), ("mcp-server-calculator", "")],
        ),
    ] {
        let Some(python) = variable(name) else {
            return skip("the servers in Python are not installed");
        };
        let folder = Folder::new();
        for (server, argument) in servers {
            let words = (!argument.is_empty()).then_some(*argument);
            let program = Program::new(python.with_file_name(server), words);
            greet(program, folder.path().to_str().unwrap()).await;
        }
    }
}

/// Says hello, waits for the answer, and stops the program.
async fn greet(mut program: Program, home: &str) {
    program.inherited = [("PATH", "/usr/bin:/bin"), ("HOME", home)]
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .into();
    let name = program.command.display().to_string() + " " + &program.arguments.join(" ");
    let mut talk = Talk::with(&program).await;
    talk.stdin.write_all(format!("{HELLO}\n").as_bytes()).await.unwrap();
    let answer = talk.line().await;
    assert!(answer.contains(r#""protocolVersion""#), "{name}: {answer}");
    drop(talk.stdin);
    let exit = talk.child.stop().await;
    assert_eq!(exit, Exit { code: Some(0), signal: None }, "{name}");
}

/// A path that the run of the tests tells.
fn variable(name: &str) -> Option<PathBuf> {
    let value = std::env::vars().find(|(known, _)| known == name)?.1;
    Some(Path::new(&value).to_path_buf())
}

fn skip(why: &str) {
    let mut output = std::io::stdout();
    writeln!(output, "[skipped] {why}").unwrap();
}
