//! What lives in one of two servers that share a database, asked for at the other one.

mod door;
mod sessions;

use serde_json::{Value, json};

use super::postgres::cluster::Cluster;
use super::resumed::{answer, called, furnish, message as question, number, ready};
use super::upstream::Upstream;
use crate::process::Folder;
use crate::serve::support::{Answer, Serving, eventually};
use crate::serve::wire::{message, modern, taking};

const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// An address of this machine that no other test has.
fn own_address() -> String {
    let [a, b, c, ..] = uuid::Uuid::new_v4().into_bytes();
    format!("127.{}.{b}.{}:7412", 1 + a % 250, 1 + c % 250)
}

/// What stands in the file of a replica. `lease` in seconds.
fn file(url: &str, address: &str, lease: u32) -> String {
    format!(
        "allow = [\"*\"]\n[store]\nurl = \"{url}\"\n[server.limits]\ntask_after = \"100ms\"\n\
         [cluster]\nsecret = \"${{file:secret}}\"\nlease = \"{lease}s\"\n\
         listen = \"{address}\"\naddress = \"http://{address}\"\n[profile.x]\nallow = [\"*\"]\n"
    )
}

fn start(folder: Folder) -> Serving {
    folder.write("secret", SECRET);
    Serving::start_in(folder, &[])
}

/// Two servers before one upstream.
fn pair(upstream: &Upstream, url: &str) -> [Serving; 2] {
    [(); 2].map(|()| start(upstream.furnish_web(&file(url, &own_address(), 20))))
}

/// Two servers, each with the program that asks.
fn asking_pair(url: &str) -> [Serving; 2] {
    [(); 2].map(|()| ready(start(furnish(&file(url, &own_address(), 20)))))
}

/// A request of a client that takes tasks.
fn ask(serving: &Serving, token: &str, method: &str, mut params: Value) -> Answer {
    params["_meta"] = taking();
    modern(serving, token, "/mcp", (method, params))
}

/// Begins a call that becomes a task, and is answered once it is let go.
fn begin(serving: &Serving, nonce: &str) -> Value {
    let arguments = json!({ "how": "late", "nonce": nonce });
    let call = json!({ "name": "web__act", "arguments": arguments });
    let begun = message(&ask(serving, &serving.token, "tools/call", call));
    assert_eq!(begun["result"]["resultType"], "task", "{begun}");
    json!({ "taskId": begun["result"]["taskId"] })
}

fn state(serving: &Serving, id: &Value) -> Value {
    message(&ask(serving, &serving.token, "tasks/get", id.clone()))["result"].clone()
}

#[test]
fn a_task_is_asked_for_and_cancelled_at_a_replica_that_did_not_begin_it() {
    let Some(cluster) = Cluster::start_if_any("forwarded-tasks") else { return };
    let upstream = Upstream::start();
    let [one, two] = pair(&upstream, &cluster.database("record"));
    let (ends, cancelled) = (begin(&one, "ends"), begin(&one, "cancelled"));
    for id in [&ends, &cancelled] {
        assert_eq!(state(&two, id)["status"], "working");
    }
    // It is nobody else's there either.
    let other = two.token_of("other");
    let strange = message(&ask(&two, &other, "tasks/cancel", ends.clone()));
    assert_eq!(strange["error"]["code"], -32602, "{strange}");
    upstream.oracle.let_go("ends");
    assert!(eventually(|| state(&two, &ends)["status"] == "completed"));
    assert_eq!(state(&two, &ends)["result"], state(&one, &ends)["result"]);
    let told = ask(&two, &two.token, "tasks/cancel", cancelled.clone());
    assert_eq!(told.status, 200, "{told:?}");
    assert!(eventually(|| state(&two, &cancelled)["status"] == "cancelled"));
    assert_eq!(state(&one, &cancelled)["status"], "cancelled");
    upstream.oracle.let_go("cancelled");
    assert_eq!((upstream.oracle.count("ends"), upstream.oracle.count("cancelled")), (1, 1));
}

