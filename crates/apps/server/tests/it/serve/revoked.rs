//! What was accepted once and is not any more.

use std::io::{ErrorKind, Read as _};
use std::net::TcpStream;
use std::time::Duration;

use super::keys::make;
use super::places::listen;
use super::support::{Serving, eventually, state};
use crate::process::Folder;

/// Reads on until it ends; `false`: it goes on.
fn is_over(stream: &mut TcpStream) -> bool {
    stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    let mut piece = [0; 1024];
    loop {
        match stream.read(&mut piece) {
            Ok(0) => return true,
            Ok(_) => {}
            Err(error) => {
                return !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
            }
        }
    }
}

#[test]
fn a_stream_that_listens_ends_with_what_it_was_opened_by() {
    let folder = Folder::new();
    let (taken, entry) = make(&folder, &["taken", "--scope", "tools"]);
    let (narrowed, scoped) = make(&folder, &["narrowed", "--scope", "tools"]);
    let (kept, stays) = make(&folder, &["kept", "--scope", "tools"]);
    let source = "allow = [\"*\"]\n[[source]]\nid = \"basics\"\nbasics = true\n";
    folder.write("crib.toml", &format!("{source}{stays}{scoped}{entry}"));
    let serving = Serving::start_in(folder, &[]);
    let other = serving.token_of("other");
    let [mut taken, mut narrowed, mut kept, mut local, mut other] =
        [&taken, &narrowed, &kept, &serving.token, &other].map(|token| listen(&serving, token));
    assert!(eventually(|| serving.ask("GET", "/v1/tools", "").status == 200));
    // They are to stay open, and nothing tells of that.
    std::thread::sleep(Duration::from_millis(500));
    for stream in [&mut taken, &mut narrowed, &mut kept, &mut local, &mut other] {
        assert!(!is_over(stream));
    }
    let scoped = scoped.replace("\"tools\"", "\"tools:read\"");
    serving.folder.write("crib.toml", &format!("{source}{stays}{scoped}"));
    assert!(eventually(|| is_over(&mut taken)) && eventually(|| is_over(&mut narrowed)));
    // A token of this machine is taken out with its file.
    let tokens = std::path::Path::new(&state(&serving.folder)).join("toolcrib");
    let of_other = walk(&tokens).into_iter().find(|path| path.ends_with("other"));
    std::fs::remove_file(of_other.unwrap()).unwrap();
    assert!(eventually(|| is_over(&mut other)));
    assert!(!is_over(&mut kept) && !is_over(&mut local));
}

/// All files within.
fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}
