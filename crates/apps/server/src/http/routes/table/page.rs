//! The routes of the page, and of who is signed in on it.

use super::super::problem::ProblemKind::{Forbidden, TooMany};
use super::super::route::Route;
use super::super::route::RouteAccess::{Anybody, Operator};
use super::super::row::{delete, get, post};
use super::super::schemas;
use crate::http::page::{assets, sign_in};

pub(super) static ROUTES: &[Route] = &[
    get("/", "page", assets::document, "The page.").access(Anybody).undocumented(),
    get("/assets/{name}", "page_file", assets::asset, "A file of the page.")
        .access(Anybody)
        .undocumented(),
    post("/v1/session", "sign_in", sign_in::begin, "Begin a session of the page.")
        .access(Anybody)
        .body(schemas::of::<sign_in::SignInBody>)
        .answers(schemas::page::session_with_key)
        .problems(&[TooMany]),
    get("/v1/session", "show_session", sign_in::show, "Tell who asks, and what it may do.")
        .answers(schemas::page::session),
    delete("/v1/session", "sign_out", sign_in::end, "End the session, or all of the caller.")
        .answers(schemas::page::ended),
    post("/v1/session/link", "make_link", sign_in::link, "Make a link that signs a browser in.")
        .access(Operator)
        .body(schemas::nothing)
        .answers(schemas::page::link)
        .problems(&[Forbidden]),
];
