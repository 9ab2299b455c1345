//! A file that was found and not named: what it starts and sends is a person's to allow.

use crate::process::{Folder, Ran, shell};
use crate::serve::script::{says, server, tool};
use crate::serve::support::{Serving, state};

/// A file with a program that says when it was started.
fn folder() -> Folder {
    let folder = Folder::new();
    let before = "open('started', 'a').write('x')";
    let tools = format!("[{}]", tool("look", "\"readOnlyHint\": True"));
    folder.write("s.py", &server(before, &tools, &says("'seen'")));
    folder.write("crib.toml", FILE);
    folder
}

const FILE: &str = "[[source]]\nid = \"s\"\nmcp = { command = [\"python3\", \"./s.py\"], cwd = \
                    \".\", env = { KEY = \"${env:HOME}\" } }\n";
const DOES: &str = "`s` starts [\"python3\",\"./s.py\"] in `[..]` with KEY=${env:HOME}";

/// The folder in a line differs with how the path is written.
fn says_what_it_does(text: &str) -> bool {
    let (start, end) = DOES.split_once("[..]").unwrap();
    text.lines().any(|line| line.trim().starts_with(start) && line.ends_with(end))
}

fn is_started(folder: &Folder) -> bool {
    folder.path().join("started").exists()
}

fn call(folder: &Folder) -> Ran {
    shell(folder, "toolcrib call s__look")
}

#[test]
fn a_file_that_was_found_starts_nothing_before_it_is_trusted() {
    let folder = folder();
    for line in
        ["call s__look", "tools", "doctor", "plan", "serve", "mcp", "lock", "connect cursor"]
    {
        let ran = shell(&folder, &format!("toolcrib {line} < /dev/null"));
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{line}: {ran:?}");
        assert!(says_what_it_does(&ran.err), "{line}: {ran:?}");
        assert!(ran.err.contains("`toolcrib trust` if you know it"), "{line}: {ran:?}");
    }
    assert!(!is_started(&folder));
    assert_eq!(shell(&folder, "toolcrib check").code, 0);
    let shown = shell(&folder, "toolcrib trust");
    assert_eq!((shown.code, says_what_it_does(&shown.out)), (0, true), "{shown:?}");
    assert!(!is_started(&folder));
    assert_eq!(call(&folder).out, "seen\n");
    // Rules are no other programs; another argument is.
    folder.write("crib.toml", &format!("allow = [\"*\"]\n{FILE}"));
    assert_eq!(call(&folder).code, 0);
    folder.write("crib.toml", &FILE.replace("./s.py\"", "./s.py\", \"more\""));
    assert_eq!(call(&folder).code, 2);
    folder.write("crib.toml", FILE);
    assert_eq!(call(&folder).code, 0);
    assert_eq!(shell(&folder, "toolcrib trust --forget").code, 0);
    assert_eq!(call(&folder).code, 2);
    // The same words elsewhere are other programs.
    shell(&folder, "toolcrib trust && mkdir other && cp crib.toml s.py other");
    assert_eq!(call(&folder).code, 0);
    assert_eq!(shell(&folder, "cd other && toolcrib call s__look").code, 2);
}

#[test]
fn a_file_that_is_named_needs_no_trust() {
    let folder = folder();
    let ran = shell(&folder, "toolcrib --config crib.toml call s__look");
    assert_eq!((ran.code, ran.out.as_str()), (0, "seen\n"), "{ran:?}");
}

#[test]
fn a_file_that_starts_nothing_and_asks_nobody_needs_no_trust() {
    let folder = Folder::new();
    folder.write("crib.toml", "[[source]]\nid = \"b\"\nbasics = true\nprefix = \"\"\n");
    assert_eq!(shell(&folder, "toolcrib call calculate '{\"expression\": \"1 + 1\"}'").code, 0);
    let shown = shell(&folder, "toolcrib trust");
    assert!(shown.err.contains("it needs no trust"), "{shown:?}");
}

