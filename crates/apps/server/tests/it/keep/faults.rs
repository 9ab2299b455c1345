//! A store that cannot be written: what may change something is refused before it is sent, what
//! only reads goes on, and once the fault is over so does all.

use std::io::{BufRead as _, BufReader, Seek as _, SeekFrom, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;

use super::doors::{DOORS, Door, Told, Wanted, act};
use super::keys::{STORE, killed};
use super::upstream::Upstream;
use crate::process::Folder;
use crate::serve::support::{Serving, eventually, head};

/// How long the store waits for a file that somebody else holds.
const STORE_WAITS: Duration = Duration::from_secs(2);

/// Another process in the middle of a change of the file, until it is let go.
struct Holder(Child);

impl Holder {
    /// `None`: there is no program that could.
    #[expect(clippy::disallowed_methods, reason = "the fault is another process")]
    fn of(serving: &Serving) -> Option<Self> {
        const HOLD: &str = "import sqlite3, sys\n\
            file = sqlite3.connect(sys.argv[1], isolation_level=None)\n\
            file.execute('BEGIN IMMEDIATE')\n\
            print('held', flush=True)\n\
            sys.stdin.read()\n";
        let mut program = Command::new("python3");
        program.args(["-c", HOLD]).arg(serving.folder.path().join("crib.db"));
        let started = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let Ok(mut child) = started else {
            let _ = writeln!(std::io::stdout(), "[skipped] no python3 holds the file");
            return None;
        };
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "held\n");
        Some(Self(child))
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Whether a call was refused because it could not be recorded.
fn unrecorded(told: &Told) -> bool {
    let of_call = told.text.contains("could not be recorded");
    told.error && (of_call || told.status == "503 unavailable")
}

#[test]
fn a_file_that_is_held_refuses_what_may_change_something_through_both_doors() {
    let upstream = Upstream::start();
    let careful = "[profile.careful]\nask = [\"web__act\"]\n";
    let serving = Serving::start_in(upstream.furnish_web(&format!("{STORE}{careful}")), &[]);
    let asked = Wanted { profile: Some("careful"), ..act("web__act", "ok", "ticket") };
    let waiting = Door::Rest.call(&serving, &asked);
    let ticket = waiting.whole["ticket"].as_str().unwrap().to_owned();
    let Some(holder) = Holder::of(&serving) else { return };
    for door in DOORS {
        for wanted in [act("web__act", "ok", "held"), act("web__act", "ok", "held").under("k")] {
            let told = door.call(&serving, &wanted);
            assert!(unrecorded(&told), "{door:?} {told:?}");
        }
        let told = door.call(&serving, &act("web__see", "ok", "read"));
        assert!(!told.error, "{door:?} {told:?}");
    }
    let approve = || {
        let path = format!("/v1/tickets/{ticket}");
        serving.ask("POST", &path, r#"{"decision": "approve"}"#)
    };
    assert_eq!(approve().problem(), "503 unavailable");
    assert_eq!((upstream.oracle.count("held"), upstream.oracle.count("ticket")), (0, 0));
    drop(holder);
    for door in DOORS {
        let told = door.call(&serving, &act("web__act", "ok", "after").under("k"));
        assert!(!told.error, "{door:?} {told:?}");
    }
    assert_eq!(approve().json()["response"]["outcome"], "done");
    assert_eq!((upstream.oracle.count("after"), upstream.oracle.count("ticket")), (2, 1));
}

#[test]
fn why_a_call_is_not_recorded_is_told_to_the_operator_alone() {
    let upstream = Upstream::start();
    let logged = format!("{STORE}[log]\nlevel = \"info\"\n");
    let serving = Serving::start_in(upstream.furnish_web(&logged), &[]);
    let other = serving.token_of("other");
    let Some(holder) = Holder::of(&serving) else { return };
    let told = |token: &str| {
        let told = Door::Rest.call_as(&serving, token, &act("web__act", "ok", "held"));
        assert!(unrecorded(&told), "{told:?}");
        told.whole
    };
    let (operator, stranger) = (told(&serving.token), told(&other));
    let cause = operator["debug"]["cause"].as_str().unwrap();
    assert!(cause.contains("crib.db"), "{operator}");
    assert!(!stranger.to_string().contains("crib.db"), "{stranger}");
    assert_eq!((&stranger["debug"]["cause"], &stranger["text"]), (&json!(null), &operator["text"]));
    drop(holder);
    let of_other = |line: &str| line.contains("caller=other") && line.contains("crib.db");
    assert!(eventually(|| serving.told.lock().unwrap().lines().any(of_other)));
}

/// What `/readyz` says to a stranger.
fn readiness(serving: &Serving) -> (u16, serde_json::Value) {
    let answer = serving.send(&head("GET", "/readyz", serving, &[]), "");
    (answer.status, answer.json())
}

/// What it says while nothing can be recorded.
fn unready() -> (u16, serde_json::Value) {
    let detail = "the record of calls cannot be written now: what may change something is refused \
                  until it can";
    (503, json!({ "status": "unrecorded", "detail": detail }))
}

#[test]
fn a_server_that_cannot_record_is_not_ready_until_it_can_although_nobody_calls() {
    let upstream = Upstream::start();
    let file = format!("{STORE}max_size = \"512KiB\"\n[limits]\nmax_result = \"1KiB\"\n");
    let serving = Serving::start_in(upstream.furnish_web(&file), &[]);
    let ready = (200, json!({ "status": "ready" }));
    let Some(holder) = Holder::of(&serving) else { return };
    assert!(unrecorded(&Door::Rest.call(&serving, &act("web__act", "ok", "held"))));
    assert_eq!(readiness(&serving), unready());
    drop(holder);
    assert!(eventually(|| readiness(&serving) == ready));
    fill(&serving);
    let refused = (0..500).find(|turn| {
        unrecorded(&Door::Rest.call(&serving, &act("web__act", "ok", &format!("n{turn}"))))
    });
    assert!(refused.is_some(), "it never was full");
    assert_eq!(readiness(&serving), unready());
    make_room(&serving);
    assert!(eventually(|| readiness(&serving) == ready));
    let told = Door::Rest.call(&serving, &act("web__act", "ok", "after"));
    assert_eq!((told.error, upstream.oracle.count("after")), (false, 1), "{told:?}");
}

/// Fills a small file with results that are kept; the last pages take a few rows more.
fn fill(serving: &Serving) {
    for size in [100_000, 20_000, 4_000, 2_000] {
        let keeps = |turn: u32| {
            let large = act("web__see", &format!("large-{}", size + turn), "n");
            !Door::Rest.call(serving, &large).whole["whole"].is_null()
        };
        assert!((0..200).any(|turn| !keeps(turn)), "it never was full");
    }
}

/// Takes the kept results out, as a person might who makes room.
#[expect(clippy::disallowed_methods, reason = "whoever makes room is another process")]
fn make_room(serving: &Serving) {
    const EMPTY: &str = "import sqlite3, sys\n\
        file = sqlite3.connect(sys.argv[1])\n\
        file.executescript('DELETE FROM results; DELETE FROM contents')\n";
    let mut program = Command::new("python3");
    program.args(["-c", EMPTY]).arg(serving.folder.path().join("crib.db"));
    assert!(program.status().unwrap().success());
}

#[test]
fn a_call_that_ended_while_the_file_was_held_has_its_end_after() {
    let upstream = Upstream::start();
    let serving = Serving::start_in(upstream.furnish_web(STORE), &[]);
    for (door, tool) in DOORS.into_iter().zip(["rest", "mcp"]) {
        let wanted = act("web__act", "slow-500", tool).under(tool);
        let told = std::thread::scope(|scope| {
            let called = scope.spawn(|| door.call(&serving, &wanted));
            assert!(eventually(|| upstream.oracle.count(tool) == 1));
            let holder = Holder::of(&serving);
            let told = called.join().unwrap();
            drop(holder);
            told
        });
        // It ran, and its caller hears of it, although its end could not be written then.
        assert!(!told.error, "{told:?}");
        let ended = || {
            let page = serving.ask("GET", "/v1/calls", "").json();
            let of = |call: &&serde_json::Value| call["id"] == tool;
            let call = page["calls"].as_array().unwrap().iter().find(of).cloned();
            call.is_some_and(|call| call["ending"]["ending"] == "succeeded")
        };
        assert!(eventually(ended));
        // The key answers as well: it is not in use for ever.
        let again = door.call(&serving, &wanted);
        assert_eq!((again.error, &again.text), (false, &told.text), "{again:?}");
        assert_eq!(upstream.oracle.count(tool), 1);
    }
}

#[test]
fn a_slow_file_delays_and_refuses_nothing() {
    let upstream = Upstream::start();
    let serving = Serving::start_in(upstream.furnish_web(STORE), &[]);
    for (door, name) in DOORS.into_iter().zip(["rest", "mcp"]) {
        // A busy machine may hold the file for longer than the store waits: that is no slow file.
        let tried = (0..20).find_map(|turn| {
            let nonce = format!("{name}-{turn}");
            let began = Instant::now();
            let holder = Holder::of(&serving);
            let told = std::thread::scope(|scope| {
                let called = scope.spawn(|| door.call(&serving, &act("web__act", "ok", &nonce)));
                std::thread::sleep(Duration::from_millis(700));
                drop(holder);
                let was_slow = began.elapsed() < STORE_WAITS;
                let told = called.join().unwrap();
                (was_slow || !told.error).then_some(told)
            });
            told.map(|told| (told, nonce))
        });
        let (told, nonce) = tried.expect("the file was held for too long each time");
        assert_eq!((told.error, upstream.oracle.count(&nonce)), (false, 1), "{told:?}");
    }
}

#[test]
fn a_full_file_refuses_what_may_change_something_until_there_is_room() {
    let upstream = Upstream::start();
    let file = format!("{STORE}max_size = \"512KiB\"\n[limits]\nmax_result = \"1KiB\"\n");
    let serving = Serving::start_in(upstream.furnish_web(&file), &[]);
    fill(&serving);
    let mut ran = 0;
    let refused = (0..500).find_map(|turn| {
        let nonce = format!("n{turn}");
        let told = Door::Rest.call(&serving, &act("web__act", "ok", &nonce));
        if told.error {
            assert_eq!(upstream.oracle.count(&nonce), 0, "{told:?}");
            return Some(told);
        }
        ran += 1;
        None
    });
    assert_eq!(refused.unwrap().whole["kind"], "unavailable");
    assert!(unrecorded(&Door::Mcp.call(&serving, &act("web__act", "ok", "by mcp"))));
    assert!(!Door::Rest.call(&serving, &act("web__see", "ok", "n")).error);
    assert_eq!(upstream.oracle.all().len(), ran);
    let larger = std::fs::read_to_string(serving.folder.path().join("crib.toml")).unwrap();
    serving.folder.write("crib.toml", &larger.replace("512KiB", "8MiB"));
    let serving = killed(serving);
    let told = Door::Rest.call(&serving, &act("web__act", "ok", "after"));
    assert_eq!((told.error, upstream.oracle.count("after")), (false, 1), "{told:?}");
    let page = serving.ask("GET", "/v1/calls?limit=500&tool=web__act", "").json();
    let ends = page["calls"].as_array().unwrap().iter().map(|call| &call["ending"]["ending"]);
    assert!(ends.clone().all(|end| *end == json!("succeeded") || *end == json!("unknown")));
}

#[test]
fn a_damaged_page_ends_the_start_or_is_told_and_nothing_is_sent_unrecorded() {
    let upstream = Upstream::start();
    let mut serving = Serving::start_in(upstream.furnish_web(STORE), &[]);
    for turn in 0..30 {
        Door::Rest.call(&serving, &act("web__act", "ok", &format!("n{turn}")));
    }
    serving.signal("TERM");
    serving.child.wait().unwrap();
    let mut folder = std::mem::replace(&mut serving.folder, Folder::new());
    let path = folder.path().join("crib.db");
    let whole = std::fs::read(&path).unwrap();
    for page in [1, whole.len() / 4096 / 2, whole.len() / 4096 - 1] {
        let mut file = std::fs::File::options().write(true).open(&path).unwrap();
        file.seek(SeekFrom::Start(page as u64 * 4096)).unwrap();
        file.write_all(&[0xa5; 4096]).unwrap();
        drop(file);
        let nonce = format!("page{page}");
        folder = match Serving::try_start(folder) {
            Err((folder, told)) => {
                assert!(told.contains("damaged"), "page {page}: {told}");
                folder
            }
            Ok(mut serving) => {
                let told = Door::Rest.call(&serving, &act("web__act", "ok", &nonce));
                let ran = upstream.oracle.count(&nonce);
                assert_eq!(ran, u32::from(!told.error), "page {page}: {told:?}");
                serving.child.kill().unwrap();
                serving.child.wait().unwrap();
                std::mem::replace(&mut serving.folder, Folder::new())
            }
        };
        std::fs::write(&path, &whole).unwrap();
        for beside in ["crib.db-wal", "crib.db-shm"] {
            let _ = std::fs::remove_file(folder.path().join(beside));
        }
    }
}
