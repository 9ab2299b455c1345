//! How far a call is, left under its keys for a process that takes it up.

use std::sync::{Arc, Mutex, PoisonError};

use super::guarded;
use crate::BoxFuture;
use crate::call::CallKey;
use crate::call::host::CallProgress;
use crate::gate::executor::Gate;
use crate::ledger::{Checkpoint, IdempotencyKey, LONGEST_CHECKPOINT};
use crate::observe::failpoint;

/// Where a call that runs under keys leaves word.
pub(crate) struct CallCheckpoints {
    gate: Arc<Gate>,
    keys: Vec<IdempotencyKey>,
    call: CallKey,
    last: Mutex<Option<Arc<str>>>,
}

impl CallCheckpoints {
    /// `before`: what another process left. `None`: the call has no keys.
    pub(crate) fn of(
        gate: &Arc<Gate>,
        (keys, call): (&[IdempotencyKey], CallKey),
        before: Option<&Checkpoint>,
    ) -> Option<Arc<Self>> {
        let last = before.map(|before| Arc::from(before.text.as_str()));
        let (gate, keys) = (Arc::clone(gate), keys.to_vec());
        (!keys.is_empty()).then(|| Arc::new(Self { gate, keys, call, last: Mutex::new(last) }))
    }
}

impl CallProgress for CallCheckpoints {
    fn leave<'a>(&'a self, text: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            if text.len() > LONGEST_CHECKPOINT {
                return;
            }
            *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::from(text));
            let checkpoint = Checkpoint { call: self.call, text: text.to_owned() };
            let ledger = &self.gate.ledger;
            // Without it the call cannot be taken up, and its end is as unknown as that of others.
            let _ = guarded(async { ledger.checkpoint(&self.keys, &checkpoint).await }).await;
            failpoint::reached("checkpoint left");
        })
    }

    fn last(&self) -> Option<Arc<str>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