#[test]
fn what_sends_a_secret_or_writes_a_file_is_shown() {
    let folder = Folder::new();
    folder.write(
        "crib.toml",
        r#"
[audit]
file = "audit.jsonl"
[store]
url = "sqlite://crib.db"
[telemetry]
otlp = "http://127.0.0.1:9"
headers = { A = "Bearer ${env:COLLECTOR}" }
[[source]]
id = "far"
mcp = { url = "https://far.example/mcp", bearer = "${env:FAR}", headers = { B = "${file:b.txt}" } }
[[source]]
id = "open"
mcp = { url = "https://open.example/mcp" }
[[source]]
id = "away"
enabled = false
mcp = { command = ["rm"] }
[[source]]
id = "api"
openapi = { document = "api.json", base_url = "https://api.example", auth = { key = "${env:API}" } }
[[source]]
id = "env"
mcp = { command = ["x"], env = { MODE = "plain", PASSWORD = "hunter2-hunter2" } }
"#,
    );
    let shown = shell(&folder, "toolcrib trust --json");
    let shown: serde_json::Value = serde_json::from_str(&shown.out).unwrap();
    let expected = serde_json::json!([
        "`far` asks https://far.example/mcp with ${file:b.txt}, ${env:FAR}",
        "`open` asks https://open.example/mcp",
        "`api` asks https://api.example/ with ${env:API}",
        "`env` starts [\"x\"] with MODE=plain PASSWORD=[secret]",
        "traces go to http://127.0.0.1:9/ with ${env:COLLECTOR}",
        format!("decisions are written to `{}`", folder.path().join("audit.jsonl").display()),
        "calls are kept in `sqlite://crib.db`",
    ]);
    assert_eq!((&shown["does"], &shown["trusted"]), (&expected, &serde_json::json!(true)));
}

#[test]
fn the_password_of_a_database_is_not_shown() {
    for (url, shown) in [
        ("postgres://crib:hunter2@db.example/crib", "postgres://crib:[secret]@db.example/crib"),
        ("postgres://crib:a@b:c@db.example/crib", "postgres://crib:[secret]@db.example/crib"),
        ("postgres://crib:${env:DB}@db.example/crib", "postgres://crib:${env:DB}@db.example/crib"),
        ("postgres://crib@db.example/crib", "postgres://crib@db.example/crib"),
    ] {
        let folder = Folder::new();
        folder.write("crib.toml", &format!("[store]\nurl = \"{url}\"\n"));
        let told = shell(&folder, "toolcrib trust --json");
        let told: serde_json::Value = serde_json::from_str(&told.out).unwrap();
        assert_eq!(told["does"], serde_json::json!([format!("calls are kept in `{shown}`")]));
    }
}

#[test]
fn a_change_of_what_a_log_does_not_show_is_another_file() {
    let folder = folder();
    let file = |value: &str| FILE.replace("${env:HOME}", value).replace("KEY", "API_TOKEN");
    folder.write("crib.toml", &file("hunter2-hunter2"));
    assert!(shell(&folder, "toolcrib trust").out.contains("API_TOKEN=[secret]"));
    assert_eq!(call(&folder).code, 0);
    folder.write("crib.toml", &file("hunter3-hunter3"));
    assert_eq!(call(&folder).code, 2);
}

/// An API whose document says where its token goes.
const API: &str = "[[source]]\nid = \"api\"\n\
                   openapi = { document = \"api.json\", auth = { bearer = \"${env:HOME}\" } }\n";

fn document(server: &str, title: &str) -> String {
    serde_json::json!({
        "openapi": "3.1.0", "info": { "title": title, "version": "1" },
        "servers": [{ "url": server }],
        "paths": { "/look": { "get": { "operationId": "look", "responses": {} } } },
    })
    .to_string()
}

