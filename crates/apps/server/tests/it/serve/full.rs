//! A disk that is really full: what cannot be recorded is told from the start, and over by itself.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use super::script::{says, server, tool};
use super::support::{Serving, eventually, head, state};
use crate::process::Folder;

/// A file system of one megabyte at `disk` in a folder, which this process alone holds.
struct Disk {
    holder: Child,
    /// How the test comes to it.
    path: PathBuf,
}

impl Disk {
    /// `None`: this machine lets nobody mount one.
    #[expect(clippy::disallowed_methods, reason = "whoever mounts is another process")]
    fn of(folder: &Folder) -> Option<Self> {
        const MOUNT: &str =
            "mkdir disk && mount -t tmpfs -o size=1m none disk && echo mounted && cat";
        let mut program = Command::new("unshare");
        program.args(["-Urm", "sh", "-c", MOUNT]).current_dir(folder.path());
        let started = program.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let Ok(mut holder) = started else { return Self::none() };
        let mut line = String::new();
        let _ = BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line);
        if line != "mounted\n" {
            let _ = holder.wait();
            return Self::none();
        }
        let own = folder.path().strip_prefix("/").unwrap();
        let path = PathBuf::from(format!("/proc/{}/root", holder.id())).join(own).join("disk");
        Some(Self { holder, path })
    }

    fn none() -> Option<Self> {
        let _ = writeln!(std::io::stdout(), "[skipped] no disk of a test's own can be mounted");
        None
    }

    /// A server that sees the disk, from the moment it listens.
    fn serve(&self, folder: Folder) -> Serving {
        let words = self.words(&folder);
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        Serving::starting_by(folder, "nsenter", &words)
    }

    /// What a server says that does not start.
    #[expect(clippy::disallowed_methods, reason = "the test is about the process")]
    fn refused(&self, folder: &Folder) -> String {
        let mut program = Command::new("nsenter");
        program.args(self.words(folder)).env("XDG_STATE_HOME", state(folder));
        let ended = program.output().unwrap();
        assert!(!ended.status.success(), "{ended:?}");
        String::from_utf8_lossy(&ended.stderr).into_owned()
    }

    fn words(&self, folder: &Folder) -> Vec<String> {
        let binary = env!("CARGO_BIN_EXE_toolcrib");
        let inside = format!(
            "cd '{}' && exec {binary} --config crib.toml serve --listen 127.0.0.1:0",
            folder.path().display()
        );
        let holder = self.holder.id().to_string();
        let words = ["-t", &holder, "-U", "-m", "--preserve-credentials", "sh", "-c", &inside];
        words.map(ToOwned::to_owned).to_vec()
    }

    /// Takes all the room there is.
    fn fill(&self) {
        let mut file = File::create(self.path.join("filler")).unwrap();
        for size in [4096, 512, 1] {
            while file.write_all(&vec![b'x'; size]).is_ok() {}
        }
    }

    /// Takes all room but this.
    fn leave(&self, kibibytes: u64) {
        self.fill();
        let file = File::options().write(true).open(self.path.join("filler")).unwrap();
        file.set_len(file.metadata().unwrap().len().saturating_sub(kibibytes << 10)).unwrap();
    }

    fn make_room(&self) {
        std::fs::remove_file(self.path.join("filler")).unwrap();
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        drop(self.holder.stdin.take());
        let _ = self.holder.wait();
    }
}

const SOURCE: &str = "allow = [\"*\"]\n[[source]]\nid = \"s\"\n\
                      mcp = { command = [\"python3\", \"./s.py\"], cwd = \".\" }\n";

fn folder(section: &str) -> Folder {
    let folder = Folder::new();
    let tools = [tool("act", "\"destructiveHint\": False"), tool("look", "\"readOnlyHint\": True")];
    let tools = format!("[{}]", tools.join(", "));
    folder.write("s.py", &server("", &tools, &says("'acted'")));
    folder.write("crib.toml", &format!("{SOURCE}{section}"));
    folder
}

