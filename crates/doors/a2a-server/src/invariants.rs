//! What must hold of all that a client sends, for the property tests and the fuzzer.

use serde_json::Value;
use toolcrib_a2a_client::protocol::wire::WireForm;

use crate::operation::{A2aOperation, OperationKind};
use crate::push::PushConfig;
use crate::rpc;
use crate::version::AskedVersion;

const KINDS: [OperationKind; 11] = [
    OperationKind::Send,
    OperationKind::Stream,
    OperationKind::Get,
    OperationKind::List,
    OperationKind::Cancel,
    OperationKind::Subscribe,
    OperationKind::Card,
    OperationKind::SetPush,
    OperationKind::GetPush,
    OperationKind::ListPushes,
    OperationKind::DeletePush,
];

/// A body, as JSON: it is read without a panic by every binding, and what is refused is told so that
/// it can be read.
pub fn request(data: &[u8]) {
    let Ok(body) = serde_json::from_slice::<Value>(data) else { return };
    for version in [None, Some("1.0"), Some("0.3"), Some("2")] {
        let read = rpc::read(&body, AskedVersion::read(version));
        match read.operation {
            Ok((operation, _)) => fits(&operation),
            Err(fault) => {
                let told = rpc::refusal(&read.id, &fault);
                assert!(told.pointer("/error/code").is_some_and(Value::is_i64), "{told}");
            }
        }
    }
    for form in [WireForm::Current, WireForm::OldProto] {
        for kind in KINDS {
            match A2aOperation::read(kind, &body, form) {
                Ok(operation) => fits(&operation),
                Err(fault) => assert!(fault.kind.status() >= 400, "{fault:?}"),
            }
        }
    }
}

fn fits(operation: &A2aOperation) {
    match operation {
        A2aOperation::Send { message, .. } => assert!(!message.parts.is_empty(), "nothing said"),
        A2aOperation::List(query) => assert!((1..=100).contains(&query.page_size), "a huge page"),
        A2aOperation::Get { task, .. }
        | A2aOperation::Cancel { task }
        | A2aOperation::Subscribe { task, .. }
        | A2aOperation::GetPush { task, .. }
        | A2aOperation::DeletePush { task, .. } => {
            assert!(!task.is_empty(), "a task without a name");
        }
        A2aOperation::SetPush { task, config } => {
            assert!(!task.is_empty() && !config.url.is_empty(), "a push to nowhere");
            let told = config.authorization().unwrap_or_default();
            assert!(!told.contains(['\r', '\n']), "a header with a line end");
            for form in [WireForm::Current, WireForm::Kinds, WireForm::OldProto] {
                let again = PushConfig::read(&config.write(task, form), form).map(|it| it.url);
                assert_eq!(again.as_ref(), Ok(&config.url));
            }
        }
        A2aOperation::ListPushes { page_size, .. } => {
            assert!((1..=100).contains(page_size), "a huge page");
        }
        A2aOperation::Card => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    fn any_json() -> impl Strategy<Value = serde_json::Value> {
        let leaf = prop_oneof![
            Just(serde_json::Value::Null),
            any::<bool>().prop_map(serde_json::Value::from),
            any::<i32>().prop_map(serde_json::Value::from),
            "[a-z/ ]{0,8}".prop_map(serde_json::Value::from),
        ];
        let name = prop_oneof![
            Just("message"),
            Just("parts"),
            Just("text"),
            Just("data"),
            Just("role"),
            Just("id"),
            Just("configuration"),
            Just("pageSize"),
            Just("status"),
            Just("metadata"),
            Just("historyLength"),
            Just("taskId"),
            Just("content"),
            Just("request"),
            Just("url"),
            Just("authentication"),
            Just("scheme"),
            Just("credentials"),
            Just("pushNotificationConfig"),
        ];
        leaf.prop_recursive(4, 32, 4, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
                prop::collection::vec((name.clone(), inner), 0..5).prop_map(|fields| {
                    let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
                    serde_json::Value::Object(fields.collect())
                }),
            ]
        })
    }

    proptest! {
        #[test]
        fn whatever_is_asked_is_read_or_refused(
            params in any_json(),
            id in any_json(),
            method in prop_oneof![
                Just("SendMessage"), Just("message/send"), Just("GetTask"), Just("ListTasks"),
                Just("tasks/cancel"), Just("SubscribeToTask"), Just("other"), Just(""),
                Just("CreateTaskPushNotificationConfig"), Just("tasks/pushNotificationConfig/set"),
            ],
        ) {
            let body = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
            super::request(body.to_string().as_bytes());
            super::request(params.to_string().as_bytes());
        }

        #[test]
        fn whatever_bytes_come_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            super::request(&bytes);
        }
    }
}
