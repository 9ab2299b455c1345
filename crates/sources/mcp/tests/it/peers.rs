//! Servers of others, started together.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toolcrib_engine::Crib;
use toolcrib_engine::catalog::SourceState;
use toolcrib_mcp::{McpEnvironment, McpSource, McpSourceSettings, McpTransport, StdioSettings};

#[expect(clippy::disallowed_methods, reason = "the test run says where it installed its peers")]
fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from)
}

fn source(id: &str, program: &Path, arguments: &[&str], path: &str) -> McpSource {
    let settings = StdioSettings {
        command: program.to_owned(),
        arguments: arguments.iter().map(|&word| word.to_owned()).collect(),
        environment: Vec::new(),
        folder: None,
    };
    let environment = vec![("PATH".to_owned(), path.to_owned())];
    let settings = McpSourceSettings::new(McpTransport::Stdio(settings));
    McpSource::new(id, settings, McpEnvironment { environment })
}

/// Ten servers, the quickest of which are up within a tenth of the time of the slowest.
fn ten(modules: &Path, python: &Path, older: &Path) -> Crib {
    let bin = modules.join(".bin");
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display());
    let all: [(&str, PathBuf, &[&str]); 10] = [
        ("excel", python.with_file_name("excel-mcp-server"), &["stdio"]),
        ("fetch", python.with_file_name("mcp-server-fetch"), &[]),
        ("git", python.with_file_name("mcp-server-git"), &[]),
        ("time", python.with_file_name("mcp-server-time"), &["--local-timezone", "UTC"]),
        ("sums", older.with_file_name("mcp-server-calculator"), &[]),
        ("sqlite", older.with_file_name("mcp-server-sqlite"), &["--db-path", "t.db"]),
        ("everything", bin.join("mcp-server-everything"), &[]),
        ("memory", bin.join("mcp-server-memory"), &[]),
        ("thinking", bin.join("mcp-server-sequential-thinking"), &[]),
        ("hub", bin.join("mcp-server-github"), &[]),
    ];
    let sources = all.iter().map(|(id, program, words)| (id, source(id, program, words, &path)));
    sources.fold(Crib::builder(), |builder, (id, source)| builder.source(id, source)).open()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_list_of_the_first_ready_server_is_served_before_the_last_is_up() {
    let names = ["TOOLCRIB_NODE_PEERS", "TOOLCRIB_PYTHON_PEERS", "TOOLCRIB_PYTHON_PEERS_MCP1"]
        .map(variable);
    let [Some(modules), Some(python), Some(older)] = &names else {
        let out = &mut std::io::stdout();
        writeln!(out, "[skipped] no servers of others: `cargo xtask peers` installs them").unwrap();
        return;
    };
    let crib = ten(modules, python, older);
    let starting = tokio::spawn({
        let crib = crib.clone();
        async move { crib.start().await }
    });
    while crib.catalog().tools().is_empty() {
        assert!(!starting.is_finished(), "{:?}", crib.sources());
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    let served = crib.catalog().tools().len();
    let is_silent = |source: &SourceState| source.age_seconds.is_none() && source.error.is_none();
    let waiting = crib.sources().iter().filter(|source| is_silent(source)).count();
    assert!(waiting > 0, "{served} tools are served, and nobody is waited for");
    starting.await.unwrap();
    let without: Vec<_> = crib.sources().into_iter().filter(|source| source.tools == 0).collect();
    assert_eq!(without, []);
    assert!(crib.catalog().tools().len() > served);
}
