//! The routes of what an operator looks after: sources, what changed of their tools, profiles.

use super::super::problem::ProblemKind::{
    ChangeRefused, DriftRefused, Forbidden, InvalidQuery, NothingLeft, OverlayOff, Unavailable,
    UnknownProfile, UnknownSource, VersionConflict,
};
use super::super::route::Route;
use super::super::route::RouteAccess::Operator;
use super::super::row::{LARGEST_COUNT, get, limit, number, post, text};
use super::super::schemas;
use crate::http::rest::plan::cost;
use crate::http::rest::profiles::{self, policy_test};
use crate::http::rest::sources::{add, drift, dry_run, standard_error};

pub(super) static ROUTES: &[Route] = &[
    get(
        "/v1/sources/{id}/stderr",
        "follow_source",
        standard_error::follow,
        "Tell what the program of a source wrote to its standard error.",
    )
    .access(Operator)
    .query(&[text("after", "The `next` of the answer before.")])
    .answers(schemas::sources::standard_error)
    .problems(&[InvalidQuery, Forbidden, UnknownSource]),
    post("/v1/sources", "add_sources", add::add, "Add a source over the file.")
        .access(Operator)
        .body(schemas::of::<add::NewSourceBody>)
        .answers(schemas::changes::edited)
        .problems(&[Forbidden, OverlayOff, VersionConflict, ChangeRefused]),
    post(
        "/v1/sources/dry-run",
        "try_source",
        dry_run::run,
        "Tell what a source would be, and start nothing unless its tools are asked for.",
    )
    .access(Operator)
    .body(schemas::of::<dry_run::DryRunBody>)
    .answers(schemas::sources::dry_run)
    .problems(&[Forbidden, ChangeRefused]),
    get(
        "/v1/drift",
        "list_drift",
        drift::list,
        "Tell what changed of the tools that are kept out.",
    )
    .access(Operator)
    .query(&[
        text("source", "Only tools of this source."),
        number("offset", "Tools to pass over.", (0, LARGEST_COUNT)),
        limit(drift::LARGEST_PAGE),
    ])
    .answers(schemas::sources::drift)
    .problems(&[InvalidQuery, Forbidden]),
    post("/v1/drift", "decide_drift", drift::decide, "Accept tools as they are, or keep them out.")
        .access(Operator)
        .body(schemas::of::<drift::DriftBody>)
        .answers(schemas::sources::decided_drift)
        .problems(&[Forbidden, DriftRefused]),
    post(
        "/v1/plan/cost",
        "cost_plan",
        cost::count,
        "Count what the tools take in the prompt of a model.",
    )
    .body(schemas::of::<cost::CostBody>)
    .answers(schemas::sources::cost)
    .problems(&[Forbidden, UnknownProfile, NothingLeft]),
    get("/v1/profiles", "list_profiles", profiles::list, "List the profiles, rules and agents.")
        .access(Operator)
        .answers(schemas::sources::profiles)
        .problems(&[Forbidden, Unavailable]),
    get("/v1/profiles/{name}", "show_profile", profiles::show, "Show a profile with its rules.")
        .access(Operator)
        .answers(schemas::sources::profile)
        .problems(&[Forbidden, UnknownProfile, Unavailable]),
    post(
        "/v1/policy/test",
        "test_policy",
        policy_test::test,
        "Tell which calls of the last day other rules would decide otherwise.",
    )
    .access(Operator)
    .body(schemas::of::<policy_test::PolicyTestBody>)
    .answers(schemas::sources::policy_test)
    .problems(&[Forbidden, Unavailable]),
];
