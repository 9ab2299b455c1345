//! Calls that only read: nobody waits for their rows, and of one that ends soon the row is written
//! once, with its end.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;
use toolcrib_core::CallKey;

use super::shared::WriterShared;
use crate::error::StoreError;
use crate::rows::calls::{CallEnd, NewCall};

/// Those that run now.
#[derive(Default)]
pub struct ReadCalls(Mutex<HashMap<CallKey, Arc<ReadCall>, RandomState>>);

/// The row of one.
struct ReadCall {
    new: NewCall,
    state: Mutex<ReadCallState>,
}

enum ReadCallState {
    /// It waits for the writer, who takes the end with it if there is one by then.
    Waiting(Option<CallEnd>),
    /// The writer has had it: its end comes by itself.
    Taken,
}

/// What is left to do for the end of a call.
pub enum EndAction {
    /// The writer takes it with the row.
    Nothing,
    /// It is written after the row, and nobody waits for it.
    Update(CallEnd),
    /// The call does more than read.
    Other(CallEnd),
}

impl ReadCalls {
    fn all(&self) -> MutexGuard<'_, HashMap<CallKey, Arc<ReadCall>, RandomState>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the writer has to do for a call that begins; a row that is lost is counted.
    pub fn begin(&self, key: CallKey, new: NewCall, shared: Arc<WriterShared>) -> ReadCallTask {
        let row = Arc::new(ReadCall { new, state: Mutex::new(ReadCallState::Waiting(None)) });
        self.all().insert(key, Arc::clone(&row));
        ReadCallTask { row, shared }
    }

    /// A call is over; whether it was one of these, and has to be written again.
    pub fn end(&self, key: CallKey, end: CallEnd) -> EndAction {
        let Some(row) = self.all().remove(&key) else { return EndAction::Other(end) };
        let mut state = row.state();
        match &mut *state {
            ReadCallState::Waiting(waiting) => {
                *waiting = Some(end);
                EndAction::Nothing
            }
            ReadCallState::Taken => EndAction::Update(end),
        }
    }
}

impl ReadCall {
    fn state(&self) -> MutexGuard<'_, ReadCallState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The row of one for the writer, who takes its end with it if that is known by then.
pub struct ReadCallTask {
    row: Arc<ReadCall>,
    shared: Arc<WriterShared>,
}

impl ReadCallTask {
    /// Writes the row, and its end if there is one.
    pub fn run<E>(
        &self,
        write: impl FnOnce(&NewCall, Option<&CallEnd>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut state = self.row.state();
        if let ReadCallState::Waiting(Some(end)) = &*state {
            return write(&self.row.new, Some(end));
        }
        *state = ReadCallState::Taken;
        drop(state);
        write(&self.row.new, None)
    }

    /// The same where writing cannot fail yet.
    pub fn write(&self, write: impl FnOnce(&NewCall, Option<&CallEnd>)) {
        let done = self.run(|call, end| {
            write(call, end);
            Ok::<_, std::convert::Infallible>(())
        });
        let Ok(()) = done;
    }

    pub fn answer(self, group: &Result<(), StoreError>) {
        if group.is_err() {
            self.shared.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}
