//! The table of what is not public, at its edges.

use std::net::IpAddr;

use proptest::prelude::*;

use crate::rules::address::{is_of_this_machine, not_public};

fn is_public(address: &str) -> bool {
    not_public(address.parse().unwrap()).is_none()
}

#[test]
fn only_localhost_and_the_loopback_are_this_machine() {
    for (url, is_own) in [
        ("http://localhost:80/x", true),
        ("imap://LOCALHOST", true),
        ("http://127.0.0.1", true),
        ("smtp://127.1.2.3:25", true),
        ("http://[::1]:8080", true),
        ("imaps://[::1]", true),
        ("http://localhost.example.org", false),
        ("http://127.0.0.1.example.org", false),
        ("http://10.0.0.1", false),
        ("smtp://10.0.0.1", false),
        ("http://[::2]", false),
        ("data:localhost", false),
    ] {
        assert_eq!(is_of_this_machine(&url.parse().unwrap()), is_own, "{url}");
    }
}

#[test]
fn every_block_ends_where_it_should() {
    // Inside its first and last address, outside the ones before and after.
    let blocks = [
        ["", "0.0.0.0", "0.255.255.255", "1.0.0.0"],
        ["9.255.255.255", "10.0.0.0", "10.255.255.255", "11.0.0.0"],
        ["100.63.255.255", "100.64.0.0", "100.127.255.255", "100.128.0.0"],
        ["126.255.255.255", "127.0.0.0", "127.255.255.255", "128.0.0.0"],
        ["168.63.129.15", "168.63.129.16", "168.63.129.16", "168.63.129.17"],
        ["169.253.255.255", "169.254.0.0", "169.254.255.255", "169.255.0.0"],
        ["172.15.255.255", "172.16.0.0", "172.31.255.255", "172.32.0.0"],
        ["191.255.255.255", "192.0.0.0", "192.0.0.255", "192.0.1.0"],
        ["192.0.1.255", "192.0.2.0", "192.0.2.255", "192.0.3.0"],
        ["192.88.98.255", "192.88.99.0", "192.88.99.255", "192.88.100.0"],
        ["192.167.255.255", "192.168.0.0", "192.168.255.255", "192.169.0.0"],
        ["198.17.255.255", "198.18.0.0", "198.19.255.255", "198.20.0.0"],
        ["198.51.99.255", "198.51.100.0", "198.51.100.255", "198.51.101.0"],
        ["203.0.112.255", "203.0.113.0", "203.0.113.255", "203.0.114.0"],
        ["223.255.255.255", "224.0.0.0", "255.255.255.255", ""],
        ["", "::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "2000::"],
        ["2000:ffff::", "2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:200::"],
        ["2001:db7:ffff::", "2001:db8::", "2001:db8:ffff::", "2001:db9::"],
        ["2001:ffff::", "2002::", "2002:ffff:ffff::", "2003::"],
        ["3ffe:ffff::", "3fff::", "3fff:fff:ffff::", "3fff:1000::"],
        ["3fff:ffff:ffff::", "4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ""],
    ];
    let wrong = |[before, first, last, after]: &[&str; 4]| {
        let outside = [before, after].into_iter().all(|at| at.is_empty() || is_public(at));
        !outside || is_public(first) || is_public(last)
    };
    let wrong: Vec<_> = blocks.iter().filter(|block| wrong(block)).collect();
    assert_eq!(wrong, Vec::<&[&str; 4]>::new());
}

proptest! {
    #[test]
    fn an_ipv4_address_in_ipv6_is_what_it_is(bits: u32) {
        let plain = std::net::Ipv4Addr::from_bits(bits);
        let mapped = plain.to_ipv6_mapped();
        prop_assert_eq!(not_public(IpAddr::V4(plain)), not_public(IpAddr::V6(mapped)));
    }

    #[test]
    fn what_the_standard_library_calls_special_is_not_public(bits: u32) {
        let address = std::net::Ipv4Addr::from_bits(bits);
        let special = address.is_private() || address.is_loopback() || address.is_link_local()
            || address.is_multicast() || address.is_broadcast() || address.is_documentation()
            || address.is_unspecified();
        prop_assert!(!special || not_public(IpAddr::V4(address)).is_some());
    }
}
