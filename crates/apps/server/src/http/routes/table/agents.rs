//! The routes to agents, but for those of A2A.

use super::super::parameter::{ParameterType, QueryParameter};
use super::super::problem::ProblemKind::{
    Forbidden, InvalidQuery, RunBusy, UnknownAgent, UnknownCursor, UnknownProfile, UnknownRun,
};
use super::super::route::Route;
use super::super::route::RouteAccess::Operator;
use super::super::row::{LARGEST_COUNT, delete, get, limit, number, one_of, post, text};
use super::super::schemas;
use crate::http::agents::{self, registry::listing, responses::conversations};

/// Which fields clients of `OpenAI`'s API may wish for besides.
const INCLUDE: &[QueryParameter] = &[
    text("include", "Further fields; all are there in any case."),
    text("include[]", "Further fields; all are there in any case."),
];

pub(super) static ROUTES: &[Route] = &[
    get(
        "/v1/models",
        "list_models",
        agents::models,
        "The agents, as a client of OpenAI's API asks.",
    )
    .undocumented(),
    post("/v1/chat/completions", "chat_completions", agents::chat::complete, "Ask an agent.")
        .body(schemas::anything)
        .undocumented(),
    post("/v1/responses", "create_response", agents::responses::create, "Ask an agent.")
        .body(schemas::anything)
        .undocumented(),
    get("/v1/responses", "connect_responses", agents::responses::connect, "The same by WebSocket.")
        .socket(),
    post(
        "/v1/responses/compact",
        "compact_response",
        agents::compaction::compact,
        "Sum a thread up, to go on with in its place.",
    )
    .body(schemas::anything)
    .undocumented(),
    get("/v1/responses/{id}", "show_response", agents::responses::show, "What an agent answered.")
        .query(&[
            one_of("stream", "Whether to give its events.", &["true", "false"]),
            number("starting_after", "The event behind which to begin.", (0, usize::MAX)),
            text("include", "Further fields; all are there in any case."),
            text("include[]", "Further fields; all are there in any case."),
        ])
        .undocumented(),
    delete("/v1/responses/{id}", "delete_response", agents::responses::forget, "Forget it.")
        .undocumented(),
    post(
        "/v1/responses/{id}/cancel",
        "cancel_response",
        agents::responses::cancel,
        "Stop an agent that works in the background.",
    )
    .undocumented(),
    get(
        "/v1/responses/{id}/input_items",
        "list_input_items",
        agents::responses::input_items,
        "What an agent was asked.",
    )
    .undocumented(),
    post(
        "/v1/conversations",
        "create_conversation",
        conversations::create,
        "Begin a thread with a name.",
    )
    .body(schemas::anything)
    .undocumented(),
    get("/v1/conversations/{id}", "show_conversation", conversations::show, "Show a conversation.")
        .undocumented(),
    post(
        "/v1/conversations/{id}",
        "update_conversation",
        conversations::update,
        "Change what is said of it.",
    )
    .body(schemas::anything)
    .undocumented(),
    delete(
        "/v1/conversations/{id}",
        "delete_conversation",
        conversations::forget,
        "Forget it with all that was said in it.",
    )
    .undocumented(),
    get(
        "/v1/conversations/{id}/items",
        "list_conversation_items",
        conversations::items,
        "What was said.",
    )
    .query(&[
        text("after", "The item behind which to begin."),
        limit(conversations::LARGEST_PAGE),
        one_of("order", "Oldest or newest first.", &["asc", "desc"]),
        text("include", "Further fields; all are there in any case."),
        text("include[]", "Further fields; all are there in any case."),
    ])
    .undocumented(),
    post(
        "/v1/conversations/{id}/items",
        "add_conversation_items",
        conversations::add,
        "Add to what was said.",
    )
    .body(schemas::anything)
    .query(INCLUDE)
    .undocumented(),
    get(
        "/v1/conversations/{id}/items/{item}",
        "show_conversation_item",
        conversations::item,
        "Show one thing that was said.",
    )
    .query(INCLUDE)
    .undocumented(),
    delete(
        "/v1/conversations/{id}/items/{item}",
        "delete_conversation_item",
        conversations::forget_item,
        "Forget one thing that was said.",
    )
    .undocumented(),
    get("/v1/agents", "list_agents", listing::list, "List the agents.")
        .answers(schemas::agents::agents),
    get("/v1/agents/{name}", "show_agent", listing::show, "Show an agent with its tools.")
        .answers(schemas::agents::agent)
        .problems(&[UnknownAgent, UnknownProfile]),
    get("/v1/runs", "list_runs", agents::runs::list, "List the runs of agents, newest first.")
        .query(&[
            limit(agents::runs::LARGEST_PAGE),
            text("cursor", "Where the page before ended: its `cursor`."),
            one_of(
                "titles",
                "Whether the first of them are told with a title.",
                &["true", "false"],
            ),
        ])
        .problems(&[InvalidQuery, UnknownCursor]),
    post("/v1/runs", "create_run", agents::runs::create, "Let an agent work.")
        .body(schemas::of::<agents::runs::RunBody>)
        .problems(&[UnknownAgent, UnknownRun, UnknownProfile, RunBusy]),
    get("/v1/runs/{id}", "show_run", agents::runs::show, "Show a run and what came of it.")
        .query(&[QueryParameter {
            name: "debug",
            about: "Whether it has what was asked of the model, request by request.",
            takes: ParameterType::OneOf(&["true", "false"]),
        }])
        .problems(&[UnknownRun]),
    get("/v1/runs/{id}/events", "follow_run", agents::runs::events, "Follow a run by its events.")
        .query(&[number(
            "after",
            "The number of the last event that is known.",
            (0, LARGEST_COUNT),
        )])
        .problems(&[InvalidQuery, UnknownRun]),
    get(
        "/v1/runs/{id}/record",
        "export_run",
        agents::runs::record,
        "Take a run along, to play it again.",
    )
    .access(Operator)
    .problems(&[Forbidden, UnknownRun]),
    post("/v1/runs/{id}/cancel", "cancel_run", agents::runs::cancel, "End a run.")
        .body(schemas::nothing)
        .problems(&[UnknownRun]),
    post("/v1/runs/{id}/input", "tell_run", agents::runs::input, "Go on with its thread.")
        .body(schemas::of::<agents::runs::InputBody>)
        .problems(&[UnknownAgent, UnknownRun, UnknownProfile, RunBusy]),
    post("/v1/runs/{id}/resume", "resume_run", agents::runs::resume, "Take up a run that stopped.")
        .body(schemas::nothing)
        .problems(&[UnknownAgent, UnknownRun, UnknownProfile, RunBusy]),
    get("/v1/threads/{id}", "show_thread", agents::runs::thread, "Show a thread with its runs.")
        .problems(&[UnknownRun]),
    post("/v1/agui", "run_agui", agents::agui::run, "Let an agent work, as AG-UI asks and reads.")
        .body(schemas::anything)
        .undocumented(),
];
