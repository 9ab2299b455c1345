//! What strangers name.

use crate::error::EgressErrorKind;
use crate::rules::EgressScope;
use crate::tests::Noting;

/// None of these may be reached on a stranger's word.
pub(super) const REFUSED: &[&str] = &[
    // Loopback in every way to write it.
    "http://127.0.0.1/",
    "http://127.0.0.1:8080/latest/meta-data/",
    "https://127.0.0.1/",
    "http://127.1/",
    "http://127.0.1/",
    "http://2130706433/",
    "http://0x7f000001/",
    "http://0x7f.1/",
    "http://0177.0.0.1/",
    "http://017700000001/",
    "http://127.0.0.1./",
    "http://%31%32%37.0.0.1/",
    "http://①②⑦.⓪.⓪.①/",
    "http://127。0。0。1/",
    "http://127.255.255.254/",
    "http://0/",
    "http://0.0.0.0/",
    "http://0.1.2.3/",
    "http://[::1]/",
    "http://[::]/",
    "http://[0:0:0:0:0:0:0:1]/",
    "http://[::127.0.0.1]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[::ffff:7f00:1]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[::ffff:0:127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[64:ff9b::8.8.8.8]/",
    "http://[64:ff9b:1::7f00:1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:0:7f00:1::]/",
    "http://localhost/",
    "http://LOCALHOST/",
    "http://localhost./",
    "http://localhost../",
    "http://a.localhost/",
    "http://ｌｏｃａｌｈｏｓｔ/",
    // Private and special.
    "http://10.0.0.1/",
    "http://10.255.255.255/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://100.64.0.1/",
    "http://100.127.255.255/",
    "http://100.100.100.200/latest/meta-data/",
    "http://169.254.169.254/latest/meta-data/",
    "http://169.254.169.254./",
    "http://0xa9fea9fe/",
    "http://168.63.129.16/",
    "http://192.0.0.192/",
    "http://192.0.2.1/",
    "http://192.88.99.1/",
    "http://198.18.0.1/",
    "http://198.19.255.255/",
    "http://198.51.100.1/",
    "http://203.0.113.1/",
    "http://224.0.0.1/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://[fc00::1]/",
    "http://[fd00:ec2::254]/",
    "http://[fe80::1]/",
    "http://[fe80::1%25eth0]/",
    "http://[fec0::1]/",
    "http://[ff02::1]/",
    "http://[100::1]/",
    "http://[2001:db8::1]/",
    "http://[3fff::1]/",
    "http://[4000::1]/",
    // Names for machines of a private network.
    "http://metadata/",
    "http://metadata.google.internal/computeMetadata/v1/",
    "http://metadata.google.internal./",
    "http://instance-data/",
    "http://idp.corp.internal/",
    "http://printer.local/",
    "http://router.lan/",
    "http://home.arpa/",
    // Names that lead there.
    "http://private.test/",
    "https://private.test/",
    "http://mixed.test/",
    "http://mixed-late.test/",
    "http://mapped.test/",
    "http://translated.test/",
    "http://carrier.test/",
    "http://link.test/",
    "http://any.test/",
    "http://public.test./",
    // What is no address of HTTP, or more than an address.
    "file:///etc/passwd",
    "ftp://public.test/",
    "gopher://public.test/",
    "data:text/plain,a",
    "unix:/run/docker.sock",
    "ws://public.test/",
    "http+unix://public.test/",
    "http://user@public.test/",
    "http://user:password@public.test/",
    "http://public.test@127.0.0.1/",
    "http://public.test:0/",
    "http://public.test:22/",
    "http://public.test:25/",
    "http://public.test:6379/",
    "http://public.test:70000/",
    "http:///",
    "http://",
    "//public.test/",
    "not a url",
];

#[tokio::test]
async fn nothing_private_is_reached_on_a_strangers_word() {
    assert!(REFUSED.len() >= 60);
    let noting = Noting::new(EgressScope::Public, &[], &[]);
    let mut reached = Vec::new();
    for url in REFUSED {
        let (kind, connects) = noting.get(url).await;
        if (kind, connects.as_str()) != (EgressErrorKind::Refused, "") {
            reached.push((url, kind, connects));
        }
    }
    assert_eq!(reached, []);
}