#[test]
fn what_became_of_a_task_is_told_by_another_replica_when_its_own_is_killed() {
    let Some(cluster) = Cluster::start_if_any("forwarded-killed") else { return };
    let upstream = Upstream::start();
    let url = cluster.database("record");
    let [mut one, two] =
        [(); 2].map(|()| start(upstream.furnish_web(&file(&url, &own_address(), 2))));
    let (ended, cut) = (begin(&one, "ended"), begin(&one, "cut"));
    upstream.oracle.let_go("ended");
    assert!(eventually(|| state(&one, &ended)["status"] == "completed"));
    let told = state(&one, &ended)["result"].clone();
    let is_written = "SELECT count(*) FROM client_tasks WHERE ended";
    let count = || cluster.sql("record", is_written).map(|count| count.trim().to_owned());
    assert!(eventually(|| count().as_deref() == Some("1")));
    one.signal("KILL");
    one.child.wait().unwrap();
    // How a task ended is on record; of the other one nobody can say so while its own may live.
    assert_eq!(state(&two, &ended)["result"], told);
    let mut last = Value::Null;
    assert!(eventually(|| {
        last = state(&two, &cut);
        last["status"] == "failed"
    }));
    let words = last["error"]["message"].as_str().unwrap();
    assert!(words.contains("may have taken effect"), "{last}");
    let other = two.token_of("other");
    for id in [&ended, &cut] {
        let strange = message(&ask(&two, &other, "tasks/get", id.clone()));
        assert_eq!(strange["error"]["code"], -32602, "{strange}");
    }
    let cancelled = ask(&two, &two.token, "tasks/cancel", cut.clone());
    assert_eq!(cancelled.status, 200, "{cancelled:?}");
    upstream.oracle.let_go("cut");
    assert_eq!((upstream.oracle.count("ended"), upstream.oracle.count("cut")), (1, 1));
}

#[test]
fn a_call_that_waits_at_a_replica_is_taken_up_at_the_other_and_runs_once() {
    let Some(cluster) = Cluster::start_if_any("forwarded-waits") else { return };
    let [one, two] = asking_pair(&cluster.database("record"));
    for tool in ["c__see", "c__act"] {
        let asked = message(&answer(&one, tool, None))["result"].clone();
        assert_eq!(question(&asked), "How many?");
        let done = answer(&two, tool, Some((&asked, &number())));
        let result = message(&done)["result"].clone();
        assert_eq!((done.status, &result["content"][0]["text"]), (200, &json!("5")), "{done:?}");
        // Once taken up it is over, wherever it is asked for.
        for serving in [&one, &two] {
            let over = message(&answer(serving, tool, Some((&asked, &number()))));
            assert_eq!(over["error"]["code"], -32602, "{over}");
        }
    }
    assert_eq!((called(&one, "see"), called(&one, "act")), (1, 1));
    assert!(!two.folder.path().join("called").exists());
}

#[test]
fn a_replica_that_is_stopped_within_its_lease_is_waited_for_and_then_answers() {
    let Some(cluster) = Cluster::start_if_any("forwarded-stopped") else { return };
    let [one, two] = asking_pair(&cluster.database("record"));
    let asked = message(&answer(&one, "c__act", None))["result"].clone();
    one.signal("STOP");
    let refused = answer(&two, "c__act", Some((&asked, &number())));
    one.signal("CONT");
    let tells_when = refused.head.to_lowercase().contains("retry-after:");
    assert!(refused.status == 503 && tells_when, "{refused:?}");
    // What nobody waited for any more was not begun: the answer is for whoever comes again.
    let mut last = refused;
    assert!(eventually(|| {
        last = answer(&two, "c__act", Some((&asked, &number())));
        last.status != 503
    }));
    assert_eq!(message(&last)["result"]["content"][0]["text"], "5", "{last:?}");
    assert_eq!(called(&one, "act"), 1);
    assert!(!two.folder.path().join("called").exists());
}

#[test]
fn a_batch_is_shown_and_stopped_at_a_replica_that_does_not_run_it() {
    let Some(cluster) = Cluster::start_if_any("forwarded-batch") else { return };
    let upstream = Upstream::start();
    let [one, two] = pair(&upstream, &cluster.database("record"));
    std::thread::scope(|scope| {
        let running = scope.spawn(|| {
            let arguments = json!({ "how": "late", "nonce": "stopped" });
            let calls = json!({ "calls": [{ "name": "web__act", "arguments": arguments }] });
            one.ask("POST", "/v1/calls", &calls.to_string())
        });
        assert!(eventually(|| upstream.oracle.count("stopped") == 1));
        let listed = one.ask("GET", "/v1/calls", "").json();
        let id = listed["running"][0]["id"].as_str().unwrap().to_owned();
        let path = format!("/v1/calls/{id}");
        let strange = two.ask_as(&two.token_of("other"), "DELETE", &path, "");
        assert_eq!(strange.status, 404, "{strange:?}");
        assert_eq!(two.ask("GET", &path, "").json()["cancelled"], false);
        let stopped = two.ask("DELETE", &path, "");
        assert_eq!((stopped.status, &stopped.json()["cancelled"]), (200, &json!(true)));
        let ended = running.join().unwrap();
        upstream.oracle.let_go("stopped");
        assert!(ended.status == 200 && !ended.body.contains("\"did\""), "{ended:?}");
        assert_eq!(two.ask("DELETE", &path, "").status, 404);
    });
}
