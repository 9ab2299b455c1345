//! What a route is: the router, the check of who asks and the document are all made of these rows.

use futures_util::future::BoxFuture;
use http::Method;
use serde_json::Value;
use toolcrib_auth::ProtectedResource;

use super::parameter::QueryParameter;
use super::problem::{HttpProblem, ProblemKind};
use super::reply::HttpReply;
use super::request::GatewayRequest;

pub(crate) type ReplyFuture = BoxFuture<'static, Result<HttpReply, HttpProblem>>;

/// Who may ask. There is no route without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RouteAccess {
    /// Anybody: the answer tells nothing of this crib. A wrong token is refused all the same.
    Anybody,
    /// Whoever may use any tools; which ones is asked where they are looked up.
    Caller,
    /// The person who started the server, and whoever has the scope `operator`.
    Operator,
}

#[derive(Clone, Copy)]
pub(crate) struct Route {
    pub(crate) method: &'static str,
    /// `{name}` stands for one segment.
    pub(crate) path: &'static str,
    pub(crate) access: RouteAccess,
    pub(crate) answer: fn(GatewayRequest) -> ReplyFuture,
    /// `false`: the route speaks a protocol of its own, which the document does not tell.
    pub(crate) documented: bool,
    /// `true`: the row is for requests that become a WebSocket, and for no others.
    pub(crate) is_socket: bool,
    /// The name of the operation, for clients that are made of the document.
    pub(crate) id: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) query: &'static [QueryParameter],
    pub(crate) body: Option<fn() -> Value>,
    /// The schema of the answer.
    pub(crate) answers: fn() -> Value,
    pub(crate) problems: &'static [ProblemKind],
}

impl Route {
    /// Whether the row answers this method: what can be asked for can be looked at by `HEAD`, save
    /// where `GET` is a part of MCP or a WebSocket, or goes on for ever.
    pub(super) fn takes(&self, method: &Method) -> bool {
        self.method == method.as_str() || (method == Method::HEAD && self.takes_head())
    }

    pub(super) fn takes_head(&self) -> bool {
        let goes_on = self.is_socket || self.listens() || self.path.starts_with("/mcp");
        self.method == Method::GET.as_str() && !goes_on
    }

    /// Whether the route judges by itself of which type a body is: the protocol has its own words
    /// for that.
    pub(crate) fn judges_content(&self) -> bool {
        self.path.starts_with("/a2a/")
    }

    /// Whether the route is there for the page alone, and with it.
    pub(crate) fn is_page(&self) -> bool {
        matches!(self.path, "/" | "/v1/session") || self.path.starts_with("/assets/")
    }

    /// Whether programs talk here in a protocol of their own, so that no browser shows an answer.
    pub(crate) fn is_of_programs(&self) -> bool {
        ["/mcp", "/a2a"].iter().any(|at| self.path.starts_with(at))
    }

    /// Whether its answer goes on until the one who asked goes away.
    pub(crate) fn listens(&self) -> bool {
        self.path == "/v1/events"
    }

    /// Whether its answer goes on for long, though not for ever: it too ends with what the request
    /// was made with.
    pub(crate) fn follows(&self) -> bool {
        self.path == "/v1/runs/{id}/events"
    }

    /// Whether it is there for an operator too who may use no tools: it tells of the server.
    pub(crate) fn tells_operators(&self) -> bool {
        matches!(
            self.path,
            "/v1/now" | "/v1/events" | "/v1/session" | "/v1/sessions" | "/v1/sessions/{id}"
        )
    }

    /// Whether a session of the page opens it.
    pub(crate) fn takes_session(&self) -> bool {
        self.access != RouteAccess::Anybody && self.path.starts_with("/v1/")
    }

    /// What OAuth calls the way in that this route is.
    pub(crate) fn resource<'a>(&self, segments: &'a [String]) -> ProtectedResource<'a> {
        match (self.path, segments) {
            ("/mcp", _) => ProtectedResource::Mcp,
            ("/mcp/{profile}", [profile, ..]) => ProtectedResource::Profile(profile),
            _ => ProtectedResource::Whole,
        }
    }
}
