//! One answer on a socket.

use http::StatusCode;
use serde_json::Value;
use tokio_util::sync::DropGuard;
use toolcrib_auth::ProtectedResource;

use super::super::super::api_error::ApiError;
use super::super::super::live::LiveRuns;
use super::super::super::output::response_id;
use super::super::feed::ResponseFeed;
use super::super::request::{not_begun, order};
use super::super::thread::run_id;
use crate::http::pipeline::concurrency::ConcurrencyPermit;
use crate::http::routes::request::GatewayRequest;

/// More than a socket has.
const ALL: usize = 64;

pub(super) struct SocketTurn {
    feed: ResponseFeed,
    /// What the client calls the stream of it.
    lane: Option<Value>,
    /// Only the socket knows it.
    is_own: bool,
    _place: ConcurrencyPermit,
    /// Ends the run with the turn.
    _gone: DropGuard,
}

/// Why there is no turn.
pub(super) enum TurnRefusal {
    Failed(ApiError),
    /// The token is not the caller's any more: the socket is over.
    Unauthenticated,
}

impl From<ApiError> for TurnRefusal {
    fn from(error: ApiError) -> Self {
        Self::Failed(error)
    }
}

impl SocketTurn {
    /// What a client asks for; `own`: answers that only its socket knows. The one from which a turn
    /// was to go on that fails is forgotten.
    pub(super) async fn begin(
        asked: &GatewayRequest,
        event: Value,
        own: &LiveRuns,
    ) -> Result<Self, TurnRefusal> {
        check_token(asked).await?;
        let (body, lane) = body_of(event);
        let begun = begin(asked, &body, own, lane).await.map_err(on_socket);
        if begun.is_err()
            && let Some(previous) = body.get("previous_response_id").and_then(Value::as_str)
            && let Some(run) = run_id(previous)
        {
            // There is none in the other ledger that it could be taken for.
            let _ = own.ledger.forget(&asked.caller, run).await;
        }
        Ok(begun?)
    }

    /// What it says next; `None`: no more.
    pub(super) async fn next(&mut self) -> Option<Vec<Value>> {
        let mut events = self.feed.next().await?;
        if let Some(lane) = &self.lane {
            for event in &mut events {
                if let Value::Object(fields) = event {
                    fields.insert("stream_id".to_owned(), lane.clone());
                }
            }
        }
        Some(events)
    }

    pub(super) fn is_over(&self) -> bool {
        self.feed.is_over()
    }

    /// Why no other one begins.
    pub(super) fn in_progress(&self) -> ApiError {
        let id = response_id(&self.feed.run().meta.id);
        let message = format!(
            "`{id}` is in progress on this socket: send the next one when it is over, or connect \
             a second time"
        );
        ApiError::conflict("", message).coded("response_in_progress")
    }

    /// Keeps what came of it, in the place of what came of the one before.
    pub(super) async fn remember(&self, own: &LiveRuns) {
        let meta = &self.feed.run().meta;
        if !self.is_own {
            return;
        }
        let known = own.ledger.list(&meta.caller, None, ALL).await.unwrap_or_default();
        for other in known.iter().filter(|other| other.id != meta.id) {
            let _ = own.ledger.forget(&meta.caller, &other.id).await;
        }
    }
}

/// A token may have been good when the socket began, and not be now.
async fn check_token(asked: &GatewayRequest) -> Result<(), TurnRefusal> {
    let guard = &asked.gateway.guard;
    match guard.caller(&asked.headers, ProtectedResource::Whole).await {
        Ok(Some(now)) if *now == *asked.caller => Ok(()),
        Err(problem) if problem.is_passing() => Err(ApiError::of_problem(&problem).into()),
        Ok(_) | Err(_) => Err(TurnRefusal::Unauthenticated),
    }
}

/// The request in an event, without what only says how it is sent; and the stream that it names.
fn body_of(mut event: Value) -> (Value, Option<Value>) {
    let Value::Object(fields) = &mut event else { return (event, None) };
    for field in ["type", "stream", "stream_options"] {
        fields.remove(field);
    }
    let lane = fields.remove("stream_id").filter(Value::is_string);
    (event, lane)
}

/// A failure as the specification tells it on a socket: an answer that is not there is a fault of the
/// request that goes on from it, and there is no resource that could be missing.
fn on_socket(mut error: ApiError) -> ApiError {
    if error.code == "previous_response_not_found" {
        error.status = StatusCode::BAD_REQUEST;
    }
    error
}

async fn begin(
    asked: &GatewayRequest,
    body: &Value,
    own: &LiveRuns,
    lane: Option<Value>,
) -> Result<SocketTurn, ApiError> {
    let is = |key: &str, wanted: bool| body.get(key).and_then(Value::as_bool) == Some(wanted);
    if is("background", true) {
        let message = "a socket has no `background`: leave it out, or ask by `POST /v1/responses`";
        return Err(ApiError::invalid("background", message));
    }
    let problem = |problem| ApiError::of_problem(&problem);
    let place = asked.gateway.busy.enter(&asked.caller).map_err(problem)?;
    let ordered = order(asked, body, Some(own)).await.map_err(problem)??;
    let ordered = ordered.decided(asked).await.map_err(problem)??;
    let live = ordered.begin(asked, body, Some(own)).await.map_err(|error| not_begun(&error))?;
    let gone = live.cancel.clone().drop_guard();
    let is_own = is("store", false);
    Ok(SocketTurn { feed: ResponseFeed::new(live), lane, is_own, _place: place, _gone: gone })
}
