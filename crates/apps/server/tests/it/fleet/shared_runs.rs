//! Runs of agents over several servers with one record: whichever of them is there goes on.

use serde_json::{Value, json};
use toolcrib_testkit::{ScriptedModel, ScriptedTurn};

use super::replicas::{HOST, LEASE, served};
use crate::keep::postgres::cluster::Cluster;
use crate::keep::upstream::Upstream;
use crate::process::Folder;
use crate::serve::keys::make;
use crate::serve::support::{Answer, Serving, bearer, eventually};

/// What every replica of a test has in common.
pub(super) struct SharedFile {
    pub(super) cluster: Cluster,
    pub(super) upstream: Upstream,
    _model: ScriptedModel,
    key: String,
    text: String,
}

/// One that calls once with what it is asked for, as it is asked (`how nonce`), and says then what
/// came of it.
fn model() -> ScriptedModel {
    ScriptedModel::by(|_, body| {
        let messages = body["messages"].as_array().cloned().unwrap_or_default();
        let last = messages.last().cloned().unwrap_or_default();
        let text = last["content"].as_str().unwrap_or_default();
        if last["role"] == "user" {
            let (how, nonce) = text.split_once(' ').unwrap_or_default();
            return ScriptedTurn::call("web__act", json!({ "how": how, "nonce": nonce }));
        }
        ScriptedTurn::says(text)
    })
    .unwrap()
}

impl SharedFile {
    pub(super) fn new(name: &str) -> Option<Self> {
        let cluster = Cluster::start_if_any(name)?;
        let (upstream, model) = (Upstream::start(), model());
        let (key, entry) =
            make(&Folder::new(), &["fleet", "--scope", "tools", "--scope", "operator"]);
        let text = format!(
            "allow = [\"*\"]\n[store]\nurl = \"{}\"\n[cluster]\nsecret = \"${{file:secret.txt}}\"\n\
             lease = \"{LEASE}s\"\n[model]\nurl = \"{}\"\nname = \"m\"\n[agent.free]\n\
             [agent.careful]\nprofile = \"careful\"\n[profile.careful]\nask = [\"*__act\"]\n{entry}",
            cluster.database("record"),
            model.url()
        );
        Some(Self { cluster, upstream, _model: model, key, text })
    }

    pub(super) fn folder(&self) -> Folder {
        let folder = self.upstream.furnish_web(&self.text);
        folder.write("secret.txt", "a secret that all of them have, and nobody else");
        folder
    }

    pub(super) fn serve(&self) -> Serving {
        served(self.folder())
    }

    fn send(&self, at: &Serving, method: &str, path: &str, body: &Value) -> Answer {
        let text = if body.is_null() { String::new() } else { body.to_string() };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {HOST}\r\n{}\r\nContent-Type: application/json\r\n",
            bearer(&self.key)
        );
        at.send(&head, &text)
    }

    pub(super) fn ask(&self, at: &Serving, method: &str, path: &str, body: &Value) -> Value {
        let answer = self.send(at, method, path, body);
        assert!(answer.status < 300, "{answer:?}");
        answer.json()
    }

    /// Begins a run in the background, and gives its path.
    pub(super) fn begin(&self, at: &Serving, agent: &str, input: &str) -> String {
        let body = json!({ "agent": agent, "input": input });
        let run = self.ask(at, "POST", "/v1/runs", &body);
        format!("/v1/runs/{}", run["id"].as_str().unwrap())
    }

    /// The run as it is once it has come so far.
    pub(super) fn reaches(&self, at: &Serving, run: &str, state: &str) -> Value {
        let mut stands = Value::Null;
        let is_there = || {
            stands = self.ask(at, "GET", run, &Value::Null);
            stands["state"] == state
        };
        assert!(eventually(is_there), "{stands}\n{}", at.told.lock().unwrap());
        stands
    }

    fn approve(&self, at: &Serving, run: &Value) {
        let path = format!("/v1/tickets/{}", run["tickets"][0].as_str().unwrap());
        let done = self.ask(at, "POST", &path, &json!({ "decision": "approve" }));
        assert_eq!(done["response"]["outcome"], "done", "{done}");
    }
}

#[test]
fn a_run_goes_on_at_once_at_whichever_server_its_call_is_approved() {
    let Some(file) = SharedFile::new("approved-elsewhere") else { return };
    let (one, other, third) = (file.serve(), file.serve(), file.serve());
    let run = file.begin(&one, "careful", "ok elsewhere");
    let waiting = file.reaches(&other, &run, "waiting");
    // Somebody listens at a server that has nothing to do with it.
    let told = std::thread::scope(|scope| {
        let listens =
            scope.spawn(|| file.send(&third, "GET", &format!("{run}/events"), &Value::Null));
        file.approve(&other, &waiting);
        let ended = file.reaches(&one, &run, "ended");
        assert_eq!(
            (&ended["stop"], &ended["text"]),
            (&json!("done"), &json!("{\"did\":\"elsewhere\"}"))
        );
        listens.join().unwrap()
    });
    assert!(told.body.contains("event: ended"), "{told:?}");
    assert_eq!(file.upstream.oracle.count("elsewhere"), 1);
    // Nothing is left of it.
    let left = "SELECT (SELECT count(*) FROM jobs) + (SELECT count(*) FROM job_leases) \
                + (SELECT count(*) FROM run_waits) + (SELECT coalesce(sum(ready + held), 0) FROM lanes)";
    assert!(eventually(|| file.cluster.sql("record", left).unwrap() == "0\n"));
}

