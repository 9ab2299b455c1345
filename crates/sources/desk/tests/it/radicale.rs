//! Events and tasks at a real server of CalDAV: Radicale, where the run of the tests installed it.

use std::io::Write as _;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use toolcrib_child::{Child, Program};
use toolcrib_core::Secret;
use toolcrib_desk::backend::{BackendErrorKind, CalendarBackend, TasksBackend};
use toolcrib_desk::caldav::{CalDavBackend, CalDavSettings};
use toolcrib_testkit::TestFolder;
use url::Url;

use crate::agenda::{OWNER, Subject, agenda_tests, home, kind, new, timed};

/// A server that goes away with its test.
struct Radicale {
    url: Url,
    _child: Child,
    _folder: TestFolder,
}

impl Radicale {
    async fn start() -> Option<Self> {
        let Some(python) = variable("TOOLCRIB_PYTHON_PEERS") else {
            let out = &mut std::io::stdout();
            writeln!(out, "[skipped] no server of CalDAV: `cargo xtask peers` installs it")
                .unwrap();
            return None;
        };
        let folder = TestFolder::new();
        let users = folder.write("users", "anna:right\n");
        let data = folder.path().join("data");
        // Nobody else takes a port that was free a moment ago, in all likelihood.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = format!(
            "[server]\nhosts = 127.0.0.1:{port}\nmax_connections = 50\n\
             [auth]\ntype = htpasswd\nhtpasswd_filename = {}\nhtpasswd_encryption = plain\n\
             delay = 0\n[storage]\nfilesystem_folder = {}\n[logging]\nlevel = warning\n",
            users.display(),
            data.display()
        );
        let config = folder.write("config", &config);
        let config = config.to_str().unwrap();
        let mut program = Program::new(python, ["-m", "radicale", "--config", config]);
        program.inherited = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
        let child = Child::spawn(&program).await.unwrap();
        for _ in 0..400 {
            if tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
                let url = Url::parse(&format!("http://127.0.0.1:{port}/")).unwrap();
                return Some(Self { url, _child: child, _folder: folder });
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("the server does not listen");
    }

    fn account(&self, path: &str, password: &str) -> CalDavBackend {
        let url = self.url.join(path).unwrap();
        let settings = CalDavSettings::new(url, OWNER, Secret::new(password), home());
        CalDavBackend::open(settings).unwrap()
    }
}

#[expect(clippy::disallowed_methods, reason = "the test run says where it installed its peers")]
fn variable(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from)
}

async fn open() -> Option<Subject> {
    let server = Radicale::start().await?;
    let account = Arc::new(server.account("", "right"));
    Some(Subject { calendar: account.clone(), tasks: account, _guard: Some(Box::new(server)) })
}

agenda_tests!(open);

#[tokio::test]
async fn a_wrong_password_is_refused_and_not_told() {
    let Some(server) = Radicale::start().await else { return };
    let refused = server.account("", "wrong-as-can-be").calendars(OWNER).await.unwrap_err();
    assert_eq!(refused.kind, BackendErrorKind::Refused);
    assert!(!format!("{refused:?}").contains("wrong-as-can-be"));
}

#[tokio::test]
async fn an_account_is_found_by_the_address_of_the_server_a_home_or_one_calendar() {
    let Some(server) = Radicale::start().await else { return };
    let by_server = server.account("", "right");
    let slot = timed("2026-11-24 14:00", "2026-11-24 14:30");
    let added = CalendarBackend::add(&by_server, OWNER, new("Here", slot)).await.unwrap();
    for path in ["anna/", "anna/personal/", "anna/personal"] {
        let account = server.account(path, "right");
        let calendars = account.calendars(OWNER).await.unwrap();
        let told: Vec<_> = calendars.iter().map(|it| (&*it.id, &*it.name, it.can_write)).collect();
        assert_eq!(told, [("personal", "Personal", true)], "{path}");
        assert_eq!(account.event(OWNER, &added.id).await.unwrap(), added, "{path}");
    }
    let nowhere = server.account("anna/none/", "right");
    assert_eq!(kind(nowhere.calendars(OWNER).await), BackendErrorKind::Broken);
    // Radicale keeps the one calendar for events alone, and none is made beside it.
    let single = server.account("anna/personal/", "right");
    assert_eq!(single.lists(OWNER).await.unwrap(), []);
    assert_eq!(kind(single.add_list(OWNER, "More").await), BackendErrorKind::Invalid);
}

#[tokio::test]
async fn a_server_that_is_not_there_is_told_as_such() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = Url::parse(&format!("http://127.0.0.1:{port}/")).unwrap();
    let settings = CalDavSettings::new(url, OWNER, Secret::new("x"), home());
    let account = CalDavBackend::open(settings).unwrap();
    assert_eq!(kind(account.calendars(OWNER).await), BackendErrorKind::Unreachable);
}
