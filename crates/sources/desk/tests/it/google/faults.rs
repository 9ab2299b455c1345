//! What goes wrong, and what it means.

use std::time::{Duration, Instant};

use toolcrib_desk::backend::{
    BackendErrorKind, CalendarBackend, EventQuery, MailBackend, MailQuery, NewEvent, NewMessage,
    NewTask, TaskQuery, TasksBackend,
};
use toolcrib_testkit::google::GoogleFailure;

use super::{Account, kind, person, timed};

fn body(text: impl Into<String>) -> GoogleFailure {
    GoogleFailure::Answer(200, Vec::new(), text.into())
}

fn event() -> NewEvent {
    NewEvent {
        calendar: None,
        title: "x".to_owned(),
        slot: timed("2026-11-24 14:00", "2026-11-24 15:00"),
        description: None,
        location: None,
        guests: Vec::new(),
        rule: None,
        busy: true,
    }
}

fn query() -> EventQuery {
    let from = "2026-11-01T00:00:00Z".parse().unwrap();
    let until = "2026-12-01T00:00:00Z".parse().unwrap();
    EventQuery {
        calendar: Some("primary".to_owned()),
        from,
        until,
        text: None,
        limit: 5,
        cursor: None,
    }
}

fn task() -> NewTask {
    NewTask { list: None, title: "x".to_owned(), notes: None, due: None }
}

fn letter() -> NewMessage {
    NewMessage { to: vec![person("ben@example.org")], ..NewMessage::default() }
}

#[tokio::test]
async fn whoever_asks_for_patience_is_told_of_as_busy() {
    let account = Account::open();
    let troubles = [
        GoogleFailure::error(429, "rateLimitExceeded", &[("Retry-After", "7")]),
        GoogleFailure::error(403, "rateLimitExceeded", &[("Retry-After", "7")]),
        GoogleFailure::error(403, "userRateLimitExceeded", &[("Retry-After", "7")]),
        GoogleFailure::error(403, "quotaExceeded", &[("Retry-After", "7")]),
    ];
    for trouble in troubles {
        account.server.trouble("POST /calendar", trouble);
        let fault = CalendarBackend::add(&account.google, "", event()).await.unwrap_err();
        assert_eq!(fault.kind, BackendErrorKind::Busy);
        assert!(fault.message.contains("wait 7 s"), "{}", fault.message);
    }
    account
        .server
        .trouble("GET /tasks", GoogleFailure::error(429, "x", &[("Retry-After", "many")]));
    assert_eq!(kind(account.google.lists("").await), BackendErrorKind::Busy);
    account.server.trouble("GET /tasks", GoogleFailure::error(403, "insufficientPermissions", &[]));
    assert_eq!(kind(account.google.lists("").await), BackendErrorKind::Refused);
    assert!(account.google.events("", query()).await.unwrap().items.is_empty());
    account.close();
}

#[tokio::test]
async fn a_server_that_fails_may_have_written() {
    let account = Account::open();
    for status in [500, 502, 503, 504] {
        account.server.trouble("/events", GoogleFailure::error(status, "backendError", &[]));
        assert_eq!(kind(account.google.events("", query()).await), BackendErrorKind::Interrupted);
        account.server.trouble("POST /calendar", GoogleFailure::error(status, "backendError", &[]));
        let added = CalendarBackend::add(&account.google, "", event()).await;
        assert_eq!(kind(added), BackendErrorKind::Unknown);
    }
    account.close();
}

#[tokio::test]
async fn a_line_that_is_cut_after_a_write_leaves_its_end_unknown() {
    let account = Account::open();
    account.server.trouble("POST /calendar", GoogleFailure::Cut);
    let added = CalendarBackend::add(&account.google, "", event()).await;
    assert_eq!(kind(added), BackendErrorKind::Unknown);
    assert_eq!(account.google.events("", query()).await.unwrap().items.len(), 1, "it was done");
    account.server.trouble("POST /tasks", GoogleFailure::Cut);
    assert_eq!(
        kind(TasksBackend::add(&account.google, "", task()).await),
        BackendErrorKind::Unknown
    );
    account.server.trouble("/messages/send", GoogleFailure::Cut);
    assert_eq!(kind(account.google.send("", letter()).await), BackendErrorKind::Unknown);
    assert_eq!(account.server.sent().len(), 1, "and once");
    account.server.trouble("GET /tasks", GoogleFailure::Cut);
    assert_eq!(kind(account.google.lists("").await), BackendErrorKind::Interrupted);
    account.close();
}

