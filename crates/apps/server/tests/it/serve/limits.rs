//! The bounds of a server, each at one less, at itself and at one more.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolcrib_testkit::hostile;

use super::support::{Answer, Serving, bearer, eventually, head, read};
use super::wire::{message, modern};
use crate::process::Folder;

const BASICS: &str = "[[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n\n";

/// A server with these bounds, and a tool `up__wait` that takes as long as it is told.
pub(crate) fn serving(limits: &str) -> (Serving, hostile::HostileServer) {
    let upstream = hostile::HostileServer::start(&[]).unwrap();
    let folder = Folder::new();
    let up = format!(
        "[[source]]\nid = \"up\"\nmcp = {{ url = \"{}\" }}\n\n[profile.x]\nallow = [\"*\"]\n\n",
        upstream.url()
    );
    folder.write("crib.toml", &format!("[server.limits]\n{limits}\n{BASICS}{up}"));
    (Serving::start_in(folder, &[]), upstream)
}

/// Sends a call that takes so long, and gives the stream that its answer comes from.
fn nap(serving: &Serving, token: &str, milliseconds: u32) -> TcpStream {
    let arguments = json!({ "text": milliseconds.to_string() });
    let body = json!({ "calls": [{ "name": "up__wait", "arguments": arguments }] }).to_string();
    let lines = [&bearer(token), "Content-Type: application/json", "Connection: close"];
    let head = head("POST", "/v1/calls", serving, &lines);
    let mut stream = serving.connect();
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    stream
}

/// Takes so many places with naps until this server is full. A question that is still under way
/// may hold the place of a nap, which is refused then and sent again; and since a refusal may be
/// on its way, it counts only what is so at two looks, one after the other.
fn fill<const N: usize>(nap: impl Fn() -> TcpStream, full: impl Fn() -> bool) -> [TcpStream; N] {
    let mut naps = [(); N].map(|()| nap());
    let mut looks = 0;
    assert!(eventually(|| {
        let is_full = full();
        let mut all_wait = true;
        for stream in &mut naps {
            if is_answered(stream) {
                *stream = nap();
                all_wait = false;
            }
        }
        looks = if is_full && all_wait { looks + 1 } else { 0 };
        looks == 2
    }));
    naps
}

fn is_answered(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let answered = stream.peek(&mut [0]).is_ok();
    stream.set_nonblocking(false).unwrap();
    answered
}

fn answer(mut stream: TcpStream) -> Answer {
    let mut text = Vec::new();
    let _ = stream.read_to_end(&mut text);
    read(&String::from_utf8_lossy(&text))
}

fn is_told_when_to_come(answer: &Answer) -> bool {
    answer.head.to_lowercase().contains("retry-after: 1")
}

