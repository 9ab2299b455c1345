//! Tasks of MCP clients at a server whose calls a person decides about elsewhere.

use serde_json::{Value, json};

use super::support::{Serving, eventually};
use super::wire::{message, modern, taking};
use crate::process::Folder;

fn serving() -> Serving {
    let folder = Folder::new();
    folder.write(
        "crib.toml",
        "[[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n\n\
         [profile.careful]\nask = [\"calculate\"]\n",
    );
    Serving::start_in(folder, &[])
}

fn ask(serving: &Serving, path: &str, method: &str, mut params: Value) -> Value {
    params["_meta"] = taking();
    message(&modern(serving, &serving.token, path, (method, params)))
}

#[test]
fn a_ticket_that_is_decided_over_rest_ends_the_task_that_waits_for_it() {
    let serving = serving();
    for (decision, told) in [("approve", "42"), ("deny", "not today")] {
        let call = json!({ "name": "calculate", "arguments": { "expression": "6*7" } });
        let begun = ask(&serving, "/mcp/careful", "tools/call", call);
        assert_eq!(begun["result"]["resultType"], "task", "{begun}");
        let id = json!({ "taskId": begun["result"]["taskId"] });
        let get = |path| ask(&serving, path, "tasks/get", id.clone());
        assert_eq!(get("/mcp")["error"]["code"], -32602);
        let waits = || get("/mcp/careful")["result"]["statusMessage"].is_string();
        assert!(eventually(waits));
        let open = serving.ask("GET", "/v1/tickets", "").json();
        let ticket = open["tickets"][0]["ticket"].as_str().unwrap().to_owned();
        let task = get("/mcp/careful");
        assert!(task["result"]["statusMessage"].as_str().unwrap().contains(&ticket), "{task}");
        let body = json!({ "decision": decision, "reason": told, "profile": "careful" });
        let path = format!("/v1/tickets/{ticket}");
        let decided = serving.ask("POST", &path, &body.to_string());
        assert_eq!(decided.status, 200, "{decided:?}");
        assert!(eventually(|| get("/mcp/careful")["result"]["status"] == "completed"));
        let result = get("/mcp/careful")["result"]["result"].clone();
        assert_eq!(result["isError"], decision == "deny", "{result}");
        assert!(result.to_string().contains(told), "{result}");
    }
}
