//! Two servers share one database of Postgres: what one that died or fell silent had begun, the
//! other tells.

use serde_json::json;

use super::doors::{Door, Told, act};
use super::postgres::cluster::Cluster;
use super::upstream::Upstream;
use crate::serve::support::{Serving, eventually, head};

const SECRET: &str = "0123456789abcdef0123456789abcdef";

/// A server of a database, in a folder of its own.
fn replica(upstream: &Upstream, url: &str, secret: &str) -> Result<Serving, String> {
    let file = format!(
        "allow = [\"*\"]\n[store]\nurl = \"{url}\"\n[cluster]\nsecret = \"${{file:secret}}\"\n\
         lease = \"6s\"\n[profile.careful]\nask = [\"*__act\"]\n"
    );
    let folder = upstream.furnish_web(&file);
    folder.write("secret", secret);
    let serving = Serving::try_start(folder).map_err(|(_, told)| told)?;
    assert!(eventually(|| is_ready(&serving)));
    Ok(serving)
}

fn is_ready(serving: &Serving) -> bool {
    serving.send(&head("GET", "/readyz", serving, &[]), "").status == 200
}

/// Makes a call that is answered once its upstream lets it go, and does something while it runs.
fn while_it_runs(
    upstream: &Upstream,
    (serving, door): (&Serving, Door),
    nonce: &str,
    meanwhile: impl FnOnce(),
) -> Option<Told> {
    let wanted = act("web__act", "late", nonce).under(nonce);
    let (head, body) = (door.head(serving, &serving.token, &wanted), door.body(&wanted));
    std::thread::scope(|scope| {
        let call = scope.spawn(|| {
            use std::io::{Read as _, Write as _};
            let mut stream = serving.connect();
            let length = body.len();
            let request =
                format!("{head}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}");
            stream.write_all(request.as_bytes()).unwrap();
            let mut text = String::new();
            // One that is killed answers nothing.
            let whole = stream.read_to_string(&mut text).is_ok() && text.contains("\r\n\r\n");
            whole.then(|| door.told(&crate::serve::support::read(&text)))
        });
        assert!(eventually(|| upstream.oracle.count(nonce) == 1));
        meanwhile();
        call.join().unwrap()
    })
}

/// What is said of a key through the door that it came through.
fn told(serving: &Serving, door: Door, nonce: &str) -> Told {
    door.call(serving, &act("web__act", "late", nonce).under(nonce))
}

#[test]
fn what_a_killed_replica_had_begun_the_other_tells_and_does_not_repeat() {
    let Some(cluster) = Cluster::start_if_any("two") else { return };
    let url = cluster.database("record");
    let upstream = Upstream::start();
    let mut one = replica(&upstream, &url, SECRET).unwrap_or_else(|told| panic!("{told}"));
    let other = replica(&upstream, &url, SECRET).unwrap_or_else(|told| panic!("{told}"));
    let refused = replica(&upstream, &url, "another secret of 32 bytes and more").err().unwrap();
    assert!(refused.contains("which has another secret"), "{refused}");
    let careful =
        super::doors::Wanted { profile: Some("careful"), ..act("web__act", "ok", "asked") };
    let waits = Door::Rest.call(&one, &careful);
    let ticket = waits.whole["ticket"].as_str().unwrap().to_owned();

    let answer = while_it_runs(&upstream, (&one, Door::Mcp), "killed", || {
        let told = told(&other, Door::Mcp, "killed");
        assert!(told.error && told.text.contains("is not done yet"), "{told:?}");
        one.signal("KILL");
    });
    assert_eq!(answer, None);
    one.child.wait().unwrap();
    let is_told = || told(&other, Door::Mcp, "killed").status == "outcome_unknown";
    assert!(eventually(is_told), "{:?}", told(&other, Door::Mcp, "killed"));
    // The same call without a key is held back at the replica that never made it.
    let held = Door::Rest.call(&other, &act("web__act", "late", "killed"));
    assert_eq!(held.status, "duplicate_of_unknown", "{held:?}");
    assert_eq!(upstream.oracle.count("killed"), 1);
    let record = other.ask("GET", "/v1/record?state=interrupted", "").json();
    assert_eq!(record["calls"].as_array().map(Vec::len), Some(1), "{record}");
    // What waited at the one is approved at the other.
    let path = format!("/v1/tickets/{ticket}");
    let approved = other.ask("POST", &path, r#"{"decision": "approve"}"#);
    assert_eq!(approved.json()["response"]["error"], json!(false), "{approved:?}");
    assert_eq!(upstream.oracle.count("asked"), 1);
}

#[test]
fn a_replica_that_slept_beyond_its_lease_records_late_ends_and_goes_on() {
    let Some(cluster) = Cluster::start_if_any("slept") else { return };
    let url = cluster.database("record");
    let upstream = Upstream::start();
    let one = replica(&upstream, &url, SECRET).unwrap_or_else(|told| panic!("{told}"));
    let other = replica(&upstream, &url, SECRET).unwrap_or_else(|told| panic!("{told}"));
    let answer = while_it_runs(&upstream, (&one, Door::Rest), "slept", || {
        assert_eq!(told(&other, Door::Rest, "slept").status, "409 key-in-use");
        one.signal("STOP");
        let is_told = || told(&other, Door::Rest, "slept").status == "409 outcome-unknown";
        assert!(eventually(is_told), "{:?}", told(&other, Door::Rest, "slept"));
        upstream.oracle.let_go("slept");
        one.signal("CONT");
    });
    let answer = answer.unwrap();
    assert!(!answer.error, "{answer:?}");
    // The late end is that of both.
    let is_told = || {
        let told = told(&other, Door::Rest, "slept");
        (told.error, &told.text) == (false, &answer.text)
    };
    assert!(eventually(is_told), "{:?}", told(&other, Door::Rest, "slept"));
    assert_eq!(upstream.oracle.count("slept"), 1);
    assert!(eventually(|| is_ready(&one)));
    let next = Door::Rest.call(&one, &act("web__act", "ok", "next").under("next"));
    assert!(!next.error, "{next:?}");
    assert_eq!(
        Door::Rest.call(&other, &act("web__act", "ok", "next").under("next")).text,
        next.text
    );
    assert_eq!(upstream.oracle.count("next"), 1);
    let owners = "SELECT count(DISTINCT owner) FROM calls WHERE ending IS NOT NULL";
    assert_eq!(cluster.sql("record", owners).unwrap(), "2\n");
}

#[test]
fn without_its_database_a_replica_begins_nothing_once_its_lease_is_over() {
    let Some(cluster) = Cluster::start_if_any("lease") else { return };
    let url = cluster.database("record");
    let upstream = Upstream::start();
    let one = replica(&upstream, &url, SECRET).unwrap_or_else(|told| panic!("{told}"));
    cluster.crash();
    assert!(eventually(|| !is_ready(&one)));
    let told = one.send(&head("GET", "/readyz", &one, &[]), "").body;
    assert!(told.contains("unrecorded"), "{told}");
    let refused = Door::Rest.call(&one, &act("web__act", "ok", "refused"));
    assert!(refused.error, "{refused:?}");
    cluster.run();
    assert!(eventually(|| is_ready(&one)));
    let later = Door::Rest.call(&one, &act("web__act", "ok", "later"));
    assert!(!later.error, "{later:?}");
    assert_eq!((upstream.oracle.count("refused"), upstream.oracle.count("later")), (0, 1));
}
