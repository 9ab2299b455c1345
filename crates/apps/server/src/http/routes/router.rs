//! The row that a request asks for.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use http::Method;
use matchit::{Match, Params, Router};
use percent_encoding::percent_decode_str;

use super::problem::{HttpProblem, ProblemKind};
use super::route::Route;
use super::table::all;

/// The rows by their paths. A path that is written out is no value of a name in another one.
static ROWS: LazyLock<Router<Vec<&'static Route>>> = LazyLock::new(|| {
    let mut paths: BTreeMap<String, Vec<&'static Route>> = BTreeMap::new();
    for route in all() {
        paths.entry(pattern(route.path)).or_default().push(route);
    }
    let mut router = Router::new();
    for (path, rows) in paths {
        // Two that cannot be told apart would be a fault of the table, which a test finds.
        let _ = router.insert(path, rows);
    }
    router
});

/// The row of a request and the segments that stand for its names. `wants_socket`: the request asks
/// to become a WebSocket.
pub(crate) fn find(
    method: &Method,
    path: &str,
    wants_socket: bool,
) -> Result<(&'static Route, Vec<String>), HttpProblem> {
    let found = rows(path).ok_or_else(|| unknown(path))?;
    let open = || found.value.iter().copied().filter(|route| wants_socket || !route.is_socket);
    if let Some(route) = open().find(|route| route.takes(method)) {
        return Ok((route, segments(&found.params)?));
    }
    let mut others: Vec<&str> = Vec::new();
    for route in open() {
        others.push(route.method);
        if route.takes_head() {
            others.push(Method::HEAD.as_str());
        }
    }
    if others.is_empty() {
        return Err(unknown_route());
    }
    let allowed = others.join(", ");
    let problem = HttpProblem::new(ProblemKind::WrongMethod, format!("use {allowed}"));
    Err(match allowed.parse() {
        Ok(value) => problem.with(http::header::ALLOW, value),
        Err(_) => problem,
    })
}

/// The rows of a path. The router lets a name stand for nothing within a path, as in
/// `/v1/sources//reload`, and no row means that.
fn rows(path: &str) -> Option<Match<'static, '_, &'static Vec<&'static Route>>> {
    let found = ROWS.at(path).ok()?;
    found.params.iter().all(|(_, value)| !value.is_empty()).then_some(found)
}

/// Of a path that is none here.
pub(crate) fn unknown_route() -> HttpProblem {
    HttpProblem::new(ProblemKind::UnknownRoute, "`/v1/openapi.json` lists the routes")
}

fn unknown(path: &str) -> HttpProblem {
    if path.strip_suffix('/').is_some_and(|bare| rows(bare).is_some()) {
        let detail = "leave out the slash at the end of the path";
        return HttpProblem::new(ProblemKind::UnknownRoute, detail);
    }
    unknown_route()
}

/// The path of a row with its names replaced by their places: two rows may give one segment
/// different names, and mean the same.
fn pattern(path: &str) -> String {
    let segments = path.split('/').enumerate().map(|(place, segment)| {
        if segment.starts_with('{') { Cow::from(format!("{{{place}}}")) } else { segment.into() }
    });
    segments.collect::<Vec<_>>().join("/")
}

/// The values of the names of a path, in their order.
fn segments(params: &Params<'_, '_>) -> Result<Vec<String>, HttpProblem> {
    let decoded = params.iter().map(|(_, value)| {
        let text = percent_decode_str(value).decode_utf8();
        text.map(Into::into).map_err(|_| {
            HttpProblem::new(ProblemKind::BadRequest, "a segment of the path is no UTF-8 text")
        })
    });
    decoded.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_is_found_by_its_path() {
        for route in all() {
            let method = Method::from_bytes(route.method.as_bytes()).unwrap();
            let (found, segments) = find(&method, route.path, route.is_socket).unwrap();
            let names: Vec<_> = route.path.split('/').filter(|it| it.starts_with('{')).collect();
            assert_eq!((found.path, found.method), (route.path, route.method));
            assert_eq!(segments, names);
        }
    }

    #[test]
    fn a_path_with_an_empty_segment_is_none() {
        for (path, says_slash) in [
            ("/v1/sources//reload", false),
            ("/v1/sources//reload/", false),
            ("//v1/tools", false),
            ("/v1//tools", false),
            ("/v1/tools/", true),
            ("/v1/sources/x/reload/", true),
        ] {
            let problem = find(&Method::POST, path, false).err().unwrap();
            let (kind, detail) = problem.told();
            let told = (kind, detail.starts_with("leave out the slash"));
            assert_eq!(told, (ProblemKind::UnknownRoute, says_slash), "{path}");
        }
    }
}