/// What `/readyz` says to a stranger, once every source had its chance.
fn readiness(serving: &Serving) -> (u16, Value) {
    let ask = || {
        let answer = serving.send(&head("GET", "/readyz", serving, &[]), "");
        (answer.status, answer.json()["status"].clone())
    };
    assert!(eventually(|| ask().1 != "starting"));
    ask()
}

fn acts(serving: &Serving) -> bool {
    let told = serving.call(&json!({ "calls": [{ "name": "s__act" }] }));
    told["responses"][0]["outcome"] == "done"
}

/// Kills it, and starts another in its folder.
fn again(disk: &Disk, mut serving: Serving) -> Serving {
    serving.child.kill().unwrap();
    serving.child.wait().unwrap();
    disk.serve(std::mem::replace(&mut serving.folder, Folder::new()))
}

/// Over a full disk a server is not ready from its start on, says so with this word, and is ready
/// by itself once there is room; whoever starts it reads these words.
fn is_told(section: &str, word: &str, words: &str) {
    let folder = folder(section);
    let Some(disk) = Disk::of(&folder) else { return };
    let serving = disk.serve(folder);
    let ready = (200, json!("ready"));
    assert_eq!(readiness(&serving), ready);
    assert!(acts(&serving));
    disk.fill();
    assert!((0..50).any(|_| !acts(&serving)), "{word}: it never was full");
    assert_eq!(readiness(&serving), (503, json!(word)));
    disk.make_room();
    assert!(eventually(|| readiness(&serving) == ready), "{word}");
    assert!(acts(&serving));
    disk.fill();
    let serving = again(&disk, serving);
    assert_eq!(readiness(&serving), (503, json!(word)), "{}", serving.told.lock().unwrap());
    serving.hears(words);
    // The last page may have room for a line yet, which changes nothing of it.
    assert!((0..50).any(|_| !acts(&serving)), "{word}: it never was full");
    assert_eq!(readiness(&serving), (503, json!(word)));
    disk.make_room();
    assert!(eventually(|| readiness(&serving) == ready), "{word}");
    assert!(acts(&serving));
}

#[test]
fn a_store_on_a_full_disk_is_told_from_the_start_and_over_by_itself() {
    is_told(
        "[store]\nurl = \"sqlite://disk/crib.db\"\n",
        "unrecorded",
        "calls cannot be recorded now",
    );
}

#[test]
fn an_audit_on_a_full_disk_is_told_from_the_start_and_over_by_itself() {
    is_told("[audit]\nfile = \"disk/audit.jsonl\"\n", "unaudited", "cannot be written");
}

const STORE: &str = "[store]\nurl = \"sqlite://disk/crib.db\"\n";

/// Ends it in good order, so that nothing but the file of its store is left.
fn ended(mut serving: Serving) -> Folder {
    serving.signal("TERM");
    assert_eq!(serving.child.wait().unwrap().code(), Some(0));
    std::mem::replace(&mut serving.folder, Folder::new())
}

