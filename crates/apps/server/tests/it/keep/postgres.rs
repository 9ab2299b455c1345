//! A server whose record is in a database of Postgres: it is killed, and so is the database.

#[expect(dead_code, reason = "the tests of the store need more of it")]
#[path = "../../../../../engine/store-postgres/tests/it/cluster.rs"]
pub(crate) mod cluster;

use serde_json::{Value, json};

use self::cluster::Cluster;
use super::doors::{Door, Wanted, act};
use super::keys::killed;
use super::upstream::Upstream;
use super::{kills, run_kills};
use crate::process::{Folder, run_in};
use crate::serve::support::{Serving, eventually, head, state};

/// A word that must be told nowhere.
const PASSWORD: &str = "hunter2";

fn file(url: &str) -> String {
    format!("allow = [\"*\"]\n[store]\nurl = \"{url}\"\n[profile.careful]\nask = [\"*__act\"]\n")
}

#[test]
fn killed_at_each_of_its_own_moments_over_postgres_it_tells_the_truth_after() {
    let Some(cluster) = Cluster::start_if_any("own") else { return };
    kills::kill_at_own_moments(&cluster.database("record"));
}

#[test]
fn killed_at_each_moment_of_its_upstream_over_postgres_it_tells_the_truth_after() {
    let Some(cluster) = Cluster::start_if_any("upstream") else { return };
    kills::kill_at_moments_of_its_upstream(&cluster.database("record"));
}

#[test]
fn killed_at_random_times_over_postgres_it_tells_the_truth_after() {
    let Some(cluster) = Cluster::start_if_any("random") else { return };
    kills::kill_at_random_times(&cluster.database("record"));
}

#[test]
fn a_run_whose_server_is_killed_over_postgres_ends_with_the_truth() {
    let Some(cluster) = Cluster::start_if_any("runs") else { return };
    run_kills::kill_with_runs(&cluster.database("record"));
}

fn is_ready(serving: &Serving) -> bool {
    serving.send(&head("GET", "/readyz", serving, &[]), "").status == 200
}

#[test]
fn while_its_database_is_away_nothing_is_changed_and_afterwards_all_goes_on() {
    let Some(cluster) = Cluster::start_if_any("outage") else { return };
    let upstream = Upstream::start();
    let file = file(&cluster.database("record"));
    let mut serving = Serving::start_in(upstream.furnish_web(&file), &[]);
    let careful = Wanted { profile: Some("careful"), ..act("web__act", "ok", "asked") };
    let waits = Door::Rest.call(&serving, &careful);
    let ticket = waits.whole["ticket"].as_str().unwrap().to_owned();
    let first = Door::Rest.call(&serving, &act("web__act", "ok", "first").under("first"));
    assert!(!first.error, "{first:?}");
    cluster.crash();
    let refused = Door::Rest.call(&serving, &act("web__act", "ok", "refused").under("refused"));
    assert!(refused.error, "{refused:?}");
    assert!(eventually(|| !is_ready(&serving)));
    let told = serving.send(&head("GET", "/readyz", &serving, &[]), "").body;
    assert!(told.contains("unrecorded"), "{told}");
    cluster.run();
    assert!(eventually(|| is_ready(&serving)));
    let later = Door::Rest.call(&serving, &act("web__act", "ok", "refused").under("refused"));
    assert!(!later.error, "{later:?}");
    serving = killed(serving);
    let again = Door::Rest.call(&serving, &act("web__act", "ok", "first").under("first"));
    assert_eq!(again.text, first.text);
    let approved =
        serving.ask("POST", &format!("/v1/tickets/{ticket}"), r#"{"decision": "approve"}"#);
    assert_eq!(approved.json()["response"]["error"], false, "{approved:?}");
    for nonce in ["first", "refused", "asked"] {
        assert_eq!(upstream.oracle.count(nonce), 1, "{nonce}");
    }
}

#[test]
fn what_serve_says_of_a_database_check_and_doctor_say_and_none_tells_its_password() {
    let Some(cluster) = Cluster::start_if_any("said") else { return };
    let url = cluster.database("record").replace("crib@", "crib:${env:CRIB_PASSWORD}@");
    let ends = |words: &str| {
        let folder = Folder::new();
        folder.write(
            "crib.toml",
            &format!("[store]\nurl = \"{url}\"\n[[source]]\nid = \"a\"\nbasics = true\n"),
        );
        let mut texts = Vec::new();
        for command in ["check", "doctor"] {
            let variables = [("CRIB_PASSWORD", PASSWORD), ("XDG_STATE_HOME", &state(&folder))];
            let ran = run_in(&folder, &[command], &variables);
            assert_eq!(ran.code == 0, words.is_empty(), "{command}: {ran:?}");
            texts.push(ran.out + &ran.err);
        }
        if !words.is_empty() {
            let words = ["serve", "crib.toml", "--listen", "127.0.0.1:0"];
            let variables = [("CRIB_PASSWORD", PASSWORD), ("XDG_STATE_HOME", &state(&folder))];
            let ran = run_in(&folder, &words, &variables);
            assert_eq!(ran.code, 2, "{ran:?}");
            texts.push(ran.out + &ran.err);
        }
        for text in texts {
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains(words), "`{words}` is not in {text}");
            assert!(!text.contains(PASSWORD), "{text}");
        }
    };
    ends("");
    cluster.reload("ALTER SYSTEM SET fsync = off", "fsync", "off");
    ends("loses what it confirmed when its machine stops: set `fsync`");
    cluster.crash();
    ends("cannot be reached: start its database");
}

