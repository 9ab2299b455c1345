//! The commands that ask a running server.

use serde_json::json;

use super::listener::Listener;
#[cfg(target_os = "linux")]
use super::script::{says, server, tool};
use super::support::{Serving, state};
#[cfg(target_os = "linux")]
use super::support::{bearer, head};
use crate::process::{Folder, Ran, run_in};
#[cfg(target_os = "linux")]
use crate::process::{at_terminal, shell};

fn ask(serving: &Serving, words: &[&str]) -> Ran {
    let url = format!("http://{}", serving.address);
    let words: Vec<_> = words.iter().copied().chain(["--url", &url]).collect();
    run_in(&serving.folder, &words, &[("XDG_STATE_HOME", &state(&serving.folder))])
}

fn asking() -> Serving {
    let folder = Folder::new();
    folder.write(
        "crib.toml",
        "[[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n\
         [profile.careful]\nask = [\"calculate\"]\n",
    );
    Serving::start_in(folder, &[])
}

fn calculation(expression: &str) -> serde_json::Value {
    json!([{ "name": "calculate", "arguments": { "expression": expression } }])
}

#[test]
fn calls_of_a_running_server_are_listed() {
    let serving = asking();
    serving.call(&json!({ "calls": calculation("6*7") }));
    let ran = ask(&serving, &["calls"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("calculate") && ran.out.contains("local/local"), "{ran:?}");
    let ran = ask(&serving, &["calls", "--json"]);
    assert_eq!(ran.json()["calls"][0]["outcome"], "done");
    let other = serving.token_of("other");
    serving.folder.write("other.token", &other);
    let ran = ask(&serving, &["calls", "--token-file", "other.token"]);
    assert!(ran.code == 2 && ran.err.contains("This is the operator's"), "{ran:?}");
}

#[test]
fn tickets_are_listed_approved_and_denied() {
    let serving = asking();
    let park = |expression: &str| {
        let body = json!({ "profile": "careful", "calls": calculation(expression) });
        serving.call(&body)["tickets"][0]["ticket"].as_str().unwrap().to_owned()
    };
    let (first, second) = (park("6*7"), park("1+1"));
    let ran = ask(&serving, &["tickets"]);
    assert!(ran.out.contains(&first) && ran.out.contains("\"6*7\""), "{ran:?}");
    let ran = ask(&serving, &["tickets", "approve", &first, "--profile", "careful"]);
    assert!(ran.code == 0 && ran.out.contains("42"), "{ran:?}");
    let ran = ask(&serving, &["tickets", "approve", &first, "--profile", "careful"]);
    assert!(ran.code == 0 && ran.out.contains("42"), "{ran:?}");
    assert!(ran.err.contains("was used already"), "{ran:?}");
    let words = ["tickets", "deny", &second, "--reason", "not now", "--profile", "careful"];
    let ran = ask(&serving, &words);
    assert!(ran.code == 0 && ran.out.contains("not now"), "{ran:?}");
    let ran = ask(&serving, &["tickets", "--json"]);
    assert_eq!(ran.json()["tickets"], json!([]));
}

/// A server whose one tool takes its time, and the longer if it is told so.
#[cfg(target_os = "linux")]
fn slow() -> String {
    let tools = format!("[{}]", tool("nap", "\"readOnlyHint\": True"));
    let rest = "time.sleep(asked['params']['arguments'].get('seconds', 7))";
    server("", &tools, &[rest, &says("'rested'")].join("\n"))
}

#[cfg(target_os = "linux")]
#[test]
fn whoever_waits_for_a_long_call_is_told_that_it_runs() {
    use std::io::Write as _;
    let folder = Folder::new();
    folder.write("slow.py", &slow());
    folder.write(
        "crib.toml",
        "[[source]]\nid = \"s\"\nmcp = { command = [\"python3\", \"./slow.py\"], cwd = \".\" }\n",
    );
    let serving = Serving::start_in(folder, &[]);
    serving.hears("`s`: 1 tools");
    let lines = [bearer(&serving.token), "Content-Type: application/json".to_owned()];
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    let call = json!({ "name": "s__nap", "arguments": { "seconds": 60 } });
    let body = json!({ "calls": [call] }).to_string();
    let head = head("POST", "/v1/calls", &serving, &lines);
    let mut stream = serving.connect();
    write!(stream, "{head}Content-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    let environment = state(&serving.folder);
    // It follows until it has told so, and has half a minute for it.
    let follow = format!(
        "export XDG_STATE_HOME={environment}; n=0; script -q -f -E never -c 'exec toolcrib calls \
         --follow --url http://{}' seen < /dev/null > /dev/null & \
         until grep -q 'runs since' seen 2>&1 || [ $((n += 1)) -gt 300 ]; do sleep 0.1; done; \
         kill $!; wait; cat seen",
        serving.address
    );
    let followed = shell(&serving.folder, &follow);
    assert!(followed.out.contains("s__nap runs since"), "{followed:?}");
    let called = at_terminal(&serving.folder, "toolcrib --config crib.toml call s__nap", "");
    assert!(called.out.contains("`s__nap` runs since 5 s"), "{called:?}");
    assert!(called.out.ends_with("rested\n"), "{called:?}");
}

#[test]
fn sources_are_told_and_loaded_again() {
    let serving = asking();
    let ran = ask(&serving, &["sources"]);
    assert!(ran.code == 0 && ran.out.contains("basics") && ran.out.contains("ready"), "{ran:?}");
    let ran = ask(&serving, &["sources", "reload", "basics", "--json"]);
    assert_eq!(ran.json()["loaded"], true, "{ran:?}");
    let ran = ask(&serving, &["sources", "reload", "nothing"]);
    let told = "error: There is no such source: `/v1/sources` lists those of the configuration\n";
    assert_eq!((ran.code, ran.err.as_str()), (2, told));
}

#[test]
fn without_a_server_or_a_token_the_cure_is_told() {
    let folder = Folder::new();
    let environment = state(&folder);
    let run = |words: &[&str]| run_in(&folder, words, &[("XDG_STATE_HOME", environment.as_str())]);
    let ran = run(&["calls"]);
    assert!(ran.code == 2 && ran.err.contains("`toolcrib serve` makes one"), "{ran:?}");
    run(&["token"]);
    let ran = run(&["calls", "--url", "http://127.0.0.1:9"]);
    assert!(ran.code == 2 && ran.err.contains("start one with `toolcrib serve`"), "{ran:?}");
}

/// A server that answers the first question, and the others never.
#[cfg(unix)]
fn falling_silent() -> String {
    use std::io::{Read as _, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut kept = Vec::new();
        for mut stream in listener.incoming().flatten() {
            if kept.is_empty() {
                let _ = stream.read(&mut [0; 4096]);
                let body = r#"{"running":[],"calls":[],"tickets":[],"sources":[],"next":1}"#;
                let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close";
                let _ = write!(stream, "{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
                let _ = stream.shutdown(std::net::Shutdown::Write);
            }
            kept.push(stream);
        }
    });
    url
}

#[cfg(unix)]
#[test]
fn whoever_follows_a_server_that_falls_silent_can_stop() {
    let folder = Folder::new();
    let environment = state(&folder);
    run_in(&folder, &["token"], &[("XDG_STATE_HOME", environment.as_str())]);
    for what in ["calls", "tickets", "sources"] {
        let url = falling_silent();
        let line = format!(
            "export XDG_STATE_HOME={environment}; toolcrib {what} --follow --url {url} & \
             sleep 3; kill -INT $!; wait $!; echo \"ended with $?\""
        );
        let began = std::time::Instant::now();
        let ran = crate::process::shell(&folder, &line);
        assert!(ran.out.ends_with("ended with 130\n"), "{what}: {ran:?}");
        assert!(began.elapsed() < std::time::Duration::from_secs(10), "{what}");
    }
}

#[test]
fn a_token_goes_to_a_server_of_its_own_user_alone_unless_one_is_named() {
    let mut serving = Serving::start(&[]);
    let address = serving.address.clone();
    let file = format!("[server]\nlisten = \"{address}\"\n");
    let ask = |folder: &Folder, words: &[&str]| {
        folder.write("found.toml", &file);
        let words = [&["calls", "--config", "found.toml"], words].concat();
        run_in(folder, &words, &[("XDG_STATE_HOME", &state(folder))])
    };
    let found = ask(&serving.folder, &[]);
    assert_eq!(found.code, 0, "{found:?}");
    // It is killed, and somebody else listens there.
    serving.child.kill().unwrap();
    serving.child.wait().unwrap();
    let answer = || (200, "Content-Type: application/json\r\n".to_owned(), "{}".to_owned());
    let other = Listener::start_at(&address, move |_| answer());
    for words in [&[][..], &["--follow"]] {
        let none = ask(&serving.folder, words);
        let told = format!("no server of yours listens at http://{address}");
        assert!(none.code == 2 && none.err.contains(&told), "{none:?}");
    }
    assert_eq!(other.heard().len(), 0, "{:?}", other.heard());
    let named = ask(&serving.folder, &["--url", &other.url]);
    assert_eq!((named.code, other.heard().len()), (0, 1), "{named:?}");
}

#[cfg(unix)]
#[test]
fn without_a_word_the_only_server_of_this_user_is_asked() {
    let mut first = Serving::start(&[]);
    let ask = |folder: &Folder, words: &[&str]| run_in(folder, words, &[]);
    let elsewhere = Folder::new();
    let shared = |folder: &Folder| {
        std::os::unix::fs::symlink(state(&first.folder), folder.path().join("state")).unwrap();
    };
    shared(&elsewhere);
    for what in ["calls", "tickets", "sources"] {
        let ran = ask(&elsewhere, &[what]);
        assert_eq!(ran.code, 0, "{what}: {ran:?}");
    }
    // Beside a second one, nobody knows which is meant.
    let other = Folder::new();
    shared(&other);
    let mut second = Serving::start_in(other, &[]);
    let mut both = [&first.address, &second.address].map(|address| format!("http://{address}"));
    both.sort();
    for what in ["calls", "tickets", "sources"] {
        let ran = ask(&elsewhere, &[what]);
        let told = "name the server that is meant with `--url`: yours listen at ";
        assert_eq!(ran.code, 2, "{what}: {ran:?}");
        assert!(ran.err.contains(told) && both.iter().all(|one| ran.err.contains(one)), "{ran:?}");
        let ran = ask(&elsewhere, &[what, "--url", &both[0]]);
        assert_eq!(ran.code, 0, "{what}: {ran:?}");
    }
    // What the configuration says counts, whoever else there is.
    elsewhere.write("crib.toml", &format!("[server]\nlisten = \"{}\"\n", second.address));
    assert_eq!(ask(&elsewhere, &["calls"]).code, 0);
    elsewhere.write("crib.toml", "");
    for server in [&mut first, &mut second] {
        server.child.kill().unwrap();
        server.child.wait().unwrap();
    }
    for what in ["calls", "tickets", "sources"] {
        let ran = ask(&elsewhere, &[what]);
        let told = "no server of yours listens at http://127.0.0.1:7411";
        assert!(ran.code == 2 && ran.err.contains(told), "{what}: {ran:?}");
    }
}
