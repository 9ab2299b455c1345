//! The routes of the `Agent2Agent` protocol: those of 1.0, and below `v1` those of 0.3.

use super::super::parameter::QueryParameter;
use super::super::route::{Route, RouteAccess};
use super::super::row::{delete, get, post, text};
use super::super::schemas;
use crate::http::a2a;

/// What any of them may have in its query.
const QUERY: &[QueryParameter] = &[
    text("A2A-Version", "The version of the protocol, where no header says it."),
    text("tenant", "Of no account here."),
    text("contextId", "Only tasks of this context."),
    text("status", "Only tasks in this state."),
    text("pageSize", "How many tasks to give at the most."),
    text("pageToken", "Where the page before ended."),
    text("historyLength", "Messages of the history at the most."),
    text("history_length", "The same, as some clients spell it."),
    text("statusTimestampAfter", "Only tasks whose status is not older."),
    text("includeArtifacts", "Whether tasks are listed with what came of them."),
    text("after", "The sequence of the last event that is known."),
];

const PUSH: &str = "/a2a/{agent}/tasks/{id}/pushNotificationConfigs";
const ONE_PUSH: &str = "/a2a/{agent}/tasks/{id}/pushNotificationConfigs/{config}";
/// The same in 0.3.
const OLD_PUSH: &str = "/a2a/{agent}/v1/tasks/{id}/pushNotificationConfigs";
const ONE_OLD_PUSH: &str = "/a2a/{agent}/v1/tasks/{id}/pushNotificationConfigs/{config}";

/// Where remote agents tell that a task has moved on: see `toolcrib_a2a_client::NOTIFIED`.
const NOTIFIED: &str = "/a2a-notified/{name}";

pub(super) static ROUTES: &[Route] = &[
    get("/.well-known/agent-card.json", "agent_card", a2a::card::show, "What the agent can do.")
        .access(RouteAccess::Anybody)
        .undocumented(),
    get(
        "/a2a/{agent}/.well-known/agent-card.json",
        "agent_card_of",
        a2a::card::show,
        "The same of one agent.",
    )
    .access(RouteAccess::Anybody)
    .undocumented(),
    post("/a2a/{agent}", "a2a_call", a2a::call, "A2A over JSON-RPC.")
        .body(schemas::anything)
        .query(QUERY)
        .undocumented(),
    post("/a2a/{agent}/message:send", "a2a_send", a2a::send_message, "Say something to an agent.")
        .body(schemas::anything)
        .query(QUERY)
        .undocumented(),
    post("/a2a/{agent}/message:stream", "a2a_stream", a2a::stream_message, "The same, by events.")
        .body(schemas::anything)
        .query(QUERY)
        .undocumented(),
    get("/a2a/{agent}/tasks", "a2a_tasks", a2a::list_tasks, "List tasks.")
        .query(QUERY)
        .undocumented(),
    get("/a2a/{agent}/tasks/{id}", "a2a_task", a2a::task, "Show or follow a task.")
        .query(QUERY)
        .undocumented(),
    post("/a2a/{agent}/tasks/{id}", "a2a_end_task", a2a::task, "Cancel or follow a task.")
        .body(schemas::anything)
        .query(QUERY)
        .undocumented(),
    get(PUSH, "a2a_pushes", a2a::pushes, "List who is told of a task.").query(QUERY).undocumented(),
    post(PUSH, "a2a_push", a2a::pushes, "Have somebody told of a task.")
        .body(schemas::anything)
        .query(QUERY)
        .undocumented(),
    get(ONE_PUSH, "a2a_show_push", a2a::push, "Show who is told.").query(QUERY).undocumented(),
    delete(ONE_PUSH, "a2a_end_push", a2a::push, "Tell them no more.").query(QUERY).undocumented(),
    get("/a2a/{agent}/extendedAgentCard", "a2a_card", a2a::extended_card, "The whole card.")
        .query(QUERY)
        .undocumented(),
    post("/a2a/{agent}/v1/message:send", "a2a_old_send", a2a::send_message, "The same in 0.3.")
        .body(schemas::anything)
        .query(QUERY)
        .undocumented(),
    post("/a2a/{agent}/v1/message:stream", "a2a_old_stream", a2a::stream_message, "The same.")
        .body(schemas::anything)
        .query(QUERY)
        .undocumented(),
    get("/a2a/{agent}/v1/tasks/{id}", "a2a_old_task", a2a::task, "The same in 0.3.")
        .query(QUERY)
        .undocumented(),
    post("/a2a/{agent}/v1/tasks/{id}", "a2a_old_end_task", a2a::task, "The same in 0.3.")
        .body(schemas::anything)
        .query(QUERY)
        .undocumented(),
    get(OLD_PUSH, "a2a_old_pushes", a2a::pushes, "The same in 0.3.").query(QUERY).undocumented(),
    post(OLD_PUSH, "a2a_old_push", a2a::pushes, "The same in 0.3.")
        .body(schemas::anything)
        .query(QUERY)
        .undocumented(),
    get(ONE_OLD_PUSH, "a2a_old_show_push", a2a::push, "The same in 0.3.")
        .query(QUERY)
        .undocumented(),
    delete(ONE_OLD_PUSH, "a2a_old_end_push", a2a::push, "The same in 0.3.")
        .query(QUERY)
        .undocumented(),
    get("/a2a/{agent}/v1/card", "a2a_old_card", a2a::extended_card, "The same in 0.3.")
        .query(QUERY)
        .undocumented(),
    post(NOTIFIED, "a2a_notified", a2a::notified, "A remote agent's task has moved on.")
        .body(schemas::anything)
        .access(RouteAccess::Anybody)
        .undocumented(),
];
