//! The protocol's own suite (`@modelcontextprotocol/conformance`), run by a test.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;

use crate::TestFolder;

const PACKAGE: &str = "@modelcontextprotocol/conformance";

/// The suite as it is installed.
#[derive(Debug, Clone)]
pub struct ConformanceSuite {
    node: PathBuf,
    package: PathBuf,
}

/// What came of a run.
#[derive(Debug)]
pub struct ConformanceVerdict {
    /// The scenarios that count for this revision and side, in the order of the suite.
    pub scored: Vec<String>,
    /// Those that checked something and found no fault, whether they count or not.
    pub passed: BTreeSet<String>,
    /// Each check that failed, with its scenario.
    pub faults: Vec<String>,
    /// All that the suite said.
    pub said: String,
    /// Whether it was content, with warnings too.
    pub is_content: bool,
}

impl ConformanceVerdict {
    /// What counts and did not pass.
    #[must_use]
    pub fn missing(&self) -> Vec<&str> {
        let scored = self.scored.iter().map(String::as_str);
        scored.filter(|name| !self.passed.contains(*name)).collect()
    }

    /// The line of a report.
    #[must_use]
    pub fn line(&self) -> String {
        let count = self.scored.len();
        format!("{} of {count} scenarios that count", count - self.missing().len())
    }
}

impl ConformanceSuite {
    /// Where `TOOLCRIB_NODE` names a Node of version 22 or newer, and `TOOLCRIB_NODE_PEERS` a
    /// `node_modules` with the suite; else it says that it was skipped.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the peers of tests are named by variables")]
    pub fn installed() -> Option<Self> {
        let named = |name| std::env::var_os(name).map(PathBuf::from);
        let found = named("TOOLCRIB_NODE").zip(named("TOOLCRIB_NODE_PEERS"));
        let suite = found.map(|(node, peers)| Self { node, package: peers.join(PACKAGE) });
        let suite = suite.filter(|suite| suite.program().exists());
        if suite.is_none() {
            let line = "[skipped] TOOLCRIB_NODE and TOOLCRIB_NODE_PEERS name no conformance suite";
            let _ = writeln!(std::io::stdout(), "{line}");
        }
        suite
    }

    fn program(&self) -> PathBuf {
        self.package.join("dist/index.js")
    }

    /// Asks all of a revision of one side, `server` or `client`; `at`: the words that tell it where
    /// that is, `--url` or `--command` with a value.
    ///
    /// One suite runs at a time: it starts all of its scenarios at once, and has little patience.
    ///
    /// # Panics
    ///
    /// If it cannot be run, or is not built as it was.
    #[expect(clippy::disallowed_methods, reason = "the suite is no child of ours")]
    pub fn run<W: AsRef<OsStr>>(&self, side: &str, revision: &str, at: &[W]) -> ConformanceVerdict {
        static TURN: Mutex<()> = Mutex::new(());
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let folder = TestFolder::new();
        let mut command = Command::new(&self.node);
        command.arg(self.program()).args([side, "--requirements", revision]).args(at);
        let ran = command.arg("-o").arg(folder.path()).output();
        drop(turn);
        let ran = ran.unwrap_or_else(|error| unreachable!("the suite: {error}"));
        let said = String::from_utf8_lossy(&ran.stdout).into_owned();
        ConformanceVerdict {
            scored: self.scored(revision, side),
            passed: said.lines().filter_map(passed).collect(),
            faults: faults(folder.path()),
            said,
            is_content: ran.status.success(),
        }
    }

    /// As the package lists them, by side.
    fn scored(&self, revision: &str, side: &str) -> Vec<String> {
        let file = self.package.join("requirements").join(format!("{revision}.yaml"));
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        let own = text.split(&format!("\n{side}:\n")).nth(1);
        let own = own.unwrap_or_else(|| unreachable!("no `{side}` in {}", file.display()));
        let listed = own.lines().map_while(|line| line.strip_prefix("  - "));
        listed.map(str::to_owned).collect()
    }
}

/// The name in a line such as `✓ auth/basic-cimd: 12 passed, 0 failed`.
fn passed(line: &str) -> Option<String> {
    let (name, marks) = line.strip_prefix("✓ ")?.split_once(": ")?;
    let ran = !marks.starts_with("0 passed");
    ran.then(|| name.to_owned())
}

/// What the suite wrote of each check that failed.
fn faults(folder: &Path) -> Vec<String> {
    let Ok(runs) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut faults = Vec::new();
    for run in runs.flatten().map(|run| run.path()) {
        let text = std::fs::read_to_string(run.join("checks.json")).unwrap_or_default();
        let checks: Vec<Value> = serde_json::from_str(&text).unwrap_or_default();
        let failed = checks.iter().filter(|check| said(check, "status") == "FAILURE");
        let name = run.file_name().unwrap_or_default().display();
        faults.extend(
            failed.map(|check| {
                format!("{name}: {} {}", said(check, "id"), said(check, "errorMessage"))
            }),
        );
    }
    faults
}

fn said<'v>(check: &'v Value, name: &str) -> &'v str {
    check.get(name).and_then(Value::as_str).unwrap_or_default()
}
