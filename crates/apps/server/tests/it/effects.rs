//! Tools that declare nothing of what a call does: that is told, and a person may say it for them.

use std::fs;

use serde_json::{Value, json};

use crate::process::{Folder, Ran, shell};
use crate::serve::script::{says, server};
use crate::serve::support::Serving;

const FILE: &str = "# the tracker of the team\n[[source]] # found in the attic\nid = \"t\"\nmcp = { command \
                    = [\"python3\", \"./s.py\"], cwd = \".\" }\n";

/// A reader, one that writes and one that deletes, none of which says so, and one that says it.
const TOOLS: &str = r#"[
    {"name": "list_cards", "description": "List the cards of a board.", "inputSchema": {"type": "object"}},
    {"name": "create_card", "description": "Create a card.", "inputSchema": {"type": "object"}},
    {"name": "delete_card", "description": "Delete a card.", "inputSchema": {"type": "object"}},
    {"name": "get_card", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
]"#;

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("s.py", &server("", TOOLS, &says("'done'")));
    folder.write("crib.toml", FILE);
    folder
}

fn run(folder: &Folder, words: &str) -> Ran {
    shell(folder, &format!("toolcrib --config crib.toml {words} < /dev/null"))
}

fn file(folder: &Folder) -> String {
    fs::read_to_string(folder.path().join("crib.toml")).unwrap()
}

const UNSAID: &str = "the tool declares nothing of what it does";
const COMMAND: &str = "`toolcrib effects t`";
const ADDED: &str = "\n[tool.t__list_cards]\neffect = \"read\"\n\n[tool.t__delete_card]\neffect = \
                     \"destroy\"\n";

#[test]
fn tools_that_declare_nothing_are_listed_with_a_proposal_and_its_reason() {
    let folder = folder();
    let ran = run(&folder, "effects t");
    let lines: Vec<_> =
        ran.out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>()).collect();
    let row = |at: usize| (lines[at][0], lines[at][1]);
    assert_eq!((ran.code, lines.len()), (0, 4), "{ran:?}");
    assert_eq!(row(1), ("t__list_cards", "read"), "{ran:?}");
    assert_eq!(row(2), ("t__create_card", "-"), "{ran:?}");
    assert_eq!(row(3), ("t__delete_card", "destroy"), "{ran:?}");
    assert!(ran.err.contains("`--write`"), "{ran:?}");
    let value = run(&folder, "effects --json").json();
    assert_eq!(value["written"], json!([]));
    let first = json!({
        "tool": "t__list_cards", "source": "t", "assumed": "destroy", "proposal": "read",
        "because": "its name has `list`, and nothing of it speaks of a change",
    });
    assert_eq!(value["tools"][0], first);
    assert_eq!(value["tools"][1]["proposal"], Value::Null);
    assert_eq!(file(&folder), FILE, "to look writes nothing");
}

#[test]
fn what_is_accepted_comes_into_the_file_and_runs_without_a_question() {
    let folder = folder();
    let before = run(&folder, "call t__list_cards");
    assert_eq!(before.code, 4, "{before:?}");
    assert!(before.err.contains(UNSAID) && before.err.contains(COMMAND), "{before:?}");
    let declared = run(&folder, "call t__get_card");
    assert_eq!((declared.code, declared.out.as_str()), (0, "done\n"), "{declared:?}");
    let nobody = run(&folder, "effects --write");
    assert_eq!(nobody.code, 2, "{nobody:?}");
    assert!(nobody.err.contains("`--yes`"), "{nobody:?}");
    assert_eq!(file(&folder), FILE);
    let written = run(&folder, "effects t --write --yes --json").json();
    assert_eq!(written["written"], json!(["t__list_cards", "t__delete_card"]));
    assert_eq!(file(&folder), format!("{FILE}{ADDED}"));
    assert_eq!(run(&folder, "check").code, 0);
    let after = run(&folder, "call t__list_cards");
    assert_eq!((after.code, after.out.as_str()), (0, "done\n"), "{after:?}");
    // What is said to destroy is asked about, and no more told of.
    let destroys = run(&folder, "call t__delete_card");
    assert_eq!((destroys.code, destroys.err.contains(UNSAID)), (4, false), "{destroys:?}");
    assert!(run(&folder, "call t__create_card").err.contains(UNSAID));
    let again = run(&folder, "effects --write --yes");
    assert_eq!((again.code, file(&folder)), (0, format!("{FILE}{ADDED}")), "{again:?}");
}

#[test]
fn a_rule_that_goes_by_the_name_is_not_blamed_on_the_tool() {
    let folder = folder();
    let rules = "allow = [\"*\"]\nask = [\"t__list_cards\"]\n\n";
    folder.write("crib.toml", &format!("{rules}{FILE}"));
    let ran = run(&folder, "call t__list_cards --json").json();
    assert!(!ran.to_string().contains(UNSAID), "{ran}");
    folder.write("crib.toml", &format!("allow = [\"*\"]\nask = [\"effect:destroy\"]\n\n{FILE}"));
    let ran = run(&folder, "call t__list_cards --json").json();
    assert!(ran.to_string().contains(UNSAID) && ran.to_string().contains(COMMAND), "{ran}");
}

