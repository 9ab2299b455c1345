//! The command line over servers that others wrote, as they come from their registries.

use std::fs::File;
use std::io::Write as _;
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process::{Folder, Ran, run_in};

/// Where the servers are installed; the run of the tests says it.
pub(crate) struct Peers {
    pub(crate) modules: PathBuf,
    pub(crate) python: PathBuf,
    older_python: PathBuf,
}

/// For a program that speaks both ways.
const NEWER: &str = "revision = \"2026-07-28\"";

/// The Python with clients of agents.
pub(crate) fn python_clients() -> Option<PathBuf> {
    let found = variable("TOOLCRIB_PYTHON_CLIENTS");
    if found.is_none() {
        let out = &mut std::io::stdout();
        writeln!(out, "[skipped] no clients of others: `cargo xtask peers` installs them").unwrap();
    }
    found
}

impl Peers {
    pub(crate) fn find() -> Option<Self> {
        let peers = (|| {
            Some(Self {
                modules: variable("TOOLCRIB_NODE_PEERS")?,
                python: variable("TOOLCRIB_PYTHON_PEERS")?,
                older_python: variable("TOOLCRIB_PYTHON_PEERS_MCP1")?,
            })
        })();
        if peers.is_none() {
            let out = &mut std::io::stdout();
            writeln!(out, "[skipped] no servers of others: `cargo xtask peers` installs them")
                .unwrap();
        }
        peers
    }

    /// Thirteen servers of four revisions.
    fn configuration(&self) -> String {
        let node = |id: &str, program: &str, arguments: &[&str], more: &str| {
            let program = self.modules.join(".bin").join(program);
            source(id, &program, arguments, more)
        };
        let python = |id: &str, program: &str, arguments: &[&str], more: &str| {
            source(id, &self.python.with_file_name(program), arguments, more)
        };
        let older = |id: &str, program: &str, arguments: &[&str]| {
            source(id, &self.older_python.with_file_name(program), arguments, "cwd = \".\"")
        };
        // Its program lacks the bit that makes it one.
        let pdf = self.modules.join("@modelcontextprotocol/server-pdf/dist/index.js");
        [
            node("everything", "mcp-server-everything", &[], ""),
            node("files", "mcp-server-filesystem", &["."], "cwd = \".\""),
            node("memory", "mcp-server-memory", &[], "env = { MEMORY_FILE_PATH = \"m.json\" }"),
            node("thinking", "mcp-server-sequential-thinking", &[], ""),
            node("hub", "mcp-server-github", &[], ""),
            source("pdf", &self.modules.join(".bin/node"), &[pdf.to_str().unwrap(), "--stdio"], ""),
            node("notion", "notion-mcp-server", &[], "env = { NOTION_TOKEN = \"ntn_x\" }"),
            python("time", "mcp-server-time", &["--local-timezone", "UTC"], NEWER),
            python("git", "mcp-server-git", &["--repository", "."], "cwd = \"repository\""),
            python("fetch", "mcp-server-fetch", &[], NEWER),
            python("excel", "excel-mcp-server", &["stdio"], ""),
            older("sqlite", "mcp-server-sqlite", &["--db-path", "test.db"]),
            older("sums", "mcp-server-calculator", &[]),
        ]
        .concat()
    }

    /// A mock of an API, listening where Prism does if nobody says otherwise, as the README has it;
    /// there the server of that chapter listens where it does by itself. Another run of the tests
    /// on this machine waits until both are gone.
    pub(crate) fn mock(&self, folder: &Folder, document: &str) -> Mock {
        let turn = File::create(std::env::temp_dir().join("toolcrib-test-ports")).unwrap();
        turn.lock().unwrap();
        let path = format!("{}:/usr/bin:/bin", self.modules.join(".bin").display());
        #[expect(clippy::disallowed_methods, reason = "the mock is a program")]
        let mut command = std::process::Command::new(self.modules.join(".bin/prism"));
        command.args(["mock", document]).current_dir(folder.path()).env("PATH", path);
        let quiet = std::process::Stdio::null;
        let started = command.stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
        let mock = Mock { child: started.unwrap(), _turn: Some(turn) };
        let until = Instant::now() + Duration::from_mins(1);
        while TcpStream::connect("127.0.0.1:4010").is_err() {
            assert!(Instant::now() < until, "the mock does not listen");
            std::thread::sleep(Duration::from_millis(50));
        }
        mock
    }

    /// Programs of Node look for it on the path.
    fn run(&self, folder: &Folder, words: &[&str]) -> Ran {
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.modules.join(".bin").display());
        run_in(folder, words, &[("PATH", &path)])
    }
}

/// Ends with its owner, and whoever waits for its turn goes on then.
pub(crate) struct Mock {
    child: std::process::Child,
    _turn: Option<File>,
}

impl Drop for Mock {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[expect(clippy::disallowed_methods, reason = "the test run says where it installed its peers")]
fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from)
}

/// Where the programs of Node are, if they are installed.
pub(crate) fn programs() -> Option<PathBuf> {
    variable("TOOLCRIB_NODE_PEERS").map(|modules| modules.join(".bin"))
}

/// A source as a section of a configuration; JSON's strings and lists are TOML's too.
pub(crate) fn source(id: &str, program: &Path, arguments: &[&str], more: &str) -> String {
    let mut command = vec![program.to_str().unwrap()];
    command.extend(arguments);
    let command = json!(command);
    format!("[[source]]\nid = \"{id}\"\n[source.mcp]\ncommand = {command}\n{more}\n\n")
}

