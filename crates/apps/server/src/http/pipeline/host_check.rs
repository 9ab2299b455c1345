//! The names under which requests may reach us, so that no page in a browser gets here by a name
//! of its own (DNS rebinding) or from another site.

use std::net::SocketAddr;

use http::request::Parts;
use http::{HeaderMap, HeaderName, header};

use crate::http::routes::problem::{HttpProblem, ProblemKind};

/// The accepted values of `Host`, in lower case.
#[derive(Debug, Clone)]
pub(crate) struct HostNames(Vec<String>);

impl HostNames {
    /// Those of the listener, and what the operator calls it besides: `crib.example`, with a port
    /// or without.
    pub(crate) fn new(address: SocketAddr, called: &[String]) -> Self {
        let port = address.port();
        let mut names = Vec::new();
        if !address.ip().is_unspecified() {
            names.push(address.to_string());
        }
        if address.ip().is_loopback() {
            names.extend([format!("localhost:{port}"), format!("127.0.0.1:{port}")]);
            names.push(format!("[::1]:{port}"));
        }
        for name in called {
            let name = name.to_ascii_lowercase();
            names.push(format!("{name}:{port}"));
            names.push(name);
        }
        Self(names)
    }

    pub(crate) fn hosts(&self) -> &[String] {
        &self.0
    }

    /// The pages that are ours.
    pub(crate) fn origins(&self) -> Vec<String> {
        let of = |scheme| self.0.iter().map(move |name| format!("{scheme}://{name}"));
        of("http").chain(of("https")).collect()
    }

    /// Refuses a request for another host, from another site, or of two minds about it.
    pub(crate) fn check(&self, parts: &Parts) -> Result<(), HttpProblem> {
        let host = single(&parts.headers, &header::HOST)?.ok_or_else(|| {
            HttpProblem::new(
                ProblemKind::BadRequest,
                "the request names no host: send one `Host` header",
            )
        })?;
        let authority = parts.uri.authority().map(http::uri::Authority::as_str);
        let known = |name: &str| self.0.iter().any(|own| own.eq_ignore_ascii_case(name));
        if !known(host) || authority.is_some_and(|name| !name.eq_ignore_ascii_case(host)) {
            let detail = "this name is not one of ours: start the server with `--host NAME` for \
                          every name that it is reached by, or list them as `hosts`";
            return Err(HttpProblem::new(ProblemKind::BadHost, detail));
        }
        let Some(origin) = single(&parts.headers, &header::ORIGIN)? else { return Ok(()) };
        let site = origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://"));
        if !site.is_some_and(known) {
            let detail = "only pages of this server itself may call it";
            return Err(HttpProblem::new(ProblemKind::BadOrigin, detail));
        }
        Ok(())
    }
}

/// A header that may come once.
pub(crate) fn single<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> Result<Option<&'a str>, HttpProblem> {
    let bad = |what: &str| {
        HttpProblem::new(ProblemKind::BadRequest, format!("the header `{name}` {what}"))
    };
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(bad("came twice: send it once"));
    }
    value.to_str().map(Some).map_err(|_| bad("holds bytes that are no text"))
}
