//! One request, one run: the reply of a request with an `Idempotency-Key` is on record, and who
//! sends the request again gets the same reply.

use super::job::BatchReply;
use bytes::Bytes;
use serde_json::Value;
use sha2::{Digest, Sha256};
use toolcrib_core::{
    Caller, Fingerprint, IdempotencyKey, KeyResult, KeyState, LedgerError, ToolName,
};
use toolcrib_engine::Crib;

/// In the place of a tool: whole requests stand among the keys of single calls.
const REQUESTS: &str = "run_calls";

/// The replies of a crib, in its ledger.
#[derive(Clone)]
pub(crate) struct ReplyStore(pub(crate) Crib);

/// The name of a request: the same words of another caller are another key.
pub(crate) fn key(caller: &Caller, key: &str) -> IdempotencyKey {
    let (caller, tool) = (caller.clone(), ToolName::sanitize(REQUESTS));
    IdempotencyKey { caller, tool, source: None, key: key.to_owned() }
}

impl ReplyStore {
    /// `body`: all that was asked.
    pub(crate) async fn begin(
        &self,
        key: &IdempotencyKey,
        body: &[u8],
    ) -> Result<KeyState, LedgerError> {
        let digest = Sha256::digest(body);
        let hex = digest.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"));
        let request = Fingerprint::try_from(hex).map_err(LedgerError::new)?;
        self.0.executor().ledger().begin(key, request).await
    }

    /// `None`: nobody can say how it ended.
    pub(crate) async fn end(&self, key: &IdempotencyKey, reply: Option<&Bytes>) {
        let reply = reply.and_then(|reply| str::from_utf8(reply).ok());
        // As a text, so that it comes back as it was to the last byte.
        let end = reply.map_or(KeyResult::Lost, |reply| KeyResult::Answered(Value::from(reply)));
        // What cannot be written now, the ledger owes.
        let _ = self.0.executor().ledger().settle(key, end).await;
    }

    /// Keeps what comes of the work under its key. Work that breaks leaves the key behind as lost.
    /// Where nothing was sent the key is free again.
    pub(crate) async fn keep(
        self,
        key: IdempotencyKey,
        work: impl Future<Output = BatchReply>,
    ) -> Bytes {
        let mut unended = UnsettledKey(Some((key.clone(), self.clone())));
        let BatchReply { reply, ran } = work.await;
        unended.0 = None;
        if ran {
            self.end(&key, Some(&reply)).await;
        } else {
            let _ = self.0.executor().ledger().settle(&key, KeyResult::Free).await;
        }
        reply
    }
}

/// The bytes of a recorded reply.
pub(crate) fn bytes(recorded: Value) -> Bytes {
    if let Value::String(text) = recorded { text.into() } else { recorded.to_string().into() }
}

struct UnsettledKey(Option<(IdempotencyKey, ReplyStore)>);

impl Drop for UnsettledKey {
    fn drop(&mut self) {
        let Some((key, replies)) = self.0.take() else { return };
        // Without a runtime the process ends, and with it what it remembers.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { replies.end(&key, None).await });
        }
    }
}
