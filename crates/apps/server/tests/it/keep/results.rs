//! Results that are too large for a model: a preview and a handle, and the rest in pieces.

use serde_json::{Value, json};

use super::doors::{DOORS, Door, Wanted, act};
use super::keys::killed;
use super::upstream::Upstream;
use crate::serve::support::{Serving, eventually};

const FILE: &str = "allow = [\"*\"]\n[limits]\nmax_result = \"1KiB\"\n\
                    [profile.shut]\ndeny = [\"read_result\"]\n\
                    [store]\nurl = \"sqlite://crib.db\"\n";

fn large(size: u32) -> Wanted<'static> {
    act("web__see", &format!("large-{size}"), "n")
}

fn tools(serving: &Serving, token: &str, profile: &str) -> bool {
    serving.ask_as(token, "GET", &format!("/v1/tools{profile}"), "").body.contains("read_result")
}

fn handle(told: &Value) -> String {
    told["whole"].as_str().unwrap().to_owned()
}

#[test]
fn the_rest_of_a_large_result_is_read_by_its_caller_alone_and_after_a_kill() {
    let upstream = Upstream::start();
    let serving = Serving::start_in(upstream.furnish_web(FILE), &[]);
    let other = serving.token_of("other");
    assert!(!tools(&serving, &serving.token, ""));
    let told = Door::Rest.call(&serving, &large(100_000));
    let handle = handle(&told.whole);
    assert!(told.text.len() < 2_000 && told.text.contains(&handle), "{told:?}");
    assert!(tools(&serving, &serving.token, "") && !tools(&serving, &other, ""));
    assert!(!tools(&serving, &serving.token, "?profile=shut"));
    let serving = killed(serving);
    assert!(tools(&serving, &serving.token, "") && !tools(&serving, &other, ""));
    for door in DOORS {
        let (mut whole, mut offset) = (String::new(), 0);
        loop {
            let arguments = json!({ "handle": handle, "offset": offset, "limit": 30_000 });
            let wanted = Wanted { tool: "read_result", arguments, key: None, profile: None };
            let told = door.call(&serving, &wanted);
            assert!(!told.error, "{told:?}");
            let (piece, place) = told.text.rsplit_once('[').unwrap();
            whole += piece.trim_end();
            let Some((_, next)) = place.split_once("offset ") else { break };
            offset = next.trim_end_matches(']').parse().unwrap();
            let theirs = door.call_as(&serving, &other, &wanted);
            assert!(theirs.error, "{theirs:?}");
        }
        assert_eq!(whole, format!("{{\"did\":\"{}\"}}", "y".repeat(100_000)), "{door:?}");
    }
    let path = format!("/v1/results/{handle}?offset=8&limit=3");
    assert_eq!(serving.ask("GET", &path, "").json()["text"], "yyy");
    let path = format!("/v1/results/{handle}?path=/did&offset=1&limit=2");
    assert_eq!(serving.ask("GET", &path, "").json()["text"], "yy");
    assert_eq!(serving.ask_as(&other, "GET", &path, "").problem(), "404 unknown-result");
    // To whom a profile denies it, it does not exist.
    let arguments = json!({ "handle": handle });
    let shut = Some("shut");
    let wanted = Wanted { tool: "read_result", arguments, key: None, profile: shut };
    let refused = Door::Rest.call(&serving, &wanted);
    assert_eq!(refused.whole["kind"], "unknown_tool", "{refused:?}");
}

#[test]
fn what_is_kept_is_bounded_by_the_file() {
    let upstream = Upstream::start();
    let bounds = format!("{FILE}results_per_tenant = \"100KiB\"\n");
    let serving = Serving::start_in(upstream.furnish_web(&bounds), &[]);
    let first = handle(&Door::Rest.call(&serving, &large(20_000)).whole);
    // The same bytes are kept once, under a handle each.
    let again = handle(&Door::Rest.call(&serving, &large(20_000)).whole);
    assert_ne!(first, again);
    let read = |handle: &str| serving.ask("GET", &format!("/v1/results/{handle}"), "").status;
    assert_eq!((read(&first), read(&again)), (200, 200));
    let too_large = Door::Rest.call(&serving, &large(70_000));
    assert!(
        too_large.whole["whole"].is_null() && too_large.text.contains("[cut:"),
        "{too_large:?}"
    );
    let second = handle(&Door::Rest.call(&serving, &large(20_001)).whole);
    let third = handle(&Door::Rest.call(&serving, &large(20_002)).whole);
    let statuses = [&first, &again, &second, &third].map(|handle| read(handle));
    assert_eq!(statuses, [404, 404, 200, 200], "the oldest made room");
    assert!(tools(&serving, &serving.token, ""));
}

#[test]
fn what_is_kept_goes_in_time() {
    let upstream = Upstream::start();
    let bounds = format!("{FILE}results_for = \"6s\"\n");
    let serving = Serving::start_in(upstream.furnish_web(&bounds), &[]);
    let path = format!("/v1/results/{}", handle(&Door::Rest.call(&serving, &large(20_000)).whole));
    let read = || serving.ask("GET", &path, "").status;
    assert_eq!(read(), 200);
    assert!(eventually(|| read() == 404));
    assert!(!tools(&serving, &serving.token, ""));
}
