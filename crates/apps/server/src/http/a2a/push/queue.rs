//! What waits to be sent: in order, and never more than a bounded number of events.

use std::collections::VecDeque;

use toolcrib_a2a_client::protocol::event::AgentEvent;
use toolcrib_a2a_client::protocol::state::TaskState;
use toolcrib_a2a_server::ServedEvent;

use crate::http::a2a::view;

/// Events that wait at the most.
const MOST: usize = 64;

#[derive(Default)]
pub(super) struct PushQueue(VecDeque<ServedEvent>);

impl PushQueue {
    /// Puts an event behind the others. Pieces of an answer that wait become one.
    pub(super) fn push(&mut self, told: ServedEvent) {
        let Some(told) = self.join(told) else { return };
        self.0.push_back(told);
        if self.0.len() > MOST {
            // The whole answer comes with the end of the task again.
            let place = self.0.iter().position(|waiting| !is_turn(waiting));
            self.0.remove(place.unwrap_or_default());
        }
    }

    /// `None`: it is in the last one that waits.
    fn join(&mut self, told: ServedEvent) -> Option<ServedEvent> {
        let Some(ServedEvent { event: AgentEvent::Artifact { artifact: last, .. }, sequence }) =
            self.0.back_mut()
        else {
            return Some(told);
        };
        let ServedEvent { event: AgentEvent::Artifact { artifact, append: true, .. }, .. } = told
        else {
            return Some(told);
        };
        *sequence = told.sequence;
        view::join(&mut last.parts, artifact.parts);
        None
    }

    pub(super) fn pop(&mut self) -> Option<ServedEvent> {
        self.0.pop_front()
    }

    /// Whether all that waits is a piece of an answer, to which more may come.
    pub(super) fn is_answer(&self) -> bool {
        !self.0.is_empty()
            && self.0.iter().all(|waiting| matches!(waiting.event, AgentEvent::Artifact { .. }))
    }

    /// Leaves nothing but where the task stops.
    pub(super) fn keep_turns(&mut self) {
        self.0.retain(is_turn);
    }
}

/// Whether an event says that the task has ended or waits for somebody.
fn is_turn(told: &ServedEvent) -> bool {
    let AgentEvent::Status { status, .. } = &told.event else { return false };
    status.state.is_terminal() || status.state == TaskState::InputRequired
}

#[cfg(test)]
mod tests {
    use toolcrib_a2a_client::protocol::part::MessagePart;
    use toolcrib_a2a_client::protocol::task::{TaskArtifact, TaskStatus};

    use super::*;

    fn piece(text: &str, append: bool, sequence: u64) -> ServedEvent {
        let artifact = TaskArtifact {
            id: "answer".to_owned(),
            name: None,
            description: None,
            parts: vec![MessagePart::text(text)],
            index: None,
            metadata: None,
        };
        let event = AgentEvent::Artifact { task: None, context: None, artifact, append };
        ServedEvent { event, sequence }
    }

    fn status(state: TaskState, sequence: u64) -> ServedEvent {
        let status = TaskStatus { state, ..TaskStatus::default() };
        ServedEvent { event: AgentEvent::Status { task: None, context: None, status }, sequence }
    }

    fn drained(mut queue: PushQueue) -> Vec<ServedEvent> {
        std::iter::from_fn(|| queue.pop()).collect()
    }

    #[test]
    fn pieces_of_an_answer_become_one_and_states_stay_apart() {
        let mut queue = PushQueue::default();
        for told in [
            status(TaskState::Working, 1),
            piece("one ", false, 2),
            piece("two ", true, 6),
            piece("three", true, 10),
            piece("whole", false, 14),
            status(TaskState::Completed, 15),
        ] {
            queue.push(told);
        }
        let wanted = [
            status(TaskState::Working, 1),
            piece("one two three", false, 10),
            piece("whole", false, 14),
            status(TaskState::Completed, 15),
        ];
        assert_eq!(drained(queue), wanted);
    }

    #[test]
    fn of_too_many_events_the_first_go_but_not_where_the_task_stops() {
        let mut queue = PushQueue::default();
        queue.push(status(TaskState::InputRequired, 0));
        for sequence in 1..1_000 {
            queue.push(status(TaskState::Working, sequence));
        }
        queue.push(status(TaskState::Failed, 1_000));
        let left = drained(queue);
        assert_eq!(left.len(), MOST);
        assert_eq!(left.first(), Some(&status(TaskState::InputRequired, 0)));
        assert_eq!(left.get(1).map(|told| told.sequence), Some(1_000 - 62));
        assert_eq!(left.last(), Some(&status(TaskState::Failed, 1_000)));
    }
}
