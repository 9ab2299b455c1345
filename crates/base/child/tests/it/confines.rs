//! What a program gets from us, and what it does not.

#![expect(clippy::expect_used, reason = "a helper of tests")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rustix::io::{FdFlags, fcntl_setfd};
use toolcrib_child::{Child, Exit, Program};

use crate::support::{Folder, Talk, python, shell, until};

/// The variables of a running program, as the kernel has them.
fn environment(id: u32) -> BTreeMap<String, String> {
    let text = fs::read_to_string(format!("/proc/{id}/environ")).expect("it is ours");
    let pairs = text.split('\0').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
    list.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[tokio::test]
async fn the_environment_holds_what_was_given_and_our_mark() {
    let mut program = shell("echo ready; read line");
    program.inherited = pairs(&[
        ("HOME", "/home/of/someone"),
        ("LANG", "C"),
        ("LC_ALL", "C.UTF-8"),
        ("LD_PRELOAD", "/tmp/evil.so"),
        ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("HTTPS_PROXY", "http://proxy"),
        ("SHELL", "() { :; }; echo smuggled"),
    ]);
    program.environment =
        pairs(&[("LANG", "de_CH.UTF-8"), ("TOKEN", "for this one"), ("TOOLCRIB_INSTANCE", "me")]);
    let mut talk = Talk::with(&program).await;
    assert_eq!(talk.line().await, "ready");
    let mut found = environment(talk.child.id());
    let mark = found.remove("TOOLCRIB_INSTANCE").expect("the mark is there");
    let parts: Vec<&str> = mark.split('.').collect();
    assert_eq!((parts.len(), parts[1]), (3, std::process::id().to_string().as_str()), "{mark}");
    let expected = [
        ("HOME", "/home/of/someone"),
        ("LANG", "de_CH.UTF-8"),
        ("LC_ALL", "C.UTF-8"),
        ("TOKEN", "for this one"),
    ];
    assert_eq!(found, pairs(&expected).into_iter().collect());
}

#[tokio::test]
async fn no_open_file_of_ours_reaches_the_program() {
    // As a library in C would open it.
    let leaky = File::open("/etc/passwd").unwrap();
    fcntl_setfd(&leaky, FdFlags::empty()).unwrap();
    let mut talk = Talk::with(&shell("echo ready; read line")).await;
    assert_eq!(talk.line().await, "ready");
    let entries = fs::read_dir(format!("/proc/{}/fd", talk.child.id())).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["0", "1", "2"]);
}

#[tokio::test]
async fn arguments_arrive_as_they_were_written() {
    let words = ["", "a b", "$(id)", "`id`", "; rm -rf x", "*", "'\"\\", "--flag=\n", "é\u{202e}"];
    let script = "import sys, json; print(json.dumps(sys.argv[1:]))";
    let mut program = python(script);
    program.arguments.extend(words.map(str::to_owned));
    let line = Talk::with(&program).await.line().await;
    let expected =
        r#"["", "a b", "$(id)", "`id`", "; rm -rf x", "*", "'\"\\", "--flag=\n", "\u00e9\u202e"]"#;
    assert_eq!(line, expected);
}

#[tokio::test]
async fn it_runs_in_an_empty_folder_of_its_own_that_goes_with_it() {
    let within = Folder::new();
    let mut program =
        shell("pwd; stat -c %a .; ls -A | wc -l; echo x > left; mkdir -p a/b; read l");
    program.inherited = pairs(&[("TMPDIR", within.path().to_str().unwrap())]);
    let mut talk = Talk::with(&program).await;
    let folder = PathBuf::from(talk.line().await);
    assert_eq!(folder.parent(), Some(within.path()));
    assert_eq!((talk.line().await.as_str(), talk.line().await.trim()), ("700", "0"));
    until("it wrote", || folder.join("a/b").exists()).await;
    drop(talk.stdin);
    talk.child.stop().await;
    until("the folder is gone", || !folder.exists()).await;
}

#[tokio::test]
async fn a_folder_that_was_named_stays() {
    let folder = Folder::new();
    let mut program = shell("pwd; umask; echo secret > file; read line");
    program.folder = Some(folder.path().to_path_buf());
    let mut talk = Talk::with(&program).await;
    assert_eq!(Path::new(&talk.line().await), folder.path());
    assert_eq!(talk.line().await, "0077");
    drop(talk.stdin);
    talk.child.stop().await;
    assert_eq!(fs::read_to_string(folder.path().join("file")).unwrap(), "secret\n");
}