#[tokio::test]
async fn what_was_sent_is_told_also_if_it_cannot_be_read_again() {
    let account = Account::open();
    account.server.trouble("GET /gmail/v1/users/me/messages/", GoogleFailure::error(500, "x", &[]));
    let sent = account.google.send("", letter()).await.unwrap();
    assert_eq!(sent.labels, ["sent"]);
    account.close();
}

#[tokio::test]
async fn silence_ends_with_the_deadline() {
    let account = Account::with(|settings| settings.deadline = Duration::from_millis(400));
    let long = Duration::from_secs(3);
    let start = Instant::now();
    account.server.trouble("GET /calendar", GoogleFailure::Silence(long));
    assert_eq!(kind(account.google.calendars("").await), BackendErrorKind::Interrupted);
    account.server.trouble("POST /tasks", GoogleFailure::Silence(long));
    assert_eq!(
        kind(TasksBackend::add(&account.google, "", task()).await),
        BackendErrorKind::Unknown
    );
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    account.close();
}

#[tokio::test]
async fn nobody_at_the_port_is_unreachable() {
    let account = Account::open();
    let google = account.google.clone();
    google.calendars("").await.unwrap();
    drop(account);
    // The listener may take a moment to go.
    let mut last = BackendErrorKind::Broken;
    for _ in 0..50 {
        last = kind(CalendarBackend::add(&google, "", event()).await);
        if last == BackendErrorKind::Unreachable {
            break;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(last, BackendErrorKind::Unreachable);
}

#[tokio::test]
async fn answers_that_are_none_are_told_as_broken() {
    let account = Account::open();
    account.google.events("", query()).await.unwrap();
    let deep = "[".repeat(200_000);
    let event = |fields: &str| format!(r#"{{"items": [{{{fields}}}]}}"#);
    for text in [
        String::new(),
        "null".to_owned(),
        "[]".to_owned(),
        "<html>".to_owned(),
        deep.clone(),
        format!(r#"{{"items": {deep}"#),
        format!(r#"{{"items": [{{"id": "a", "attendees": [{{"x": {deep}"#),
        r#"{"items": {"id": 1}}"#.to_owned(),
        r#"{"items": [7]}"#.to_owned(),
        event(r#""id": 7"#),
        event(r#""id": "a""#),
        event(r#""id": "a", "start": {"dateTime": "tomorrow"}"#),
        event(r#""id": "a", "start": {"date": "2026-02-30"}, "end": {}"#),
        event(r#""id": "a", "start": {"dateTime": "é"}, "end": {"dateTime": "x"}"#),
        event(r#""id": "a/b", "start": {"date": "2026-02-03"}"#),
        event(r#""id": "", "start": {"date": "2026-02-03"}"#),
    ] {
        account.server.trouble("/events", body(text.clone()));
        let found = account.google.events("", query()).await;
        let shown: String = text.chars().take(80).collect();
        assert_eq!(kind(found), BackendErrorKind::Broken, "{shown}");
    }
    for (zone, end) in [("../../etc/passwd", "1999-01-01T00:00:00Z"), ("Moon/Base", "x")] {
        let when = format!(r#"{{"dateTime": "2026-11-03T10:00:00-03:30", "timeZone": "{zone}"}}"#);
        let fields = format!(r#""id": "a", "start": {when}, "end": {{"dateTime": "{end}"}}"#);
        account.server.trouble("/events", body(event(&fields)));
        let found = account.google.events("", query()).await.unwrap();
        assert_eq!(found.items.len(), 1, "an odd zone or end is read around");
    }
    account.server.trouble("POST /tasks", body("7"));
    assert_eq!(
        kind(TasksBackend::add(&account.google, "", task()).await),
        BackendErrorKind::Unknown
    );
    let message = |fields: &str| body(format!(r#"{{"id": "a", {fields}}}"#));
    for fields in [
        r#""raw": "%%%""#,
        r#""raw": "Rg", "internalDate": "9999999999999999999""#,
        r#""raw": "Rg", "internalDate": "-99999999999999999""#,
        r#""raw": 7"#,
        r#""x": 7"#,
    ] {
        account.server.trouble("/messages/", message(fields));
        assert_eq!(
            kind(account.google.message("", "a").await),
            BackendErrorKind::Broken,
            "{fields}"
        );
    }
    account.close();
}

#[tokio::test]
async fn pages_without_end_are_given_up() {
    let account = Account::open();
    account.google.events("", query()).await.unwrap();
    let endless = |items: &str| body(format!(r#"{{"{items}": [], "nextPageToken": "again"}}"#));
    for _ in 0..100 {
        account.server.trouble("/events", endless("items"));
        account.server.trouble("/tasks/v1", endless("items"));
        account.server.trouble("/drafts", endless("drafts"));
        account.server.trouble("/messages", endless("messages"));
    }
    assert_eq!(kind(account.google.events("", query()).await), BackendErrorKind::Broken);
    let tasks = TaskQuery { list: Some("x".to_owned()), limit: 5, ..TaskQuery::default() };
    assert_eq!(kind(account.google.tasks("", tasks).await), BackendErrorKind::Broken);
    assert_eq!(kind(account.google.lists("").await), BackendErrorKind::Broken);
    assert_eq!(kind(account.google.send_draft("", "a").await), BackendErrorKind::NotFound);
    let page = account.google.messages("", MailQuery { limit: 5, ..MailQuery::default() }).await;
    assert_eq!(page.unwrap().next.as_deref(), Some("again"), "whoever asks goes on or not");
    account.close();
}

#[tokio::test]
async fn an_answer_without_end_is_not_taken() {
    let account = Account::open();
    account.server.trouble("GET /calendar", body(" ".repeat(9 * 1024 * 1024)));
    assert_eq!(kind(account.google.calendars("").await), BackendErrorKind::Broken);
    account.server.trouble("POST /tasks", body(" ".repeat(9 * 1024 * 1024)));
    assert_eq!(
        kind(TasksBackend::add(&account.google, "", task()).await),
        BackendErrorKind::Unknown
    );
    account.close();
}

#[tokio::test]
async fn a_token_server_that_fails_has_sent_nothing() {
    let account = Account::open();
    for (trouble, expected) in [
        (GoogleFailure::error(500, "x", &[]), BackendErrorKind::Unreachable),
        (GoogleFailure::Cut, BackendErrorKind::Unreachable),
        (GoogleFailure::error(429, "x", &[]), BackendErrorKind::Busy),
        (GoogleFailure::error(400, "x", &[]), BackendErrorKind::Refused),
        (body("{}"), BackendErrorKind::Broken),
        (body(r#"{"access_token": "a b\n"}"#), BackendErrorKind::Broken),
        (body(r#"{"access_token": "a", "token_type": "mac"}"#), BackendErrorKind::Broken),
        (body(r#"{"access_token": "a", "expires_in": -1}"#), BackendErrorKind::Broken),
    ] {
        account.server.trouble("/token", trouble);
        let added = CalendarBackend::add(&account.google, "", event()).await;
        assert_eq!(kind(added), expected);
    }
    CalendarBackend::add(&account.google, "", event()).await.unwrap();
    account.close();
}

#[tokio::test]
async fn a_secret_that_an_error_echoes_is_masked() {
    let account = Account::open();
    account.google.calendars("").await.unwrap();
    let text = r#"{"error": {"message": "bad token access-token-of-anna-1\u0000 here"}}"#;
    account.server.trouble("GET /tasks", GoogleFailure::Answer(403, Vec::new(), text.to_owned()));
    let fault = account.google.lists("").await.unwrap_err();
    assert!(fault.message.contains("bad token [secret]  here"), "{}", fault.message);
    account.close();
}
