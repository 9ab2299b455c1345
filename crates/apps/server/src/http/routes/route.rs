//! What a route is: the router, the check of who asks and the document are all made of these rows.

use futures_util::future::BoxFuture;
use http::Method;
use percent_encoding::percent_decode_str;
use serde_json::Value;
use toolcrib::auth::ProtectedResource;

use super::problem::{HttpProblem, ProblemKind};
use super::reply::HttpReply;
use super::request::GatewayRequest;
use super::table::ROUTES;

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
    /// where `GET` is a part of MCP and listens.
    fn takes(&self, method: &Method) -> bool {
        self.method == method.as_str() || (method == Method::HEAD && self.takes_head())
    }

    fn takes_head(&self) -> bool {
        self.method == Method::GET.as_str() && !self.path.starts_with("/mcp")
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

/// A parameter of the query.
pub(crate) struct QueryParameter {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    pub(crate) takes: ParameterType,
}

/// What may stand behind the name of a parameter.
#[derive(Clone, Copy)]
pub(crate) enum ParameterType {
    Text,
    /// A whole number: the least and the largest.
    Number(usize, usize),
    OneOf(&'static [&'static str]),
    /// Some of these, with commas between them.
    SomeOf(&'static [&'static str]),
}

/// The row of a request and the segments that stand for its names.
pub(crate) fn find(
    method: &Method,
    path: &str,
) -> Result<(&'static Route, Vec<String>), HttpProblem> {
    for route in ROUTES.iter().filter(|route| route.takes(method)) {
        if let Some(segments) = segments(route.path, path) {
            return Ok((route, segments?));
        }
    }
    let mut others: Vec<&str> = Vec::new();
    for route in ROUTES.iter().filter(|route| segments(route.path, path).is_some()) {
        others.push(route.method);
        if route.takes_head() {
            others.push(Method::HEAD.as_str());
        }
    }
    if others.is_empty() {
        let bare = path.strip_suffix('/');
        let is_route = |path| ROUTES.iter().any(|route| segments(route.path, path).is_some());
        let detail = if bare.is_some_and(is_route) {
            "leave out the slash at the end of the path"
        } else {
            "`/v1/openapi.json` lists the routes"
        };
        return Err(HttpProblem::new(ProblemKind::UnknownRoute, detail));
    }
    let allowed = others.join(", ");
    let problem = HttpProblem::new(ProblemKind::WrongMethod, format!("use {allowed}"));
    Err(match allowed.parse() {
        Ok(value) => problem.with(http::header::ALLOW, value),
        Err(_) => problem,
    })
}

/// The values of the names of a path; `None`: it is another path.
fn segments(pattern: &str, path: &str) -> Option<Result<Vec<String>, HttpProblem>> {
    // Most rows are told apart by what they begin with.
    match pattern.split_once('{') {
        None => return (pattern == path).then(|| Ok(Vec::new())),
        Some((fixed, _)) if !path.starts_with(fixed) => return None,
        Some(_) => {}
    }
    let (mut expected, mut given) = (pattern.split('/'), path.split('/'));
    let mut values = Vec::new();
    loop {
        match (expected.next(), given.next()) {
            (None, None) => break,
            (Some(name), Some(value)) if name.starts_with('{') && !value.is_empty() => {
                values.push(value);
            }
            (Some(fixed), Some(value)) if fixed == value => {}
            _ => return None,
        }
    }
    let decoded = values.into_iter().map(|value| {
        let text = percent_decode_str(value).decode_utf8();
        text.map(Into::into).map_err(|_| {
            HttpProblem::new(ProblemKind::BadRequest, "a segment of the path is no UTF-8 text")
        })
    });
    Some(decoded.collect())
}
