//! A stream whose request decides about calls: it begins while they run.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::mpsc::channel;
use tokio::time::timeout;

use super::super::api_error::ApiError;
use super::super::live::live_run::LiveRun;
use super::super::output::{ResponseWriter, event};
use super::request::{OrderedRun, not_begun};
use super::{WAITING, gone_with, stream, tell};
use crate::http::routes::problem::HttpProblem;
use crate::http::routes::reply::{self, HttpReply};
use crate::http::routes::request::GatewayRequest;

/// How long the stream waits for the calls. What is wrong with a decision is known by then, and is
/// told by a status.
const SOON: Duration = Duration::from_millis(250);

type BegunRun = Result<Result<Arc<LiveRun>, ApiError>, HttpProblem>;

/// Decides as the request says, begins the run, and tells of it from the beginning on.
pub(super) async fn create(
    asked: GatewayRequest,
    body: Value,
    ordered: OrderedRun,
) -> Result<HttpReply, HttpProblem> {
    let is_background = body.get("background").and_then(Value::as_bool) == Some(true);
    let mut head = ResponseWriter::new(&ordered.head(&body)).begin();
    let mut beginning = Box::pin(async move { begin(&asked, &body, ordered).await });
    if let Ok(begun) = timeout(SOON, &mut beginning).await {
        return Ok(match begun? {
            Ok(live) => stream(Arc::clone(&live), 0, gone_with(&live, is_background)),
            Err(error) => error.reply(),
        });
    }
    let (sender, waiting) = channel(WAITING);
    tokio::spawn(async move {
        for told in &head {
            if sender.send(named(told)).await.is_err() {
                break;
            }
        }
        let begun = match beginning.await {
            Ok(begun) => begun,
            Err(problem) => Err(ApiError::of_problem(&problem)),
        };
        match begun {
            Ok(live) => {
                let _gone = gone_with(&live, is_background);
                // The first two were told.
                tell(live, 2, &sender).await;
            }
            Err(error) => {
                let failed = failed(head.pop().unwrap_or_default(), &error);
                let _ = sender.send(named(&failed)).await;
                let _ = sender.send(Bytes::from_static(b"data: [DONE]\n\n")).await;
            }
        }
    });
    Ok(reply::events(waiting, None))
}

async fn begin(asked: &GatewayRequest, body: &Value, ordered: OrderedRun) -> BegunRun {
    Ok(match ordered.decided(asked).await? {
        Ok(ordered) => ordered.begin(asked, body, None).await.map_err(|error| not_begun(&error)),
        Err(error) => Err(error),
    })
}

fn named(told: &Value) -> Bytes {
    event(told.get("type").and_then(Value::as_str), told)
}

/// The last event of a run that did not begin, in the place of the one that comes next. `last`: the
/// one before.
fn failed(mut last: Value, error: &ApiError) -> Value {
    let number = last.get("sequence_number").and_then(Value::as_u64).unwrap_or_default();
    let mut response = last.get_mut("response").map(Value::take).unwrap_or_default();
    if let Value::Object(fields) = &mut response {
        fields.insert("status".to_owned(), "failed".into());
        let error = json!({ "code": error.code, "message": error.message });
        fields.insert("error".to_owned(), error);
    }
    json!({ "type": "response.failed", "sequence_number": number + 1, "response": response })
}
