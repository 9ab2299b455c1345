//! Servers of CalDAV that are none, are broken, or want the password elsewhere.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use toolcrib_core::Secret;
use toolcrib_desk::backend::{BackendErrorKind, CalendarBackend, EventChange};
use toolcrib_desk::caldav::{CalDavBackend, CalDavSettings};
use url::Url;

use crate::agenda::{OWNER, home, kind, query};

/// Says what it is told to, and remembers what it was asked.
struct Server {
    url: Url,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// `answer` makes of a method and a path the status line with headers, and the body.
    async fn start(
        answer: impl Fn(&str, &str) -> (String, String) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let remembered = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = Vec::new();
                let mut part = [0; 4096];
                while let Ok(read @ 1..) = stream.read(&mut part).await {
                    request.extend_from_slice(&part[..read]);
                    if is_whole(&String::from_utf8_lossy(&request)) {
                        break;
                    }
                }
                let request = String::from_utf8_lossy(&request).into_owned();
                let mut words = request.split(' ');
                let (method, path) = (words.next().unwrap(), words.next().unwrap_or_default());
                let (head, body) = answer(method, path);
                remembered.lock().unwrap().push(format!("{method} {path}"));
                let length = body.len();
                let text = format!(
                    "HTTP/1.1 {head}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
                );
                let _ = stream.write_all(text.as_bytes()).await;
            }
        });
        Self { url: Url::parse(&url).unwrap(), asked }
    }

    fn account(&self) -> CalDavBackend {
        let url = self.url.clone();
        CalDavBackend::open(CalDavSettings::new(url, OWNER, Secret::new("secret"), home())).unwrap()
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn is_whole(request: &str) -> bool {
    let Some((head, body)) = request.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().unwrap())
    });
    body.len() >= length.unwrap_or(0)
}

fn found(body: &str) -> (String, String) {
    let body = format!(
        r#"<multistatus xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">{body}</multistatus>"#
    );
    ("207 Multi-Status".to_owned(), body)
}

fn response(href: &str, props: &str) -> String {
    format!(
        "<response><href>{href}</href><propstat><prop>{props}</prop>\
         <status>HTTP/1.1 200 OK</status></propstat></response>"
    )
}

const CALENDAR: &str = "<resourcetype><collection/><C:calendar/></resourcetype>";

#[tokio::test]
async fn no_password_goes_to_another_server() {
    let other = Server::start(|_, _| found("")).await;
    let elsewhere = other.url.clone();
    let redirecting = Server::start(move |_, path| {
        (format!("301 Moved Permanently\r\nlocation: {elsewhere}{path}"), String::new())
    })
    .await;
    let calendars = redirecting.account().calendars(OWNER).await;
    assert_eq!(kind(calendars), BackendErrorKind::Refused);

    let elsewhere = other.url.clone();
    let pointing = Server::start(move |_, _| {
        let principal =
            format!("<current-user-principal><href>{elsewhere}a/</href></current-user-principal>");
        found(&response("/", &principal))
    })
    .await;
    assert_eq!(kind(pointing.account().calendars(OWNER).await), BackendErrorKind::Refused);
    assert_eq!(other.asked(), [""; 0]);
}

#[tokio::test]
async fn a_redirect_at_the_same_server_is_followed_but_not_for_ever() {
    let server = Server::start(|_, path| match path {
        "/.well-known/caldav" => ("301 Moved\r\nlocation: /dav".to_owned(), String::new()),
        "/dav" => ("307 Moved\r\nlocation: /dav/".to_owned(), String::new()),
        "/dav/" => found(&response(
            "/dav/",
            "<current-user-principal><href>/me/</href></current-user-principal>",
        )),
        "/me/" => found(&response(
            "/me/",
            "<C:calendar-home-set><href>/cal/</href></C:calendar-home-set>",
        )),
        "/cal/" => found(&response("/cal/own/", CALENDAR)),
        _ => ("404 Not Found".to_owned(), String::new()),
    })
    .await;
    let calendars = server.account().calendars(OWNER).await.unwrap();
    assert_eq!((calendars.len(), calendars[0].id.as_str()), (1, "own"));

    let round = Server::start(|_, _| ("302 Found\r\nlocation: /a".to_owned(), String::new())).await;
    assert_eq!(kind(round.account().calendars(OWNER).await), BackendErrorKind::Broken);
    assert!(round.asked().len() <= 12, "{:?}", round.asked());
}

/// A server with one calendar, in which `answer` says what comes of an object.
async fn with_object(answer: fn(&str) -> (String, String)) -> Server {
    Server::start(move |method, path| match (method, path) {
        ("PROPFIND", "/.well-known/caldav") => ("404 Not Found".to_owned(), String::new()),
        ("PROPFIND", _) => {
            let home = "<C:calendar-home-set><href>/</href></C:calendar-home-set>";
            found(&(response("/", home) + &response("/own/", CALENDAR)))
        }
        (method, "/own/a.ics") => answer(method),
        _ => ("404 Not Found".to_owned(), String::new()),
    })
    .await
}

