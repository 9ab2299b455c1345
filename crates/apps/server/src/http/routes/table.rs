//! Every route there is.

mod a2a;
mod agents;
mod changes;
mod page;
mod sources;

use toolcrib_core::Discovery;
use toolcrib_store::CallState;

use super::parameter::{ParameterType, QueryParameter};
use super::problem::ProblemKind::{
    self, BadHost, BadOrigin, BadRequest, Broken, EndKnown, Forbidden, InsufficientScope,
    InvalidBody, InvalidQuery, KeyConflict, KeyInUse, NoRoom, NotAReply, NotJson, NothingLeft,
    OtherProfile, OutcomeUnknown, SourceStarting, TicketRefused, TooLarge, TooMany, TooSlow,
    Unauthenticated, Unavailable, UnknownCall, UnknownCursor, UnknownPlan, UnknownProfile,
    UnknownResult, UnknownSource, UnknownTicket, UnknownTool,
};
use super::route::Route;
use super::route::RouteAccess::{Anybody, Operator};
use super::row::{LARGEST_COUNT, delete, get, limit, number, one_of, post, text};
use super::{metadata, schemas};
use crate::http::mcp;
use crate::http::rest::{
    calls, health, metrics, plan,
    records::{export, listing, resolution},
    results, selection, sources as source_states,
    tickets::{self, denial},
    tools,
};

/// As RFC 9728 has it: before the path of the way in.
const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";
const WELL_KNOWN_MCP: &str = "/.well-known/oauth-protected-resource/mcp";
const WELL_KNOWN_PROFILE: &str = "/.well-known/oauth-protected-resource/mcp/{profile}";

const PROFILE: QueryParameter = text("profile", "The profile to look through.");

/// Which of the recorded calls of a caller.
const RECORDED: &[QueryParameter] =
    &[STATE, OF_TOOL, OF_SOURCE, OF_BATCH, SINCE, limit(listing::LARGEST_PAGE), CURSOR];
/// Which of those of all callers.
const RECORDED_OF_ALL: &[QueryParameter] = &[
    STATE,
    OF_TOOL,
    OF_SOURCE,
    text("caller", "Only calls of the caller with this name."),
    OF_BATCH,
    SINCE,
    limit(listing::LARGEST_PAGE),
    CURSOR,
];
/// Which of them a file has.
const EXPORTED: &[QueryParameter] = &[
    one_of("form", "How the file is written; `jsonl` if not said.", export::FORMS),
    STATE,
    OF_TOOL,
    OF_SOURCE,
    text("caller", "Only calls of the caller with this name."),
    OF_BATCH,
    SINCE,
    CURSOR,
];
const STATE: QueryParameter = QueryParameter {
    name: "state",
    about: "Only calls in one of these states.",
    takes: ParameterType::SomeOf(&CallState::WORDS),
};
const OF_TOOL: QueryParameter = text("tool", "Only calls of this tool.");
const OF_SOURCE: QueryParameter = text("source", "Only calls of tools of this source.");
const OF_BATCH: QueryParameter =
    text("batch", "Only calls that were made together: their keys before the last `-`.");
const SINCE: QueryParameter = QueryParameter {
    name: "since",
    about: "Only calls that began then or later: a time as RFC 3339 writes it.",
    takes: ParameterType::Time,
};
const CURSOR: QueryParameter = text("cursor", "Where the page before ended: its `cursor`.");

/// Every route, in the order of the document.
pub(crate) fn all() -> impl Iterator<Item = &'static Route> + Clone {
    let of_page = page::ROUTES.iter().chain(changes::ROUTES);
    let of_agents = agents::ROUTES.iter().chain(a2a::ROUTES);
    ROUTES.iter().chain(sources::ROUTES).chain(of_page).chain(of_agents)
}

