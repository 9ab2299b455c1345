//! The door of the process: its address, its names, and who may come in.

use std::net::SocketAddr;
use std::time::Duration;

use toolcrib_auth::{AccessSettings, ApiKey, LOCAL, moment};
use url::Url;

use super::ConfigChecker;
use crate::file::toml_path::TomlPath;
use crate::raw;
use crate::settings::listener::{ListenerSettings, PageSettings, TlsFiles};

/// Whom callers belong to if nobody says.
const TENANT: &str = "default";
const LONGEST_KEPT: Duration = Duration::from_hours(24);
const MOST_KEYS: usize = 1000;
/// One in use, and one that takes its place.
const KEYS_OF_ONE: usize = 2;
/// Longest name of a caller, in bytes.
const LONGEST_NAME: usize = 255;

impl ConfigChecker<'_, '_, '_> {
    pub(super) fn front(&mut self, raw: &raw::ServerTable, place: &TomlPath) -> ListenerSettings {
        let listen = raw.listen.as_deref();
        let listen = listen.and_then(|text| self.address(text, &place.key("listen")));
        let url = raw.url.as_deref().and_then(|text| self.origin(text, &place.key("url")));
        for (index, name) in raw.hosts.iter().enumerate() {
            let plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte);
            if name.is_empty() || name.len() > 255 || !name.bytes().all(plain) {
                let cure = "write it as `crib.example.com`, or with a port after a colon";
                self.problem(&place.key("hosts").index(index), "this is no name of a host", cure);
            }
        }
        let proxies = self.network(&raw.behind_proxy, &place.key("behind_proxy")).private;
        let pushes = self.network(&raw.push_private, &place.key("push_private"));
        let tls = raw.tls.as_ref().and_then(|tls| self.tls(tls, &place.key("tls")));
        let card_key = raw.card_key.as_ref().and_then(|path| {
            let place = place.key("card_key");
            let path = self.path(path, &place)?;
            self.needs_file(&path, &place);
            Some(path)
        });
        let keys = self.keys(&raw.key, &place.key("key"));
        let issuers = self.issuers(&raw.issuer, &place.key("issuer"));
        if let (None, Some(_), None) = (&url, raw.issuer.first(), &raw.url) {
            let cure =
                "add `url = \"https://crib.example.com\"`, by which others reach this server";
            self.problem(&place.key("issuer"), "tokens are made out to an address", cure);
        }
        let of_url = url.as_ref().and_then(Url::host_str).map(ToOwned::to_owned);
        let port = url.as_ref().and_then(Url::port);
        let of_url = of_url.map(|host| port.map_or(host.clone(), |port| format!("{host}:{port}")));
        ListenerSettings {
            listen,
            hosts: raw.hosts.iter().cloned().chain(of_url).collect(),
            proxies,
            pushes,
            tls,
            card_key,
            access: AccessSettings { url, keys, issuers },
            page: PageSettings::default(),
        }
    }

    /// Where the web page is. `server`: where the server listens, if the file says so.
    pub(super) fn page(
        &mut self,
        raw: &raw::PageTable,
        server: Option<SocketAddr>,
        place: &TomlPath,
    ) -> PageSettings {
        let at = place.key("listen");
        let listen = raw.listen.as_deref().and_then(|text| self.address(text, &at));
        if listen.is_some() && listen == server {
            let cure = "name another port, or leave it out and say `public = true`";
            self.problem(&at, "the server listens there itself", cure);
        }
        if listen.is_some() && raw.public == Some(true) {
            let cure = "leave one of them out";
            let what = "a page at an address of its own is at no other";
            self.problem(&place.key("public"), what, cure);
        }
        let at = place.key("keep");
        let keep = self.pause(raw.keep.as_ref(), &at);
        if keep.is_some_and(|keep| keep > LONGEST_KEPT) {
            let what = "what calls were about is kept for a day at the most";
            self.problem(&at, what, "write `24h` or less");
        }
        PageSettings { listen, public: raw.public.unwrap_or_default(), keep }
    }

    fn tls(&mut self, raw: &raw::TlsTable, place: &TomlPath) -> Option<TlsFiles> {
        let mut file = |text: &str, key: &str| {
            let place = place.key(key);
            let path = self.path(text, &place)?;
            self.needs_file(&path, &place);
            Some(path)
        };
        let (certificate, key) = (file(&raw.certificate, "certificate"), file(&raw.key, "key"));
        Some(TlsFiles { certificate: certificate?, key: key? })
    }

    /// The address by which others reach us. Tokens are made out to it, letter by letter.
    pub(super) fn origin(&mut self, text: &str, place: &TomlPath) -> Option<Url> {
        let url = self.url(text, place)?;
        if url.path() != "/" || url.query().is_some() || url.fragment().is_some() {
            let cure = "leave out what follows the host, as in `https://crib.example.com`";
            self.problem(place, "a server is reached at the root of its host", cure);
            return None;
        }
        self.in_the_open(Some(&url), true, place);
        Some(url)
    }

    fn keys(&mut self, raw: &[raw::ApiKeyTable], place: &TomlPath) -> Vec<ApiKey> {
        if raw.len() > MOST_KEYS {
            let message = format!("there are more than {MOST_KEYS} keys");
            self.problem(place, message, "take out those that nobody uses");
            return Vec::new();
        }
        let mut keys: Vec<ApiKey> = Vec::new();
        for (index, key) in raw.iter().enumerate() {
            let place = place.index(index);
            let Some(key) = self.key(key, &place) else { continue };
            if keys.iter().any(|other| other.id == key.id) {
                let cure = "give each a name of its own";
                self.problem(&place.key("id"), "two keys have this name", cure);
            }
            let is_its =
                |other: &&ApiKey| (&other.tenant, &other.subject) == (&key.tenant, &key.subject);
            if keys.iter().filter(is_its).count() == KEYS_OF_ONE {
                let message = format!("`{}` has more than {KEYS_OF_ONE} keys", key.subject);
                self.problem(&place, message, "take out the oldest");
            }
            keys.push(key);
        }
        keys
    }

    fn key(&mut self, raw: &raw::ApiKeyTable, place: &TomlPath) -> Option<ApiKey> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        if raw.id.is_empty() || raw.id.len() > 64 || !raw.id.bytes().all(plain) {
            let cure = "use 1 to 64 letters, digits, `_` and `-`";
            self.problem(&place.key("id"), "this cannot name a key", cure);
        }
        let digest = hexadecimal(&raw.sha256);
        if digest.is_none() {
            let cure = "write the 64 digits that `toolcrib token NAME --key` printed";
            self.problem(&place.key("sha256"), "this is no SHA-256", cure);
        }
        let tenant = self.tenant(raw.tenant.as_deref(), &place.key("tenant"));
        let subject = raw.subject.as_ref().unwrap_or(&raw.id);
        if subject.is_empty() || subject.len() > LONGEST_NAME || has_control(subject) {
            let cure = "use 1 to 255 letters on one line";
            self.problem(&place.key("subject"), "this cannot name a caller", cure);
        }
        self.scopes(&raw.scopes, &place.key("scopes"));
        let end = place.key("expires");
        let expires = raw.expires.as_deref().and_then(|text| {
            let moment = moment(text);
            if moment.is_none() {
                let cure = "write `2027-01-31` or `2027-01-31T12:00:00Z`";
                self.problem(&end, "this is no moment", cure);
            }
            moment
        });
        Some(ApiKey {
            id: raw.id.clone(),
            digest: digest?,
            tenant,
            subject: subject.clone(),
            scopes: raw.scopes.clone(),
            expires,
        })
    }

    pub(super) fn tenant(&mut self, text: Option<&str>, place: &TomlPath) -> String {
        let tenant = text.unwrap_or(TENANT);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        if tenant.is_empty() || tenant.len() > 64 || !tenant.bytes().all(plain) {
            let cure = "use 1 to 64 letters, digits, `_`, `-` and `.`";
            self.problem(place, "this cannot name a tenant", cure);
        }
        if tenant == LOCAL {
            let message = "`local` is the tenant of the person at this machine";
            self.problem(place, message, "choose another name");
        }
        tenant.to_owned()
    }

    /// What stands in one: RFC 6749, 3.3.
    pub(super) fn scopes(&mut self, scopes: &[String], place: &TomlPath) {
        let plain = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
        for (index, scope) in scopes.iter().enumerate() {
            if scope.is_empty() || scope.len() > LONGEST_NAME || !scope.bytes().all(plain) {
                let cure = "write one word for each, as in `[\"tools:read\", \"profile:support\"]`";
                self.problem(&place.index(index), "this is no scope", cure);
            }
        }
    }
}

fn has_control(text: &str) -> bool {
    text.chars().any(char::is_control)
}

fn hexadecimal(text: &str) -> Option<[u8; 32]> {
    let digits: Option<Vec<u8>> =
        text.chars().map(|digit| u8::try_from(digit.to_digit(16)?).ok()).collect();
    let digits = digits.filter(|digits| digits.len() == 64)?;
    let (pairs, _) = digits.as_chunks::<2>();
    let bytes: Vec<u8> = pairs.iter().map(|[high, low]| high << 4 | low).collect();
    bytes.try_into().ok()
}