#[tokio::test]
async fn public_addresses_are_reached_on_a_strangers_word() {
    let noting = Noting::new(EgressScope::Public, &[], &[]);
    let public = [
        ("http://public.test/", "93.184.216.34:80"),
        ("https://PUBLIC.test/", "93.184.216.34:443"),
        ("https://public.test:8443/a?b", "93.184.216.34:8443"),
        ("http://six.test/", "[2606:2800:220:1::1]:80"),
        ("http://both.test/", "[2606:2800:220:1::1]:80 93.184.216.34:80"),
        ("http://93.184.216.34/", "93.184.216.34:80"),
        ("http://[2606:2800:220:1::1]:8080/", "[2606:2800:220:1::1]:8080"),
        ("http://[::ffff:93.184.216.34]/", "[::ffff:93.184.216.34]:80"),
    ];
    for (url, connects) in public {
        assert_eq!(
            noting.get(url).await,
            (EgressErrorKind::NotConnected, connects.to_owned()),
            "{url}"
        );
    }
    for unknown in ["http://unknown.test/", "http://none.test/"] {
        assert_eq!(
            noting.get(unknown).await,
            (EgressErrorKind::NotConnected, String::new()),
            "{unknown}"
        );
    }
}

#[tokio::test]
async fn what_the_operator_named_may_be_anywhere_and_nothing_else_is_reached() {
    let named = ["http://private.test:8080/api?x", "https://127.0.0.1", "http://localhost."];
    let noting = Noting::new(EgressScope::Named, &named, &[]);
    let reached = (EgressErrorKind::NotConnected, "10.0.0.1:8080".to_owned());
    assert_eq!(noting.get("http://private.test:8080/other").await, reached);
    let reached = (EgressErrorKind::NotConnected, "127.0.0.1:443".to_owned());
    assert_eq!(noting.get("https://127.1/").await, reached);
    let others = [
        "http://private.test/",
        "https://private.test:8080/",
        "http://private.test:8081/",
        "http://private.test.:8080/",
        "http://a.private.test:8080/",
        "http://private.test:8080@public.test/",
        "http://user@private.test:8080/",
        "http://127.0.0.1/",
        "http://localhost/",
        "http://public.test/",
        "https://public.test/",
    ];
    for other in others {
        assert_eq!(noting.get(other).await, (EgressErrorKind::Refused, String::new()), "{other}");
    }
}

#[tokio::test]
async fn an_opened_network_is_reached_on_its_port_alone() {
    let private = ["10.0.0.0/8", "127.0.0.1:8080", "[::1]:8080", "192.168.0.1:9000"];
    let noting = Noting::new(EgressScope::Public, &["http://private.test:25"], &private);
    let table = [
        ("http://private.test:25/", "10.0.0.1:25"),
        ("http://private.test/", "10.0.0.1:80"),
        ("http://idp.corp.internal/", "10.0.0.2:80"),
        ("http://localhost:8080/", "127.0.0.1:8080 [::1]:8080"),
        ("http://[::ffff:10.0.0.1]/", "[::ffff:10.0.0.1]:80"),
    ];
    for (url, connects) in table {
        assert_eq!(
            noting.get(url).await,
            (EgressErrorKind::NotConnected, connects.to_owned()),
            "{url}"
        );
    }
    let others = [
        "http://localhost/",
        "http://127.0.0.1:8081/",
        "http://127.0.0.2:8080/",
        "http://mixed.test/",
        "http://192.168.0.1:9001/",
        "http://192.168.0.2:9000/",
        "http://metadata.google.internal/",
        "http://idp.corp.internal:25/",
    ];
    for other in others {
        assert_eq!(noting.get(other).await, (EgressErrorKind::Refused, String::new()), "{other}");
    }
}
