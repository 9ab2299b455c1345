//! Where messages to a client go that are no answers, and the questions that are on their way.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::RequestId;
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::timeout;
use toolcrib_core::{BoxFuture, QuestionError};

use super::events::HostAnswer;
use crate::protocol::rpc::{RpcResponse, call};

/// Takes messages to one client, each as JSON.
pub(crate) trait Outbound: Send + Sync {
    /// Takes one at once, and resolves when there is room for the next. Whoever lets go of that
    /// takes nothing back. `false`: nobody takes them any more.
    fn send(&self, message: Vec<u8>, kind: OutboundKind) -> BoxFuture<'_, bool>;
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutboundKind {
    /// Whoever does not read may miss it.
    Notification,
    /// Somebody waits for the answer, or this is one.
    Awaited,
}

/// Questions to one client that have no answer yet.
#[derive(Default)]
pub(crate) struct PendingQuestions(Mutex<PendingQuestionTable>);

#[derive(Default)]
struct PendingQuestionTable {
    asked: u64,
    open: HashMap<u64, oneshot::Sender<HostAnswer>>,
}

/// Its place, which is free again when this is dropped.
struct QuestionGuard<'a> {
    questions: &'a PendingQuestions,
    id: u64,
}

impl Drop for QuestionGuard<'_> {
    fn drop(&mut self) {
        self.questions.table().open.remove(&self.id);
    }
}

impl PendingQuestions {
    fn table(&self) -> MutexGuard<'_, PendingQuestionTable> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a question, and waits for its answer.
    pub(crate) async fn ask(
        &self,
        out: &Arc<dyn Outbound>,
        (method, params): (&str, &Value),
        patience: Duration,
    ) -> HostAnswer {
        let (reply, answer) = oneshot::channel();
        let id = {
            let mut table = self.table();
            let id = table.asked;
            table.asked += 1;
            table.open.insert(id, reply);
            id
        };
        let asked = QuestionGuard { questions: self, id };
        if !out.send(call(Some(id), method, params), OutboundKind::Awaited).await {
            return Err(QuestionError::Unable);
        }
        if let Ok(answer) = timeout(patience, answer).await {
            return answer.unwrap_or(Err(QuestionError::Unable));
        }
        drop(asked);
        let late = json!({ "requestId": id, "reason": "nobody answered in time" });
        let cancelled = call(None, "notifications/cancelled", &late);
        out.send(cancelled, OutboundKind::Notification).await;
        Err(QuestionError::Cancelled)
    }

    /// Takes in what its client answers. What nobody asked, or asks no more, changes nothing.
    pub(crate) fn answered(&self, response: RpcResponse) {
        let Some(RequestId::Number(id)) = response.id else { return };
        let asked = u64::try_from(id).ok().and_then(|id| self.table().open.remove(&id));
        if let Some(asked) = asked {
            // Whoever asked may have ended meanwhile.
            let _ = asked.send(response.result.ok_or(QuestionError::Unable));
        }
    }
}