#[tokio::test]
async fn limits_session_and_privileges_are_set() {
    let mut program = shell("echo ready; read line");
    program.limits.address_space = Some(1 << 32);
    let mut talk = Talk::with(&program).await;
    assert_eq!(talk.line().await, "ready");
    let id = talk.child.id();
    let text = fs::read_to_string(format!("/proc/{id}/limits")).unwrap();
    let limit = |name: &str| -> Vec<String> {
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.split_whitespace().take(2).map(str::to_owned).collect()
    };
    assert_eq!(limit("Max core file size"), ["0", "0"]);
    assert_eq!(limit("Max open files"), ["1024", "1024"]);
    assert_eq!(limit("Max file size"), ["1073741824", "1073741824"]);
    assert_eq!(limit("Max address space"), ["4294967296", "4294967296"]);
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    assert!(status.contains("NoNewPrivs:\t1"), "{status}");
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(") ").unwrap().1.split_whitespace().collect();
    let id = id.to_string();
    assert_eq!(fields[1..4], [&std::process::id().to_string(), &id, &id], "parent, group, session");
}

#[tokio::test]
async fn limits_hit_the_program_and_not_us() {
    let mut program = python(
        "import os, signal\n\
         signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n\
         files = []\n\
         try:\n    \
             while True: files.append(os.open('/dev/null', os.O_RDONLY))\n\
         except OSError as error: print(error.errno, len(files))\n\
         os.close(files.pop())\n\
         try:\n    \
             with open('big', 'wb', buffering=0) as file:\n        \
                 while True: file.write(b'x' * 4096) == 4096 or file.write(b'x')\n\
         except OSError as error: print(error.errno)\n",
    );
    program.limits.open_files = 40;
    program.limits.file_size = 10_000;
    let mut talk = Talk::with(&program).await;
    assert_eq!(talk.line().await, "24 37", "EMFILE after the three pipes");
    assert_eq!(talk.line().await, "27", "EFBIG");
    let many: Vec<File> = (0..60).map(|_| File::open("/dev/null").unwrap()).collect();
    assert_eq!(many.len(), 60);
}

#[tokio::test]
async fn node_runs_within_the_usual_limits() {
    let script = "const { Worker } = require('worker_threads'); const fs = require('fs');\n\
        const open = []; for (let i = 0; i < 300; i++) open.push(fs.openSync('/dev/null'));\n\
        let left = 4; for (let i = 0; i < 4; i++)\n\
          new Worker('0', { eval: true }).on('exit', () => { if (--left === 0) console.log('done') });";
    let mut program = Program::new("node", ["-e", script]);
    program.inherited = python("").inherited;
    let mut child = match Child::spawn(&program).await {
        Ok(child) => child,
        Err(error) => {
            writeln!(std::io::stdout(), "[skipped] {error}").unwrap();
            return;
        }
    };
    let (_stdin, mut stdout) = child.take_pipes().unwrap();
    let mut said = String::new();
    tokio::io::AsyncReadExt::read_to_string(&mut stdout, &mut said).await.unwrap();
    assert_eq!(said, "done\n", "{}", child.stderr().text());
    assert_eq!(child.ended().await, Exit { code: Some(0), signal: None });
}

#[tokio::test]
async fn folders_of_killed_hosts_are_removed_and_others_stay() {
    let within = Folder::new();
    let name = |id: &str| within.path().join(format!("toolcrib-{id}"));
    let hour_ago = SystemTime::now() - Duration::from_hours(1);
    let folder = |path: PathBuf| {
        fs::create_dir_all(path.join("full")).unwrap();
        File::open(&path).unwrap().set_modified(hour_ago).unwrap();
        path
    };
    let left = folder(name("00112233445566778899aabbccddeeff"));
    let others = folder(within.path().join("toolcrib-notes"));
    let held = folder(name("ffeeddccbbaa99887766554433221100"));
    let lock = File::open(&held).unwrap();
    lock.lock().unwrap();
    let young = name("0123456789abcdef0123456789abcdef");
    fs::create_dir(&young).unwrap();
    let link = name("aaaabbbbccccddddeeeeffff00001111");
    std::os::unix::fs::symlink(&others, &link).unwrap();
    let mut program = shell("read line");
    program.inherited = pairs(&[("TMPDIR", within.path().to_str().unwrap())]);
    let child = Child::spawn(&program).await.unwrap();
    until("what nobody holds is gone", || !left.exists()).await;
    child.kill().await;
    assert!([&others.join("full"), &held, &young, &link].into_iter().all(|path| path.exists()));
}
