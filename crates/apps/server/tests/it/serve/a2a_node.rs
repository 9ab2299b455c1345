//! The client of the SDK in JavaScript against an agent here, over each binding and in each version.

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::agent_clients::run;
use super::agents::serving;
use super::agui::{ASKS, DESK, makes_a_task, tasks};
use crate::peers::Peers;

const CLIENT: &str = include_str!("sdks/a2a.mjs");
/// Each binding with each version, and the error of a task that is not there.
const WAYS: [(&str, &str, &str); 4] = [
    ("JSONRPC", "1.0", "JsonRpcTaskNotFoundError"),
    ("HTTP+JSON", "1.0", "RestTaskNotFoundError"),
    ("JSONRPC", "0.3", "JsonRpcTaskNotFoundError"),
    ("HTTP+JSON", "0.3", "Error"),
];

#[test]
fn the_client_in_javascript_has_an_approval_asked_and_given_and_gets_the_result() {
    let Some(peers) = Peers::find() else { return };
    for (binding, version, missing) in WAYS {
        for streaming in ["stream", "once"] {
            let turns = [makes_a_task(), ScriptedTurn::says("The task is there.")];
            let model = ScriptedModel::of(turns).unwrap();
            let serving = serving(&model, &format!("{ASKS}{DESK}"));
            let way = format!("{binding}/{version}");
            let told: Value = run(&peers.modules, &serving, CLIENT, &[&way, streaming]);
            let wanted = json!({
                "card": "assistant", "version": version, "asked": "TASK_STATE_INPUT_REQUIRED",
                "tool": "create_task", "end": "TASK_STATE_COMPLETED", "text": "The task is there.",
                "looked_up": "TASK_STATE_COMPLETED", "missing": missing,
            });
            assert_eq!(told, wanted, "{way} {streaming}");
            assert_eq!(tasks(&serving), 1, "{way} {streaming}");
        }
    }
}
