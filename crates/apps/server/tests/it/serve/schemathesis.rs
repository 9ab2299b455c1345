//! A checker that others wrote reads the document of the REST door, and asks what it promises.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::Command;

use serde_json::json;

use super::support::Serving;
use crate::peers::Peers;
use crate::process::Folder;

const FILE: &str = "allow = [\"*\"]\nask = [\"uuid_new\"]\n\n\
                    [limits]\nmax_result = \"1KiB\"\n\n\
                    [store]\nurl = \"sqlite://crib.db\"\n\n\
                    [[source]]\nid = \"basics\"\nprefix = \"\"\nbasics = true\n\n\
                    [profile.careful]\nask = [\"calculate\"]\n";

/// Another one with each change of the document, so that a commit is judged alike everywhere;
/// `TOOLCRIB_SEED` tries others.
#[expect(clippy::disallowed_methods, reason = "whoever looks for a fault gives it to the test")]
fn seed() -> String {
    std::env::var("TOOLCRIB_SEED").unwrap_or_else(|_| {
        let place = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/openapi.json");
        let document = std::fs::read(place).unwrap();
        let fold = |sum: u32, byte: &u8| sum.wrapping_mul(31).wrapping_add((*byte).into());
        document.iter().fold(0, fold).to_string()
    })
}

/// Things that are there, so that not only what is missing is asked for.
fn settings(serving: &Serving) -> String {
    let waits = serving.call(&json!({ "calls": [{ "name": "uuid_new" }] }));
    let text = "word ".repeat(2_000);
    let large = json!({ "calls": [{ "name": "text_case", "arguments": { "text": text,
        "case": "upper" } }] });
    let handle = serving.call(&large)["responses"][0]["whole"].clone();
    let recorded = serving.ask("GET", "/v1/calls", "").json()["calls"][0]["key"].clone();
    let ticket = &waits["tickets"][0]["ticket"];
    // Another one, since that is used up when it is decided about.
    let waits = serving.call(&json!({ "calls": [{ "name": "uuid_new" }] }));
    let shown = &waits["tickets"][0]["ticket"];
    let known = [
        ("show_tool", "name", json!("calculate")),
        ("why_tool", "tool", json!("calculate")),
        ("show_catalog", "name", json!("calculate")),
        ("validate_call", "name", json!("calculate")),
        ("show_calls", "id", recorded.clone()),
        ("resolve_call", "id", recorded.clone()),
        ("show_record", "id", recorded),
        ("show_ticket", "id", shown.clone()),
        ("decide_ticket", "id", ticket.clone()),
        ("read_result", "handle", handle),
        ("reload_source", "id", json!("basics")),
        ("follow_source", "id", json!("basics")),
        ("show_profile", "name", json!("careful")),
    ];
    let mut settings = format!(
        "seed = {}\ncontinue-on-failure = true\nheaders = {{ Authorization = \"Bearer {}\" }}\n\n\
         [cache]\nenabled = false\n\n[generation]\nmax-examples = 20\n",
        seed(),
        serving.token,
    );
    for (operation, name, value) in known {
        assert!(value.is_string(), "{operation}: {value}");
        write!(
            settings,
            "\n[[operations]]\ninclude-operation-id = \"{operation}\"\n\
             parameters = {{ \"path.{name}\" = {value} }}\n"
        )
        .unwrap();
    }
    settings
}

#[test]
fn a_checker_of_apis_finds_nothing_against_the_document() {
    let Some(peers) = Peers::find() else { return };
    let folder = Folder::new();
    folder.write("crib.toml", FILE);
    let serving = Serving::start_in(folder, &[]);
    let folder = Folder::new();
    folder.write("schemathesis.toml", &settings(&serving));
    let document = format!("http://{}/v1/openapi.json", serving.address);
    #[expect(clippy::disallowed_methods, reason = "the checker is a program")]
    let mut command = Command::new(peers.python.with_file_name("st"));
    let output = command.args(["run", &document]).current_dir(folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let line = |word: &str| said.lines().find(|line| line.contains(word)).unwrap_or_default();
    let (count, seed) = (line(" generated"), line("Seed:"));
    writeln!(std::io::stdout(), "schemathesis: {}, {seed}", count.trim()).unwrap();
    assert!(line("Selected:").contains("64/64") && line("Tested:").contains("64"), "{said}");
}
