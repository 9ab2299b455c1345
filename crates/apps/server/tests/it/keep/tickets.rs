//! Approvals: bound to what was asked about, good for one run, whatever is tried with them.

use serde_json::{Value, json};

use super::doors::{Door, Wanted, act, mcp};
use super::keys::killed;
use super::upstream::{Oracle, Upstream};
use crate::process::Folder;
use crate::serve::support::{Serving, eventually, head};

pub(super) const ASKING: &str = "allow = [\"*\"]\n[store]\nurl = \"sqlite://crib.db\"\n\
    [profile.careful]\nask = [\"*__act\"]\n[profile.other]\nask = [\"*__act\"]\n";

pub(super) fn arguments(nonce: &str) -> Value {
    json!({ "how": "ok", "nonce": nonce, "n": 1 })
}

pub(super) fn wanted(tool: &str, arguments: Value) -> Wanted<'_> {
    Wanted { tool, arguments, key: None, profile: Some("careful") }
}

/// What a client of the stateless revision sends that can ask its person.
pub(super) fn body(wanted: &Wanted<'_>, state: Option<&str>) -> Value {
    let mut body: Value = serde_json::from_str(&Door::Mcp.body(wanted)).unwrap();
    let capabilities = json!({ "elicitation": { "form": {} } });
    body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities;
    if let Some(state) = state {
        let yes = json!({ "action": "accept", "content": { "approve": true } });
        body["params"]["inputResponses"] = json!({ "approval": yes });
        body["params"]["requestState"] = json!(state);
    }
    body
}

struct Asked {
    ticket: String,
    state: String,
}

fn ask(serving: &Serving, nonce: &str) -> Asked {
    let wanted = wanted("child__act", arguments(nonce));
    let head = Door::Mcp.head(serving, &serving.token, &wanted);
    let told = mcp(&serving.send(&head, &body(&wanted, None).to_string()));
    assert_eq!(told.whole["resultType"], "input_required", "{told:?}");
    let state = told.whole["requestState"].as_str().unwrap().to_owned();
    let ticket = state.split('.').next().unwrap().to_owned();
    Asked { ticket, state }
}

/// The person at an MCP client says yes; the words of what came of it, or `refused`.
fn by_mcp(serving: &Serving, token: &str, wanted: &Wanted<'_>, state: &str) -> String {
    let head = Door::Mcp.head(serving, token, wanted);
    let told = mcp(&serving.send(&head, &body(wanted, Some(state)).to_string()));
    if told.error { "refused".to_owned() } else { told.text }
}

/// The same by REST; `more` goes with the decision.
fn by_rest(serving: &Serving, token: &str, ticket: &str, more: &Value) -> String {
    let mut body = json!({ "decision": "approve", "profile": "careful" });
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let path = format!("/v1/tickets/{ticket}");
    let answer = serving.ask_as(token, "POST", &path, &body.to_string());
    if answer.status != 200 {
        return answer.problem();
    }
    answer.json()["response"]["text"].as_str().unwrap().to_owned()
}

fn serving(upstream: &Upstream, more: &str) -> Serving {
    let serving = Serving::start_in(upstream.furnish(&format!("{ASKING}{more}")), &[]);
    serving.hears("`child`: 1 tools");
    serving
}

fn none(oracle: &Oracle, nonce: &str) {
    assert_eq!(oracle.count(nonce), 0, "{nonce}");
}

#[test]
fn what_is_redeemed_must_be_what_was_asked_about() {
    let upstream = Upstream::start();
    let (serving, oracle) = (serving(&upstream, ""), &upstream.oracle);
    let token = &serving.token;
    // One byte of the arguments, another number, another tool.
    let changed = [
        ("child__act", json!({ "how": "ok", "nonce": "a.", "n": 1 })),
        ("child__act", json!({ "how": "ok", "nonce": "a", "n": 1.5 })),
        ("web__act", arguments("a")),
    ];
    let asked = ask(&serving, "a");
    for (tool, arguments) in changed {
        let other = wanted(tool, arguments.clone());
        assert_eq!(by_mcp(&serving, token, &other, &asked.state), "refused");
        if tool == "child__act" {
            let sent = json!({ "arguments": arguments });
            assert_eq!(by_rest(&serving, token, &asked.ticket, &sent), "409 ticket-refused");
        }
    }
    none(oracle, "a");
    // Another order of the keys and another way to write a number mean the same.
    let same = json!({ "n": 1.0, "nonce": "a", "how": "ok" });
    assert_eq!(by_mcp(&serving, token, &wanted("child__act", same), &asked.state), "did a");
    for (nonce, n) in
        [("b", json!(1)), ("c", json!(1.0)), ("d", serde_json::from_str("1e0").unwrap())]
    {
        let asked = ask(&serving, nonce);
        let sent = json!({ "arguments": { "n": n, "nonce": nonce, "how": "ok" } });
        assert_eq!(by_rest(&serving, token, &asked.ticket, &sent), format!("did {nonce}"));
        assert_eq!(oracle.count(nonce), 1);
    }
}