#[test]
fn a_run_whose_server_was_killed_goes_on_elsewhere_and_no_call_runs_twice() {
    let Some(file) = SharedFile::new("killed-elsewhere") else { return };
    let (mut one, other) = (file.serve(), file.serve());
    let waits = file.begin(&one, "careful", "ok waits");
    let waiting = file.reaches(&one, &waits, "waiting");
    let cut = file.begin(&one, "free", "late cut");
    assert!(eventually(|| file.upstream.oracle.count("cut") == 1));
    one.child.kill().unwrap();
    one.child.wait().unwrap();
    let ended = file.reaches(&other, &cut, "ended");
    assert!(ended["text"].as_str().unwrap().contains("may"), "{ended}");
    file.approve(&other, &waiting);
    let ended = file.reaches(&other, &waits, "ended");
    assert_eq!(ended["text"], "{\"did\":\"waits\"}", "{ended}");
    for nonce in ["cut", "waits"] {
        assert_eq!(file.upstream.oracle.count(nonce), 1);
    }
}

#[test]
fn a_run_is_cancelled_at_whichever_server_that_is_asked() {
    let Some(file) = SharedFile::new("cancelled-elsewhere") else { return };
    let (one, other) = (file.serve(), file.serve());
    let run = file.begin(&one, "careful", "ok never");
    file.reaches(&other, &run, "waiting");
    let cancelled = file.ask(&other, "POST", &format!("{run}/cancel"), &json!({}));
    assert_eq!((&cancelled["state"], &cancelled["stop"]), (&json!("ended"), &json!("cancelled")));
    file.reaches(&one, &run, "ended");
    assert_eq!(file.upstream.oracle.count("never"), 0);
}

#[test]
fn a_worker_takes_the_runs_of_a_server_that_is_gone_and_leaves_them_to_others_when_it_stops() {
    let Some(file) = SharedFile::new("worker") else { return };
    let mut one = file.serve();
    let words = ["work", "crib.toml", "--listen", "127.0.0.1:0", "--host", HOST];
    let mut worker = Serving::starting_by(file.folder(), env!("CARGO_BIN_EXE_toolcrib"), &words);
    worker.hears("`web`: ");
    assert!(eventually(|| file.send(&worker, "GET", "/readyz", &Value::Null).status == 200));
    for path in ["/v1/tools", "/v1/runs", "/mcp", "/"] {
        assert_eq!(file.send(&worker, "GET", path, &Value::Null).status, 404, "{path}");
    }
    assert_eq!(file.send(&worker, "GET", "/metrics", &Value::Null).status, 200);
    let cut = file.begin(&one, "free", "late cut");
    let waits = file.begin(&one, "careful", "ok waits");
    file.reaches(&one, &waits, "waiting");
    assert!(eventually(|| file.upstream.oracle.count("cut") == 1));
    one.child.kill().unwrap();
    one.child.wait().unwrap();
    let stages = "SELECT string_agg(stage, ' ' ORDER BY number) FROM runs";
    assert!(eventually(|| file.cluster.sql("record", stages).unwrap() == "ended waiting\n"));
    worker.signal("TERM");
    assert_eq!(worker.child.wait().unwrap().code(), Some(0));
    let other = file.serve();
    let ended = file.ask(&other, "GET", &cut, &Value::Null);
    assert!(ended["text"].as_str().unwrap().contains("may"), "{ended}");
    file.approve(&other, &file.reaches(&other, &waits, "waiting"));
    file.reaches(&other, &waits, "ended");
    let left = "SELECT count(*) FROM replicas WHERE state <> 'over'";
    assert_eq!(file.cluster.sql("record", left).unwrap(), "1\n");
    for nonce in ["cut", "waits"] {
        assert_eq!(file.upstream.oracle.count(nonce), 1);
    }
}

#[test]
fn a_worker_without_servers_to_share_with_says_what_is_missing() {
    let folder = Folder::new();
    folder.write("crib.toml", "allow = [\"*\"]\n");
    let ran = folder.run(&["work", "crib.toml"]);
    let told = "`crib.toml` has no `[cluster]`, so that nobody shares runs with a worker: write it \
                with a `secret`, and `[store]` with the database of Postgres that the servers have";
    assert!(ran.code != 0 && ran.err.contains(told), "{ran:?}");
}

