//! What `cargo xtask dist` packs, made of the binary that was built for the tests.

use std::fs;
use std::path::{Path, PathBuf};

use xtask::machine::{program, root};

#[test]
fn the_archive_serves_from_an_empty_folder_and_names_the_licences_of_all_that_is_in_it() {
    let server = root().join("target/debug/toolcrib");
    if !server.is_file() {
        use std::io::Write as _;
        writeln!(std::io::stdout(), "[skipped] no binary is built at {}", server.display())
            .expect("it is told");
        return;
    }
    let out = std::env::temp_dir().join(format!("toolcrib-dist-{}", std::process::id()));
    let words = [format!("--server={}", server.display()), format!("--out={}", out.display())];
    let words: Vec<_> = ["dist".to_owned()].into_iter().chain(words).collect();
    assert_eq!(format!("{:?}", xtask::main(&words)), "ExitCode(unix_exit_status(0))");
    let folder = folder_in(&out);
    let pages = fs::read_dir(folder.join("share/man/man1")).expect("there are pages").count();
    assert!(pages > 20, "{pages}");
    let licences = fs::read_to_string(folder.join("THIRD-PARTY.txt")).expect("it lies there");
    assert!(licences.contains("\ntokio v1."), "{}", &licences[..2_000.min(licences.len())]);
    assert!(licences.contains("Permission is hereby granted"));
    let mut sums = program("sha256sum");
    sums.args(["--check", "--quiet", "SHA256SUMS"]).current_dir(&out);
    assert!(sums.status().expect("it runs").success());
    fs::remove_dir_all(&out).expect("it can be removed");
}

fn folder_in(out: &Path) -> PathBuf {
    let entries = fs::read_dir(out).expect("it was made");
    entries
        .map(|entry| entry.expect("it can be read").path())
        .find(|path| path.is_dir())
        .expect("there is one")
}
