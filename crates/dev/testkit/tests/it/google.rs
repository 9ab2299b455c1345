//! The server that stands in for Google holds everybody to Google's documents.

#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "helpers of tests")]

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};
use toolcrib_testkit::google::{CLIENT, CLIENT_SECRET, GoogleServer, REFRESH_TOKEN};

/// Status and body of an answer.
fn ask(server: &GoogleServer, head: &str, body: &str) -> (String, Value) {
    let address = server.base();
    let mut stream = TcpStream::connect(address.trim_start_matches("http://")).expect("it listens");
    let length = body.len();
    let request = format!("{head}\r\nHost: x\r\nContent-Length: {length}\r\n\r\n{body}");
    stream.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    let (head, body) = answer.split_once("\r\n\r\n").expect("an answer has a head");
    let status = head.split(' ').nth(1).expect("a status").to_owned();
    (status, serde_json::from_str(body).unwrap_or_default())
}

fn token(server: &GoogleServer) -> String {
    let form = format!(
        "grant_type=refresh_token&refresh_token={REFRESH_TOKEN}&client_id={CLIENT}\
         &client_secret={CLIENT_SECRET}"
    );
    let (_, given) = ask(server, "POST /token HTTP/1.1", &form);
    given["access_token"].as_str().expect("a token").to_owned()
}

#[test]
fn what_the_documents_do_not_know_is_refused_and_remembered() {
    let server = GoogleServer::start().expect("the documents are there");
    let token = token(&server);
    let events = "/calendar/v3/calendars/primary/events";
    let task = "/tasks/v1/lists/@default/tasks";
    for (line, body, why) in [
        ("GET /calendar/v4/x", json!(null), "no operation has this method and path"),
        (&format!("PUT {task}"), json!({}), "no operation has this method and path"),
        (&format!("GET {events}?sort=up"), json!(null), "no parameter is called `sort`"),
        (&format!("GET {events}?maxResults=many"), json!(null), "`maxResults` is no integer"),
        (&format!("GET {events}?maxResults=0"), json!(null), "`maxResults` is too small"),
        (&format!("GET {events}?q=a&q=b"), json!(null), "`q` stands twice"),
        (&format!("GET {events}?singleEvents=yes"), json!(null), "`singleEvents` is no boolean"),
        (
            &format!("GET {events}?orderBy=end"),
            json!(null),
            "`orderBy` is none of the values that it may have",
        ),
        (&format!("POST {task}"), json!({"name": "x"}), "no property is called `/name`"),
        (&format!("POST {task}"), json!({"title": 7}), "`/title` is no string"),
        (&format!("POST {task}"), json!({"title": null}), "`/title` is null"),
        (
            &format!("POST {events}"),
            json!({"start": {"dateTime": "noon"}}),
            "`/start/dateTime` is no date-time: noon",
        ),
        (
            &format!("POST {events}"),
            json!({"attendees": [{"mail": "x"}]}),
            "no property is called `/attendees/0/mail`",
        ),
        ("POST /gmail/v1/users/me/messages/send", json!({"raw": "%"}), "`/raw` is no byte: %"),
        (&format!("GET {events}"), json!({}), "it takes no body"),
    ] {
        let before = server.violations().len();
        let head = format!(
            "{line} HTTP/1.1\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json"
        );
        let body = if body.is_null() { String::new() } else { body.to_string() };
        assert_eq!(ask(&server, &head, &body).0, "400", "{line}");
        let violations = server.violations();
        assert_eq!(violations.len(), before + 1, "{line}");
        let last = violations.last().expect("one more");
        assert!(last.ends_with(&format!(": {why}")), "{last} is not {why}");
    }
}

#[test]
fn nobody_is_let_in_without_a_token_that_is_good() {
    let server = GoogleServer::start().expect("the documents are there");
    let line = "GET /tasks/v1/users/@me/lists HTTP/1.1";
    let with =
        |token: &str| ask(&server, &format!("{line}\r\nAuthorization: Bearer {token}"), "").0;
    assert_eq!(ask(&server, line, "").0, "401");
    assert_eq!(with("made-up"), "401");
    let token = token(&server);
    assert_eq!(with(&token), "200");
    server.expire_access();
    assert_eq!(with(&token), "401");
    server.revoke();
    let form = format!("grant_type=refresh_token&refresh_token={REFRESH_TOKEN}&client_id={CLIENT}");
    let (status, denied) = ask(&server, "POST /token HTTP/1.1", &form);
    assert_eq!((status.as_str(), &denied["error"]), ("400", &json!("invalid_client")));
    let form = format!("{form}&client_secret={CLIENT_SECRET}");
    let (status, denied) = ask(&server, "POST /token HTTP/1.1", &form);
    assert_eq!((status.as_str(), &denied["error"]), ("400", &json!("invalid_grant")));
    assert_eq!(server.violations(), [""; 0]);
}
