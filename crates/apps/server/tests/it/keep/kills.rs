//! A server that is killed at any moment: what it accepted has a truthful end, and nothing that may
//! change something happened twice.
//!
//! `TOOLCRIB_TEST_KILLS` says how many kills at random times there are; a few if it is not set.

use std::collections::HashMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use toolcrib_testkit::SeededRandom;

use super::doors::{Door, Told, Wanted, act};
use super::upstream::Upstream;
use crate::process::Folder;
use crate::serve::support::{Answer, Serving, read};

/// A store of its own in the folder of each server.
pub(super) const OF_A_FILE: &str = "sqlite://crib.db";

fn file(store: &str) -> String {
    format!("allow = [\"*\"]\n[store]\nurl = \"{store}\"\n[profile.careful]\nask = [\"*__act\"]\n")
}

/// Moments of the server itself, as `toolcrib_core::failpoint` names them, and which time it dies.
const OWN: &[(&str, u32)] = &[
    ("admitted", 3),
    ("before commit", 4),
    ("before commit", 9),
    ("committed", 1),
    ("committed", 6),
    ("key begun", 2),
    ("planned", 3),
    ("dispatched", 4),
    ("answered", 3),
    ("end recorded", 3),
    ("key settled", 2),
    ("ticket claimed", 1),
    ("replying", 5),
    ("pruned", 1),
];

/// Moments of the upstream at which it kills the server, and which time.
const UPSTREAM: &[(&str, u32)] =
    &[("connected", 2), ("head read", 3), ("done", 4), ("half answered", 4), ("answered", 5)];

/// What a client was told, by the name of the call.
type Heard = Arc<Mutex<HashMap<String, Told>>>;

struct Client {
    address: String,
    token: String,
    heard: Heard,
    tool: &'static str,
}

/// A request to a server that may die meanwhile.
pub(crate) fn exchange(address: &str, head: &str, body: &str) -> Option<Answer> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(20))).ok()?;
    let length = body.len();
    let request = format!("{head}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).ok()?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).ok()?;
    let answer = read(&String::from_utf8_lossy(&answer));
    let whole = serde_json::from_str::<Value>(answer.body.trim()).is_ok();
    (answer.status != 0 && (whole || answer.body.contains("data:"))).then_some(answer)
}

const WEB: &[&str] = &["web__act"];
const BOTH: &[&str] = &["web__act", "child__act"];

impl Client {
    fn send(&self, head: &str, body: &str) -> Option<Answer> {
        exchange(&self.address, head, body)
    }

    fn call(&self, door: Door, wanted: &Wanted<'_>) -> Option<Told> {
        let head = door.head_at((&self.address, &self.token), wanted);
        let told = door.told(&self.send(&head, &door.body(wanted))?);
        let nonce = wanted.arguments["nonce"].as_str().unwrap().to_owned();
        self.heard.lock().unwrap().insert(nonce, told.clone());
        Some(told)
    }

    /// Asks under the careful profile, and has it approved.
    fn approved(&self, nonce: &str) -> Option<Told> {
        let wanted = Wanted { profile: Some("careful"), ..act(self.tool, "ok", nonce) };
        let told = self.call(Door::Rest, &wanted)?;
        let ticket = told.whole["ticket"].as_str()?;
        let head = Door::Rest.head_at((&self.address, &self.token), &wanted);
        let head = head.replace("POST /v1/calls ", &format!("POST /v1/tickets/{ticket} "));
        self.send(&head, r#"{"decision": "approve"}"#).map(|answer| Door::Rest.told(&answer))
    }
}

const WORKERS: usize = 4;
const TURNS: usize = 6;

fn door_of(worker: usize, turn: usize) -> Door {
    if (worker + turn).is_multiple_of(2) { Door::Rest } else { Door::Mcp }
}

/// Calls of every kind, until the server does not answer any more.
fn work(client: &Client, round: usize, worker: usize) {
    for turn in 0..TURNS {
        let (door, nonce) = (door_of(worker, turn), format!("{round}-{worker}-{turn}"));
        let told = match turn % 3 {
            0 => client.call(door, &act(client.tool, "ok", &nonce)),
            1 => client.call(door, &act(client.tool, "ok", &nonce).under(&nonce)),
            _ => client.approved(&nonce),
        };
        if told.is_none() {
            return;
        }
    }
}

/// Runs the workers until the server is dead; what clients heard of it.
fn until_dead(
    serving: &mut Serving,
    (round, tools): (usize, &[&'static str]),
    dies: impl FnOnce(&mut Serving),
) -> Heard {
    let heard = Heard::default();
    let (address, token) = (serving.address.clone(), serving.token.clone());
    await_sources(&address);
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let (address, token, heard) = (address.clone(), token.clone(), Arc::clone(&heard));
            let tool = tools[worker % tools.len()];
            let client = Client { address, token, heard, tool };
            scope.spawn(move || work(&client, round, worker));
        }
        dies(serving);
    });
    // Some moments come after the last answer, or not at all in a round.
    let until = Instant::now() + Duration::from_secs(2);
    while serving.child.try_wait().unwrap().is_none() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    let _ = serving.child.kill();
    let _ = serving.child.wait();
    heard
}

