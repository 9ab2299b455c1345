//! The row that a request asks for.

use http::Method;
use percent_encoding::percent_decode_str;

use super::problem::{HttpProblem, ProblemKind};
use super::route::Route;
use super::table::all;

/// The row of a request and the segments that stand for its names. `wants_socket`: the request asks
/// to become a WebSocket.
pub(crate) fn find(
    method: &Method,
    path: &str,
    wants_socket: bool,
) -> Result<(&'static Route, Vec<String>), HttpProblem> {
    let is_open = |route: &&Route| wants_socket || !route.is_socket;
    // A path that is written out is no value of a name in another one.
    let is_written_out = all().any(|route| route.path == path);
    let is_meant = |route: &&Route| !is_written_out || route.path == path;
    let open = || all().filter(is_open).filter(is_meant);
    for route in open().filter(|route| route.takes(method)) {
        if let Some(segments) = segments(route.path, path) {
            return Ok((route, segments?));
        }
    }
    let mut others: Vec<&str> = Vec::new();
    let of_path = |route: &&Route| segments(route.path, path).is_some();
    for route in open().filter(of_path) {
        others.push(route.method);
        if route.takes_head() {
            others.push(Method::HEAD.as_str());
        }
    }
    if others.is_empty() {
        let bare = path.strip_suffix('/');
        let is_route = |path| all().any(|route| segments(route.path, path).is_some());
        let detail = if bare.is_some_and(is_route) {
            "leave out the slash at the end of the path"
        } else {
            return Err(unknown_route());
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

/// Of a path that is none here.
pub(crate) fn unknown_route() -> HttpProblem {
    HttpProblem::new(ProblemKind::UnknownRoute, "`/v1/openapi.json` lists the routes")
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
