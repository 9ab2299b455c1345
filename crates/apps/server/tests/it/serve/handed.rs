//! A socket that whoever starts the server hands over, as systemd does.

use std::fs::File;
use std::net::TcpListener;
use std::os::fd::OwnedFd;

use serde_json::json;

use super::stopping::{ask, worker};
use super::support::{Serving, bearer, eventually, head};
use crate::process::Folder;

/// Notes which files it has open when it starts.
fn source(folder: &Folder) {
    let noting = "import os\nfiles = ' '.join(sorted(os.listdir('/proc/self/fd')))\n\
                  with open('files', 'w') as noted:\n    noted.write(files)\n";
    folder.write("worker.py", &(noting.to_owned() + &worker("1.5")));
    let source = "mcp = { command = [\"python3\", \"./worker.py\"], cwd = \".\" }";
    folder.write("crib.toml", &format!("[[source]]\nid = \"w\"\n{source}\n"));
}

fn request(serving: &Serving, method: &str, path: &str, body: &str) -> String {
    let lines = [bearer(&serving.token), "Content-Type: application/json".to_owned()];
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    let head = head(method, path, serving, &lines);
    format!("{head}Content-Length: {}\r\nConnection: close\r\n\r\n{body}", body.len())
}

#[test]
fn while_one_server_ends_and_the_next_one_starts_whoever_connects_waits_and_is_answered() {
    let folder = Folder::new();
    source(&folder);
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let handed = || OwnedFd::from(socket.try_clone().unwrap());
    let start = |folder| {
        let started = Serving::try_handed(folder, handed(), (1, &[]));
        started.unwrap_or_else(|(_, told)| unreachable!("{told}"))
    };
    let mut first = start(folder);
    assert_eq!(first.address, socket.local_addr().unwrap().to_string());
    first.hears("`w`: 1 tools");
    if cfg!(target_os = "linux") {
        // The fourth is the folder that it reads.
        let files = std::fs::read_to_string(first.folder.path().join("files")).unwrap();
        assert_eq!(files, "0 1 2 3");
    }
    let call = json!({ "calls": [{ "name": "w__work" }] }).to_string();
    let (call, list) =
        (request(&first, "POST", "/v1/calls", &call), request(&first, "GET", "/v1/tools", ""));
    let address = first.address.clone();
    let asked = |request: String| {
        let address = address.clone();
        std::thread::spawn(move || ask(&address, &request).unwrap_or_default())
    };
    let running = asked(call);
    let runs = || first.ask("GET", "/v1/activity", "").json()["running"][0].is_object();
    assert!(eventually(runs));
    first.signal("TERM");
    first.hears("stopping: what runs may end; again to stop at once");
    let waiting = asked(list);
    assert_eq!(first.child.wait().unwrap().code(), Some(0));
    let answered = running.join().unwrap();
    assert!(answered.contains("\"outcome\":\"done\""), "{answered}");
    assert!(!waiting.is_finished());
    let folder = std::mem::replace(&mut first.folder, Folder::new());
    let second = start(folder);
    assert_eq!(second.address, first.address);
    let answered = waiting.join().unwrap();
    assert!(answered.starts_with("HTTP/1.1 200 "), "{answered}");
}

#[test]
fn what_cannot_be_served_is_refused_when_it_is_handed_over() {
    let socket = || OwnedFd::from(TcpListener::bind("127.0.0.1:0").unwrap());
    let open = || OwnedFd::from(TcpListener::bind("0.0.0.0:0").unwrap());
    let connection = || {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let made = std::net::TcpStream::connect(listener.local_addr().unwrap());
        OwnedFd::from(made.unwrap())
    };
    let file = || OwnedFd::from(File::open("/dev/null").unwrap());
    let not_heard = "cannot be listened to: hand over a TCP socket that listens";
    for (handed, count, words, told) in [
        (socket(), 1, &["--listen", "127.0.0.1:7411"][..], "leave one of them out"),
        (socket(), 2, &[], "2 sockets were handed over (`LISTEN_FDS`), and one is served"),
        (open(), 1, &[], "is open to others"),
        (open(), 1, &["--insecure-local"], "`--insecure-local` asks nobody for a token"),
        (connection(), 1, &[], not_heard),
        (file(), 1, &[], not_heard),
    ] {
        let refused = Serving::try_handed(Folder::new(), handed, (count, words));
        let said = refused.map(|serving| serving.address.clone()).unwrap_err().1;
        assert!(said.contains(told), "no `{told}` in\n{said}");
    }
}