const EVENT: &str = "BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nUID:a\r\nDTSTART:20261124T090000Z\r\n\
                     SUMMARY:Old\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n";

fn got(head: &str) -> (String, String) {
    (format!("200 OK{head}"), EVENT.to_owned())
}

async fn renamed(server: &Server) -> BackendErrorKind {
    let change = EventChange { title: Some("New".to_owned()), ..EventChange::default() };
    kind(server.account().change(OWNER, "own/a", change).await)
}

#[tokio::test]
async fn what_was_changed_in_the_meantime_is_a_conflict() {
    let server = with_object(|method| match method {
        "GET" => got("\r\netag: \"1\""),
        _ => ("412 Precondition Failed".to_owned(), String::new()),
    })
    .await;
    assert_eq!(renamed(&server).await, BackendErrorKind::Conflict);
    assert_eq!(kind(server.account().remove(OWNER, "own/a").await), BackendErrorKind::Conflict);
    // Without a tag nothing would tell, so nothing is sent.
    let server = with_object(|_| got("")).await;
    assert_eq!(renamed(&server).await, BackendErrorKind::Broken);
    assert!(!server.asked().iter().any(|asked| asked.starts_with("PUT")), "{:?}", server.asked());
}

#[tokio::test]
async fn a_failing_server_is_told_as_what_may_be_repeated() {
    let server = with_object(|method| match method {
        "GET" => got("\r\netag: \"1\""),
        _ => ("500 Internal Server Error".to_owned(), String::new()),
    })
    .await;
    assert_eq!(renamed(&server).await, BackendErrorKind::Unknown);
    for (status, expected) in [
        ("500 Internal Server Error", BackendErrorKind::Interrupted),
        ("503 Service Unavailable", BackendErrorKind::Busy),
        ("403 Forbidden", BackendErrorKind::Refused),
        ("418 Teapot", BackendErrorKind::Broken),
    ] {
        let server = Server::start(move |_, _| (status.to_owned(), String::new())).await;
        assert_eq!(kind(server.account().calendars(OWNER).await), expected, "{status}");
    }
}

#[tokio::test]
async fn objects_that_a_query_only_names_are_asked_for_by_name() {
    let server = Server::start(|method, path| match (method, path) {
        ("PROPFIND", _) => {
            let home = "<C:calendar-home-set><href>/</href></C:calendar-home-set>";
            found(&(response("/", home) + &response("/own/", CALENDAR)))
        }
        _ => found(&response("/own/a.ics", "<getetag>\"1\"</getetag>")),
    })
    .await;
    let stretch = query("2026-11-24 00:00", "2026-11-25 00:00");
    let page = server.account().events(OWNER, stretch).await.unwrap();
    assert_eq!(page.items, []);
    // One of the query, and one by name, and then an end of it.
    let reports = server.asked().iter().filter(|asked| asked.starts_with("REPORT")).count();
    assert_eq!(reports, 2);
}

#[tokio::test]
async fn an_object_that_cannot_be_read_is_told_beside_the_others() {
    let server = Server::start(|method, _| {
        if method == "PROPFIND" {
            let home = "<C:calendar-home-set><href>/</href></C:calendar-home-set>";
            found(&(response("/", home) + &response("/own/", CALENDAR)))
        } else {
            let object = |name: &str, text: &str| {
                let data = format!("<C:calendar-data>{text}</C:calendar-data>");
                response(&format!("/own/{name}.ics"), &format!("<getetag>\"1\"</getetag>{data}"))
            };
            let odd = EVENT.replace("SUMMARY:Old", "SUMMARY:Old\r\nEXRULE:FREQ=DAILY");
            let cut = EVENT.replace("END:VCALENDAR", "");
            found(&(object("a", EVENT) + &object("b", &odd) + &object("c", &cut)))
        }
    })
    .await;
    let stretch = query("2026-11-24 00:00", "2026-11-25 00:00");
    let page = server.account().events(OWNER, stretch).await.unwrap();
    assert_eq!(page.items.len(), 1);
    let [odd, cut] = &page.unread[..] else { panic!("{:?}", page.unread) };
    assert!(odd.starts_with("`own/b` is left out") && odd.contains("(UID `a`)"), "{odd}");
    assert!(odd.contains("it has an EXRULE"), "{odd}");
    assert!(cut.starts_with("`own/c` is left out") && cut.contains("`VCALENDAR`"), "{cut}");
}

#[tokio::test]
async fn xml_that_is_a_trap_is_refused() {
    let entities = "<!DOCTYPE a [<!ENTITY b \"c\"><!ENTITY d \"&b;&b;&b;\">]><a>&d;</a>";
    let deep = "<a>".repeat(100_000);
    for body in [entities.to_owned(), deep, "no XML".to_owned(), "<a/><b/>".to_owned()] {
        let server = Server::start(move |_, _| ("207 Multi-Status".to_owned(), body.clone())).await;
        assert_eq!(kind(server.account().calendars(OWNER).await), BackendErrorKind::Broken);
    }
}
