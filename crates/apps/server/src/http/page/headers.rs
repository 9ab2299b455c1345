//! What every reply tells a browser: what its page may load and run, and who may show it.

use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::http::routes::route::Route;

/// Our own scripts and styles and nothing else, no HTML out of strings, nothing sent elsewhere.
const OF_THE_PAGE: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
                           img-src 'self' blob:; font-src 'self'; connect-src 'self'; \
                           manifest-src 'self'; base-uri 'none'; form-action 'none'; \
                           frame-ancestors 'none'; require-trusted-types-for 'script'; \
                           trusted-types 'none'";
/// What others wrote may stand in an answer: whoever opens one as a page gets a dead one.
const OF_ANSWERS: &str = "default-src 'none'; frame-ancestors 'none'; sandbox";

const ALL: [(HeaderName, &str); 6] = [
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    (REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (
        HeaderName::from_static("permissions-policy"),
        "camera=(), microphone=(), geolocation=(), clipboard-read=()",
    ),
];

/// Adds them to a reply of a route; `None`: no route was found.
pub(crate) fn protect(headers: &mut HeaderMap, route: Option<&Route>) {
    // What is kept is named by what it holds, and says so itself.
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    if route.is_some_and(Route::is_of_programs) {
        headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
        return;
    }
    let policy = if route.is_some_and(Route::is_page) { OF_THE_PAGE } else { OF_ANSWERS };
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    for (name, value) in ALL {
        headers.insert(name, HeaderValue::from_static(value));
    }
}
