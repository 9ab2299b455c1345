//! Which addresses belong to the public internet, and which to this machine.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

/// First address, leading bits that count, and what lives there.
type AddressBlock<A> = (A, u32, &'static str);

/// What is not public of IPv4, after the registry of special-purpose addresses.
const IPV4: &[AddressBlock<Ipv4Addr>] = &[
    (Ipv4Addr::UNSPECIFIED, 8, "this host"),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "private"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "shared by a carrier"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "loopback"),
    (Ipv4Addr::new(168, 63, 129, 16), 32, "a cloud's own service"),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "link-local"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "private"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "protocol assignments"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "documentation"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "6to4 relays"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "private"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "benchmarks"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "documentation"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "documentation"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "multicast"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "reserved"),
];

/// What is not public of IPv6, for the names; what stands in no block here is public only if
/// [`PUBLIC_IPV6`] holds it.
const IPV6: &[AddressBlock<Ipv6Addr>] = &[
    (Ipv6Addr::UNSPECIFIED, 128, "this host"),
    (Ipv6Addr::LOCALHOST, 128, "loopback"),
    (Ipv6Addr::UNSPECIFIED, 96, "IPv4 in an old disguise"),
    (Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, 0, 0), 96, "translated IPv4"),
    (Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, 0, 0), 96, "translated IPv4"),
    (Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, 0, 0), 48, "translated IPv4"),
    (Ipv6Addr::new(0x100, 0, 0, 0, 0, 0, 0, 0), 64, "discarded"),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 32, "Teredo"),
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, "protocol assignments"),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, "documentation"),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, "6to4"),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, "documentation"),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, "private"),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10, "link-local"),
    (Ipv6Addr::new(0xfec0, 0, 0, 0, 0, 0, 0, 0), 10, "site-local"),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8, "multicast"),
];

/// All of IPv6 that is given out to the public so far.
const PUBLIC_IPV6: AddressBlock<Ipv6Addr> =
    (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3, "public");

/// What an address is for, if it is not the public internet. An IPv4 address that is written as
/// IPv6 (`::ffff:127.0.0.1`) is what it is as IPv4.
pub fn not_public(address: IpAddr) -> Option<&'static str> {
    match address.to_canonical() {
        IpAddr::V4(address) => {
            let held = |(first, bits, _): &&AddressBlock<Ipv4Addr>| {
                (address.to_bits() ^ first.to_bits()).checked_shr(32 - bits).unwrap_or(0) == 0
            };
            IPV4.iter().find(held).map(|(_, _, what)| *what)
        }
        IpAddr::V6(address) => {
            let held = |(first, bits, _): &&AddressBlock<Ipv6Addr>| {
                (address.to_bits() ^ first.to_bits()).checked_shr(128 - bits).unwrap_or(0) == 0
            };
            let block = IPV6.iter().find(held).map(|(_, _, what)| *what);
            block.or_else(|| (!held(&&PUBLIC_IPV6)).then_some("not given out"))
        }
    }
}

/// Whether a URL leads to this machine by what it says, so that nobody can listen in between. Of
/// names only `localhost` does.
pub fn is_of_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        // `imap` and `smtp` are no schemes of the web, whose hosts alone are read further.
        Some(Host::Domain(name)) => {
            let address: Option<Ipv4Addr> = name.parse().ok();
            name.eq_ignore_ascii_case("localhost") || address.is_some_and(|it| it.is_loopback())
        }
        None => false,
    }
}
