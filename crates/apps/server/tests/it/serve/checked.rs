//! `check` says what `serve` would say: whatever file the one refuses, the other does, in its
//! words.

use super::support::Serving;
use crate::process::Folder;

/// A key under which somebody may come in, so that only the other fault of a file is told.
const KEY: &str = "[[server.key]]\nid = \"ops\"\nscopes = [\"tools\"]\n\
                   sha256 = \"0000000000000000000000000000000000000000000000000000000000000000\"\n";

/// Files beside a configuration, with their texts.
type Files = Vec<(&'static str, &'static str)>;

/// Files that are refused, and what stands beside them.
fn broken() -> Vec<(&'static str, String, Files)> {
    let open = "[server]\nlisten = \"0.0.0.0:0\"\n";
    let named = "[server]\nlisten = \"0.0.0.0:0\"\nbehind_proxy = [\"10.0.0.5\"]\n";
    let tls = "[server]\ntls = { certificate = \"chain.pem\", key = \"key.pem\" }\n";
    let source = "[[source]]\nid = \"a\"\nbasics = true\n";
    vec![
        ("an address that others reach without TLS", open.to_owned(), vec![]),
        ("an address without names", named.to_owned(), vec![]),
        ("nobody who may come in", format!("{named}hosts = [\"crib.internal\"]\n"), vec![]),
        (
            "an address of another machine",
            format!("[server]\nlisten = \"192.0.2.7:0\"\nbehind_proxy = [\"10.0.0.5\"]\nhosts = [\"x.internal\"]\n{KEY}"),
            vec![],
        ),
        ("no files of TLS", tls.to_owned(), vec![]),
        ("a certificate that is none", tls.to_owned(), vec![("chain.pem", "x"), ("key.pem", "y")]),
        ("more connections than files", "[server.limits]\nconnections = 100000000\n".to_owned(), vec![]),
        ("a store of another kind", "[store]\nurl = \"postgres://db/x\"\n".to_owned(), vec![]),
        ("a store without its address", "[store]\nurl = \"${env:TOOLCRIB_TEST_NOT_SET}\"\n".to_owned(), vec![]),
        ("a store in no folder", "[store]\nurl = \"sqlite://nowhere/crib.db\"\n".to_owned(), vec![]),
        ("a store that is no store", "[store]\nurl = \"sqlite://crib.db\"\n".to_owned(), vec![("crib.db", "this is the text of somebody else, and long enough for a page of it")]),
        ("a store that is a folder", "[store]\nurl = \"sqlite://store\"\n".to_owned(), vec![("store/x", "")]),
        ("replicas with a file each", "[store]\nurl = \"sqlite://crib.db\"\n[cluster]\nsecret = \"${env:TOOLCRIB_TEST_NOT_SET}\"\n".to_owned(), vec![]),
        ("replicas with no secret", "[store]\nurl = \"postgres://crib@127.0.0.1:9/x\"\n[cluster]\nsecret = \"${file:gone}\"\n".to_owned(), vec![]),
        ("replicas with a short secret", "[store]\nurl = \"postgres://crib@127.0.0.1:9/x\"\n[cluster]\nsecret = \"${file:secret}\"\n".to_owned(), vec![("secret", "hunter2")]),
        ("a record in no folder", "[audit]\nfile = \"nowhere/audit.jsonl\"\n".to_owned(), vec![]),
        ("a record that is broken", "[audit]\nfile = \"audit.jsonl\"\n".to_owned(), vec![("audit.jsonl", "{}\n")]),
        ("a collector without its headers", "[telemetry]\notlp = \"https://o.example\"\nheaders = { a = \"${env:TOOLCRIB_TEST_NOT_SET}\" }\n".to_owned(), vec![]),
        ("a collector that is no address", "[telemetry]\notlp = \"o.example\"\n".to_owned(), vec![]),
        ("pins that cannot be read", String::new(), vec![("crib.lock", "[]")]),
        ("pins of another release", String::new(), vec![("crib.lock", "{\"version\": 9, \"tools\": {}}")]),
        ("a key with a profile that is not there", "[[server.key]]\nid = \"ops\"\nscopes = [\"profile:none\"]\n".to_owned(), vec![]),
        ("a port that is none", "[server]\nlisten = \"127.0.0.1:99999\"\n".to_owned(), vec![]),
        ("two sources of one name", format!("{source}{source}"), vec![]),
        ("an issuer without a key", "[[server.issuer]]\nname = \"http://issuer.example\"\n".to_owned(), vec![]),
        ("a rule that says nothing", "[[rule]]\nname = \"x\"\n".to_owned(), vec![]),
        ("no TOML", "[server\n".to_owned(), vec![]),
    ]
}

