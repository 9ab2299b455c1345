//! `/a2a`: agents as clients of the `Agent2Agent` protocol ask for them and read them.
//!
//! Read in this order: `room` (who answers there), `card` (what it says of itself), `wire` (how an
//! answer is written), `send` (a message becomes a run, or answers what a run asks), `feed` and
//! `view` (a run as a task), `stream`, `tasks`, `push` (who is told of a task besides), and
//! `tool_call` (where there is no model).
//!
//! A task is a run and its context the thread. It is kept, goes on when its client leaves, and ends
//! in another process if it must.

pub(crate) mod card;
mod feed;
pub(crate) mod push;
mod questions;
mod refusal;
mod room;
mod send;
mod stream;
mod tasks;
mod tool_call;
mod view;
mod wire;

use http::{HeaderName, Method, StatusCode, header};
use serde_json::{Map, Value, json};
use toolcrib_a2a_server::{A2aFault, A2aFaultKind, A2aOperation, AskedVersion, OperationKind, rpc};

use crate::http::pipeline::host_check::single;
use crate::http::routes::problem::{HttpProblem, ProblemKind};
use crate::http::routes::reply::{self, HttpReply};
use crate::http::routes::request::GatewayRequest;
use crate::http::routes::route::ReplyFuture;
use room::AgentRoom;
use wire::AnswerWire;

const VERSION: HeaderName = HeaderName::from_static("a2a-version");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");

/// Parameters of a query that are read, by all paths alike; the version may stand there too.
const QUERY: [&str; 9] = [
    "contextId",
    "status",
    "pageSize",
    "pageToken",
    "historyLength",
    "history_length",
    "statusTimestampAfter",
    "includeArtifacts",
    "after",
];

/// What a path names.
type PathNames = Vec<(&'static str, String)>;

/// Over JSON-RPC.
pub(crate) fn call(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        let unread = AnswerWire::rpc(Value::Null);
        if let Err(fault) = takes_content(&asked) {
            return Ok(unread.refuse(&fault));
        }
        let body: Value = match asked.json() {
            Ok(body) => body,
            Err(problem) => return Ok(unread.refuse(&unreadable(&problem))),
        };
        let room = AgentRoom::of(&asked)?;
        let version = version(&asked)?;
        let request = rpc::read(&body, AskedVersion::read(version.as_deref()));
        let wire = AnswerWire::rpc(request.id);
        let (operation, form) = match request.operation {
            Ok(read) => read,
            Err(fault) => return Ok(wire.refuse(&fault)),
        };
        act(&asked, &room, operation, wire.within(form)).await
    })
}

/// By paths of 1.0, and by those of 0.3.
pub(crate) fn send_message(asked: GatewayRequest) -> ReplyFuture {
    by_path(asked, |_| Some((OperationKind::Send, Vec::new())))
}

pub(crate) fn stream_message(asked: GatewayRequest) -> ReplyFuture {
    by_path(asked, |_| Some((OperationKind::Stream, Vec::new())))
}

pub(crate) fn list_tasks(asked: GatewayRequest) -> ReplyFuture {
    by_path(asked, |_| Some((OperationKind::List, Vec::new())))
}

pub(crate) fn extended_card(asked: GatewayRequest) -> ReplyFuture {
    by_path(asked, |_| Some((OperationKind::Card, Vec::new())))
}

/// A remote agent says that a task of ours has moved on. Its call looks at it.
pub(crate) fn notified(asked: GatewayRequest) -> ReplyFuture {
    Box::pin(async move {
        // What it says is not believed, and has one reading all the same.
        asked.json::<Map<String, Value>>()?;
        let name = asked.segments.first().map(String::as_str).unwrap_or_default();
        if toolcrib_a2a_client::notified(name) {
            return Ok(reply::status(StatusCode::OK, &json!({})));
        }
        let detail = "no call waits for this: its task is over, or is looked at without word";
        Err(HttpProblem::new(ProblemKind::UnknownCall, detail))
    })
}

/// The configurations of a task, and one more.
pub(crate) fn pushes(asked: GatewayRequest) -> ReplyFuture {
    by_path(asked, |asked| {
        let is_new = asked.method == Method::POST;
        let kind = if is_new { OperationKind::SetPush } else { OperationKind::ListPushes };
        Some((kind, named(asked, &["taskId"])))
    })
}

/// One of them.
pub(crate) fn push(asked: GatewayRequest) -> ReplyFuture {
    by_path(asked, |asked| {
        let is_end = asked.method == Method::DELETE;
        let kind = if is_end { OperationKind::DeletePush } else { OperationKind::GetPush };
        Some((kind, named(asked, &["taskId", "id"])))
    })
}

