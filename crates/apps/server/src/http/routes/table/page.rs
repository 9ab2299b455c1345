//! The routes of the page, and of who is signed in on it.

use super::super::parameter::QueryParameter;
use super::super::problem::ProblemKind::{
    Forbidden, InvalidQuery, NothingLeft, SourceStarting, TooMany, UnknownProfile, UnknownSession,
    UnknownTool,
};
use super::super::route::Route;
use super::super::route::RouteAccess::{Anybody, Operator};
use super::super::row::{delete, get, one_of, post, text};
use super::super::schemas;
use crate::http::page::{assets, catalog, events, now, sign_in, trial};

/// The one way in which all tools are told so far.
const SHAPE: QueryParameter = one_of("shape", "How they are told.", &["columns"]);
const PROFILE: QueryParameter = text("profile", "The profile to look through.");

pub(super) static ROUTES: &[Route] = &[
    get(
        "/v1/catalog",
        "list_catalog",
        catalog::columns,
        "All tools in columns, with what they cost.",
    )
    .query(&[SHAPE, PROFILE])
    .answers(schemas::page::catalog)
    .problems(&[InvalidQuery, UnknownProfile, NothingLeft]),
    get(
        "/v1/catalog/{source}/{name}",
        "show_catalog",
        catalog::one,
        "All that is known of a tool.",
    )
    .query(&[PROFILE])
    .answers(schemas::page::catalog_tool)
    .problems(&[InvalidQuery, UnknownProfile, UnknownTool, SourceStarting, NothingLeft]),
    post(
        "/v1/tools/{name}/validate",
        "validate_call",
        trial::validate,
        "Tell what would become of a call, and run nothing.",
    )
    .body(schemas::of::<trial::TrialBody>)
    .answers(schemas::page::trial)
    .problems(&[UnknownProfile, UnknownTool, SourceStarting, NothingLeft]),
    get("/v1/now", "show_now", now::now, "Tell what needs a person.").answers(schemas::page::now),
    get("/v1/events", "follow_events", events::follow, "Follow what happens.")
        .query(&[text("after", "The `id` of the last event that is known.")])
        .problems(&[InvalidQuery])
        .undocumented(),
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
    get("/v1/sessions", "list_sessions", sign_in::list, "List who is signed in on the page.")
        .answers(schemas::page::sessions),
    delete("/v1/sessions/{id}", "end_session", sign_in::end_one, "End one session.")
        .answers(schemas::page::ended)
        .problems(&[UnknownSession]),
    post("/v1/session/link", "make_link", sign_in::link, "Make a link that signs a browser in.")
        .access(Operator)
        .body(schemas::nothing)
        .answers(schemas::page::link)
        .problems(&[Forbidden]),
];
