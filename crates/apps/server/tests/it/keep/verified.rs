//! A call whose outcome nobody knows is looked up by a tool that the file names.

use serde_json::json;

use super::doors::{DOORS, act};
use super::upstream::Upstream;
use crate::process::Folder;
use crate::serve::support::{Serving, eventually};

const FILE: &str = r#"
allow = ["*"]
[store]
url = "sqlite://crib.db"
[tool.web__act.verify]
tool = "web__see"
arguments = { how = "count", nonce = "{nonce}" }
at = "/times"
is = 1
"#;

#[test]
fn what_took_effect_is_on_record_within_seconds_and_is_not_done_twice_after_a_restart_either() {
    let upstream = Upstream::start();
    let mut serving = Serving::start_in(upstream.furnish_web(FILE), &[]);
    serving.hears("`web`: ");
    let lookup = |nonce| {
        let arguments = json!({ "how": "count", "nonce": nonce });
        json!({ "tool": "web__see", "arguments": arguments })
    };
    for (door, nonce) in DOORS.into_iter().zip(["rest", "mcp"]) {
        let told = door.call(&serving, &act("web__act", "reset", nonce));
        assert_eq!(told.status, "outcome_unknown", "{told:?}");
        let next = lookup(nonce).to_string();
        assert!(told.whole.to_string().contains(&next), "no {next} in {told:?}");
    }
    let states = |serving: &Serving| {
        let calls = serving.ask("GET", "/v1/calls?tool=web__act", "").json();
        let states = calls["calls"].as_array().unwrap().iter().map(|call| call["state"].clone());
        states.collect::<Vec<_>>()
    };
    assert!(
        eventually(|| states(&serving) == ["succeeded", "succeeded"]),
        "{:?}",
        states(&serving)
    );
    let held_back = |serving: &Serving| {
        for (door, nonce) in DOORS.into_iter().zip(["rest", "mcp"]) {
            let again = door.call(serving, &act("web__act", "reset", nonce));
            assert_eq!(again.status, "duplicate_of_unknown", "{again:?}");
            assert_eq!(upstream.oracle.count(nonce), 1);
        }
    };
    held_back(&serving);
    serving.signal("TERM");
    assert_eq!(serving.child.wait().unwrap().code(), Some(0));
    let folder = std::mem::replace(&mut serving.folder, Folder::new());
    let again = Serving::start_in(folder, &[]);
    again.hears("`web`: ");
    held_back(&again);
}