/// Waits until the sources had their chance, or the server is dead.
fn await_sources(address: &str) {
    let ready = || -> Option<bool> {
        let mut stream = TcpStream::connect(address).ok()?;
        let ask = format!("GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
        stream.write_all(ask.as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        Some(answer.starts_with("HTTP/1.1 200"))
    };
    while ready() == Some(false) {
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// What must hold after a restart; the folder goes on.
fn examine(
    folder: Folder,
    upstream: &Upstream,
    (heard, round, tools): (&Heard, usize, &[&str]),
    what: &str,
) -> Folder {
    // What a dead process had sent may still be on its way, and nothing tells when it is not.
    std::thread::sleep(Duration::from_millis(30));
    sound(&folder, what);
    let mut serving = Serving::start_in(folder, &[]);
    let mut calls = Vec::new();
    let mut path = "/v1/calls?limit=500".to_owned();
    loop {
        let page = serving.ask("GET", &path, "").json();
        assert_eq!(page["running"], json!([]), "{what}");
        calls.extend(page["calls"].as_array().unwrap().clone());
        let Some(cursor) = page["cursor"].as_str() else { break };
        path = format!("/v1/calls?limit=500&cursor={cursor}");
    }
    let mut ends: HashMap<String, String> = HashMap::new();
    for call in &calls {
        let id = call["id"].as_str().unwrap().to_owned();
        let end = call["ending"]["ending"].as_str();
        let end = end.unwrap_or_else(|| unreachable!("{what}: `{id}` has no end"));
        assert_eq!(ends.insert(id.clone(), end.to_owned()), None, "{what}: `{id}` twice");
    }
    for (nonce, count) in upstream.oracle.all() {
        assert_eq!(count, 1, "{what}: `{nonce}`");
        assert!(ends.contains_key(&nonce), "{what}: `{nonce}` was sent and not accepted");
    }
    for (nonce, end) in &ends {
        let happened = upstream.oracle.count(nonce) == 1;
        let truthful = match end.as_str() {
            "succeeded" => happened,
            // The service fails at nothing that it did.
            "not_executed" | "failed" => !happened,
            "unknown" => true,
            _ => false,
        };
        assert!(truthful, "{what}: `{nonce}` {end}, {happened}");
    }
    let heard = heard.lock().unwrap().clone();
    let is_done = |nonce: &String, told: &Told| {
        let (web, child) = (format!("\"did\":\"{nonce}\""), format!("did {nonce}"));
        !told.error && (told.text.contains(&web) || told.text == child)
    };
    for (nonce, told) in &heard {
        let done = is_done(nonce, told);
        assert!(!done || ends[nonce] == "succeeded", "{what}: `{nonce}` {:?}", ends[nonce]);
    }
    // Under its key a call is answered as before, or for the first time; it never runs again.
    for (worker, turn) in (0..WORKERS).flat_map(|worker| [(worker, 1), (worker, 4)]) {
        let nonce = format!("{round}-{worker}-{turn}");
        let keyed = act(tools[worker % tools.len()], "ok", &nonce).under(&nonce);
        let again = door_of(worker, turn).call(&serving, &keyed);
        if let Some(told) = heard.get(&nonce).filter(|told| is_done(&nonce, told)) {
            assert_eq!(again.text, told.text, "{what}: `{nonce}`");
        }
        assert!(upstream.oracle.count(&nonce) <= 1, "{what}: `{nonce}` ran again");
    }
    let _ = serving.child.kill();
    let _ = serving.child.wait();
    std::mem::replace(&mut serving.folder, Folder::new())
}

/// Has the file of a dead server looked through, by another program than ours.
#[expect(clippy::disallowed_methods, reason = "the test looks at the file from outside")]
pub(super) fn sound(folder: &Folder, what: &str) {
    if !folder.path().join("crib.db").exists() {
        return;
    }
    const LOOK: &str = "import sqlite3, sys; \
                        print(sqlite3.connect(sys.argv[1]).execute('PRAGMA integrity_check').fetchall())";
    let copy = folder.path().join("copy");
    std::fs::create_dir_all(&copy).unwrap();
    for end in ["", "-wal"] {
        let name = format!("crib.db{end}");
        if folder.path().join(&name).exists() {
            std::fs::copy(folder.path().join(&name), copy.join(&name)).unwrap();
        }
    }
    let mut look = Command::new("python3");
    look.args(["-c", LOOK]).arg(copy.join("crib.db")).stderr(Stdio::piped());
    let Ok(looked) = look.output() else {
        let _ = writeln!(std::io::stdout(), "[skipped] no python3 looks through the file");
        return;
    };
    let found = String::from_utf8_lossy(&looked.stdout).into_owned();
    std::fs::remove_dir_all(&copy).unwrap();
    assert_eq!(found.trim(), "[('ok',)]", "{what}: {:?}", String::from_utf8_lossy(&looked.stderr));
}

#[test]
fn killed_at_each_of_its_own_moments_it_tells_the_truth_after() {
    kill_at_own_moments(OF_A_FILE);
}

/// Over a store at this address.
pub(super) fn kill_at_own_moments(store: &str) {
    let upstream = Upstream::start();
    let mut folder = upstream.furnish_web(&file(store));
    let mut reached = Vec::new();
    for (round, (moment, time)) in OWN.iter().enumerate() {
        let what = format!("{moment}#{time}");
        let mut serving = match Serving::start_dying(folder, &what) {
            Ok(serving) => serving,
            // It died before it listened, and nobody heard anything.
            Err(own) => {
                folder = examine(own, &upstream, (&Heard::default(), round, WEB), &what);
                reached.push(what);
                continue;
            }
        };
        let heard = until_dead(&mut serving, (round, WEB), |_| {});
        if serving.told.lock().unwrap().contains("dies at a moment of a test") {
            reached.push(what.clone());
        }
        let own = std::mem::replace(&mut serving.folder, Folder::new());
        folder = examine(own, &upstream, (&heard, round, WEB), &what);
    }
    assert!(reached.len() >= OWN.len() - 2, "only {reached:?} were reached");
}

/// Kills a process by its number.
#[expect(clippy::disallowed_methods, reason = "the test is about the process")]
fn kill(id: u32) {
    let _ = Command::new("kill").args(["-KILL", &id.to_string()]).stderr(Stdio::null()).status();
}

/// Whom the upstream kills, and at which moment for the how-manieth time.
#[derive(Default)]
struct Plot {
    process: u32,
    moment: String,
    left: u32,
}

#[test]
fn killed_at_each_moment_of_its_upstream_it_tells_the_truth_after() {
    kill_at_moments_of_its_upstream(OF_A_FILE);
}

/// Over a store at this address.
pub(super) fn kill_at_moments_of_its_upstream(store: &str) {
    let plot = Arc::new(Mutex::new(Plot::default()));
    let plotted = Arc::clone(&plot);
    let upstream = Upstream::with(Arc::new(move |moment: &str| {
        let mut plot = plotted.lock().unwrap();
        if plot.left > 0 && plot.moment == moment {
            plot.left -= 1;
            if plot.left == 0 {
                kill(plot.process);
            }
        }
    }));
    let mut folder = upstream.furnish_web(&file(store));
    for (round, (moment, time)) in UPSTREAM.iter().enumerate() {
        let mut serving = Serving::start_in(folder, &[]);
        let process = serving.child.id();
        *plot.lock().unwrap() = Plot { process, moment: (*moment).to_owned(), left: *time };
        let heard = until_dead(&mut serving, (100 + round, WEB), |_| {});
        *plot.lock().unwrap() = Plot::default();
        let own = std::mem::replace(&mut serving.folder, Folder::new());
        folder = examine(own, &upstream, (&heard, 100 + round, WEB), moment);
    }
}

#[test]
fn killed_at_random_times_it_tells_the_truth_after() {
    kill_at_random_times(OF_A_FILE);
}

/// Over a store at this address.
#[expect(clippy::disallowed_methods, reason = "how long a test takes is for its caller to say")]
pub(super) fn kill_at_random_times(store: &str) {
    let kills = std::env::var("TOOLCRIB_TEST_KILLS").ok().and_then(|text| text.parse().ok());
    let kills: usize = kills.unwrap_or(8);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seed = u64::from(now.subsec_nanos()) | 1;
    let mut out = std::io::stdout();
    writeln!(out, "seed {seed}, {kills} kills").unwrap();
    let mut random = SeededRandom::new(seed);
    let upstream = Upstream::start();
    let mut folder = upstream.furnish(&file(store));
    for round in 0..kills {
        let mut serving = Serving::start_in(folder, &[]);
        let pause = Duration::from_micros(random.below(400_000));
        let heard = until_dead(&mut serving, (1_000 + round, BOTH), |serving| {
            std::thread::sleep(pause);
            serving.child.kill().unwrap();
        });
        let own = std::mem::replace(&mut serving.folder, Folder::new());
        let what = format!("seed {seed}, round {round}");
        folder = examine(own, &upstream, (&heard, 1_000 + round, BOTH), &what);
    }
}
