//! The client of the SDK in Python against an agent here, over each binding and in each version.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::a2a_push::OPEN;
use super::a2a_push::receiver::Receiver;
use super::agents::serving;
use super::agui::{ASKS, DESK, makes_a_task, tasks};
use super::support::Serving;

const CLIENT: &str = include_str!("sdks/a2a.py");
/// Each binding with each version.
const WAYS: [&str; 4] = ["JSONRPC/1.0", "HTTP+JSON/1.0", "JSONRPC/0.3", "HTTP+JSON/0.3"];

#[expect(clippy::disallowed_methods, reason = "the test run says where it installed its peers")]
fn python() -> Option<PathBuf> {
    let found = std::env::var_os("TOOLCRIB_PYTHON_A2A").map(PathBuf::from);
    if found.is_none() {
        let out = &mut std::io::stdout();
        writeln!(out, "[skipped] no client in Python: `cargo xtask peers` installs it").unwrap();
    }
    found
}

/// What the client tells of a conversation, in its last line.
fn run(python: &PathBuf, serving: &Serving, words: &[&str]) -> Value {
    serving.folder.write("client.py", CLIENT);
    #[expect(clippy::disallowed_methods, reason = "the client is a program")]
    let mut client = Command::new(python);
    let base = format!("http://{}", serving.address);
    client.args(["-W", "ignore", "client.py", &base, &serving.token]).args(words);
    let run = client.current_dir(serving.folder.path()).output().unwrap();
    let told = String::from_utf8_lossy(&run.stdout);
    let told = serde_json::from_str(told.lines().last().unwrap_or_default());
    told.unwrap_or_else(|_| unreachable!("{}", String::from_utf8_lossy(&run.stderr)))
}

#[test]
fn the_client_in_python_has_an_approval_asked_and_given_and_gets_the_result() {
    let Some(python) = python() else { return };
    for way in WAYS {
        for streaming in ["stream", "once"] {
            let turns = [makes_a_task(), ScriptedTurn::says("The task is there.")];
            let model = ScriptedModel::of(turns).unwrap();
            let serving = serving(&model, &format!("{ASKS}{DESK}"));
            let told = run(&python, &serving, &["approve", way, streaming]);
            let wanted = json!({
                "card": "assistant", "asked": "TASK_STATE_INPUT_REQUIRED", "tool": "create_task",
                "end": "TASK_STATE_COMPLETED", "text": "The task is there.",
                "looked_up": "TASK_STATE_COMPLETED",
            });
            assert_eq!(told, wanted, "{way} {streaming}");
            assert_eq!(tasks(&serving), 1, "{way} {streaming}");
        }
    }
}

#[test]
fn the_client_in_python_is_refused_with_the_errors_that_it_knows() {
    let Some(python) = python() else { return };
    for way in ["JSONRPC/1.0", "HTTP+JSON/1.0"] {
        let model = ScriptedModel::of([ScriptedTurn::says("Done.")]).unwrap();
        let serving = serving(&model, &format!("{ASKS}{DESK}"));
        let told = run(&python, &serving, &["errors", way, "once"]);
        let wanted = json!({
            "missing": "TaskNotFoundError", "ended": "TaskNotCancelableError",
            "again": "UnsupportedOperationError", "listed": 1, "total": 1,
        });
        assert_eq!(told, wanted, "{way}");
    }
}

#[test]
fn the_client_in_python_has_a_receiver_told_of_its_task() {
    let Some(python) = python() else { return };
    for way in WAYS {
        let receiver = Receiver::taking();
        let model = ScriptedModel::of([ScriptedTurn::says("Done.")]).unwrap();
        let serving = serving(&model, &format!("{ASKS}{OPEN}{DESK}"));
        let told = run(&python, &serving, &["push", way, "once", &receiver.url()]);
        let mut wanted = json!({
            "offered": true, "end": "TASK_STATE_COMPLETED", "same": true, "url": true,
            "token": "word", "scheme": "Bearer", "credentials": "secret", "listed": 2, "left": 1,
        });
        if way == "HTTP+JSON/0.3" {
            let fields = wanted.as_object_mut().unwrap();
            fields.retain(|name, _| !["listed", "left"].contains(&name.as_str()));
        }
        assert_eq!(told, wanted, "{way}");
        let is_old = way.ends_with("0.3");
        let came = receiver.until(if is_old { "completed" } else { "TASK_STATE_COMPLETED" });
        let token = "\r\nx-a2a-notification-token: first\r\n";
        assert!(came.iter().all(|it| it.head.contains(token)), "{way}");
    }
}
