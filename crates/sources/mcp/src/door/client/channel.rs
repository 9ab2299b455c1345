//! The way to the client of one request: notifications, and questions where the protocol has them.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::RequestId;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use toolcrib_core::{HostQuestion, JsonFields, LogEntry, Progress, QuestionError};

use super::events::HostAnswer;
use super::features::{ClientFeatures, method};
use super::outbound::{Outbound, OutboundKind, PendingQuestions};
use crate::protocol::rpc::call;

pub(crate) struct ClientChannel {
    /// Of the client's request.
    pub(crate) id: RequestId,
    pub(crate) client: ClientFeatures,
    pub(crate) patience: Duration,
    /// Under which it wants to hear how far the request is; `None`: it does not.
    pub(crate) progress: Option<Value>,
    /// Where messages before the answer go; `None`: this client hears the answer alone.
    pub(crate) out: Option<Arc<dyn Outbound>>,
    /// Those of a client that is asked in the middle of its request.
    pub(crate) questions: Option<Arc<PendingQuestions>>,
    /// Is cancelled when the client does not want the answer any more.
    pub(crate) cancelled: CancellationToken,
}

/// Under which key of `_meta` a client names what it wants to hear of progress under.
pub(crate) fn progress_token(meta: Option<&Map<String, Value>>) -> Option<Value> {
    let token = meta?.get("progressToken")?;
    (token.is_string() || token.is_i64() || token.is_u64()).then(|| token.clone())
}

impl ClientChannel {
    /// Resolves when the client does not want the answer any more.
    pub(crate) async fn gone(&self) {
        self.cancelled.cancelled().await;
    }

    pub(crate) async fn progress(&self, progress: Progress) {
        let Some(token) = &self.progress else { return };
        let mut told = json!({ "progressToken": token, "progress": progress.done });
        if let Value::Object(fields) = &mut told {
            fields.extend(progress.total.map(|total| ("total".to_owned(), json!(total))));
            fields.extend(progress.message.map(|text| ("message".to_owned(), json!(text))));
        }
        self.tell("notifications/progress", told).await;
    }

    pub(crate) async fn log(&self, entry: LogEntry) {
        if self.client.hears.is_some_and(|lowest| entry.level >= lowest) {
            self.tell("notifications/message", json!(entry)).await;
        }
    }

    /// Tells a client of a revision that has this that what it was asked to open is done.
    pub(crate) async fn opened(&self, said: JsonFields) {
        if !self.client.is_modern {
            self.tell("notifications/elicitation/complete", Value::Object(said)).await;
        }
    }

    /// Whoever does not listen any more is told nothing.
    pub(crate) async fn tell(&self, method: &str, params: Value) {
        if let Some(out) = &self.out {
            out.send(call(None, method, &params), OutboundKind::Notification).await;
        }
    }

    /// Puts a question to a client of an older revision, and waits for the person behind it.
    pub(crate) async fn ask(&self, ask: HostQuestion) -> HostAnswer {
        let (Some(out), Some(questions)) = (&self.out, &self.questions) else {
            return Err(QuestionError::Unable);
        };
        questions.ask(out, (method(ask.question), &ask.params), self.patience).await
    }
}