/// What the path names behind the agent.
fn named(asked: &GatewayRequest, names: &[&'static str]) -> PathNames {
    names.iter().copied().zip(asked.segments.iter().skip(1).cloned()).collect()
}

/// A task, or what is done with it: its name and a verb stand in one segment.
pub(crate) fn task(asked: GatewayRequest) -> ReplyFuture {
    by_path(asked, |asked| {
        let segment = asked.segments.get(1).map_or("", String::as_str);
        let (id, verb) = segment.rsplit_once(':').map_or((segment, ""), |(id, verb)| (id, verb));
        let kind = match verb {
            "" if asked.method != Method::POST => OperationKind::Get,
            "cancel" if asked.method == Method::POST => OperationKind::Cancel,
            // The SDK in Python posts what the specification gets.
            "subscribe" => OperationKind::Subscribe,
            _ => return None,
        };
        Some((kind, vec![("id", id.to_owned())]))
    })
}

fn by_path(
    asked: GatewayRequest,
    path: impl Fn(&GatewayRequest) -> Option<(OperationKind, PathNames)> + Send + 'static,
) -> ReplyFuture {
    Box::pin(async move {
        let wire = AnswerWire::http(&asked.headers);
        let mut params = match takes_content(&asked).and_then(|()| params(&asked)) {
            Ok(params) => params,
            Err(fault) => return Ok(wire.refuse(&fault)),
        };
        let (kind, names) = path(&asked).ok_or_else(|| {
            let detail =
                "a task is looked at by `GET`, and ended by `POST` with `:cancel` behind it";
            HttpProblem::new(ProblemKind::UnknownRoute, detail)
        })?;
        params.extend(names.into_iter().map(|(name, said)| (name.to_owned(), said.into())));
        let params = Value::Object(params);
        let room = AgentRoom::of(&asked)?;
        let version = version(&asked)?;
        let is_old = asked.uri.path().split('/').nth(3) == Some("v1");
        let read = AskedVersion::read(version.as_deref())
            .and_then(|version| version.of_path(is_old))
            .and_then(|form| {
                A2aOperation::read(kind, &params, form).map(|operation| (operation, form))
            });
        match read {
            Ok((operation, form)) => act(&asked, &room, operation, wire.within(form)).await,
            Err(fault) => Ok(wire.refuse(&fault)),
        }
    })
}

async fn act(
    asked: &GatewayRequest,
    room: &AgentRoom,
    operation: A2aOperation,
    wire: AnswerWire,
) -> Result<HttpReply, HttpProblem> {
    let done = match operation {
        A2aOperation::Send { message, options, push } => {
            send::send(asked, room, (&message, push), options, &wire).await
        }
        A2aOperation::Get { task, history } => tasks::get(asked, room, &task, history, &wire).await,
        A2aOperation::List(query) => tasks::list(asked, room, &query, &wire).await,
        A2aOperation::Cancel { task } => tasks::cancel(asked, room, &task, &wire).await,
        A2aOperation::Subscribe { task, after } => {
            let after = after.or(last_event(asked));
            tasks::subscribe(asked, room, &task, after, &wire).await
        }
        A2aOperation::Card => card::extended(asked, room, &wire),
        A2aOperation::SetPush { task, config } => {
            push::set(asked, room, (&task, config), &wire).await
        }
        A2aOperation::GetPush { task, config } => {
            push::get(asked, room, (&task, config.as_deref()), &wire).await
        }
        A2aOperation::ListPushes { task, page_size, token } => {
            push::list(asked, room, &task, (page_size, token.as_deref()), &wire).await
        }
        A2aOperation::DeletePush { task, config } => {
            push::delete(asked, room, (&task, &config), &wire).await
        }
    };
    match done {
        Ok(reply) => Ok(reply),
        Err(refusal) => match refusal.fault() {
            Ok(fault) => Ok(wire.refuse(&fault)),
            Err(problem) => Err(problem),
        },
    }
}

/// What a client says of its version.
fn version(asked: &GatewayRequest) -> Result<Option<String>, HttpProblem> {
    let said = single(&asked.headers, &VERSION)?;
    Ok(said.or_else(|| asked.query.get("A2A-Version")).map(str::to_owned))
}

/// The sequence of the last event that a client has, as readers of such streams say it.
fn last_event(asked: &GatewayRequest) -> Option<u64> {
    let last = single(&asked.headers, &LAST_EVENT).ok().flatten();
    last.or_else(|| asked.query.get("after")).and_then(|last| last.parse().ok())
}

/// Refuses what is no JSON before it is read: a page of another site can send nothing else without
/// asking. Where nothing is sent, nothing need be said of it.
fn takes_content(asked: &GatewayRequest) -> Result<(), A2aFault> {
    if asked.body.is_empty() {
        return Ok(());
    }
    let kind = single(&asked.headers, &header::CONTENT_TYPE).ok().flatten().unwrap_or_default();
    let (kind, _) = kind.split_once(';').unwrap_or((kind, ""));
    let kind = kind.trim();
    if ["application/json", wire::A2A_JSON].iter().any(|own| kind.eq_ignore_ascii_case(own)) {
        return Ok(());
    }
    let message = "send `Content-Type: application/a2a+json`, or `application/json`";
    Err(A2aFault::new(A2aFaultKind::ContentTypeNotSupported, message))
}

/// What a body or a query says.
fn params(asked: &GatewayRequest) -> Result<Map<String, Value>, A2aFault> {
    if asked.body.is_empty() {
        let said = QUERY
            .iter()
            .filter_map(|name| Some(((*name).to_owned(), asked.query.get(name)?.into())));
        return Ok(said.collect());
    }
    let body: Value = asked.json().map_err(|problem| unreadable(&problem))?;
    // It is an object, or it was refused.
    Ok(body.as_object().cloned().unwrap_or_default())
}

fn unreadable(problem: &HttpProblem) -> A2aFault {
    let (kind, detail) = problem.told();
    let kind = if kind == ProblemKind::BadRequest {
        A2aFaultKind::ParseError
    } else {
        A2aFaultKind::InvalidRequest
    };
    A2aFault::new(kind, detail)
}
