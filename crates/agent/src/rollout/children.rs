//! Those that worked for a sample: branches of its graph, which begin with the task of each.

use super::graph::MessageGraph;
use super::trajectory::TrajectoryChild;
use crate::item::ThreadItem;
use crate::run::notes::{ChildNotes, RunNotes};

impl MessageGraph {
    /// Takes the graphs of those in that worked for a run, and of those that worked for them.
    /// `items`: the thread of the run.
    pub(super) fn take_children(
        &mut self,
        items: &[ThreadItem],
        notes: &mut RunNotes,
    ) -> Vec<TrajectoryChild> {
        let mut told = Vec::new();
        self.take_below((items, notes), None, &mut told);
        told
    }

    fn take_below(
        &mut self,
        (items, notes): (&[ThreadItem], &mut RunNotes),
        parent: Option<usize>,
        told: &mut Vec<TrajectoryChild>,
    ) {
        let mut children = std::mem::take(&mut notes.children);
        // In the order in which they were given their tasks, whichever ended first.
        children.sort_by_cached_key(|child| place_of(items, &child.call));
        for child in children {
            let ChildNotes { run, call, agent, model, instructions, items, stop, mut notes } =
                child;
            let graph = Self::of(&instructions, &items, &notes);
            let branches = self.branches.len()..self.branches.len() + graph.branches.len();
            self.append(graph);
            let place = told.len();
            told.push(TrajectoryChild {
                parent,
                run,
                agent,
                model,
                call,
                tools: std::mem::take(&mut notes.tools),
                branches: branches.collect(),
                stop: stop.as_str().to_owned(),
            });
            self.take_below((&items, &mut notes), Some(place), told);
        }
    }

    /// Another graph behind this one, with nothing between them.
    fn append(&mut self, other: Self) {
        let before = self.nodes.len();
        self.nodes.extend(other.nodes.into_iter().map(|mut node| {
            node.parent = node.parent.map(|place| place + before);
            node.same_as = node.same_as.map(|place| place + before);
            node
        }));
        let branches = other.branches.into_iter();
        let branches = branches.map(|branch| branch.into_iter().map(|place| place + before));
        self.branches.extend(branches.map(Iterator::collect));
        self.drift.extend(other.drift.into_iter().map(|mut drift| {
            drift.node += before;
            drift
        }));
    }
}

/// Where a thread has a call: the item, and the place in it.
fn place_of(items: &[ThreadItem], call: &str) -> (usize, usize) {
    let found = items.iter().enumerate().find_map(|(item, said)| {
        let ThreadItem::Assistant { calls, .. } = said else { return None };
        Some((item, calls.iter().position(|one| one.id == call)?))
    });
    found.unwrap_or((usize::MAX, 0))
}