#[test]
fn a_ticket_is_of_its_caller_and_its_profile_and_of_its_own_letters() {
    let upstream = Upstream::start();
    let (serving, oracle) = (serving(&upstream, ""), &upstream.oracle);
    let other = serving.token_of("other");
    let asked = ask(&serving, "e");
    let same = wanted("child__act", arguments("e"));
    assert_eq!(by_mcp(&serving, &other, &same, &asked.state), "refused");
    assert_eq!(by_rest(&serving, &other, &asked.ticket, &json!({})), "404 unknown-ticket");
    let elsewhere = Wanted { profile: Some("other"), ..wanted("child__act", arguments("e")) };
    assert_eq!(by_mcp(&serving, &serving.token, &elsewhere, &asked.state), "refused");
    let elsewhere = json!({ "profile": "other" });
    let refused = by_rest(&serving, &serving.token, &asked.ticket, &elsewhere);
    assert_eq!(refused, "404 unknown-ticket");
    let Asked { ticket, state } = &asked;
    let flipped = |text: &str, at: usize| {
        let mut bytes = text.as_bytes().to_vec();
        bytes[at] = if bytes[at] == b'0' { b'1' } else { b'0' };
        String::from_utf8(bytes).unwrap()
    };
    for wrong in [flipped(state, 10), flipped(state, state.len() - 3), state[..20].to_owned()] {
        assert_eq!(by_mcp(&serving, &serving.token, &same, &wrong), "refused", "{wrong}");
    }
    for wrong in [flipped(ticket, 10), ticket[..20].to_owned(), ticket.to_uppercase()] {
        let refused = by_rest(&serving, &serving.token, &wrong, &json!({}));
        assert_eq!(refused, "404 unknown-ticket", "{wrong}");
    }
    none(oracle, "e");
    // It survives a kill, and all that was tried with it.
    let serving = killed(serving);
    serving.hears("`child`: 1 tools");
    assert_eq!(by_mcp(&serving, &serving.token, &same, state), "did e");
    assert_eq!(oracle.count("e"), 1);
    // Without a word about the profile it is the ticket's own.
    let asked = ask(&serving, "f");
    let path = format!("/v1/tickets/{}", asked.ticket);
    let done = serving.ask("POST", &path, r#"{"decision": "approve"}"#).json();
    assert_eq!(done["response"]["text"], "did f");
}

#[test]
fn time_another_definition_and_another_policy_end_a_ticket() {
    let upstream = Upstream::start();
    let (serving, oracle) =
        (serving(&upstream, "[limits]\nticket_lifetime = \"2s\"\n"), &upstream.oracle);
    let asked = ask(&serving, "g");
    let waits = || serving.ask("GET", "/v1/tickets", "").json()["tickets"] != json!([]);
    assert!(waits() && eventually(|| !waits()));
    let same = |nonce: &str| wanted("child__act", arguments(nonce));
    assert_eq!(by_mcp(&serving, &serving.token, &same("g"), &asked.state), "refused");
    let late = by_rest(&serving, &serving.token, &asked.ticket, &json!({}));
    assert_eq!(late, "409 ticket-refused");
    none(oracle, "g");
    let file = std::fs::read_to_string(serving.folder.path().join("crib.toml")).unwrap();
    let file = file.replace("ticket_lifetime = \"2s\"", "");
    serving.folder.write("crib.toml", &file);
    serving.hears("is in force");
    let (by_one, by_other) = (ask(&serving, "h"), ask(&serving, "h2"));
    let child = std::fs::read_to_string(serving.folder.path().join("child.py")).unwrap();
    let child = child.replace("Does something.", "Does something else.");
    serving.folder.write("child.py", &child);
    let serving = killed(serving);
    serving.hears("`child`: 1 tools");
    let refused = by_rest(&serving, &serving.token, &by_one.ticket, &json!({}));
    assert_eq!(refused, "409 ticket-refused");
    assert_eq!(by_mcp(&serving, &serving.token, &same("h2"), &by_other.state), "refused");
    let (by_one, by_other) = (ask(&serving, "i"), ask(&serving, "i2"));
    let denying = file.replace("[profile.careful]", "[profile.careful]\ndeny = [\"child__act\"]");
    serving.folder.write("crib.toml", &denying);
    let denied =
        || !serving.ask("GET", "/v1/tools?profile=careful", "").body.contains("child__act");
    assert!(eventually(denied));
    let refused = by_rest(&serving, &serving.token, &by_one.ticket, &json!({}));
    assert_eq!(refused, "409 ticket-refused");
    assert_eq!(by_mcp(&serving, &serving.token, &same("i2"), &by_other.state), "refused");
    for nonce in ["h", "h2", "i", "i2"] {
        none(oracle, nonce);
    }
}

#[test]
fn of_64_redemptions_through_both_doors_one_runs_and_all_are_told_its_end() {
    let upstream = Upstream::start();
    // A caller has 64 places of its own, and a request may hold one a moment after its answer.
    let room = "[server.limits]\nper_caller = 128\n";
    let (serving, oracle) = (serving(&upstream, room), &upstream.oracle);
    let asked = ask(&serving, "k");
    let same = wanted("child__act", arguments("k"));
    let told: Vec<String> = std::thread::scope(|scope| {
        let redeem = |n: usize| {
            let (serving, asked, same) = (&serving, &asked, &same);
            scope.spawn(move || {
                if n.is_multiple_of(2) {
                    return by_mcp(serving, &serving.token, same, &asked.state);
                }
                let path = format!("/v1/tickets/{}", asked.ticket);
                let body = r#"{"decision": "approve", "profile": "careful"}"#;
                let answer = serving.ask("POST", &path, body).json();
                let first = &answer["response"]["text"];
                let recorded = &answer["recorded"]["text"];
                first.as_str().or(recorded.as_str()).unwrap_or("nothing").to_owned()
            })
        };
        let all: Vec<_> = (0..64).map(redeem).collect();
        all.into_iter().map(|one| one.join().unwrap()).collect()
    });
    assert_eq!(oracle.count("k"), 1);
    assert!(told.iter().all(|told| told == "did k"), "{told:?}");
}

/// Has a call approved by a server that dies at a moment of it; the next server, and the ticket.
fn approved_and_killed(upstream: &Upstream, moment: &str, nonce: &str) -> (Serving, String) {
    let dying = Serving::start_dying(upstream.furnish_web(ASKING), moment);
    let mut serving = dying.unwrap_or_else(|_| unreachable!("{moment}: it never listened"));
    let ready = || serving.send(&head("GET", "/readyz", &serving, &[]), "").status == 200;
    assert!(eventually(ready));
    let asked = Wanted { profile: Some("careful"), ..act("web__act", "ok", nonce) };
    let told = Door::Rest.call(&serving, &asked);
    let ticket = told.whole["ticket"].as_str().unwrap().to_owned();
    serving.ask("POST", &format!("/v1/tickets/{ticket}"), r#"{"decision": "approve"}"#);
    assert!(!serving.child.wait().unwrap().success(), "{moment}");
    let folder = std::mem::replace(&mut serving.folder, Folder::new());
    (Serving::start_in(folder, &[]), ticket)
}

#[test]
fn a_ticket_whose_call_a_kill_kept_from_being_sent_is_open_again() {
    let upstream = Upstream::start();
    for (moment, nonce) in [("ticket claimed#1", "claimed"), ("admitted#1", "admitted")] {
        let (serving, ticket) = approved_and_killed(&upstream, moment, nonce);
        let open = serving.ask("GET", "/v1/tickets", "").json();
        assert_eq!(open["tickets"][0]["ticket"], json!(ticket), "{moment}: {open}");
        assert_eq!(open["tickets"][0]["arguments"]["nonce"], json!(nonce), "{open}");
        let approve = r#"{"decision": "approve"}"#;
        let done = serving.ask("POST", &format!("/v1/tickets/{ticket}"), approve).json();
        assert_eq!(done["response"]["outcome"], "done", "{moment}: {done}");
        assert_eq!(upstream.oracle.count(nonce), 1);
    }
}

#[test]
fn a_ticket_whose_call_may_have_been_sent_before_a_kill_stays_used() {
    let upstream = Upstream::start();
    let (serving, ticket) = approved_and_killed(&upstream, "planned#1", "sent");
    assert_eq!(serving.ask("GET", "/v1/tickets", "").json()["tickets"], json!([]));
    let calls = serving.ask("GET", "/v1/calls", "").json()["calls"].clone();
    assert_eq!((&calls[0]["state"], calls.as_array().unwrap().len()), (&json!("interrupted"), 1));
    let approve = r#"{"decision": "approve"}"#;
    let again = serving.ask("POST", &format!("/v1/tickets/{ticket}"), approve);
    assert_eq!(again.problem(), "409 ticket-refused", "{again:?}");
    assert_eq!(again.json()["recorded"]["structured"]["status"], "outcome_unknown", "{again:?}");
    none(&upstream.oracle, "sent");
}