#[test]
fn a_record_is_carried_into_a_database_and_gone_on_with_there() {
    let Some(cluster) = Cluster::start_if_any("carried") else { return };
    let upstream = Upstream::start();
    let store = |url: &str| {
        format!(
            "allow = [\"*\"]\n[store]\nurl = \"{url}\"\n[profile.careful]\nask = [\"*__act\"]\n"
        )
    };
    let mut serving = Serving::start_in(upstream.furnish_web(&store("sqlite://crib.db")), &[]);
    let careful = Wanted { profile: Some("careful"), ..act("web__act", "ok", "asked") };
    let ticket = Door::Rest.call(&serving, &careful).whole["ticket"].as_str().unwrap().to_owned();
    let first = Door::Rest.call(&serving, &act("web__act", "ok", "first").under("first"));
    let url = cluster.database("record");
    let words = ["store", "copy", "sqlite://crib.db", &url, "--json"];
    let refused = serving.folder.run(&words);
    assert!(refused.code == 2 && refused.err.contains("in use by another process"), "{refused:?}");
    serving.child.kill().unwrap();
    serving.child.wait().unwrap();
    let folder = std::mem::replace(&mut serving.folder, Folder::new());
    let copied = folder.run(&words);
    assert_eq!(copied.code, 0, "{copied:?}");
    let counts = copied.json()["copied"].clone();
    assert_eq!((&counts["calls"], &counts["tickets"]), (&json!(1), &json!(1)), "{counts}");
    let again = folder.run(&words);
    assert!(again.code == 2 && again.err.contains("holds something already"), "{again:?}");
    let file = std::fs::read_to_string(folder.path().join("crib.toml")).unwrap();
    folder.write("crib.toml", &file.replace("sqlite://crib.db", &url));
    std::fs::remove_file(folder.path().join("crib.db")).unwrap();
    let serving = Serving::start_in(folder, &[]);
    let answered = Door::Rest.call(&serving, &act("web__act", "ok", "first").under("first"));
    assert_eq!(answered.text, first.text);
    let approved =
        serving.ask("POST", &format!("/v1/tickets/{ticket}"), r#"{"decision": "approve"}"#);
    assert_eq!(approved.json()["response"]["error"], false, "{approved:?}");
    assert_eq!((upstream.oracle.count("first"), upstream.oracle.count("asked")), (1, 1));
}

#[test]
fn a_copy_that_was_put_back_is_not_served_until_a_person_says_so() {
    let Some(cluster) = Cluster::start_if_any("older") else { return };
    let upstream = Upstream::start();
    let file = file(&cluster.database("record"));
    let mut serving = Serving::start_in(upstream.furnish_web(&file), &[]);
    serving = killed(serving);
    serving.child.kill().unwrap();
    serving.child.wait().unwrap();
    let folder = std::mem::replace(&mut serving.folder, Folder::new());
    cluster.sql("record", "UPDATE store SET groups = 1").unwrap();
    let Err((folder, told)) = Serving::try_start(folder) else { unreachable!("it serves") };
    assert!(told.contains("lacks a part of what was written to it"), "{told}");
    let note = told.split("or remove `").nth(1).unwrap().split('`').next().unwrap();
    std::fs::remove_file(note).unwrap();
    let serving = Serving::start_in(folder, &[]);
    let calls = serving.ask("GET", "/v1/calls", "").json();
    assert_eq!(calls["running"], Value::Array(Vec::new()));
}
