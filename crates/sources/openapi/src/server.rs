//! Where the requests of an API go.
//!
//! One origin (scheme, host, port) is contacted and no other: that of `base_url`, else that of the
//! first server of the document. A `base_url` is complete: it stands for that server, path and
//! all. An operation with a server of its own is called below that server's path, at the same
//! origin.

use toolcrib_core::SourceError;
use url::Url;

/// The origin of an API, and the path that most of its operations lie below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ApiServer {
    pub(crate) base: Url,
    /// The operator has named the origin, so it may be private.
    pub(crate) is_named: bool,
    /// The first server of the document, to know those that are an operation's own.
    by_document: Option<String>,
    /// What relative servers are relative to.
    address: Url,
}

impl ApiServer {
    /// `address`: where the document was had from.
    pub(crate) fn choose(
        base_url: Option<&Url>,
        address: Option<&Url>,
        by_document: Option<&str>,
    ) -> Result<Self, SourceError> {
        let web_address = address.filter(|address| address.scheme().starts_with("http"));
        let relative_to = web_address.cloned().map_or_else(nowhere, Ok)?;
        let proposed = by_document.and_then(|text| relative_to.join(text).ok());
        let by_document = by_document.map(str::to_owned);
        let with = |base: Url, is_named| Self { base, is_named, by_document, address: relative_to };
        if let Some(base_url) = base_url {
            return Ok(with(plain(base_url.clone()), true));
        }
        // Without servers an API is where its document is.
        let base = proposed.or_else(|| web_address.and_then(|address| address.join("/").ok()));
        let base = base.filter(|base| matches!(base.scheme(), "http" | "https"));
        let base = base.filter(|base| base.host_str() != Some(NOWHERE)).ok_or_else(|| {
            SourceError::new(
                "the document does not say where the API is: set `base_url` of this source",
            )
        })?;
        if base.as_str().contains(['{', '}']) || base.path().contains("%7B") {
            let message = format!(
                "the document leaves open where the API is (`{base}`): set `base_url` of this \
                 source"
            );
            return Err(SourceError::new(message));
        }
        let is_named = web_address.is_some_and(|address| address.origin() == base.origin());
        Ok(with(plain(base), is_named))
    }

    /// What an operation lies below; `server` is the one that the document gives it.
    pub(crate) fn of(&self, server: Option<&str>) -> Url {
        let mut base = self.base.clone();
        if let Some(own) = self.own(server) {
            base.set_path(own.path());
        }
        base
    }

    /// The path that the document has its API below, where `base_url` has none: such a place may
    /// have been forgotten.
    pub(crate) fn forgotten_path(&self) -> Option<String> {
        let proposed = self.address.join(self.by_document.as_deref()?).ok()?;
        let path = proposed.path().trim_end_matches('/');
        (self.base.path() == "/" && !path.is_empty()).then(|| path.to_owned())
    }

    /// The host that a document gives an operation beside the one that is contacted.
    pub(crate) fn other_host(&self, server: Option<&str>) -> Option<String> {
        let host = self.own(server)?.host_str()?.to_owned();
        (host != NOWHERE && Some(host.as_str()) != self.base.host_str()).then_some(host)
    }

    fn own(&self, server: Option<&str>) -> Option<Url> {
        let own = server.filter(|server| Some(*server) != self.by_document.as_deref())?;
        self.address.join(own).ok()
    }
}

/// A host that cannot exist, for relative servers of a document that has no address.
const NOWHERE: &str = "nowhere.invalid";

fn nowhere() -> Result<Url, SourceError> {
    Url::parse("http://nowhere.invalid/").map_err(|error| SourceError::new(error.to_string()))
}

/// Only scheme, host, port and path.
fn plain(mut url: Url) -> Url {
    url.set_query(None);
    url.set_fragment(None);
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(base: &str, address: &str, server: &str) -> Result<ApiServer, String> {
        let url = |text: &str| (!text.is_empty()).then(|| Url::parse(text).unwrap());
        let server = (!server.is_empty()).then_some(server);
        let chosen = ApiServer::choose(url(base).as_ref(), url(address).as_ref(), server);
        chosen.map_err(|error| error.to_string())
    }

    #[test]
    fn the_configured_host_is_the_only_one() {
        let table = [
            ("http://own:1/", "https://a.example/api/v3/", "http://own:1/", Some("/api/v3")),
            ("http://own:1/x?y#z", "https://a.example/api/v3", "http://own:1/x", None),
            ("http://own:1", "/api/v3", "http://own:1/", Some("/api/v3")),
            ("http://own:1", "https://a.example", "http://own:1/", None),
            ("http://own:1", "", "http://own:1/", None),
        ];
        for (base, server, expected, forgotten) in table {
            let server = choose(base, "", server).unwrap();
            assert_eq!((server.base.as_str(), server.is_named), (expected, true));
            assert_eq!(server.forgotten_path().as_deref(), forgotten);
        }
    }

    #[test]
    fn without_a_configured_host_the_document_proposes() {
        let base = |address: &str, server: &str| {
            choose("", address, server).map(|it| (it.base.to_string(), it.is_named))
        };
        let at = "http://localhost:8080/docs/openapi.json";
        let named = |text: &str| Ok((text.to_owned(), true));
        let absolute = ("https://a.example/v1".to_owned(), false);
        assert_eq!(base("", "https://a.example/v1"), Ok(absolute));
        assert_eq!(base(at, "/api/v3"), named("http://localhost:8080/api/v3"));
        assert_eq!(base(at, "v3"), named("http://localhost:8080/docs/v3"));
        assert_eq!(base(at, ""), named("http://localhost:8080/"));
        assert_eq!(base(at, "https://b.example"), Ok(("https://b.example/".to_owned(), false)));
        for (address, server) in
            [("", ""), ("", "/api"), ("file:///a/b.json", "/api"), ("", "ftp://x")]
        {
            assert!(base(address, server).unwrap_err().contains("set `base_url`"));
        }
        assert!(base("", "https://x.example/{stage}").unwrap_err().contains("leaves open"));
    }

    #[test]
    fn an_operation_has_its_own_path_but_not_its_own_host() {
        let server = choose("http://own:1/base", "", "https://a.example/v1").unwrap();
        let of = |own: &str| (server.of(Some(own)).to_string(), server.other_host(Some(own)));
        assert_eq!(server.of(None).as_str(), "http://own:1/base");
        assert_eq!(of("https://a.example/v1"), ("http://own:1/base".to_owned(), None));
        assert_eq!(of("/v2"), ("http://own:1/v2".to_owned(), None));
        let upload = ("http://own:1/up".to_owned(), Some("up.example".to_owned()));
        assert_eq!(of("https://up.example/up"), upload);
    }
}
