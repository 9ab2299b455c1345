//! A server without a descriptor left: whoever has a valid token hears that there is no room, and
//! never that the token is none.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Resource, Rlimit, prlimit};

use super::support::{Answer, Serving, bearer, eventually, head, read, state};

/// Asks over a connection that stays.
fn over(stream: &mut TcpStream, serving: &Serving, token: &str) -> Answer {
    let head = head("GET", "/v1/tools", serving, &[&bearer(token)]) + "\r\n";
    stream.write_all(head.as_bytes()).unwrap();
    let (mut bytes, mut some) = (Vec::new(), [0; 4096]);
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let lines = head.to_lowercase();
            let length = lines.lines().find_map(|line| line.strip_prefix("content-length: "));
            if body.len() >= length.unwrap().parse().unwrap() {
                return read(&text);
            }
        }
        let count = stream.read(&mut some).unwrap();
        assert!(count > 0, "it hung up after {text:?}");
        bytes.extend_from_slice(&some[..count]);
    }
}

/// Lets the server have no more files than this; gives what it could have before.
fn allow(serving: &Serving, files: Option<u64>) -> Option<u64> {
    let pid = Pid::from_raw(serving.child.id().try_into().unwrap());
    let (current, maximum) = (files, rustix::process::getrlimit(Resource::Nofile).maximum);
    prlimit(pid, Resource::Nofile, Rlimit { current, maximum }).unwrap().current
}

#[test]
fn without_a_descriptor_left_a_valid_token_is_never_refused() {
    let serving = Serving::start(&[]);
    let (mut own, mut other) = (serving.connect(), serving.connect());
    assert_eq!(over(&mut own, &serving, &serving.token).status, 200);
    let nobodys = format!("tk_{}", "0".repeat(64));
    assert_eq!(over(&mut other, &serving, &nobodys).status, 401);
    // As many as it has now: the gaps among their numbers are filled by those who say nothing.
    let folder = format!("/proc/{}/fd", serving.child.id());
    let most = u64::try_from(std::fs::read_dir(folder).unwrap().count()).unwrap();
    let before = allow(&serving, Some(most));
    let silent: Vec<_> = (0..12).map(|_| serving.connect()).collect();
    serving.hears("cannot take connections now");
    // A token that is made now cannot be read.
    let fresh = format!("tc_{}", "a".repeat(64));
    let path = std::path::Path::new(&state(&serving.folder)).join("toolcrib/keys/fresh");
    std::fs::write(&path, &fresh).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    // In this time the server looks for tokens several times, of which it says nothing.
    let until = Instant::now() + Duration::from_secs(4);
    while Instant::now() < until {
        assert_eq!(over(&mut own, &serving, &serving.token).status, 200);
        std::thread::sleep(Duration::from_millis(200));
    }
    // Or it could, with the one that is kept back.
    let answer = over(&mut other, &serving, &fresh);
    let is_told = answer.problem() == "503 unavailable"
        && answer.head.to_lowercase().contains("retry-after: ");
    assert!(is_told || answer.status == 200, "{answer:?}");
    // Whoever comes anew is told so too, as far as one descriptor goes.
    drop(silent);
    let mut last = serving.ask("GET", "/v1/tools", "");
    let told = eventually(|| {
        last = serving.ask("GET", "/v1/tools", "");
        matches!(last.status, 200 | 503)
    });
    assert!(told, "{last:?}");
    allow(&serving, before);
    assert!(eventually(|| over(&mut own, &serving, &fresh).status == 200));
    assert!(eventually(|| over(&mut other, &serving, &nobodys).status == 401));
    // One that was taken away counts for nothing, and that takes no descriptor.
    std::fs::remove_file(&path).unwrap();
    assert!(eventually(|| over(&mut own, &serving, &fresh).status == 401));
}