#[test]
fn pins_hold_what_was_accepted_and_trust_goes_on() {
    let folder = folder();
    assert_eq!(shell(&folder, "toolcrib trust && toolcrib lock").code, 0);
    let written = shell(&folder, "toolcrib effects --write --yes");
    assert_eq!(written.code, 0, "{written:?}");
    let drift = shell(&folder, "toolcrib lock --check");
    assert_eq!((drift.code, drift.out.as_str()), (0, ""), "{drift:?}");
    let after = shell(&folder, "toolcrib call t__list_cards");
    assert_eq!((after.code, after.out.as_str()), (0, "done\n"), "{after:?}");
    // A tool that becomes another one under the accepted name is kept out.
    let other = TOOLS.replace("List the cards of a board.", "List the cards and archive them.");
    folder.write("s.py", &server("", &other, &says("'done'")));
    assert_eq!(shell(&folder, "toolcrib call t__list_cards").code, 1);
}

#[test]
fn a_name_of_two_sources_gets_no_proposal() {
    let folder = folder();
    let two = FILE.replace("id = \"t\"", "id = \"t\"\nprefix = \"\"");
    let other = two.replace("\"t\"", "\"u\"").replace("s.py", "u.py");
    folder.write("crib.toml", &format!("{two}\n{other}"));
    let tools = TOOLS.replace("List the cards of a board.", "Lists cards, and burns them.");
    folder.write("u.py", &server("", &tools, &says("'done'")));
    for words in ["effects --json", "effects t --json"] {
        let value = run(&folder, words).json();
        assert_eq!(value["tools"][0]["proposal"], Value::Null, "{value}");
        assert!(value["tools"][0]["because"].as_str().unwrap().starts_with("`u`"), "{value}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_written_stays_and_one_behind_a_link_keeps_its_rights() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = folder();
    let path = folder.path().join("crib.toml");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
    let refused = run(&folder, "effects --write --yes");
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.err.contains("it is read-only"), "{refused:?}");
    assert_eq!(file(&folder), FILE);
    let kept = folder.path().join("kept.toml");
    fs::rename(&path, &kept).unwrap();
    fs::set_permissions(&kept, fs::Permissions::from_mode(0o600)).unwrap();
    symlink("kept.toml", &path).unwrap();
    assert_eq!(run(&folder, "effects --write --yes").code, 0);
    assert!(fs::symlink_metadata(&path).unwrap().is_symlink());
    assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(file(&folder).ends_with(ADDED));
    let left = fs::read_dir(folder.path()).unwrap().flatten();
    let left = left.filter(|entry| entry.file_name().to_string_lossy().ends_with(".new"));
    assert_eq!(left.count(), 0);
}

#[cfg(target_os = "linux")]
#[test]
fn a_person_accepts_all_or_one_by_one() {
    use crate::process::at_terminal;
    let say = |words: &str| {
        let folder = folder();
        let ran = at_terminal(&folder, "toolcrib --config crib.toml effects --write", words);
        (ran, file(&folder))
    };
    assert_eq!(say("y\n").1, format!("{FILE}{ADDED}"));
    let (ran, one) = say("o\nn\ny\n");
    assert_eq!(one, format!("{FILE}\n[tool.t__delete_card]\neffect = \"destroy\"\n"), "{ran:?}");
    assert!(ran.out.contains("`t__list_cards`: read, since its name has `list`"), "{ran:?}");
    for words in ["n\n", "\n", "o\nq\n", "o\n\n\n"] {
        let (ran, nothing) = say(words);
        assert_eq!((nothing.as_str(), ran.code), (FILE, 0), "{ran:?}");
    }
    let folder = folder();
    let asked = at_terminal(&folder, "toolcrib --config crib.toml call t__list_cards", "n\n");
    assert!(asked.out.contains(UNSAID) && asked.out.contains(COMMAND), "{asked:?}");
}

#[test]
fn doctor_and_the_start_of_a_server_tell_of_such_tools_and_so_does_a_ticket() {
    let folder = folder();
    let told = "3 of the 4 tools of `t` declare nothing of what a call does";
    let doctor = run(&folder, "doctor");
    assert_eq!(doctor.code, 0, "{doctor:?}");
    assert!(doctor.err.contains(told) && doctor.err.contains(COMMAND), "{doctor:?}");
    assert_eq!(run(&folder, "doctor --json").json()["sources"][0]["undeclared"], 3);
    let serving = Serving::start_in(folder, &[]);
    serving.hears(told);
    serving.call(&json!({ "calls": [{ "name": "t__list_cards", "arguments": {} }] }));
    let tickets = serving.ask("GET", "/v1/tickets", "");
    let reason = tickets.json()["tickets"][0]["reason"].as_str().unwrap_or_default().to_owned();
    assert!(reason.contains(UNSAID) && reason.contains(COMMAND), "{tickets:?}");
}
