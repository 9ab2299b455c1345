//! The routes of what people change while it serves.

use super::super::problem::ProblemKind::{
    ChangeRefused, Forbidden, InvalidQuery, NothingLeft, OverlayOff, Unavailable, UnknownChange,
    UnknownFreeze, VersionConflict,
};
use super::super::route::Route;
use super::super::route::RouteAccess::Operator;
use super::super::row::{LARGEST_COUNT, delete, get, limit, number, one_of, post};
use super::super::schemas;
use crate::http::changes::{export, freeze, history, overlay};

pub(super) static ROUTES: &[Route] = &[
    get("/v1/overlay", "show_overlay", overlay::show, "Show what holds over the file.")
        .access(Operator)
        .answers(schemas::changes::overlay)
        .problems(&[Forbidden, OverlayOff]),
    post("/v1/overlay", "change_overlay", overlay::change, "Change fields over the file.")
        .access(Operator)
        .body(schemas::of::<overlay::OverlayBody>)
        .answers(schemas::changes::edited)
        .problems(&[Forbidden, OverlayOff, VersionConflict, ChangeRefused]),
    delete("/v1/overlay/{id}", "undo_change", overlay::undo, "Take a change back.")
        .access(Operator)
        .answers(schemas::changes::edited)
        .problems(&[Forbidden, OverlayOff, UnknownChange, ChangeRefused]),
    get("/v1/overlay/export", "export_overlay", export::export, "Give the changes as a text.")
        .access(Operator)
        .query(&[one_of("form", "As which text; words of the file if not set.", &export::FORMS)])
        .answers(schemas::changes::exported)
        .problems(&[Forbidden, OverlayOff, InvalidQuery]),
    get(
        "/v1/catalog/{source}/{name}/history",
        "show_tool_history",
        history::of_tool,
        "Tell who changed what of a tool, and when it was defined otherwise.",
    )
    .access(Operator)
    .query(&[
        limit(history::LARGEST_PAGE),
        number("offset", "Entries to pass over.", (0, LARGEST_COUNT)),
    ])
    .answers(schemas::changes::tool_history)
    .problems(&[Forbidden, InvalidQuery, Unavailable]),
    get("/v1/freeze", "list_freezes", freeze::list, "List what is frozen.")
        .answers(schemas::changes::freezes)
        .problems(&[NothingLeft]),
    post("/v1/freeze", "set_freeze", freeze::set, "Stop calls, whatever the rules say.")
        .body(schemas::of::<freeze::FreezeBody>)
        .answers(schemas::changes::frozen)
        .problems(&[NothingLeft]),
    delete("/v1/freeze/{id}", "lift_freeze", freeze::lift, "Let calls run again.")
        .access(Operator)
        .answers(schemas::changes::frozen)
        .problems(&[Forbidden, UnknownFreeze, NothingLeft]),
];
