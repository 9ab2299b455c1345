//! What the file says of a desk, as its source gets it.

use std::sync::{Arc, Mutex};

use toolcrib_config::{
    CalDavAccount, Config, DeskParts, DeskSettings, Disclosure, GoogleAccount, MailAccount,
    SourceFactory, SourceRegistry,
};
use toolcrib_core::{Secret, Source, Toolset};
use toolcrib_mcp::McpSourceSettings;
use toolcrib_openapi::ApiSettings;

use crate::workshop::{Workshop, config};

/// Keeps what it is to make desks of.
#[derive(Default)]
struct Listening(Mutex<Vec<(String, DeskSettings)>>);

impl SourceFactory for Listening {
    fn mcp(&self, _: &str, _: McpSourceSettings) -> Arc<dyn Source> {
        unreachable!("no such test")
    }

    fn api(&self, _: &str, _: ApiSettings) -> Arc<dyn Source> {
        unreachable!("no such test")
    }

    fn desk(&self, id: &str, settings: DeskSettings) -> Arc<dyn Source> {
        self.0.lock().unwrap().push((id.to_owned(), settings));
        Arc::new(Toolset::default())
    }
}

const BARE: &str = "[[source]]\nid = \"desk\"\ndesk = {}\n";

const WHOLE: &str = r#"
[[source]]
id = "work"
[source.desk]
timezone = "Europe/Zurich"
only = ["calendar", "mail"]
file = "work.db"
address = "Ann <ann@example.org>"
caldav = { url = "https://dav.example.org/ann/", user = "ann", password = "${env:DAV}" }
[source.desk.mail]
imap = "imaps://imap.example.org"
smtp = "smtp://127.0.0.1:2525"
from = "Ann <ann@example.org>"
user = "ann"
password = "${env:MAIL}"
"#;

fn made(text: &str, workshop: &Workshop) -> Vec<(String, DeskSettings)> {
    let heard = Listening::default();
    config(text).build(workshop, &heard);
    heard.0.into_inner().unwrap()
}

fn secret(text: &str) -> Secret {
    Secret::new(text)
}

#[test]
fn a_desk_of_which_nothing_is_said_has_everything_and_keeps_it_itself() {
    let bare = DeskSettings {
        zone: None,
        parts: DeskParts { calendar: true, tasks: true, mail: true },
        file: None,
        address: None,
        caldav: None,
        mail: None,
        google: None,
    };
    assert_eq!(made(BARE, &Workshop::default()), [("desk".to_owned(), bare)]);
    assert_eq!(config(BARE).reaches(Disclosure::Whole), Vec::<String>::new());
}

#[test]
fn the_accounts_of_a_desk_come_with_their_secrets_filled_in() {
    let workshop = Workshop::default();
    workshop.set("DAV", "dav-password");
    workshop.set("MAIL", "mail-password");
    let desk = made(WHOLE, &workshop).remove(0).1;
    let whole = DeskSettings {
        zone: Some("Europe/Zurich".to_owned()),
        parts: DeskParts { calendar: true, tasks: false, mail: true },
        file: desk.file.clone(),
        address: Some("Ann <ann@example.org>".to_owned()),
        caldav: Some(CalDavAccount {
            url: "https://dav.example.org/ann/".parse().unwrap(),
            user: secret("ann"),
            password: secret("dav-password"),
        }),
        mail: Some(MailAccount {
            imap: "imaps://imap.example.org".parse().unwrap(),
            smtp: "smtp://127.0.0.1:2525".parse().unwrap(),
            from: "Ann <ann@example.org>".to_owned(),
            user: secret("ann"),
            password: secret("mail-password"),
        }),
        google: None,
    };
    assert_eq!(desk, whole);
    assert!(desk.file.unwrap().ends_with("work.db"));
}

#[test]
fn an_account_of_google_keeps_what_nothing_else_keeps() {
    let text = "[[source]]\nid = \"desk\"\n[source.desk.google]\nclient_id = \"us\"\n\
                client_secret = \"${env:SECRET}\"\nbase_url = \"http://127.0.0.1:9\"\n";
    let workshop = Workshop::default();
    workshop.set("SECRET", "secret-of-the-client");
    let google = made(text, &workshop).remove(0).1.google;
    let expected = GoogleAccount {
        client_id: "us".to_owned(),
        client_secret: secret("secret-of-the-client"),
        refresh_token: None,
        base_url: Some("http://127.0.0.1:9".parse().unwrap()),
    };
    assert_eq!(google, Some(expected));
}

/// An account of a desk, alone in a file.
struct Account {
    key: &'static str,
    feature: &'static str,
    spoken: &'static str,
    text: &'static str,
    is_built_in: bool,
}

const ACCOUNTS: [Account; 3] = [
    Account {
        key: "caldav",
        feature: "caldav",
        spoken: "CalDAV",
        text: "url = \"http://127.0.0.1:9/\"\nuser = \"ann\"\npassword = \"${env:SECRET}\"\n",
        is_built_in: cfg!(feature = "caldav"),
    },
    Account {
        key: "mail",
        feature: "imap",
        spoken: "IMAP and SMTP",
        text: "imap = \"imaps://127.0.0.1:9\"\nsmtp = \"smtps://127.0.0.1:9\"\nuser = \"ann\"\n\
               from = \"ann@example.org\"\npassword = \"${env:SECRET}\"\n",
        is_built_in: cfg!(feature = "imap"),
    },
    Account {
        key: "google",
        feature: "google",
        spoken: "Google",
        text: "client_id = \"us\"\nclient_secret = \"${env:SECRET}\"\n\
               refresh_token = \"${env:SECRET}\"\n",
        is_built_in: cfg!(feature = "google"),
    },
];