static ROUTES: &[Route] = &[
    get("/v1/tools", "list_tools", tools::list, "List the tools that the caller may see.")
        .query(&[
            text("q", "What the tools are to do, in plain words; the best come first."),
            text("category", "Only tools of this category."),
            text("action", "Only tools of this action."),
            text("source", "Only tools of this source."),
            QueryParameter {
                name: "effect",
                about: "Only tools of this effect.",
                takes: ParameterType::OneOf(&["read", "write", "destroy"]),
            },
            PROFILE,
            limit(tools::LARGEST_PAGE),
            text("cursor", "Where the page before ended: its `cursor`."),
        ])
        .answers(schemas::tools)
        .problems(&[InvalidQuery, UnknownProfile, UnknownCursor]),
    get("/v1/tools/{name}", "show_tool", tools::show, "Show one tool with its schema.")
        .query(&[PROFILE])
        .answers(schemas::tool)
        .problems(&[InvalidQuery, UnknownTool, SourceStarting, UnknownProfile]),
    get(
        "/v1/toolsets",
        "list_toolsets",
        tools::list_toolsets,
        "List the toolsets and their tools.",
    )
    .query(&[PROFILE, text("source", "Only toolsets with tools of this source.")])
    .answers(schemas::toolsets)
    .problems(&[InvalidQuery, UnknownProfile]),
    get("/v1/why/{tool}", "why_tool", tools::why, "Tell why a tool is in or out of a plan.")
        .query(&[
            PROFILE,
            text("choices", "Tools that the user chose, with commas between them."),
            text("disabled", "Tools that are out, with commas between them."),
            one_of("discovery", "How tools are shown.", MODES),
        ])
        .answers(schemas::why)
        .problems(&[InvalidQuery, UnknownTool, SourceStarting, UnknownProfile, NothingLeft]),
    post("/v1/plan", "make_plan", plan::plan, "Decide which tools one request may use.")
        .body(schemas::of::<plan::PlanBody>)
        .answers(schemas::plan)
        .problems(&[UnknownProfile, NothingLeft, SourceStarting, Forbidden]),
    post("/v1/select", "select_tools", selection::select, "Choose the tools that serve a task.")
        .body(schemas::of::<selection::SelectBody>)
        .answers(schemas::selection)
        .problems(&[UnknownProfile, UnknownTool, SourceStarting, NothingLeft]),
    post("/v1/partition", "share_tools", selection::share, "Share tools out over agents.")
        .body(schemas::of::<selection::PartitionBody>)
        .answers(schemas::partition)
        .problems(&[UnknownProfile, UnknownTool, SourceStarting, NothingLeft, NoRoom]),
    get("/v1/calls", "list_calls", listing::list, "List what runs now, and the recorded calls.")
        .query(RECORDED)
        .answers(schemas::record::batches)
        .problems(&[InvalidQuery, UnknownCursor]),
    post(
        "/v1/calls",
        "run_calls",
        calls::run,
        "Run the calls of a model and wait for all answers.",
    )
    .body(schemas::of::<calls::CallsBody>)
    .answers(schemas::calls)
    .problems(&[
        UnknownProfile,
        UnknownPlan,
        OtherProfile,
        NothingLeft,
        NotAReply,
        KeyConflict,
        KeyInUse,
        OutcomeUnknown,
        SourceStarting,
    ]),
    get("/v1/calls/{id}", "show_calls", listing::show, "Show a running batch or a recorded call.")
        .answers(schemas::anything)
        .problems(&[UnknownCall]),
    delete("/v1/calls/{id}", "cancel_calls", calls::stop, "Cancel a batch that runs now.")
        .answers(schemas::batch)
        .problems(&[UnknownCall]),
    get(
        "/v1/tickets",
        "list_tickets",
        tickets::list,
        "List the calls that wait for approval, or for an answer.",
    )
    .query(&[
        limit(tickets::LARGEST_PAGE),
        text("cursor", "Where the page before ended: its `cursor`."),
    ])
    .answers(schemas::tickets)
    .problems(&[InvalidQuery, UnknownCursor]),
    post("/v1/tickets/deny", "deny_tickets", denial::deny, "Deny several waiting calls.")
        .body(schemas::of::<denial::DenialBody>)
        .answers(schemas::denied),
    get("/v1/tickets/{id}", "show_ticket", tickets::show, "Show a waiting call with all of it.")
        .answers(schemas::whole_ticket)
        .problems(&[UnknownTicket]),
    post(
        "/v1/tickets/{id}",
        "decide_ticket",
        tickets::decide,
        "Approve or deny a waiting call, or answer it.",
    )
    .body(schemas::of::<tickets::TicketBody>)
    .answers(schemas::decided)
    .problems(&[UnknownProfile, UnknownTicket, TicketRefused, SourceStarting]),
    get("/v1/results/{handle}", "read_result", results::read, "Read a large result in pieces.")
        .query(&[
            number("offset", "Letters to pass over.", (0, u32::MAX as usize)),
            limit(results::LARGEST_PIECE),
            text("path", "A JSON pointer into the data of the result."),
            number(
                "part",
                "The number of one part, from 0; what is no text is in base64.",
                (0, 100_000),
            ),
        ])
        .answers(schemas::result)
        .problems(&[InvalidQuery, UnknownResult]),
    get("/v1/sources", "list_sources", source_states::list, "Tell how the sources are doing.")
        .access(Operator)
        .answers(schemas::sources::sources)
        .problems(&[Forbidden]),
    post(
        "/v1/sources/{id}/reload",
        "reload_source",
        source_states::reload,
        "Load one source again.",
    )
    .access(Operator)
    .body(schemas::nothing)
    .answers(schemas::sources::reloaded)
    .problems(&[Forbidden, UnknownSource]),
    get("/v1/activity", "list_activity", metrics::activity, "Tell what all callers do just now.")
        .access(Operator)
        .query(&[
            number("after", "The `next` of the answer before.", (0, LARGEST_COUNT)),
            limit(metrics::LARGEST_PAGE),
        ])
        .answers(schemas::activity)
        .problems(&[InvalidQuery, Forbidden]),
    get("/v1/record", "list_record", listing::list_all, "List the recorded calls of all callers.")
        .access(Operator)
        .query(RECORDED_OF_ALL)
        .answers(schemas::record::record)
        .problems(&[InvalidQuery, Forbidden, UnknownCursor]),
    get("/v1/record/export", "export_record", export::export, "The record as a file.")
        .access(Operator)
        .query(EXPORTED)
        .problems(&[InvalidQuery, Forbidden, UnknownCursor])
        .undocumented(),
    get("/v1/record/{id}", "show_record", listing::show_any, "Show a recorded call of whomever.")
        .access(Operator)
        .answers(schemas::record::one_of_record)
        .problems(&[Forbidden, UnknownCall]),
    get("/v1/running", "list_running", calls::running, "List the batches of all callers.")
        .access(Operator)
        .answers(schemas::record::running)
        .problems(&[Forbidden]),
    delete("/v1/running/{id}", "cancel_running", calls::stop_any, "Cancel a batch of whomever.")
        .access(Operator)
        .answers(schemas::record::batch_of_any)
        .problems(&[Forbidden, UnknownCall]),
    post(
        "/v1/record/{id}",
        "resolve_call",
        resolution::resolve,
        "Say how a call ended of whose outcome nobody knows.",
    )
    .access(Operator)
    .body(schemas::of::<resolution::ResolutionBody>)
    .answers(schemas::record::of_record)
    .problems(&[Forbidden, UnknownCall, EndKnown]),
    get("/metrics", "metrics", metrics::metrics, "Figures for Prometheus.")
        .access(Operator)
        .undocumented(),
    get("/v1/openapi.json", "openapi", metadata::document, "This document.").access(Anybody),
    get("/healthz", "healthz", health::alive, "Tell that the process is alive.")
        .access(Anybody)
        .answers(schemas::status),
    get("/readyz", "readyz", health::ready, "Tell whether calls can be taken now.")
        .access(Anybody)
        .answers(schemas::readiness),
    get(WELL_KNOWN, "resource", metadata::answer, "Tell who gives tokens for this server.")
        .access(Anybody)
        .undocumented(),
    get(WELL_KNOWN_MCP, "mcp_resource", metadata::answer, "The same for MCP.")
        .access(Anybody)
        .undocumented(),
    get(WELL_KNOWN_PROFILE, "mcp_profile_resource", metadata::answer, "The same for a profile.")
        .access(Anybody)
        .undocumented(),
    get("/mcp", "mcp_listen", mcp::enter, "MCP.").undocumented(),
    post("/mcp", "mcp", mcp::enter, "MCP.").body(schemas::anything).undocumented(),
    delete("/mcp", "mcp_end", mcp::enter, "MCP.").undocumented(),
    get("/mcp/{profile}", "mcp_profile_listen", mcp::enter, "MCP.").undocumented(),
    post("/mcp/{profile}", "mcp_profile", mcp::enter, "MCP.")
        .body(schemas::anything)
        .undocumented(),
    delete("/mcp/{profile}", "mcp_profile_end", mcp::enter, "MCP.").undocumented(),
];