#[test]
fn bodies_have_the_size_that_is_set_through_every_door() {
    let (serving, _upstream) = serving("body = 1000");
    let send = |path: &str, bytes: usize| {
        let empty = r#"{"x":""}"#;
        let body = format!(r#"{{"x":"{}"}}"#, "a".repeat(bytes - empty.len()));
        serving.ask("POST", path, &body).problem()
    };
    let routes = super::routes::all();
    for route in routes.iter().filter(|route| route.takes_body) {
        let path = route.filled();
        assert_ne!(send(&path, 999), "413 too-large", "{path}");
        assert_ne!(send(&path, 1000), "413 too-large", "{path}");
        assert_eq!(send(&path, 1001), "413 too-large", "{path}");
    }
}

#[test]
fn heads_have_so_many_bytes_and_lines() {
    let (serving, _upstream) = serving("");
    // `Connection` and two line breaks end what is sent.
    let end = "Connection: close\r\n\r\n".len();
    let sized = |bytes: usize| {
        let plain = head("GET", "/healthz", &serving, &["X-Pad: "]);
        let pad = "a".repeat(bytes - plain.len() - end);
        serving.send(&head("GET", "/healthz", &serving, &[&format!("X-Pad: {pad}")]), "").status
    };
    assert_eq!((sized(32_767), sized(32_768), sized(32_769)), (200, 200, 431));
    let lines = |count: usize| {
        // `Host` and `Connection` are lines too.
        let lines: Vec<_> = (2..count).map(|number| format!("X-{number}: 1")).collect();
        let lines: Vec<_> = lines.iter().map(String::as_str).collect();
        serving.send(&head("GET", "/healthz", &serving, &lines), "").status
    };
    assert_eq!((lines(99), lines(100), lines(101)), (200, 200, 431));
}

#[test]
fn a_request_has_as_many_calls_as_are_answered() {
    let (serving, _upstream) = serving("");
    let calls = |count: usize| {
        let calls = vec![json!({ "name": "x" }); count];
        let body = json!({ "calls": calls }).to_string();
        serving.ask("POST", "/v1/calls", &body).problem()
    };
    assert_eq!((calls(999).as_str(), calls(1000).as_str()), ("200", "200"));
    assert_eq!(calls(1001), "422 invalid-body");
}

#[test]
fn peers_have_the_time_that_is_set() {
    let limits = "head_time = \"2s\"\nbody_time = \"30s\"";
    let (serving, _upstream) = serving(limits);
    let lines = [&bearer(&serving.token), "Content-Type: application/json"];
    let post = head("POST", "/v1/calls", &serving, &lines);
    let long = format!("{post}Connection: close\r\nContent-Length: 100\r\n\r\n");
    let post = format!("{post}Connection: close\r\nContent-Length: 12\r\n\r\n");
    let get = head("GET", "/healthz", &serving, &["Connection: close"]) + "\r\n";
    // What is sent: a piece, a pause, and so on.
    let send = |pieces: &[&str], pause: u64| {
        let mut stream = serving.connect();
        let began = Instant::now();
        for (number, piece) in pieces.iter().enumerate() {
            if number > 0 {
                std::thread::sleep(Duration::from_millis(pause));
            }
            let _ = stream.write_all(piece.as_bytes());
        }
        (answer(stream).status, began.elapsed())
    };
    let (half, rest) = get.split_at(20);
    std::thread::scope(|scope| {
        let quick = scope.spawn(|| send(&[half, rest], 500).0);
        let silent = scope.spawn(|| send(&[half], 0));
        let paused = scope.spawn(|| send(&[&post, r#"{"calls":"#, "[]}"], 500).0);
        let stuck = scope.spawn(|| send(&[&post, r#"{"calls":"#], 0));
        let dripped = scope.spawn(|| {
            let pieces: Vec<_> = [long.as_str()].into_iter().chain(["{"; 45]).collect();
            send(&pieces, 700)
        });
        assert_eq!((quick.join().unwrap(), paused.join().unwrap()), (200, 200));
        let (status, time) = silent.join().unwrap();
        assert!(status != 200 && time < Duration::from_secs(20), "{status} {time:?}");
        // Who pauses is let go before one who sends on for as long as a body may take.
        let (stuck, dripped) = (stuck.join().unwrap(), dripped.join().unwrap());
        assert!((stuck.0, dripped.0) == (408, 408) && stuck.1 < dripped.1, "{stuck:?} {dripped:?}");
    });
}

#[test]
fn one_caller_and_all_of_them_have_the_places_that_are_set() {
    let (serving, _upstream) = serving("requests = 3\nper_caller = 2");
    let (two, three) = (serving.token_of("two"), serving.token_of("three"));
    let refused = || serving.ask("GET", "/v1/tools", "");
    // The caller has no place left to look with, and the others have.
    let [first, second] =
        fill(|| nap(&serving, &serving.token, 15_000), || refused().problem() == "429 too-many");
    assert!(is_told_when_to_come(&refused()));
    assert_eq!(serving.ask_as(&two, "GET", "/v1/tools", "").status, 200);
    let full = || serving.ask_as(&three, "GET", "/v1/tools", "");
    let [third] = fill(|| nap(&serving, &two, 14_000), || full().problem() == "503 unavailable");
    assert!(is_told_when_to_come(&full()));
    // Whether it lives can be asked for all the same.
    assert_eq!(serving.send(&head("GET", "/healthz", &serving, &[]), "").status, 200);
    for stream in [first, second, third] {
        assert!(answer(stream).body.contains("waited"));
    }
    assert_eq!((full().status, refused().status), (200, 200));
}

#[test]
fn there_are_as_many_connections_as_are_set_and_others_are_told() {
    let (serving, _upstream) = serving("connections = 4");
    let ready = || serving.send(&head("GET", "/readyz", &serving, &[]), "");
    assert!(eventually(|| ready().status == 200));
    let [first, _second, _third, _fourth] =
        fill(|| nap(&serving, &serving.token, 30_000), || ready().problem() == "503 unavailable");
    let began = Instant::now();
    let turned_away = ready();
    assert!(is_told_when_to_come(&turned_away), "{turned_away:?}");
    drop(first);
    assert!(eventually(|| ready().status == 200));
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
}

#[test]
fn one_peer_has_as_many_connections_as_are_set_and_is_told() {
    // Who asks whether there is room is a peer too, and it comes from here.
    let (serving, _upstream) = serving("connections = 8\nconnections_per_peer = 4");
    let ready = || serving.send(&head("GET", "/readyz", &serving, &[]), "");
    assert!(eventually(|| ready().status == 200));
    let nap = || nap(&serving, &serving.token, 30_000);
    let [first, _second, _third, _fourth] = fill(nap, || ready().problem() == "429 too-many");
    let refused = ready();
    assert!(is_told_when_to_come(&refused) && refused.body.contains("this address"), "{refused:?}");
    let question = head("GET", "/readyz", &serving, &["Connection: close"]) + "\r\n";
    let mut other = connect_from([127, 0, 0, 2], &serving);
    other.write_all(question.as_bytes()).unwrap();
    assert_eq!(answer(other).status, 200);
    drop(first);
    assert!(eventually(|| ready().status == 200));
}

/// Another address of this machine is another peer.
fn connect_from(address: [u8; 4], serving: &Serving) -> TcpStream {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind((address, 0).into()).unwrap();
        let stream = socket.connect(serving.address.parse().unwrap()).await.unwrap();
        let stream = stream.into_std().unwrap();
        stream.set_nonblocking(false).unwrap();
        stream
    })
}

fn greet(serving: &Serving) -> Answer {
    greet_as(serving, &serving.token)
}

fn greet_as(serving: &Serving, token: &str) -> Answer {
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "t", "version": "1" } } });
    let accept = "Accept: application/json, text/event-stream";
    let lines = [&bearer(token), accept, "Content-Type: application/json"];
    serving.send(&head("POST", "/mcp", serving, &lines), &hello.to_string())
}

#[test]
fn there_are_as_many_sessions_as_are_set() {
    let (serving, _upstream) = serving("sessions = 2");
    let other = serving.token_of("other");
    assert_eq!((greet(&serving).status, greet_as(&serving, &other).status), (200, 200));
    // That there is no room at all comes before what one caller may have.
    let third = greet(&serving);
    assert!(third.status == 503 && is_told_when_to_come(&third), "{third:?}");
    let figures = serving.ask("GET", "/metrics", "").body;
    assert!(figures.contains("\ntoolcrib_sessions 2\n"), "{figures}");
}

#[test]
fn one_caller_has_a_quarter_of_the_sessions_that_are_set() {
    let (serving, _upstream) = serving("sessions = 8");
    let first = greet(&serving);
    assert_eq!((first.status, greet(&serving).status), (200, 200));
    let third = greet(&serving);
    assert!(third.status == 429 && is_told_when_to_come(&third), "{third:?}");
    let other = serving.token_of("other");
    assert_eq!(greet_as(&serving, &other).status, 200);
    // One that ends makes room for another.
    let session = first.head.lines().find(|own| own.to_lowercase().starts_with("mcp-session"));
    let lines = [bearer(&serving.token), session.unwrap().to_owned()];
    let lines = lines.each_ref().map(String::as_str);
    assert_eq!(serving.send(&head("DELETE", "/mcp", &serving, &lines), "").status, 204);
    assert_eq!((greet(&serving).status, greet(&serving).status), (200, 429));
}

#[test]
fn bounds_that_cannot_hold_end_the_start() {
    let folder = Folder::new();
    let start = |limits: &str| {
        folder.write("crib.toml", &format!("[server.limits]\n{limits}\n{BASICS}"));
        let line = "ulimit -n 256; exec toolcrib serve --listen 127.0.0.1:0";
        let ran = crate::process::shell(&folder, line);
        assert_eq!(ran.code, 2, "{ran:?}");
        ran.err
    };
    assert!(start("connections = 201").contains("`connections` under `[server.limits]` is 201"));
    let told = start("body = 0\nhead = \"4095B\"\nrequests = 0\nstall = \"0s\"\nbodies = 1");
    for key in ["body", "head", "requests", "stall", "bodies"] {
        assert!(told.contains(&format!("server.limits.{key}: ")), "{key} in {told}");
    }
}

#[test]
fn a_constant_that_a_file_still_names_is_told_of_and_the_server_starts() {
    let (serving, _upstream) = serving("headers = 200");
    serving.hears(
        "server.limits.headers: this is no option any more: it is always 100, since clients and \
         proxies together send far fewer; delete it",
    );
    assert_eq!(serving.ask("GET", "/v1/tools", "").status, 200);
}

#[test]
fn ten_times_as_many_as_there_is_room_for_cost_those_who_got_in_little() {
    let (serving, upstream) = serving("requests = 8\nper_caller = 8");
    let work = |peers: usize| -> Vec<(Answer, Duration)> {
        let until = Instant::now() + Duration::from_secs(3);
        std::thread::scope(|scope| {
            let peer = || {
                let mut seen = Vec::new();
                while Instant::now() < until {
                    let began = Instant::now();
                    let answer = answer(nap(&serving, &serving.token, 50));
                    seen.push((answer, began.elapsed()));
                }
                seen
            };
            let peers: Vec<_> = (0..peers).map(|_| scope.spawn(peer)).collect();
            peers.into_iter().flat_map(|peer| peer.join().unwrap()).collect()
        })
    };
    let calls = || {
        let all = upstream.received();
        all.iter().filter(|(_, body)| body.contains("tools/call")).count()
    };
    let good = |seen: &[(Answer, Duration)]| {
        seen.iter().filter(|(answer, _)| answer.body.contains("waited 50 ms")).count()
    };
    let alone = work(8);
    let before = calls();
    let crowd = work(80);
    let (few, many) = (good(&alone), good(&crowd));
    let refused: Vec<_> = crowd.iter().filter(|(answer, _)| answer.status == 429).collect();
    let slowest = refused.iter().map(|(_, time)| *time).max().unwrap_or_default();
    writeln!(
        std::io::stdout(),
        "overload: {few} calls with 8 peers, {many} and {} refusals with 80 ({} of 100), the \
         slowest refusal after {slowest:?}",
        refused.len(),
        100 * many / few.max(1),
    )
    .unwrap();
    // Every answer is one or the other, every refusal tells when to come again, and what was
    // refused did not run.
    assert_eq!(many + refused.len(), crowd.len());
    assert!(refused.iter().all(|(answer, _)| is_told_when_to_come(answer)));
    assert_eq!(calls() - before, many);
    assert!(many > 0);
}

/// A server that asks before each call ends, and waits for the answer.
const ASKER: &str = r#"
import json, sys
def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    heard = json.loads(line)
    method, id = heard.get("method"), heard.get("id")
    if method == "initialize":
        say({"id": id, "result": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
             "serverInfo": {"name": "s", "version": "1"}}})
    elif method == "tools/list":
        say({"id": id, "result": {"tools": [{"name": "ask", "description": "Asks.",
             "annotations": {"readOnlyHint": True}, "inputSchema": {"type": "object"}}]}})
    elif method == "tools/call":
        fields = {"type": "object", "properties": {"yes": {"type": "boolean"}}}
        say({"id": "q-%s" % id, "method": "elicitation/create",
             "params": {"message": "Sure?", "requestedSchema": fields}})
    elif method is None and str(id).startswith("q-"):
        said = json.dumps(heard.get("result") or heard.get("error"))
        say({"id": int(id[2:]), "result": {"content": [{"type": "text", "text": said}]}})
    elif method is not None and id is not None:
        say({"id": id, "error": {"code": -32601, "message": "unknown method"}})
