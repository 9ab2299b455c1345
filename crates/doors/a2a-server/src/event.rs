//! What is told of a task, each with its place among what is told.

use serde_json::{Map, Value};
use toolcrib_a2a_client::protocol::event::AgentEvent;
use toolcrib_a2a_client::protocol::wire::WireForm;

/// An event with its sequence, by which a client says from where a subscription is to go on. A
/// sequence grows from event to event of a task, by 1 or more, and stays what it is.
#[derive(Debug, Clone, PartialEq)]
pub struct ServedEvent {
    pub event: AgentEvent,
    pub sequence: u64,
}

/// The name in the `metadata` of events and tasks.
const SEQUENCE: &str = "sequence";

impl ServedEvent {
    pub fn write(&self, form: WireForm) -> Value {
        let mut written = self.event.write(form);
        let is_numbered = !matches!(self.event, AgentEvent::Message(_) | AgentEvent::Unknown);
        let holder = match form {
            WireForm::Kinds => written.as_object_mut(),
            WireForm::Current | WireForm::OldProto => {
                let fields = written.as_object_mut();
                fields.and_then(|fields| fields.values_mut().next()?.as_object_mut())
            }
        };
        if let Some(fields) = holder.filter(|_| is_numbered) {
            let metadata = fields.entry("metadata").or_insert_with(|| Map::new().into());
            if let Value::Object(metadata) = metadata {
                metadata.insert(SEQUENCE.to_owned(), self.sequence.into());
            }
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolcrib_a2a_client::protocol::state::TaskState;
    use toolcrib_a2a_client::protocol::task::TaskStatus;

    use super::*;

    #[test]
    fn an_event_bears_its_sequence_in_each_form() {
        let status = TaskStatus { state: TaskState::Canceled, ..TaskStatus::default() };
        let event = AgentEvent::Status {
            task: Some("t".to_owned()),
            context: Some("c".to_owned()),
            status,
        };
        let event = ServedEvent { event, sequence: 7 };
        let metadata = json!({ "sequence": 7 });
        let current = json!({ "statusUpdate": {
            "taskId": "t", "contextId": "c", "status": { "state": "TASK_STATE_CANCELED" },
            "metadata": metadata,
        } });
        assert_eq!(event.write(WireForm::Current), current);
        let kinds = json!({
            "kind": "status-update", "taskId": "t", "contextId": "c", "final": true,
            "status": { "state": "canceled" }, "metadata": metadata,
        });
        assert_eq!(event.write(WireForm::Kinds), kinds);
        let proto = json!({ "statusUpdate": {
            "taskId": "t", "contextId": "c", "final": true,
            "status": { "state": "TASK_STATE_CANCELLED" }, "metadata": metadata,
        } });
        assert_eq!(event.write(WireForm::OldProto), proto);
        for form in [WireForm::Current, WireForm::Kinds, WireForm::OldProto] {
            assert_eq!(AgentEvent::read(&event.write(form), form), event.event);
        }
    }
}
