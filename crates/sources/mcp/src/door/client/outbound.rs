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
    /// The number of the first.
    first: u64,
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

    /// Of a session that another process asked before: from now on no question has a number that one
    /// of its had, so that no answer to that one is taken for an answer to another.
    pub(crate) fn resume(&self) {
        // 51 random bits of the operating system, and no number that JSON cannot hold.
        let random = uuid::Uuid::new_v4().as_u64_pair().1 >> 13;
        self.table().first = (1 << 51) | random;
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
            let id = table.first + table.asked;
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

    /// Takes in what its client answers; whether that was ever asked here. What nobody asks any more
    /// changes nothing.
    pub(crate) fn answered(&self, response: RpcResponse) -> bool {
        let Some(RequestId::Number(id)) = response.id else { return false };
        let Ok(id) = u64::try_from(id) else { return false };
        let (asked, was_asked) = {
            let mut table = self.table();
            let number = id.checked_sub(table.first);
            (table.open.remove(&id), number.is_some_and(|number| number < table.asked))
        };
        let Some(asked) = asked else { return was_asked };
        // Whoever asked may have ended meanwhile.
        let _ = asked.send(response.result.ok_or(QuestionError::Unable));
        true
    }
}
