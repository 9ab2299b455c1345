//! How a row of the table of routes is written.

use super::parameter::{ParameterType, QueryParameter};
use super::problem::ProblemKind;
use super::request::GatewayRequest;
use super::route::{ReplyFuture, Route, RouteAccess};
use super::schemas;

/// How much to give at the most.
pub(super) const fn limit(largest: usize) -> QueryParameter {
    number("limit", "How much to give at the most.", (1, largest))
}

pub(super) const fn text(name: &'static str, about: &'static str) -> QueryParameter {
    QueryParameter { name, about, takes: ParameterType::Text }
}

pub(super) const fn one_of(
    name: &'static str,
    about: &'static str,
    words: &'static [&'static str],
) -> QueryParameter {
    QueryParameter { name, about, takes: ParameterType::OneOf(words) }
}

/// The largest whole number that every reader of JSON holds: a server of a thousand calls a second
/// has counted all of 32 bits within two months.
pub(super) const LARGEST_COUNT: usize = usize::MAX >> 11;

pub(super) const fn number(
    name: &'static str,
    about: &'static str,
    range: (usize, usize),
) -> QueryParameter {
    QueryParameter { name, about, takes: ParameterType::Number(range.0, range.1) }
}

type RouteHandler = fn(GatewayRequest) -> ReplyFuture;

pub(super) const fn get(
    path: &'static str,
    id: &'static str,
    answer: RouteHandler,
    summary: &'static str,
) -> Route {
    row("GET", path, (id, summary), answer)
}

pub(super) const fn post(
    path: &'static str,
    id: &'static str,
    answer: RouteHandler,
    summary: &'static str,
) -> Route {
    row("POST", path, (id, summary), answer)
}

pub(super) const fn delete(
    path: &'static str,
    id: &'static str,
    answer: RouteHandler,
    summary: &'static str,
) -> Route {
    row("DELETE", path, (id, summary), answer)
}

/// A route for callers, unless its row says otherwise.
const fn row(
    method: &'static str,
    path: &'static str,
    (id, summary): (&'static str, &'static str),
    answer: RouteHandler,
) -> Route {
    Route {
        method,
        path,
        access: RouteAccess::Caller,
        answer,
        documented: true,
        is_socket: false,
        id,
        summary,
        query: &[],
        body: None,
        answers: schemas::anything,
        problems: &[],
    }
}

impl Route {
    pub(super) const fn access(self, access: RouteAccess) -> Self {
        Self { access, ..self }
    }

    pub(super) const fn undocumented(self) -> Self {
        Self { documented: false, ..self }
    }

    pub(super) const fn socket(self) -> Self {
        Self { is_socket: true, documented: false, ..self }
    }

    pub(super) const fn query(self, query: &'static [QueryParameter]) -> Self {
        Self { query, ..self }
    }

    pub(super) const fn body(self, body: fn() -> serde_json::Value) -> Self {
        Self { body: Some(body), ..self }
    }

    pub(super) const fn answers(self, answers: fn() -> serde_json::Value) -> Self {
        Self { answers, ..self }
    }

    pub(super) const fn problems(self, problems: &'static [ProblemKind]) -> Self {
        Self { problems, ..self }
    }
}
