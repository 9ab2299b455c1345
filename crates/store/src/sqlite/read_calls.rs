//! Calls that only read: nobody waits for their rows, and of one that ends soon the row is written
//! once, with its end.

use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;
use rusqlite::Connection;
use toolcrib_core::CallKey;

use super::writer::{Shared, Work};
use crate::error::StoreError;
use crate::rows::calls::{End, NewCall};

/// Those that run now.
#[derive(Default)]
pub(crate) struct Reading(Mutex<HashMap<CallKey, Arc<Row>, RandomState>>);

/// The row of one.
struct Row {
    new: NewCall,
    state: Mutex<State>,
}

enum State {
    /// It waits for the writer, who takes the end with it if there is one by then.
    Waiting(Option<End>),
    /// The writer has had it: its end comes by itself.
    Taken,
}

/// What is left to do for the end of a call.
pub(crate) enum Left {
    /// The writer takes it with the row.
    Nothing,
    /// It is written after the row, and nobody waits for it.
    Update(End),
    /// The call does more than read.
    Other(End),
}

impl Reading {
    fn all(&self) -> MutexGuard<'_, HashMap<CallKey, Arc<Row>, RandomState>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the writer has to do for a call that begins; a row that is lost is counted.
    pub(crate) fn begin(&self, key: CallKey, new: NewCall, shared: Arc<Shared>) -> Box<dyn Work> {
        let row = Arc::new(Row { new, state: Mutex::new(State::Waiting(None)) });
        self.all().insert(key, Arc::clone(&row));
        Box::new(Writing { row, shared })
    }

    /// A call is over; whether it was one of these, and has to be written again.
    pub(crate) fn end(&self, key: CallKey, end: End) -> Left {
        let Some(row) = self.all().remove(&key) else { return Left::Other(end) };
        let mut state = row.state();
        match &mut *state {
            State::Waiting(waiting) => {
                *waiting = Some(end);
                Left::Nothing
            }
            State::Taken => Left::Update(end),
        }
    }
}

impl Row {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Writing {
    row: Arc<Row>,
    shared: Arc<Shared>,
}

impl Work for Writing {
    fn run(&mut self, connection: &Connection) -> Result<(), rusqlite::Error> {
        let mut state = self.row.state();
        if let State::Waiting(Some(end)) = &*state {
            return self.row.new.write(connection, Some(end));
        }
        *state = State::Taken;
        drop(state);
        self.row.new.write(connection, None)
    }

    fn answer(self: Box<Self>, group: Result<(), StoreError>) {
        if group.is_err() {
            self.shared.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}