#[test]
fn a_document_that_would_send_a_secret_elsewhere_is_asked_about_again() {
    let folder = Folder::new();
    folder.write("crib.toml", API);
    folder.write("api.json", &document("https://api.example/v1", "one"));
    // How the path of the document is written depends on that of the file.
    let does = |place: &str, text: &str| {
        let start = format!("`api` asks {place} (as `");
        let end = "api.json` says) with ${env:HOME}";
        text.lines().any(|line| line.trim().starts_with(&start) && line.ends_with(end))
    };
    let tools = || shell(&folder, "toolcrib tools < /dev/null");
    let asked = tools();
    assert!(asked.code == 2 && does("https://api.example/v1", &asked.err), "{asked:?}");
    let shown = shell(&folder, "toolcrib trust");
    assert!(does("https://api.example/v1", &shown.out), "{shown:?}");
    let listed = tools();
    assert!(listed.code == 0 && listed.out.contains("api__look"), "{listed:?}");
    // Other words of it send nothing elsewhere.
    folder.write("api.json", &document("https://api.example/v1", "two"));
    assert_eq!(tools().code, 0);
    folder.write("api.json", &document("https://evil.example/v1", "two"));
    let asked = tools();
    assert!(asked.code == 2 && does("https://evil.example/v1", &asked.err), "{asked:?}");
    // One that is not there leads nowhere.
    shell(&folder, "rm api.json");
    let asked = tools();
    assert!(asked.code == 2 && asked.err.contains("`api` asks the API of `"), "{asked:?}");
    folder.write("api.json", &document("https://api.example/v1", "one"));
    assert_eq!(tools().code, 0);
    // Where the file says it, the document may say what it likes.
    let named = API.replace("\"api.json\"", "\"api.json\", base_url = \"https://own.example\"");
    folder.write("crib.toml", &named);
    assert!(shell(&folder, "toolcrib trust").out.contains("asks https://own.example/ with"));
    folder.write("api.json", &document("https://evil.example/v1", "one"));
    assert_eq!(tools().code, 0);
}

#[test]
fn a_server_follows_no_document_that_would_send_a_secret_elsewhere() {
    let folder = Folder::new();
    folder.write("crib.toml", API);
    folder.write("api.json", &document("https://api.example/v1", "one"));
    let line = format!("XDG_STATE_HOME={} toolcrib trust", state(&folder));
    assert_eq!(shell(&folder, &line).code, 0);
    let serving = Serving::starting_found(folder);
    serving.hears("`api`: 1 tools");
    let reload = || serving.ask("POST", "/v1/sources/api/reload", "{}").json();
    serving.folder.write("api.json", &document("https://api.example/v1", "two"));
    assert_eq!(reload()["loaded"], true);
    serving.folder.write("api.json", &document("https://evil.example/v1", "two"));
    let told = reload();
    assert_eq!((&told["loaded"], &told["source"]["tools"]), (&false.into(), &1.into()), "{told}");
    serving.hears("`https://evil.example/v1`, which is another place than when somebody was asked");
}

#[cfg(target_os = "linux")]
#[test]
fn a_person_is_asked_once() {
    use crate::process::at_terminal;

    let folder = folder();
    for no in ["n\n", "\n"] {
        let said = at_terminal(&folder, "toolcrib call s__look", no);
        assert_eq!(said.code, 2, "{said:?}");
        assert!(says_what_it_does(&said.out), "{said:?}");
        assert!(said.out.contains("Trust it, from now on? [y/N] "), "{said:?}");
    }
    assert!(!is_started(&folder));
    let said = at_terminal(&folder, "toolcrib call s__look", "y\n");
    assert!(said.code == 0 && said.out.ends_with("seen\n"), "{said:?}");
    assert_eq!(at_terminal(&folder, "toolcrib call s__look", "").out, "seen\n");
}

#[test]
fn a_server_takes_a_change_of_a_file_that_was_found_once_it_is_trusted() {
    let folder = folder();
    let trust = |folder: &Folder| {
        let line = format!("XDG_STATE_HOME={} toolcrib trust", state(folder));
        assert_eq!(shell(folder, &line).code, 0);
    };
    trust(&folder);
    let serving = Serving::starting_found(folder);
    serving.hears("`s`: 1 tools");
    serving.folder.write("crib.toml", &FILE.replace("./s.py\"", "./s.py\", \"more\""));
    serving.hears("it comes into force with `toolcrib trust`");
    assert!(!serving.told.lock().unwrap().contains("is in force"));
    trust(&serving.folder);
    serving.hears("is in force: restarted `s`");
}
