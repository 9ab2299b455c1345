//! What every ledger does with sessions of clients, whatever it writes to: one suite, run over each
//! form.

use std::time::{Duration, SystemTime};

use toolcrib_core::{Caller, SessionRecord};

const LONG: Duration = Duration::from_mins(5);

fn named(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn session(name: &str, subject: &str) -> SessionRecord {
    // Stores keep milliseconds.
    let began = SystemTime::UNIX_EPOCH + Duration::from_millis(1_790_000_000_123);
    SessionRecord {
        name: name.to_owned(),
        caller: Caller::new("acme", subject),
        profile: Some("careful".to_owned()),
        greeting: r#"{"protocolVersion": "2025-11-25", "é": 1e400}"#.to_owned(),
        began,
    }
}

#[tokio::test]
async fn a_session_is_written_found_whole_and_written_anew() {
    let sessions = crate::client_sessions();
    let whole = SessionRecord { profile: None, ..session("one", "ann") };
    assert_eq!(sessions.find("one").await, Ok(None));
    assert_eq!(sessions.put(whole.clone(), LONG, 9).await, Ok(true));
    assert_eq!(sessions.put(session("two", "ann"), LONG, 9).await, Ok(true));
    assert_eq!(sessions.find("one").await, Ok(Some(whole.clone())));
    assert_eq!(sessions.find("two").await, Ok(Some(session("two", "ann"))));
    // Whoever does not know whether it was written writes it once more.
    assert_eq!(sessions.put(session("one", "ben"), LONG, 9).await, Ok(true));
    assert_eq!(sessions.find("one").await, Ok(Some(whole.clone())));
    sessions.greet("one", "{}".to_owned()).await.unwrap();
    let greeted = SessionRecord { greeting: "{}".to_owned(), ..whole };
    assert_eq!(sessions.find("one").await, Ok(Some(greeted)));
    assert_eq!(sessions.greet("nobody's", "{}".to_owned()).await, Ok(()));
}

#[tokio::test]
async fn a_caller_has_no_more_sessions_than_so_many_that_live() {
    let sessions = crate::client_sessions();
    for name in ["one", "two"] {
        assert_eq!(sessions.put(session(name, "ann"), LONG, 2).await, Ok(true));
    }
    assert_eq!(sessions.put(session("over", "ann"), Duration::ZERO, 3).await, Ok(true));
    assert_eq!(sessions.put(session("three", "ann"), LONG, 2).await, Ok(false));
    assert_eq!(sessions.find("three").await, Ok(None));
    assert_eq!(sessions.put(session("one", "ann"), LONG, 2).await, Ok(true));
    assert_eq!(sessions.put(session("hers", "ben"), LONG, 2).await, Ok(true));
    assert_eq!(sessions.end("one").await, Ok(true));
    assert_eq!(sessions.put(session("three", "ann"), LONG, 2).await, Ok(true));
}

#[tokio::test]
async fn a_session_that_was_ended_is_gone_for_all_and_stays_so() {
    let sessions = crate::client_sessions();
    sessions.put(session("one", "ann"), LONG, 9).await.unwrap();
    sessions.put(session("two", "ann"), LONG, 9).await.unwrap();
    let all = || named(&["nobody's", "two", "one"]);
    assert_eq!(sessions.ended(all()).await, Ok(Vec::new()));
    assert_eq!(sessions.end("one").await, Ok(true));
    assert_eq!(sessions.end("one").await, Ok(false));
    assert_eq!(sessions.end("nobody's").await, Ok(false));
    assert_eq!(sessions.keep(all(), LONG).await, Ok(named(&["two"])));
    assert_eq!(sessions.put(session("one", "ann"), LONG, 9).await, Ok(true));
    assert_eq!(sessions.find("one").await, Ok(None));
    assert_eq!(sessions.ended(all()).await, Ok(named(&["one"])));
    assert_eq!(sessions.ended(named(&["two"])).await, Ok(Vec::new()));
    assert_eq!(sessions.ended(Vec::new()).await, Ok(Vec::new()));
    assert_eq!(sessions.find("two").await, Ok(Some(session("two", "ann"))));
}

#[tokio::test]
async fn the_life_of_a_session_is_lengthened_and_never_shortened_and_none_comes_back() {
    let sessions = crate::client_sessions();
    sessions.put(session("short", "ann"), Duration::ZERO, 9).await.unwrap();
    sessions.put(session("long", "ann"), LONG, 9).await.unwrap();
    let both = || named(&["short", "long", "nobody's"]);
    for life in [Duration::ZERO, LONG] {
        assert_eq!(sessions.keep(both(), life).await, Ok(named(&["long"])));
    }
    assert_eq!(sessions.find("short").await, Ok(None));
    assert_eq!(sessions.find("long").await, Ok(Some(session("long", "ann"))));
    // Its clock begins anew where it still lives.
    sessions.put(session("kept", "ann"), Duration::from_secs(2), 9).await.unwrap();
    sessions.keep(vec!["kept".to_owned()], LONG).await.unwrap();
    sessions.put(session("left", "ann"), Duration::from_secs(2), 9).await.unwrap();
    while sessions.find("left").await.unwrap().is_some() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(sessions.find("kept").await, Ok(Some(session("kept", "ann"))));
    assert_eq!(sessions.keep(Vec::new(), LONG).await, Ok(Vec::new()));
    assert_eq!(sessions.ended(both()).await, Ok(Vec::new()));
}

#[tokio::test]
async fn one_whose_life_was_over_is_written_anew_where_its_caller_has_room() {
    let sessions = crate::client_sessions();
    assert_eq!(sessions.put(session("one", "ann"), Duration::ZERO, 1).await, Ok(true));
    assert_eq!(sessions.put(session("two", "ann"), LONG, 1).await, Ok(true));
    assert_eq!(sessions.put(session("one", "ann"), LONG, 1).await, Ok(false));
    assert_eq!(sessions.find("one").await, Ok(None));
    let anew = SessionRecord { greeting: "{}".to_owned(), ..session("one", "ann") };
    assert_eq!(sessions.put(anew.clone(), LONG, 2).await, Ok(true));
    assert_eq!(sessions.find("one").await, Ok(Some(anew)));
    assert_eq!(sessions.keep(named(&["one"]), LONG).await, Ok(named(&["one"])));
}

#[tokio::test]
async fn a_session_that_was_left_is_over_unless_somebody_kept_it_meanwhile() {
    let sessions = crate::client_sessions();
    for name in ["left", "kept", "ended"] {
        sessions.put(session(name, "ann"), LONG, 9).await.unwrap();
    }
    sessions.end("ended").await.unwrap();
    sessions.keep(vec!["kept".to_owned()], 2 * LONG).await.unwrap();
    let names = || ["left", "kept", "ended", "nobody's"].map(str::to_owned).to_vec();
    sessions.leave(names(), LONG / 2).await.unwrap();
    assert_eq!(sessions.find("left").await, Ok(Some(session("left", "ann"))));
    sessions.leave(names(), LONG).await.unwrap();
    assert_eq!(sessions.find("left").await, Ok(None));
    assert_eq!(sessions.find("kept").await, Ok(Some(session("kept", "ann"))));
    assert_eq!(sessions.ended(names()).await, Ok(named(&["ended"])));
    // What is over takes the place of no other.
    assert_eq!(sessions.put(session("next", "ann"), LONG, 2).await, Ok(true));
}