/// Ways of showing tools.
const MODES: &[&str] = &Discovery::WORDS;
/// What can be wrong with any request.
pub(crate) const COMMON: &[ProblemKind] =
    &[BadRequest, BadHost, BadOrigin, Unauthenticated, InsufficientScope, Broken];
/// What can be wrong where a request takes a place among others.
pub(crate) const OF_CALLERS: &[ProblemKind] = &[TooMany, Unavailable];
/// What can be wrong with any body.
pub(crate) const OF_BODIES: &[ProblemKind] = &[NotJson, TooLarge, TooSlow, InvalidBody];

#[cfg(test)]
mod tests {
    use super::{Route, all};
    use crate::http::routes::route::RouteAccess;

    /// The checks of all doors run over this list. Write it anew with what this test tells.
    #[test]
    fn every_route_is_in_the_list_of_the_checks() {
        let row = |route: &Route| {
            let access = match route.access {
                RouteAccess::Anybody => "anybody",
                RouteAccess::Caller => "caller",
                RouteAccess::Operator => "operator",
            };
            let body = match route.body {
                _ if route.is_socket => "socket",
                Some(_) => "body",
                None => "none",
            };
            format!("{} {} {access} {body}\n", route.method, route.path)
        };
        let rows: String = all().map(row).collect();
        assert_eq!(include_str!("../../../tests/it/serve/routes.txt"), rows, "\n{rows}");
    }
}
