//! The same over what chance makes.

use std::fmt::Write as _;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{FORMS, agent, stream};
use crate::protocol::event::AgentEvent;
use crate::protocol::message::{AgentMessage, MessageRole};
use crate::protocol::part::{MessagePart, PartContent};
use crate::protocol::state::TaskState;
use crate::protocol::task::{AgentTask, TaskArtifact, TaskStatus};
use crate::protocol::wire::WireForm;

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z ]{0,6}".prop_map(Value::from),
    ];
    // Names that mean something here, so that chance meets them.
    let name = prop_oneof![
        Just("task"),
        Just("message"),
        Just("statusUpdate"),
        Just("artifactUpdate"),
        Just("kind"),
        Just("id"),
        Just("status"),
        Just("state"),
        Just("parts"),
        Just("text"),
        Just("data"),
        Just("file"),
        Just("artifact"),
        Just("artifactId"),
        Just("append"),
        Just("role"),
        Just("name"),
        Just("skills"),
        Just("supportedInterfaces"),
        Just("url"),
        Just("other"),
    ];
    leaf.prop_recursive(5, 40, 5, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name.clone(), inner), 0..5).prop_map(|fields| {
                let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
                Value::Object(fields.collect::<Map<_, _>>())
            }),
        ]
    })
}

fn any_part() -> impl Strategy<Value = MessagePart> {
    let data = prop::collection::vec(("[a-d]{1,4}", any_json()), 0..3);
    let content = prop_oneof![
        "[ -~]{0,20}".prop_map(PartContent::Text),
        // Packed twice it would be taken for what 0.3 sends.
        Just(PartContent::Bytes("//8=".to_owned())),
        "https://[a-z]{1,8}/".prop_map(PartContent::Address),
        data.prop_map(|fields| PartContent::Data(Value::Object(fields.into_iter().collect()))),
    ];
    let name = prop::option::of("[a-z]{1,8}");
    (content, name).prop_map(|(content, name)| {
        let is_file = matches!(content, PartContent::Bytes(_) | PartContent::Address(_));
        let media = is_file.then(|| "image/png".to_owned());
        MessagePart { content, name: name.filter(|_| is_file), media, metadata: None }
    })
}

fn any_state() -> impl Strategy<Value = TaskState> {
    prop_oneof![
        Just(TaskState::Unknown),
        Just(TaskState::Submitted),
        Just(TaskState::Working),
        Just(TaskState::InputRequired),
        Just(TaskState::AuthRequired),
        Just(TaskState::Completed),
        Just(TaskState::Failed),
        Just(TaskState::Canceled),
        Just(TaskState::Rejected),
    ]
}

/// Events of each kind about one task.
fn events(parts: Vec<MessagePart>, state: TaskState, append: bool) -> [AgentEvent; 4] {
    let message = AgentMessage::of_user("m", parts.clone());
    let artifact = TaskArtifact {
        id: "a".to_owned(),
        name: Some("n".to_owned()),
        description: None,
        parts,
        index: None,
        metadata: Some(json!({ "x": 1 })),
    };
    let timestamp = Some("2026-11-28T00:00:00Z".to_owned());
    let status = TaskStatus { state, message: Some(message.clone()), timestamp };
    let (task, context) = (Some("t".to_owned()), Some("c".to_owned()));
    let whole = AgentTask {
        id: "t".to_owned(),
        context: context.clone(),
        status: status.clone(),
        artifacts: vec![artifact.clone()],
        history: vec![message.clone()],
        metadata: Some(json!({ "sequence": 1 })),
    };
    [
        AgentEvent::Task(whole),
        AgentEvent::Message(message),
        AgentEvent::Status { task: task.clone(), context: context.clone(), status },
        AgentEvent::Artifact { task, context, artifact, append },
    ]
}

proptest! {
    #[test]
    fn an_event_is_read_as_it_was_written_in_each_form(
        parts in prop::collection::vec(any_part(), 0..4),
        state in any_state(),
        append in any::<bool>(),
    ) {
        for event in events(parts, state, append) {
            for form in FORMS {
                let written = event.write(form);
                prop_assert_eq!(&AgentEvent::read(&written, form), &event, "{}", written);
            }
        }
    }

    #[test]
    fn no_json_of_an_agent_breaks_its_reader(value in any_json()) {
        agent(format!("card\n{value}").as_bytes());
        agent(format!("stream\ndata: {value}\n\ndata: {value}\n\n").as_bytes());
    }

    #[test]
    fn a_message_is_read_as_it_was_written_in_each_form(
        parts in prop::collection::vec(any_part(), 0..4),
        is_user in any::<bool>(),
    ) {
        let mut message = AgentMessage::of_user("m", parts);
        message.role = if is_user { MessageRole::User } else { MessageRole::Agent };
        message.context = Some("c".to_owned());
        message.task = Some("t".to_owned());
        for form in FORMS {
            let written = message.write(form);
            prop_assert_eq!(AgentMessage::read(&written, form), Some(message.clone()), "{}", written);
        }
    }

    #[test]
    fn a_stream_says_the_same_wherever_it_is_cut(
        texts in prop::collection::vec("[ -~é]{0,12}", 0..8),
        cut in 0.0..1.0_f64,
    ) {
        let mut whole = String::new();
        for (index, text) in texts.iter().enumerate() {
            let event = json!({ "artifactUpdate": { "taskId": "t", "append": index > 0,
                "artifact": { "artifactId": "a", "parts": [{ "text": text }] } } });
            write!(whole, "data: {event}\r\n\r\n").unwrap();
        }
        let bytes = whole.as_bytes();
        #[expect(
            clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss,
            reason = "a place within a short text"
        )]
        let at = (bytes.len() as f64 * cut) as usize;
        let (first, rest) = bytes.split_at(at);
        let form = WireForm::Current;
        prop_assert_eq!(stream(&[first, rest], form), stream(&[bytes], form));
    }
}