/// The checks run it with every account, and without any.
#[test]
fn an_account_that_this_program_was_built_without_is_told_at_its_place() {
    for Account { key, feature, spoken, text, is_built_in } in ACCOUNTS {
        let file = format!("[[source]]\nid = \"desk\"\n[source.desk.{key}]\n{text}");
        let problems = Config::read(&file, "crib.toml").problems;
        let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
        let expected = format!(
            "crib.toml:3:1: source[0].desk.{key}: this program was built without {spoken}; use \
             one that was built with the feature `{feature}`, or remove it"
        );
        let expected: Vec<_> = Some(expected).filter(|_| !is_built_in).into_iter().collect();
        assert_eq!(problems, expected);
    }
}

/// Settings need no file: then nothing is kept in another place than the one that they name.
#[tokio::test]
async fn a_desk_with_an_account_that_this_program_was_built_without_is_not_opened() {
    let (url, user, password) = ("http://127.0.0.1:9/", secret("ann"), secret("a-password"));
    let folder = std::env::temp_dir().join(format!("toolcrib-desk-{}", std::process::id()));
    for Account { key, feature, spoken, is_built_in, .. } in ACCOUNTS {
        let is = |name| (key == name).then_some(());
        let settings = DeskSettings {
            zone: None,
            parts: DeskParts { calendar: true, tasks: true, mail: true },
            file: Some(folder.join("desk.db")),
            address: None,
            caldav: is("caldav").map(|()| CalDavAccount {
                url: url.parse().unwrap(),
                user: user.clone(),
                password: password.clone(),
            }),
            mail: is("mail").map(|()| MailAccount {
                imap: "imaps://127.0.0.1:9".parse().unwrap(),
                smtp: "smtps://127.0.0.1:9".parse().unwrap(),
                from: "ann@example.org".to_owned(),
                user: user.clone(),
                password: password.clone(),
            }),
            google: is("google").map(|()| GoogleAccount {
                client_id: "us".to_owned(),
                client_secret: password.clone(),
                refresh_token: Some(password.clone()),
                base_url: None,
            }),
        };
        let desk = SourceRegistry::default().desk("desk", settings);
        let told = desk.load().await.err().map(|error| error.to_string()).unwrap_or_default();
        let expected = format!(
            "this program was built without {spoken}: use one that was built with the feature \
             `{feature}`, or take the account away"
        );
        assert_eq!(told.contains(&expected), !is_built_in, "{key}: {told}");
    }
    // What is built in has opened its file.
    if let Err(error) = std::fs::remove_dir_all(&folder) {
        assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{error}");
    }
}

#[test]
fn whoever_is_asked_to_trust_a_file_reads_where_the_desk_sends_its_secrets() {
    let said = config(WHOLE).reaches(Disclosure::Whole).remove(0);
    let file = said.split('`').nth(3).unwrap().to_owned();
    assert_eq!(
        said.replace(&file, "FILE"),
        "`work` keeps its data in `FILE`, asks https://dav.example.org/ann/ with ${env:DAV}, asks \
         imaps://imap.example.org and smtp://127.0.0.1:2525 with ${env:MAIL}"
    );
}

#[test]
fn what_is_wrong_with_a_desk_is_told_with_its_place_and_cure() {
    let text = r#"
[[source]]
id = "desk"
[source.desk]
timezone = "Europe/Zurick"
only = []
address = "ann at example.org"
caldav = { url = "dav.example.org", user = "ann", password = "${env:DAV}" }
[source.desk.mail]
imap = "https://imap.example.org"
smtp = "smtps://smtp.example.org/inbox"
from = "Ann <ann>"
user = "ann"
password = "hunter2-hunter2-hunter2"
"#;
    let problems: Vec<_> =
        Config::read(text, "crib.toml").problems.iter().map(ToString::to_string).collect();
    let expected = [
        "crib.toml:5:12: source[0].desk.timezone: there is no such time zone; write an IANA name \
         such as `Europe/Zurich`, or `UTC`",
        "crib.toml:6:8: source[0].desk.only: a desk with nothing on it has no tools; name one of \
         `calendar`, `tasks` and `mail`, or set `enabled = false`",
        "crib.toml:7:11: source[0].desk.address: this is no address of mail; write \
         `ann@example.org` or `Ann <ann@example.org>`",
        "crib.toml:8:18: source[0].desk.caldav.url: this is no address of the web; write it as \
         `https://host/path`",
        "crib.toml:10:8: source[0].desk.mail.imap: this is no address of such a server; write \
         `imaps://host` or `imap://host`, with `:port` if it is another one",
        "crib.toml:11:8: source[0].desk.mail.smtp: this is no address of such a server; write \
         `smtps://host` or `smtp://host`, with `:port` if it is another one",
        "crib.toml:12:8: source[0].desk.mail.from: this is no address of mail; write \
         `ann@example.org` or `Ann <ann@example.org>`",
    ];
    assert_eq!(problems, expected);
}