#[test]
fn a_store_that_cannot_be_opened_on_a_full_disk_is_opened_once_there_is_room() {
    let mut folder = folder(STORE);
    let Some(disk) = Disk::of(&folder) else { return };
    // A new file has no room, and then the log of an old one has none.
    for _ in 0..2 {
        disk.fill();
        let serving = disk.serve(folder);
        assert_eq!(readiness(&serving), (503, json!("unrecorded")));
        serving.hears("calls cannot be recorded now");
        let told = serving.told.lock().unwrap().clone();
        assert!(told.contains("is full: make room on its disk"), "{told}");
        let looked = serving.call(&json!({ "calls": [{ "name": "s__look" }] }));
        assert_eq!(looked["responses"][0]["outcome"], "done", "{looked}");
        assert!(!acts(&serving));
        assert!(serving.ask("GET", "/v1/calls", "").problem().starts_with("503"));
        disk.make_room();
        assert!(eventually(|| readiness(&serving) == (200, json!("ready"))));
        assert!(acts(&serving));
        let calls = serving.ask("GET", "/v1/calls?tool=s__act", "").json();
        assert_eq!(calls["calls"][0]["state"], "succeeded", "{calls}");
        folder = ended(serving);
    }
    // What would not be opened with room is not waited for.
    let path = disk.path.join("crib.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let form = u32::from_be_bytes(bytes[60..64].try_into().unwrap()) + 1;
    bytes[60..64].copy_from_slice(&form.to_be_bytes());
    std::fs::write(&path, bytes).unwrap();
    // A log that was left would be read in place of what is written here.
    let _ = std::fs::remove_file(path.with_extension("db-wal"));
    disk.fill();
    let told = disk.refused(&folder);
    assert!(
        told.contains(&format!("was written by a newer release (its form is {form}")),
        "{told}"
    );
}

/// Of a young store nothing is in the file itself: its disk may have been full at any of its first
/// pages, and its process gone at any of them.
#[test]
fn a_young_store_whose_disk_was_full_from_the_start_is_no_damage() {
    let mut folder = folder(STORE);
    let Some(disk) = Disk::of(&folder) else { return };
    for room in [0, 8, 40, 64, 96, 128, 160, 200, 240] {
        disk.leave(room);
        let serving = disk.serve(folder);
        // It starts with little room and with none, and after it was killed.
        disk.fill();
        let serving = again(&disk, serving);
        assert_eq!(readiness(&serving), (503, json!("unrecorded")), "{room}");
        let serving = again(&disk, serving);
        disk.make_room();
        assert!(eventually(|| readiness(&serving) == (200, json!("ready"))), "{room}");
        assert!(acts(&serving), "{room}");
        folder = ended(serving);
        for file in ["crib.db", "crib.db-wal", "crib.db-shm"] {
            let _ = std::fs::remove_file(disk.path.join(file));
        }
    }
}

/// What is frozen, each with whether it is written down.
fn frozen(serving: &Serving) -> Vec<(String, bool)> {
    let told = serving.ask("GET", "/v1/freeze", "").json();
    let row = |row: &Value| (row["scope"].to_string(), row["kept"].as_bool().unwrap());
    told["freezes"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn a_freeze_holds_while_it_cannot_be_written_down_and_is_written_once_there_is_room() {
    let folder = folder("[audit]\nfile = \"audit.jsonl\"\n");
    let Some(disk) = Disk::of(&folder) else { return };
    let kept = format!("{}/toolcrib", state(&folder));
    std::fs::create_dir_all(&kept).unwrap();
    std::fs::create_dir(disk.path.join("freezes")).unwrap();
    let here = folder.path().join("disk/freezes");
    std::os::unix::fs::symlink(here, format!("{kept}/freezes")).unwrap();
    let serving = disk.serve(folder);
    assert_eq!(readiness(&serving), (200, json!("ready")));
    disk.fill();
    let set = |scope: &Value| {
        let set = serving.ask("POST", "/v1/freeze", &scope.to_string());
        assert_eq!(set.status, 200, "{set:?}");
        set.json()["freeze"].clone()
    };
    let lifted = |row: &Value| {
        let path = format!("/v1/freeze/{}", row["id"]);
        serving.ask("DELETE", &path, "").status
    };
    let row = set(&json!({ "scope": "tool", "name": "s__look", "effects": ["read"] }));
    assert_eq!(row["kept"], false, "{row}");
    assert_eq!((lifted(&row), lifted(&row)), (200, 404));
    assert!(acts(&serving));
    set(&json!({ "scope": "all" }));
    assert!(!acts(&serving));
    assert_eq!(frozen(&serving), [("\"all\"".to_owned(), false)]);
    serving.hears("frozen by local: all calls that write or destroy");
    disk.make_room();
    assert!(eventually(|| frozen(&serving) == [("\"all\"".to_owned(), true)]));
    assert!(!acts(&serving));
    // What is written down outlives the server.
    let serving = again(&disk, serving);
    assert_eq!(readiness(&serving), (200, json!("ready")));
    assert!(!acts(&serving));
    assert_eq!(frozen(&serving), [("\"all\"".to_owned(), true)]);
}
