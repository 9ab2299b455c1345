//! Tokens: signing in, renewing, and what happens when that ends.

use std::thread;

use toolcrib_core::Secret;
use toolcrib_desk::backend::{BackendErrorKind, CalendarBackend, TasksBackend};
use toolcrib_desk::google::{GoogleBackend, RefreshTokenLocation};
use toolcrib_testkit::TestFolder;
use toolcrib_testkit::google::{GoogleServer, REFRESH_TOKEN, browse};

use super::{Account, kind, settings};

#[tokio::test]
async fn one_token_serves_many_requests_that_come_together() {
    let account = Account::open();
    let asked = (0..8).map(|_| account.google.calendars(""));
    for calendars in futures_util::future::join_all(asked).await {
        assert_eq!(calendars.unwrap().len(), 2);
    }
    assert_eq!(account.server.tokens_given(), 1);
    account.close();
}

#[tokio::test]
async fn a_token_that_is_not_accepted_any_more_is_renewed_once() {
    let account = Account::open();
    account.google.calendars("").await.unwrap();
    account.server.expire_access();
    let asked = (0..8).map(|_| account.google.calendars(""));
    for calendars in futures_util::future::join_all(asked).await {
        calendars.unwrap();
    }
    assert_eq!(account.server.tokens_given(), 2);
    account.close();
}

#[tokio::test]
async fn a_token_is_renewed_before_it_ends() {
    let account = Account::open();
    account.server.access_for(1);
    account.google.calendars("").await.unwrap();
    account.google.calendars("").await.unwrap();
    let given = account.server.tokens_given();
    let asked = account.server.asked();
    assert!(given > 1, "one second is over before the margin");
    assert!(!asked.is_empty());
    account.close();
}

#[tokio::test]
async fn a_sign_in_that_was_ended_is_told_with_its_cure() {
    let account = Account::open();
    account.google.calendars("").await.unwrap();
    account.server.revoke();
    for _ in 0..3 {
        let fault = account.google.lists("").await.unwrap_err();
        assert_eq!(fault.kind, BackendErrorKind::Refused);
        assert!(fault.message.contains("`toolcrib login desk`"), "{}", fault.message);
    }
    let asked = account.server.asked();
    let renewals = asked.iter().filter(|line| line.as_str() == "POST /token").count();
    assert_eq!(renewals, 2, "what is dead is not asked for again");
    account.close();
}

#[tokio::test]
async fn every_token_is_masked() {
    let account = Account::open();
    account.google.calendars("").await.unwrap();
    let redactor = account.settings.secrets.redactor();
    for secret in ["access-token-of-anna-1", REFRESH_TOKEN, "desk-client-secret"] {
        assert_eq!(redactor.text(secret), "[secret]");
    }
    assert!(!format!("{:?}", account.settings).contains(REFRESH_TOKEN));
    account.close();
}

#[tokio::test]
async fn a_person_signs_in_and_the_token_is_kept_for_them_alone() {
    let server = GoogleServer::start().unwrap();
    let folder = TestFolder::new();
    let path = folder.path().join("tokens/google.json");
    let settings = settings(&server, RefreshTokenLocation::File(path.clone()));
    let google = GoogleBackend::new(settings.clone()).unwrap();
    let fault = google.calendars("").await.unwrap_err();
    assert_eq!(fault.kind, BackendErrorKind::Refused);
    assert!(fault.message.contains("`toolcrib login desk`"), "{}", fault.message);

    let open = |address: &str| {
        let address = address.to_owned();
        thread::spawn(move || browse(&address));
    };
    let token = GoogleBackend::sign_in(&settings, open).await.unwrap();
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(kept.contains(token.expose()));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    // The one that waited sees it without being made anew.
    assert_eq!(google.calendars("").await.unwrap().len(), 2);

    // A token that is given in place of it is kept as well.
    server.rotate();
    server.expire_access();
    google.calendars("").await.unwrap();
    assert_ne!(std::fs::read_to_string(&path).unwrap(), kept);
    let another = GoogleBackend::new(settings.clone()).unwrap();
    assert_eq!(another.calendars("").await.unwrap().len(), 2);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
        let open_to_all = GoogleBackend::new(settings).unwrap();
        let fault = open_to_all.calendars("").await.unwrap_err();
        assert!(fault.message.contains("chmod 600"), "{}", fault.message);
    }
    assert_eq!(server.violations(), [""; 0]);
}

#[tokio::test]
async fn a_stranger_at_the_port_of_the_sign_in_is_turned_away() {
    let server = GoogleServer::start().unwrap();
    let settings = settings(&server, RefreshTokenLocation::Token(Secret::new("none yet")));
    let open = |address: &str| {
        let address = address.to_owned();
        thread::spawn(move || {
            let url: url::Url = address.parse().unwrap();
            let redirect = url.query_pairs().find(|(name, _)| name == "redirect_uri").unwrap().1;
            let forged = browse(&format!("{redirect}?code=theirs&state=theirs")).unwrap();
            assert_eq!(forged, "Nobody waits for this.");
            let elsewhere = browse(&format!("{redirect}else?code=theirs")).unwrap();
            assert_eq!(elsewhere, "Nobody waits for this.");
            browse(&address).unwrap();
        });
    };
    let token = GoogleBackend::sign_in(&settings, open).await.unwrap();
    assert!(token.expose().starts_with("refresh-token-of-anna"));
}

#[tokio::test]
async fn a_sign_in_that_is_declined_says_so() {
    let server = GoogleServer::start().unwrap();
    let settings = settings(&server, RefreshTokenLocation::Token(Secret::new("none yet")));
    let open = |address: &str| {
        let url: url::Url = address.parse().unwrap();
        let pair =
            |name: &str| url.query_pairs().find(|(own, _)| own == name).unwrap().1.into_owned();
        let (redirect, state) = (pair("redirect_uri"), pair("state"));
        thread::spawn(move || browse(&format!("{redirect}?error=access_denied&state={state}")));
    };
    assert_eq!(kind(GoogleBackend::sign_in(&settings, open).await), BackendErrorKind::Refused);
}

#[test]
fn tokens_are_not_sent_where_anybody_can_listen() {
    let server = GoogleServer::start().unwrap();
    let mut settings = settings(&server, RefreshTokenLocation::Token(Secret::new("x")));
    settings.token = "http://oauth2.example.org/token".parse().unwrap();
    assert_eq!(GoogleBackend::new(settings).err().unwrap().kind, BackendErrorKind::Invalid);
}