"#;

/// What comes of a call of the stateless revision by a client that can be asked, whose server asks
/// it.
fn asked(serving: &Serving) -> Value {
    let params = json!({ "name": "a__ask", "arguments": {} });
    message(&modern(serving, &serving.token, "/mcp", ("tools/call", params)))["result"].clone()
}

/// What is said to the answer of the person.
fn answered(serving: &Serving, asked: &Value) -> Value {
    let requests = asked["inputRequests"].as_object().unwrap();
    let answers = requests.keys().map(|key| (key.clone(), json!({ "action": "decline" })));
    let answers: serde_json::Map<_, _> = answers.collect();
    let params = json!({
        "name": "a__ask", "arguments": {}, "requestState": asked["requestState"],
        "inputResponses": answers,
    });
    message(&modern(serving, &serving.token, "/mcp", ("tools/call", params)))
}

/// A server with a source that asks.
fn asking(patience: &str) -> Serving {
    let folder = Folder::new();
    folder.write("asker.py", ASKER);
    let source = "[[source]]\nid = \"a\"\n\
                  mcp = { command = [\"python3\", \"./asker.py\"], cwd = \".\" }\n";
    folder.write("crib.toml", &format!("[server.limits]\npatience = \"{patience}\"\n\n{source}"));
    let serving = Serving::start_in(folder, &[]);
    serving.hears("`a`: 1 tools");
    serving
}

#[test]
fn a_call_that_waits_for_a_person_ends_after_the_time_that_is_set() {
    let patient = asking("10m");
    let first = asked(&patient);
    assert_eq!(first["resultType"], "input_required", "{first}");
    assert_eq!(answered(&patient, &first)["result"]["resultType"], "complete");
    let serving = asking("1s");
    let first = asked(&serving);
    assert_eq!(first["resultType"], "input_required", "{first}");
    let activity = || serving.ask("GET", "/v1/activity", "").json();
    assert!(eventually(|| activity()["running"] == json!([])), "{}", activity());
    let late = answered(&serving, &first);
    assert_eq!(late["error"]["code"], -32602, "{late}");
}