/// A folder with a configuration, a text and a repository with one commit.
fn furnished(peers: &Peers) -> Folder {
    let folder = Folder::new();
    folder.write("crib.toml", &peers.configuration());
    folder.write("a.txt", "hello\n");
    let repository = folder.path().join("repository");
    std::fs::create_dir(&repository).unwrap();
    let line = "cd repository && git init -q . && git -c user.email=a@example.com -c user.name=a \
                commit -q --allow-empty -m 'the first commit'";
    let ran = crate::process::shell(&folder, line);
    assert_eq!(ran.code, 0, "{ran:?}");
    folder
}

#[test]
fn servers_of_four_revisions_stand_behind_one_crib() {
    let Some(peers) = Peers::find() else { return };
    let folder = furnished(&peers);
    let ran = peers.run(&folder, &["doctor", "--json"]);
    let found = ran.json();
    let sources = found["sources"].as_array().unwrap();
    let facts = |source: &Value| {
        let revision = source["detail"]["revision"].as_str().unwrap_or_default();
        format!("{} {} {} {revision}", source["id"], source["state"], source["tools"])
    };
    assert_eq!(
        sources.iter().map(facts).collect::<Vec<_>>(),
        [
            r#""everything" "ready" 17 2025-11-25"#,
            r#""files" "ready" 14 2025-11-25"#,
            r#""memory" "ready" 9 2025-11-25"#,
            r#""thinking" "ready" 1 2025-11-25"#,
            r#""hub" "ready" 26 2024-11-05"#,
            r#""pdf" "ready" 9 2025-11-25"#,
            r#""notion" "ready" 24 2025-11-25"#,
            r#""time" "ready" 2 2026-07-28"#,
            r#""git" "ready" 12 2025-11-25"#,
            r#""fetch" "ready" 1 2026-07-28"#,
            r#""excel" "ready" 46 2025-11-25"#,
            r#""sqlite" "ready" 6 2025-11-25"#,
            r#""sums" "ready" 1 2025-11-25"#,
        ],
        "{ran:?}"
    );
    assert_eq!(ran.code, 0);
}

#[test]
fn tools_of_servers_of_others_are_called_by_hand() {
    let Some(peers) = Peers::find() else { return };
    let folder = furnished(&peers);
    let said = |name: &str, arguments: Value| {
        let ran = peers.run(&folder, &["call", name, &arguments.to_string(), "--yes"]);
        assert_eq!(ran.code, 0, "{name}: {ran:?}");
        ran.out
    };
    let sum = said("everything__get-sum", json!({ "a": 2, "b": 40 }));
    assert_eq!(sum, "The sum of 2 and 40 is 42.\n");
    assert_eq!(said("files__read_text_file", json!({ "path": "a.txt" })), "hello\n");
    let entity = json!({ "name": "Ann", "entityType": "person", "observations": ["reads"] });
    said("memory__create_entities", json!({ "entities": [entity] }));
    let now = said("time__get_current_time", json!({ "timezone": "Asia/Tokyo" }));
    assert!(now.contains("+09:00"), "{now}");
    let log = said("git__git_log", json!({ "repo_path": "." }));
    assert!(log.contains("the first commit"), "{log}");
    assert_eq!(said("sums__calculate", json!({ "expression": "6 * 7" })), "42\n");
}

#[test]
fn a_failure_that_a_server_tells_is_a_failure() {
    let Some(peers) = Peers::find() else { return };
    let folder = furnished(&peers);
    let arguments = json!({ "path": "nowhere.txt" }).to_string();
    let ran = peers.run(&folder, &["call", "files__read_text_file", &arguments]);
    assert_eq!(ran.code, 1);
    assert_eq!(ran.err.matches("ENOENT").count(), 1, "{ran:?}");
}

/// A server of the Python SDK over streamable HTTP.
const OVER_HTTP: &str = r#"
import sys
from mcp.server.mcpserver import MCPServer
from mcp.types import ToolAnnotations
server = MCPServer("notes")

@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def add(a: int, b: int) -> int:
    "Adds two numbers."
    return a + b

server.run(transport="streamable-http", port=int(sys.argv[1]))
"#;

fn serve(peers: &Peers, folder: &Folder, port: u16) -> Mock {
    #[expect(clippy::disallowed_methods, reason = "the server is a program")]
    let mut command = std::process::Command::new(&peers.python);
    let quiet = std::process::Stdio::null;
    command.args(["server.py", &port.to_string()]).current_dir(folder.path());
    let started = command.stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
    let server = Mock { child: started.unwrap(), _turn: None };
    let until = Instant::now() + Duration::from_mins(1);
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(Instant::now() < until, "the server does not listen");
        std::thread::sleep(Duration::from_millis(50));
    }
    server
}

#[test]
fn a_server_over_http_is_called_and_its_absence_is_told() {
    let Some(peers) = Peers::find() else { return };
    let folder = Folder::new();
    folder.write("server.py", OVER_HTTP);
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let source =
        format!("[[source]]\nid = \"notes\"\nmcp = {{ url = \"http://127.0.0.1:{port}/mcp\" }}\n");
    folder.write("crib.toml", &source);
    let call = || peers.run(&folder, &["call", "notes__add", r#"{"a": 2, "b": "40"}"#]);
    for _restart in 0..2 {
        let server = serve(&peers, &folder, port);
        let called = call();
        assert!(called.code == 0 && called.out.starts_with("42"), "{called:?}");
        drop(server);
    }
    let away = call();
    assert_eq!(away.code, 1, "{away:?}");
    assert!(
        away.err.contains("`notes`") && away.err.contains("cannot be connected to"),
        "{away:?}"
    );
}
