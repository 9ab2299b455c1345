//! The file of a release before, taken over by a server that is killed in the middle of it.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::json;

use super::keys::STORE;
use super::kills::sound;
use super::upstream::Upstream;
use crate::process::Folder;
use crate::serve::support::Serving;

const FIRST: &str = include_str!("../../../../../engine/store/src/schema/1.sql");

/// Writes a file as the first release did; `false`: there is no program that could.
#[expect(clippy::disallowed_methods, reason = "the file is of another program")]
fn write_first(folder: &Folder) -> bool {
    const WRITE: &str = "import sqlite3, sys\n\
                         sqlite3.connect(sys.argv[1]).executescript(sys.stdin.read())\n";
    let digits = "a".repeat(64);
    let rows = format!(
        "INSERT INTO calls (key, call_id, tenant, subject, tool, source, effect, fingerprint, \
         arguments, planned, ended, ending) VALUES ('k-0', 'old', 'local', 'local', 'web__act', \
         'web', 'write', '{digits}', '{digits}', 4102444800000, 4102444800001, 'succeeded'); \
         PRAGMA application_id = {}; PRAGMA user_version = 1;",
        0x6372_6962
    );
    let mut program = Command::new("python3");
    program.args(["-c", WRITE]).arg(folder.path().join("crib.db"));
    let Ok(mut writer) = program.stdin(Stdio::piped()).spawn() else {
        let _ = writeln!(std::io::stdout(), "[skipped] no python3 writes the file");
        return false;
    };
    let sql = format!("{FIRST}\n{rows}");
    writer.stdin.take().unwrap().write_all(sql.as_bytes()).unwrap();
    assert!(writer.wait().unwrap().success());
    true
}

#[test]
fn killed_while_the_form_of_its_file_changes_it_goes_on_from_before() {
    let upstream = Upstream::start();
    let folder = upstream.furnish_web(STORE);
    if !write_first(&folder) {
        return;
    }
    let Err(folder) = Serving::start_dying(folder, "migrated") else {
        unreachable!("it did not die while the form changed");
    };
    sound(&folder, "migrated");
    let serving = Serving::start_in(folder, &[]);
    let old = serving.ask("GET", "/v1/calls/k-0", "").json();
    let told = (&old["id"], &old["ending"]["ending"], &old["attempts"]);
    assert_eq!(told, (&json!("old"), &json!("succeeded"), &json!(null)), "{old}");
}