#[test]
fn a_tenant_has_as_many_runs_as_it_may_have_and_whoever_looks_is_told_of_what_waits_long() {
    let Some(file) = SharedFile::new("backlog") else { return };
    let one = file.serve();
    let run = file.begin(&one, "careful", "ok full");
    file.reaches(&one, &run, "waiting");
    let sql = |sql: &str| file.cluster.sql("record", sql).unwrap();
    sql("INSERT INTO lanes (tenant, kind, form, held) SELECT tenant, 'run', 1, 10000 FROM runs \
         ON CONFLICT (tenant, kind, form) DO UPDATE SET held = 10000");
    let body = json!({ "agent": "free", "input": "ok one more" });
    let refused = file.send(&one, "POST", "/v1/runs", &body);
    let told = "10000 runs of your tenant wait or are worked on: send this one again later";
    assert_eq!(refused.problem(), "429 too-many", "{refused:?}");
    assert!(refused.body.contains(told), "{refused:?}");
    assert!(refused.head.to_lowercase().contains("\r\nretry-after: 5"), "{refused:?}");
    let body = json!({ "model": "free", "input": "ok one more", "background": true });
    let refused = file.send(&one, "POST", "/v1/responses", &body);
    assert_eq!(refused.status, 429, "{refused:?}");
    assert!(refused.head.to_lowercase().contains("\r\nretry-after: 5"), "{refused:?}");
    sql("UPDATE lanes SET held = 0");
    let run = file.begin(&one, "free", "ok again");
    file.reaches(&one, &run, "ended");
    let ready = || file.ask(&one, "GET", "/readyz", &Value::Null);
    assert_eq!(ready(), json!({ "status": "ready" }));
    // What a newer release has written waits for that.
    sql("INSERT INTO jobs (tenant, kind, form, payload, since) VALUES ('', 'run', 2, 'newer', 0)");
    let told = "runs of agents have waited for more than a minute for a server or a worker that \
                has room: start more of them";
    assert!(eventually(|| ready() == json!({ "status": "ready", "detail": told })), "{}", ready());
    let figures = file.send(&one, "GET", "/metrics", &Value::Null).body;
    assert!(figures.contains("\ntoolcrib_runs_oldest_ready_seconds "), "{figures}");
}

/// Kills one server after the other while runs are begun and approved at the others.
#[test]
fn whatever_servers_are_killed_every_run_ends_and_no_call_runs_twice() {
    const ROUNDS: usize = 4;
    const RUNS: usize = 8;
    let Some(file) = SharedFile::new("killed-in-turn") else { return };
    let mut servers: Vec<_> = (0..3).map(|_| file.serve()).collect();
    let mut runs = Vec::new();
    for round in 0..ROUNDS {
        for number in 0..RUNS {
            let agent = if number % 2 == 0 { "careful" } else { "free" };
            let nonce = format!("{round}-{number}");
            let input = format!("slow-{} {nonce}", 40 * number);
            runs.push((file.begin(&servers[number % 3], agent, &input), nonce));
        }
        approve_all(&file, &servers[(round + 1) % 3]);
        let one = &mut servers[round % 3];
        one.child.kill().unwrap();
        one.child.wait().unwrap();
        servers[round % 3] = file.serve();
    }
    let [one, other, _] = &servers[..] else { return };
    for (run, nonce) in &runs {
        let is_over = || {
            approve_all(&file, other);
            file.ask(one, "GET", run, &Value::Null)["state"] == "ended"
        };
        assert!(eventually(is_over), "{run}: {}", file.ask(one, "GET", run, &Value::Null));
        let ended = file.ask(one, "GET", run, &Value::Null);
        let (text, count) = (ended["text"].as_str().unwrap(), file.upstream.oracle.count(nonce));
        assert!(count <= 1, "{nonce}: {count}");
        assert!(count == 1 || !text.contains("\"did\""), "{nonce}: {ended}");
        assert!(count == 0 || text.contains("\"did\"") || text.contains("may"), "{nonce}: {ended}");
    }
    let left = "SELECT (SELECT count(*) FROM jobs) + (SELECT count(*) FROM job_leases) \
                + (SELECT count(*) FROM run_waits) + (SELECT coalesce(sum(ready + held), 0) FROM lanes)";
    assert!(eventually(|| file.cluster.sql("record", left).unwrap() == "0\n"));
}

/// Approves all that waits; another server may have been sooner.
fn approve_all(file: &SharedFile, at: &Serving) {
    let open = file.ask(at, "GET", "/v1/tickets", &Value::Null);
    for ticket in open["tickets"].as_array().into_iter().flatten() {
        let path = format!("/v1/tickets/{}", ticket["ticket"].as_str().unwrap());
        file.send(at, "POST", &path, &json!({ "decision": "approve" }));
    }
}
