//! A request at which the writer stands still, for tests.

use std::sync::mpsc::{Receiver, Sender};

use super::awaited::WriteRequest;

/// Says when the writer is there, and lets it go on when told.
pub(crate) struct Stop {
    pub(crate) reached: Sender<()>,
    pub(crate) left: Receiver<()>,
}

impl Stop {
    pub(crate) fn stand(&self) {
        self.reached.send(()).unwrap();
        self.left.recv().unwrap();
    }
}

impl WriteRequest for Stop {
    type Answer = ();
}
