//! Names that change their mind.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::net::TcpListener;
use url::Url;

use crate::egress::Egress;
use crate::error::Kind;
use crate::network::Network;
use crate::rules::Reach;
use crate::tests::Noting;

#[tokio::test]
async fn a_name_is_judged_again_at_every_connection() {
    let noting = Noting::new(Reach::Public, &[], &[]);
    let url = "http://rebinding.test/";
    assert_eq!(noting.get(url).await, (Kind::NotConnected, "93.184.216.34:80".to_owned()));
    assert_eq!(noting.get(url).await, (Kind::Refused, String::new()));
}

#[tokio::test]
async fn the_client_for_mcp_looks_up_no_other_names() {
    let canary = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
    let port = canary.local_addr().unwrap().port();
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let lookup = |_: &str| {
        ASKED.fetch_add(1, Ordering::SeqCst);
        Ok(vec![IpAddr::V4(Ipv4Addr::LOCALHOST)])
    };
    let named = Url::parse(&format!("http://named.test:{port}")).unwrap();
    let egress =
        Egress::with_lookup(Reach::Public, [named.clone()], Network::default(), lookup).unwrap();
    for other in ["http://other.test", "http://a.named.test", "http://named.test.test"] {
        let error = egress.client().get(format!("{other}:{port}/")).send().await.unwrap_err();
        assert!(error.is_connect(), "{error:?}");
    }
    assert_eq!(ASKED.load(Ordering::SeqCst), 0);
    let sent = tokio::spawn(egress.client().get(named).send());
    assert!(canary.accept().await.is_ok());
    sent.abort();
    assert_eq!(ASKED.load(Ordering::SeqCst), 1);
}
