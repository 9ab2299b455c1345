//! Connections of mail are judged as requests are.

use std::time::Duration;

use url::Url;

use crate::error::EgressErrorKind;
use crate::rules::EgressScope;
use crate::tests::{Noting, peers};

async fn line(noting: &Noting, url: &str) -> (EgressErrorKind, String) {
    let Ok(url) = Url::parse(url) else { return (EgressErrorKind::Refused, String::new()) };
    let opened = noting.egress.line(&url, Duration::from_secs(5)).await;
    noting.told(&url, opened.err())
}

#[tokio::test]
async fn nothing_private_gets_a_line_on_a_strangers_word() {
    let noting = Noting::new(EgressScope::Public, &[], &[]);
    for url in peers::REFUSED {
        for scheme in ["imap", "imaps", "smtp", "smtps"] {
            let url =
                url.replacen("https:", "http:", 1).replacen("http:", &format!("{scheme}:"), 1);
            assert_eq!(
                line(&noting, &url).await,
                (EgressErrorKind::Refused, String::new()),
                "{url}"
            );
        }
    }
}

#[tokio::test]
async fn a_line_goes_to_the_usual_port_or_to_what_was_named() {
    let open = Noting::new(EgressScope::Public, &[], &[]);
    let named = ["imap://127.0.0.1:10143", "smtps://private.test"];
    let only = Noting::new(EgressScope::Named, &named, &[]);
    let reached = |connects: &str| (EgressErrorKind::NotConnected, connects.to_owned());
    for (noting, url, connects) in [
        (&open, "imap://public.test", "93.184.216.34:143"),
        (&open, "imaps://PUBLIC.test/", "93.184.216.34:993"),
        (&open, "smtp://public.test:587", "93.184.216.34:587"),
        (&open, "smtps://public.test", "93.184.216.34:465"),
        (&only, "imap://127.1:10143/", "127.0.0.1:10143"),
        (&only, "smtps://private.test:465", "10.0.0.1:465"),
    ] {
        assert_eq!(line(noting, url).await, reached(connects), "{url}");
    }
    for (noting, url) in [
        (&open, "imap://public.test:25"),
        (&open, "smtp://public.test:25"),
        (&open, "imaps://public.test:143"),
        (&open, "smtp://public.test:80"),
        (&open, "http://public.test"),
        (&open, "pop3://public.test"),
        (&only, "imaps://127.0.0.1:10143"),
        (&only, "imap://127.0.0.1"),
        (&only, "smtp://private.test:465"),
        (&only, "imap://public.test"),
    ] {
        assert_eq!(line(noting, url).await, (EgressErrorKind::Refused, String::new()), "{url}");
    }
}

#[tokio::test]
async fn a_name_that_turns_private_gets_no_line() {
    let noting = Noting::new(EgressScope::Public, &[], &[]);
    let url = "imaps://rebinding.test";
    let first = (EgressErrorKind::NotConnected, "93.184.216.34:993".to_owned());
    assert_eq!(line(&noting, url).await, first);
    assert_eq!(line(&noting, url).await, (EgressErrorKind::Refused, String::new()));
}

#[tokio::test]
async fn a_server_of_mail_gets_no_request() {
    let noting =
        Noting::new(EgressScope::Named, &["imap://private.test", "smtps://public.test"], &[]);
    for url in ["imap://private.test", "smtps://public.test", "http://private.test:143"] {
        assert_eq!(noting.get(url).await, (EgressErrorKind::Refused, String::new()), "{url}");
    }
}
