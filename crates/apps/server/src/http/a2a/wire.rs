//! How an answer is written: by the binding and in the version of its request.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::Value;
use tokio::sync::mpsc::channel;
use toolcrib_a2a_client::protocol::task::AgentTask;
use toolcrib_a2a_client::protocol::wire::WireForm;
use toolcrib_a2a_server::{A2aFault, PushConfig, ServedEvent, push, rpc};

use crate::http::routes::reply::{self, HttpReply};

/// The media type of the protocol, over HTTP without JSON-RPC.
pub(super) const A2A_JSON: &str = "application/a2a+json";

#[derive(Clone)]
pub(super) struct AnswerWire {
    form: WireForm,
    binding: AnswerBinding,
}

#[derive(Clone)]
enum AnswerBinding {
    /// With the id of the request.
    Rpc(Value),
    Http {
        kind: &'static str,
    },
}

impl AnswerWire {
    pub(super) fn rpc(id: Value) -> Self {
        Self { form: WireForm::Current, binding: AnswerBinding::Rpc(id) }
    }

    /// A client that names the media type of the protocol gets it; all others read plain JSON.
    pub(super) fn http(headers: &HeaderMap) -> Self {
        let said = [header::CONTENT_TYPE, header::ACCEPT];
        let mut said = said.iter().flat_map(|name| headers.get_all(name));
        let names_it = said.any(|value| value.to_str().is_ok_and(|text| text.contains(A2A_JSON)));
        let kind = if names_it { A2A_JSON } else { "application/json" };
        Self { form: WireForm::Current, binding: AnswerBinding::Http { kind } }
    }

    pub(super) fn within(self, form: WireForm) -> Self {
        Self { form, ..self }
    }

    pub(super) fn answer(&self, value: &Value) -> HttpReply {
        match &self.binding {
            AnswerBinding::Rpc(id) => reply::json(&rpc::result(id, value)),
            AnswerBinding::Http { kind } => {
                let mut reply = reply::json(value);
                reply.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
                reply
            }
        }
    }

    pub(super) fn task(&self, task: &AgentTask) -> HttpReply {
        self.answer(&task.write(self.form))
    }

    pub(super) fn tasks(&self, tasks: &[AgentTask]) -> Value {
        tasks.iter().map(|task| task.write(self.form)).collect::<Vec<_>>().into()
    }

    pub(super) fn push(&self, task: &str, config: &PushConfig) -> HttpReply {
        self.answer(&config.write(task, self.form))
    }

    /// `next`: where the next page begins.
    pub(super) fn pushes(
        &self,
        task: &str,
        configs: &[PushConfig],
        next: Option<&str>,
    ) -> HttpReply {
        self.answer(&push::list(task, configs, next, self.form))
    }

    /// A configuration is gone.
    pub(super) fn gone(&self) -> HttpReply {
        self.answer(&push::gone(self.form))
    }

    /// The answer to a message.
    pub(super) fn event(&self, event: &ServedEvent) -> HttpReply {
        self.answer(&event.write(self.form))
    }

    /// The same as the whole of a stream, where one was asked for.
    pub(super) fn once(&self, event: &ServedEvent, is_streamed: bool) -> HttpReply {
        if !is_streamed {
            return self.event(event);
        }
        let (sender, waiting) = channel(1);
        // There is room for it.
        let _ = sender.try_send(self.line(event));
        reply::events(waiting, None)
    }

    pub(super) fn refuse(&self, fault: &A2aFault) -> HttpReply {
        match &self.binding {
            AnswerBinding::Rpc(id) => reply::json(&rpc::refusal(id, fault)),
            AnswerBinding::Http { kind } => {
                let status = StatusCode::from_u16(fault.kind.status());
                let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
                let mut reply = reply::status(status, &fault.to_http());
                reply.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
                reply
            }
        }
    }

    /// A piece of a stream.
    pub(super) fn line(&self, event: &ServedEvent) -> Bytes {
        let value = event.write(self.form);
        let value = match &self.binding {
            AnswerBinding::Rpc(id) => rpc::result(id, &value),
            AnswerBinding::Http { .. } => value,
        };
        format!("id: {}\ndata: {value}\n\n", event.sequence).into()
    }
}
