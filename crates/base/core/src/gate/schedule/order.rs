//! Which call waits for which: those that may disturb each other keep the order of the calls.
//!
//! Two calls conflict when they go to the same source and one of them is no reader. What another
//! source does with the same data, nobody here can know.

use std::collections::HashMap;

use tokio_util::sync::{CancellationToken, DropGuard};

use crate::call::name::SourceId;
use crate::tool::effect::Effect;
use crate::tool::spec::ToolSpec;

/// The waits of a batch. Their number grows with the calls, not with their pairs.
pub(crate) struct CallOrder {
    waits: Vec<Vec<CancellationToken>>,
    /// Fires when the call at this position has ended; only where somebody waits for it.
    ends: Vec<Option<CancellationToken>>,
}

#[derive(Default)]
struct SourceOrder {
    last_writer: Option<usize>,
    readers_since: Vec<usize>,
}

impl CallOrder {
    pub(crate) fn of<'a>(calls: impl ExactSizeIterator<Item = Option<&'a ToolSpec>>) -> Self {
        let mut order =
            Self { waits: vec![Vec::new(); calls.len()], ends: vec![None; calls.len()] };
        if calls.len() < 2 {
            return order;
        }
        let mut lanes: HashMap<&SourceId, SourceOrder> = HashMap::new();
        for (position, spec) in calls.enumerate() {
            let Some(spec) = spec else { continue };
            let lane = lanes.entry(&spec.origin.source).or_default();
            if let Some(writer) = lane.last_writer {
                order.wait(position, writer);
            }
            if spec.effect == Effect::Read {
                lane.readers_since.push(position);
            } else {
                for reader in lane.readers_since.drain(..) {
                    order.wait(position, reader);
                }
                lane.last_writer = Some(position);
            }
        }
        order
    }

    fn wait(&mut self, position: usize, earlier: usize) {
        if let (Some(waits), Some(end)) = (self.waits.get_mut(position), self.ends.get_mut(earlier))
        {
            waits.push(end.get_or_insert_with(CancellationToken::new).clone());
        }
    }

    /// The ends that the call at this position waits for.
    pub(crate) fn before(&self, position: usize) -> &[CancellationToken] {
        self.waits.get(position).map_or(&[], Vec::as_slice)
    }

    /// Tells those who wait when it is dropped, however the call ends.
    pub(crate) fn done_guard(&self, position: usize) -> Option<DropGuard> {
        self.ends.get(position)?.clone().map(CancellationToken::drop_guard)
    }
}
