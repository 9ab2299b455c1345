//! A request at which the writer stands still, for tests.

use std::sync::mpsc::{Receiver, Sender};

use super::awaited::WriteRequest;

/// Says when the writer is there, and lets it go on when told.
pub struct Stop {
    pub reached: Sender<()>,
    pub left: Receiver<()>,
}

impl Stop {
    pub fn stand(&self) {
        self.reached.send(()).unwrap();
        self.left.recv().unwrap();
    }
}

impl WriteRequest for Stop {
    type Answer = ();
}