fn folder(file: &str, beside: &[(&'static str, &'static str)]) -> Folder {
    let folder = Folder::new();
    folder.write("crib.toml", file);
    for (name, text) in beside {
        if let Some((within, _)) = name.split_once('/') {
            std::fs::create_dir_all(folder.path().join(within)).unwrap();
        }
        folder.write(name, text);
    }
    folder
}

/// What stands in a folder.
fn names(folder: &Folder) -> Vec<String> {
    let found = std::fs::read_dir(folder.path()).unwrap();
    let mut names: Vec<_> =
        found.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

#[test]
fn whatever_serve_refuses_check_refuses_in_the_same_words() {
    for (what, file, beside) in broken() {
        let folder = folder(&file, &beside);
        let before = names(&folder);
        let checked = folder.run(&["check"]);
        assert_eq!(names(&folder), before, "{what}: it left something behind");
        let refused = Serving::starting_or_refused(folder, &[]);
        // Not every doubt keeps a server from starting, and none of these is one.
        let Err((folder, told)) = refused else { panic!("{what}: it serves") };
        assert_eq!(checked.code, 1, "{what}: {checked:?} beside {told}");
        let lines = told.lines().filter_map(|line| {
            let line = line.strip_prefix("error: ").unwrap_or(line);
            // Doubts are told beside by both.
            let is_other = line.contains("cannot be used:") || line.starts_with("warning: ");
            (!is_other).then(|| line.trim().trim_start_matches("because "))
        });
        let lines: Vec<_> = lines.filter(|line| !line.is_empty()).collect();
        assert!(!lines.is_empty(), "{what}: {told}");
        for line in lines {
            assert!(checked.out.contains(line), "{what}: `{line}` is not in {checked:?}");
        }
        let json = folder.run(&["check", "--json"]).json();
        assert!(!json["problems"].as_array().unwrap().is_empty(), "{what}: {json}");
    }
}

#[test]
fn what_serve_takes_check_takes_and_leaves_no_trace() {
    let files = [
        String::new(),
        "[store]\nurl = \"sqlite://crib.db\"\n[audit]\nfile = \"audit.jsonl\"\n".to_owned(),
        "[[source]]\nid = \"a\"\nbasics = true\n".to_owned(),
    ];
    for file in files {
        let folder = folder(&file, &[]);
        let before = names(&folder);
        let checked = folder.run(&["check"]);
        assert!(checked.code == 0 && checked.err.contains("is good"), "{file}: {checked:?}");
        assert_eq!(names(&folder), before, "{file}");
        let Ok(serving) = Serving::starting_or_refused(folder, &[]) else { panic!("{file}") };
        // One that runs has its own files open, and is no fault of them.
        let again = serving.folder.run(&["check"]);
        assert!(again.code == 0, "{file}: {again:?}");
    }
}

#[test]
fn check_takes_the_words_that_serve_takes() {
    let folder = folder(&format!("[server]\nlisten = \"0.0.0.0:0\"\n{KEY}"), &[]);
    assert_eq!(folder.run(&["check"]).code, 1);
    let words = ["check", "--behind-proxy", "--host", "crib.internal"];
    let checked = folder.run(&words);
    assert_eq!(checked.code, 0, "{checked:?}");
}
