//! Crowds of peers that want nothing: nobody else pays for them.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::support::{Serving, bearer, eventually, head};
use crate::process::Folder;

/// How many there are of each kind: silent, in the middle of a head, in the middle of a body, and
/// of those that never read the events that they asked for.
const CROWD: [usize; 4] = [2_000, 500, 500, 200];

/// As many files as such a crowd and its server take, each; else a tenth of it stands for all.
fn crowd() -> [usize; 4] {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let allowed = getrlimit(Resource::Nofile).maximum;
    if allowed.is_none_or(|allowed| allowed >= 6_000) {
        setrlimit(Resource::Nofile, Rlimit { current: allowed, maximum: allowed }).unwrap();
        return CROWD;
    }
    let _ = writeln!(std::io::stdout(), "crowd: a tenth, as there are files for no more");
    CROWD.map(|count| count / 10)
}

/// Requests of one that does not read the answers.
const MORE: usize = 100;

/// Files that it opens for itself and that come and go.
const OWN: usize = 20;

/// Files that the server has open.
fn files(serving: &Serving) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", serving.child.id())).unwrap().count()
}

/// Connects and says this.
fn saying(serving: &Serving, text: &str) -> TcpStream {
    let mut stream = serving.connect();
    stream.write_all(text.as_bytes()).unwrap();
    stream
}

fn calls() -> Value {
    json!([{ "name": "calculate", "arguments": { "expression": "6*7" } }])
}

/// Asks as somebody who means it.
fn asking(serving: &Serving, times: usize) {
    let calls = calls();
    for _ in 0..times {
        assert_eq!(serving.ask("GET", "/v1/tools", "").status, 200);
        let done = serving.call(&json!({ "calls": calls }));
        assert_eq!(done["responses"][0]["structured"]["result"], "42", "{done}");
    }
}

/// The same until it comes true; how often.
fn asking_until(serving: &Serving, holds: impl Fn() -> bool) -> usize {
    let (mut asked, until) = (0, Instant::now() + Duration::from_mins(2));
    while !holds() {
        assert!(Instant::now() < until, "after {asked} times there are {} files", files(serving));
        asking(serving, 1);
        asked += 1;
    }
    asked
}

#[test]
fn silent_slow_and_deaf_peers_are_let_go_and_cost_nobody_else() {
    let [silent, slow_heads, slow_bodies, deaf] = crowd();
    // The times that hold if nobody sets them are tested elsewhere; here they are a crowd.
    let limits = "head_time = \"15s\"\nstall = \"20s\"\nper_caller = 1000";
    let basics = "[[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n";
    let folder = Folder::new();
    folder.write("crib.toml", &format!("[server.limits]\n{limits}\n{basics}"));
    let serving = Serving::start_in(folder, &[]);
    // What it opens for whoever asks, it has then.
    asking(&serving, 20);
    let before = files(&serving);
    let half = format!("GET /healthz HTTP/1.1\r\nHost: {}\r\nX-Half", serving.address);
    let token = bearer(&serving.token);
    let lines = [token.as_str(), "Content-Type: application/json"];
    let post = head("POST", "/v1/calls", &serving, &lines);
    let begun = format!("{post}Content-Length: 100\r\n\r\n{{");
    let calls = json!({ "calls": calls() }).to_string();
    let events = "Accept: text/event-stream";
    let heard = format!("{post}{events}\r\nContent-Length: {}\r\n\r\n{calls}", calls.len());
    // Behind the events, more than the system keeps for a peer that does not read.
    let more = (head("GET", "/v1/openapi.json", &serving, &[]) + "\r\n").repeat(MORE);
    let come = |count, text: &str| -> Vec<_> {
        let one = |number| {
            // Whoever comes while the queue of the system is full comes a second later.
            if number % 50 == 0 {
                asking(&serving, 1);
            }
            saying(&serving, text)
        };
        (0..count).map(one).collect()
    };
    let mut deaf = come(deaf, &(heard + &more));
    let crowd = [come(silent, ""), come(slow_heads, &half), come(slow_bodies, &begun)];
    let peers: Vec<_> = crowd.into_iter().flatten().collect();
    let all = before + peers.len();
    let beside = asking_until(&serving, || files(&serving) >= all);
    // None of them hung up, read anything, or said another word.
    let after = asking_until(&serving, || files(&serving) <= before + OWN);
    let count = peers.len() + deaf.len();
    writeln!(
        std::io::stdout(),
        "crowd: {count} peers; asked {beside} times until all were there, {after} until all were \
         let go"
    )
    .unwrap();
    assert!(after >= 10, "{after}");
    for stream in &mut deaf {
        // What was on its way, which is not all of it.
        let mut told = Vec::new();
        let _ = stream.read_to_end(&mut told);
        let answers = String::from_utf8_lossy(&told).matches("HTTP/1.1 200").count();
        assert!((1..=MORE).contains(&answers), "{answers}");
    }
}

#[test]
fn more_peers_than_files_are_told_and_then_there_is_room_again() {
    let mut serving = Serving::start_with_files(256);
    let ready = || serving.send(&head("GET", "/readyz", &serving, &[]), "").status == 200;
    assert!(eventually(ready));
    let peers: Vec<_> = (0..1_000).map(|_| serving.connect()).collect();
    // Nobody is told that it is ready while there is no room.
    let mut asking = serving.connect();
    asking.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
    asking.write_all((head("GET", "/readyz", &serving, &[]) + "\r\n").as_bytes()).unwrap();
    let mut said = [0; 12];
    assert!(asking.read_exact(&mut said).is_err() || &said != b"HTTP/1.1 200");
    drop((peers, asking));
    let began = Instant::now();
    assert!(eventually(ready));
    writeln!(std::io::stdout(), "crowd: ready again after {:?}", began.elapsed()).unwrap();
    assert_eq!(serving.ask("GET", "/v1/tools", "").status, 200);
    assert!(serving.child.try_wait().unwrap().is_none());
    let told = serving.told.lock().unwrap().clone();
    assert!(!told.contains("crash"), "{told}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_burst_of_peers_waits_for_its_turn_and_loses_nobody() {
    use rustix::process::{Pid, Signal, kill_process};
    let serving = Serving::start(&[]);
    let server = Pid::from_child(&serving.child);
    let allowed = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap();
    let burst = allowed.trim().parse().map_or(400, |allowed: usize| allowed.min(400));
    // It takes none of them until all are there.
    kill_process(server, Signal::STOP).unwrap();
    let address = serving.address.parse().unwrap();
    let wait = Duration::from_secs(10);
    let mut waiting: Vec<_> =
        (0..burst).map(|_| TcpStream::connect_timeout(&address, wait).unwrap()).collect();
    kill_process(server, Signal::CONT).unwrap();
    let mut last = waiting.pop().unwrap();
    let asked = head("GET", "/healthz", &serving, &[]) + "\r\n";
    last.write_all(asked.as_bytes()).unwrap();
    let mut begin = [0; 15];
    last.read_exact(&mut begin).unwrap();
    assert_eq!(&begin, b"HTTP/1.1 200 OK");
}
