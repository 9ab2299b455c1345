//! The batches that run now, so that those who made them can look at them and stop them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use toolcrib_core::{Call, Caller};
use uuid::Uuid;

#[derive(Default)]
pub(crate) struct ActiveBatches(Mutex<HashMap<String, ActiveBatch>>);

struct ActiveBatch {
    caller: Caller,
    cancel: CancellationToken,
    began: Instant,
    calls: Vec<(String, String)>,
}

/// A batch that is listed until this is dropped.
pub(crate) struct BatchListing {
    running: Arc<ActiveBatches>,
    pub(crate) id: String,
}

impl ActiveBatches {
    pub(crate) fn list(
        self: &Arc<Self>,
        caller: &Caller,
        calls: &[Call],
        cancel: CancellationToken,
    ) -> BatchListing {
        let id = format!("b_{}", Uuid::now_v7().simple());
        let calls = calls.iter().map(|call| (call.id.clone(), call.name.clone())).collect();
        let batch = ActiveBatch { caller: caller.clone(), cancel, began: Instant::now(), calls };
        let mut batches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        batches.insert(id.clone(), batch);
        BatchListing { running: Arc::clone(self), id }
    }

    /// The batches of a caller, the oldest first.
    pub(crate) fn of(&self, caller: &Caller) -> Vec<Value> {
        let batches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut own: Vec<_> = batches.iter().filter(|(_, it)| it.caller.is(caller)).collect();
        own.sort_by_key(|(id, _)| *id);
        own.into_iter().map(|(id, batch)| batch.to_json(id)).collect()
    }

    /// Those of all callers, the oldest first, each with whose it is.
    pub(crate) fn all(&self) -> Vec<Value> {
        let batches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all: Vec<_> = batches.iter().collect();
        all.sort_by_key(|(id, _)| *id);
        all.into_iter().map(|(id, batch)| batch.owned(id)).collect()
    }

    /// Cancels a batch of whomever.
    pub(crate) fn stop_any(&self, id: &str) -> Option<Value> {
        let batches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let batch = batches.get(id)?;
        batch.cancel.cancel();
        Some(batch.owned(id))
    }

    pub(crate) fn get(&self, id: &str, caller: &Caller) -> Option<Value> {
        let batches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let batch = batches.get(id).filter(|batch| batch.caller.is(caller))?;
        Some(batch.to_json(id))
    }

    /// Cancels a batch; what it had started is still answered and recorded.
    pub(crate) fn stop(&self, id: &str, caller: &Caller) -> Option<Value> {
        let batches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let batch = batches.get(id).filter(|batch| batch.caller.is(caller))?;
        batch.cancel.cancel();
        Some(batch.to_json(id))
    }
}

impl ActiveBatch {
    /// The same with whose it is.
    fn owned(&self, id: &str) -> Value {
        let mut row = self.to_json(id);
        if let Value::Object(fields) = &mut row {
            fields.insert("tenant".to_owned(), self.caller.tenant.clone().into());
            fields.insert("caller".to_owned(), self.caller.subject.clone().into());
        }
        row
    }

    fn to_json(&self, id: &str) -> Value {
        let call = |(id, name): &(String, String)| json!({ "id": id, "name": name });
        json!({
            "id": id,
            "cancelled": self.cancel.is_cancelled(),
            "seconds": self.began.elapsed().as_secs(),
            "calls": self.calls.iter().map(call).collect::<Vec<_>>(),
        })
    }
}

impl Drop for BatchListing {
    fn drop(&mut self) {
        let mut batches = self.running.0.lock().unwrap_or_else(PoisonError::into_inner);
        batches.remove(&self.id);
    }
}
