//! Approvals of a client at the pipes of `toolcrib mcp`: bound to what was asked about, and good
//! for one run, as those over HTTP are.

use serde_json::{Value, json};

use super::doors::{Told, Wanted, mcp};
use super::tickets::{arguments, body, wanted};
use super::upstream::Upstream;
use crate::process::{Folder, Piped};
use crate::serve::support::Answer;

const ASKING: &str = "allow = [\"*\"]\nask = [\"*__act\"]\n[store]\nurl = \"sqlite://crib.db\"\n";

/// One whose person can be asked, at a process of its own.
struct Client(Piped);

impl Client {
    fn at(folder: &Folder) -> Self {
        Self(Piped::open(folder, &["mcp", "crib.toml"]))
    }

    fn says(&mut self, wanted: &Wanted<'_>, state: Option<&str>) {
        self.0.say(&body(wanted, state).to_string());
    }

    fn hears(&mut self) -> Told {
        let body = self.0.hear();
        mcp(&Answer { status: 200, head: String::new(), body })
    }

    /// What its person is asked about a call; the name of the question.
    fn asked(&mut self, nonce: &str) -> String {
        self.says(&wanted("child__act", arguments(nonce)), None);
        let told = self.hears();
        assert_eq!(told.whole["resultType"], "input_required", "{told:?}");
        told.whole["requestState"].as_str().unwrap().to_owned()
    }

    /// The person says yes: the words of what came of it, or `refused`.
    fn approves(&mut self, (tool, arguments): (&str, Value), state: &str) -> String {
        self.says(&wanted(tool, arguments), Some(state));
        let told = self.hears();
        if told.error { "refused".to_owned() } else { told.text }
    }

    fn approves_same(&mut self, nonce: &str, state: &str) -> String {
        self.approves(("child__act", arguments(nonce)), state)
    }

    /// The same at another process, over the same folder.
    fn again(self, folder: &Folder) -> Self {
        assert_eq!(self.0.hang_up(), (Some(0), vec![]));
        Self::at(folder)
    }
}

/// With another letter at this place.
fn flipped(text: &str, at: usize) -> String {
    let mut bytes = text.as_bytes().to_vec();
    bytes[at] = if bytes[at] == b'0' { b'1' } else { b'0' };
    String::from_utf8(bytes).unwrap()
}

#[test]
fn what_is_redeemed_at_a_pipe_must_be_what_was_asked_about() {
    let upstream = Upstream::start();
    let folder = upstream.furnish(ASKING);
    let mut client = Client::at(&folder);
    let state = client.asked("a");
    for (tool, arguments) in [
        ("child__act", json!({ "how": "ok", "nonce": "a.", "n": 1 })),
        ("child__act", json!({ "how": "ok", "nonce": "a", "n": 1.5 })),
        ("web__act", arguments("a")),
    ] {
        assert_eq!(client.approves((tool, arguments), &state), "refused");
    }
    let ends = [10, state.len() - 3].map(|at| flipped(&state, at));
    let short = state[..20].to_owned();
    for wrong in ends.into_iter().chain([short, String::new()]) {
        assert_eq!(client.approves_same("a", &wrong), "refused", "{wrong}");
    }
    // Whoever stands at another process was asked nothing.
    let elsewhere = upstream.furnish(ASKING);
    assert_eq!(Client::at(&elsewhere).approves_same("a", &state), "refused");
    assert_eq!(upstream.oracle.count("a"), 0);
    // Another order of the keys and another way to write a number mean the same.
    let same = json!({ "n": 1.0, "nonce": "a", "how": "ok" });
    assert_eq!(client.approves(("child__act", same), &state), "did a");
    let state = client.asked("b");
    let sent = body(&wanted("child__act", arguments("b")), Some(&state)).to_string();
    let (before, after) = sent.split_once(r#""params":{"#).unwrap();
    assert!(after.contains(r#""n":1"#), "{after}");
    let after = after.replacen(r#""n":1"#, r#""n":1e0"#, 1);
    client.0.say(&format!(r#"{before}"params":{{{after}"#));
    assert_eq!(client.hears().text, "did b");
    assert_eq!((upstream.oracle.count("a"), upstream.oracle.count("b")), (1, 1));
}

#[test]
fn time_another_definition_and_another_policy_end_what_was_asked_at_a_pipe() {
    let upstream = Upstream::start();
    let folder = upstream.furnish(&format!("{ASKING}[limits]\nticket_lifetime = \"1s\"\n"));
    let file = std::fs::read_to_string(folder.path().join("crib.toml")).unwrap();
    let file = file.replace("ticket_lifetime = \"1s\"", "");
    let mut client = Client::at(&folder);
    let state = client.asked("g");
    // Longer than the ticket lives: at a pipe nothing tells of its end.
    std::thread::sleep(std::time::Duration::from_millis(1_100));
    assert_eq!(client.approves_same("g", &state), "refused");
    folder.write("crib.toml", &file);
    let mut client = client.again(&folder);
    let (kept, of_old) = (client.asked("f"), client.asked("h"));
    // It outlives its process, as whoever asks comes back to what is on record.
    let mut client = client.again(&folder);
    assert_eq!(client.approves_same("f", &kept), "did f");
    let child = std::fs::read_to_string(folder.path().join("child.py")).unwrap();
    folder.write("child.py", &child.replace("Does something.", "Does something else."));
    let mut client = client.again(&folder);
    assert_eq!(client.approves_same("h", &of_old), "refused");
    let state = client.asked("i");
    folder.write("crib.toml", &format!("deny = [\"child__act\"]\n{file}"));
    let mut client = client.again(&folder);
    assert_eq!(client.approves_same("i", &state), "refused");
    let counts = ["f", "g", "h", "i"].map(|nonce| upstream.oracle.count(nonce));
    assert_eq!(counts, [1, 0, 0, 0]);
}

#[test]
fn of_64_redemptions_at_a_pipe_one_runs_and_all_are_told_its_end() {
    let upstream = Upstream::start();
    let folder = upstream.furnish(ASKING);
    let mut client = Client::at(&folder);
    let state = client.asked("k");
    let same = wanted("child__act", arguments("k"));
    for id in 0..64 {
        let mut asked = body(&same, Some(&state));
        asked["id"] = json!(id);
        client.0.say(&asked.to_string());
    }
    let told: Vec<_> = (0..64).map(|_| client.hears().text).collect();
    assert!(told.iter().all(|told| told == "did k"), "{told:?}");
    assert_eq!(upstream.oracle.count("k"), 1);
}
