//! Requests as each version and each way writes them.

use http::Method;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Map, Value, json};
use url::Url;

use crate::protocol::message::AgentMessage;
use crate::protocol::wire::{ProtocolBinding, ProtocolVersion, WireForm};

/// What may stand as it is in a segment of a path.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// How many of the last messages of a task are asked for: its words may be the only answer.
const HISTORY: u32 = 5;

/// What is asked of an agent.
#[derive(Debug, Clone, Copy)]
pub(crate) enum AgentRequest<'a> {
    /// A message, answered once, and where it is told how its task moves on.
    Send(&'a AgentMessage, Option<&'a str>),
    /// A message, answered with a stream.
    Stream(&'a AgentMessage),
    /// Where a task is.
    Get(&'a str),
    Cancel(&'a str),
    /// What comes of a task from now on, as a stream.
    Subscribe(&'a str),
    ExtendedCard,
}

/// Where an agent is spoken to, and how.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ChosenInterface {
    pub(crate) url: Url,
    pub(crate) binding: ProtocolBinding,
    pub(crate) version: ProtocolVersion,
    pub(crate) tenant: Option<String>,
}

impl ChosenInterface {
    pub(crate) fn form(&self) -> WireForm {
        WireForm::of(self.version, self.binding)
    }
}

/// A request as it is sent.
#[derive(Debug, PartialEq)]
pub(crate) struct WireRequest {
    pub(crate) method: Method,
    pub(crate) url: Url,
    /// JSON, where there is any.
    pub(crate) body: Option<Value>,
}

impl AgentRequest<'_> {
    /// The method of JSON-RPC, which names the request in traces too.
    pub(crate) fn name(&self, version: ProtocolVersion) -> &'static str {
        let (current, old) = match self {
            Self::Send(..) => ("SendMessage", "message/send"),
            Self::Stream(_) => ("SendStreamingMessage", "message/stream"),
            Self::Get(_) => ("GetTask", "tasks/get"),
            Self::Cancel(_) => ("CancelTask", "tasks/cancel"),
            Self::Subscribe(_) => ("SubscribeToTask", "tasks/resubscribe"),
            Self::ExtendedCard => ("GetExtendedAgentCard", "agent/getAuthenticatedExtendedCard"),
        };
        match version {
            ProtocolVersion::V1 => current,
            ProtocolVersion::V03 => old,
        }
    }

    pub(crate) fn written(&self, to: &ChosenInterface, id: &str) -> WireRequest {
        match to.binding {
            ProtocolBinding::JsonRpc => WireRequest {
                method: Method::POST,
                url: to.url.clone(),
                body: Some(json!({
                    "jsonrpc": "2.0",
                    "id": id,
                    "method": self.name(to.version),
                    "params": self.params(to),
                })),
            },
            ProtocolBinding::HttpJson => self.over_http(to),
        }
    }

    /// What is asked, without what the path says over HTTP.
    fn params(&self, to: &ChosenInterface) -> Value {
        let mut fields = Map::new();
        if let Some(tenant) = &to.tenant {
            fields.insert("tenant".to_owned(), tenant.as_str().into());
        }
        match self {
            Self::Send(message, _) | Self::Stream(message) => {
                fields.insert("message".to_owned(), message.write(to.form()));
                // The name of a task is worth more than its end: it can be looked up and cancelled.
                let at_once = match to.version {
                    ProtocolVersion::V1 => ("returnImmediately", true),
                    ProtocolVersion::V03 => ("blocking", false),
                };
                let mut configuration = Map::new();
                configuration.insert("historyLength".to_owned(), HISTORY.into());
                if let Self::Send(_, told_at) = self {
                    configuration.insert(at_once.0.to_owned(), at_once.1.into());
                    let push = match to.version {
                        ProtocolVersion::V1 => "taskPushNotificationConfig",
                        ProtocolVersion::V03 => "pushNotificationConfig",
                    };
                    let told_at = told_at.map(|url| (push.to_owned(), json!({ "url": url })));
                    configuration.extend(told_at);
                }
                fields.insert("configuration".to_owned(), Value::Object(configuration));
            }
            Self::Get(id) => {
                fields.insert("id".to_owned(), (*id).into());
                fields.insert("historyLength".to_owned(), HISTORY.into());
            }
            Self::Cancel(id) | Self::Subscribe(id) => {
                fields.insert("id".to_owned(), (*id).into());
            }
            Self::ExtendedCard => {}
        }
        Value::Object(fields)
    }

    fn over_http(&self, to: &ChosenInterface) -> WireRequest {
        let task = |id: &str| utf8_percent_encode(id, SEGMENT).to_string();
        let (method, path) = match self {
            Self::Send(..) => (Method::POST, "message:send".to_owned()),
            Self::Stream(_) => (Method::POST, "message:stream".to_owned()),
            Self::Get(id) => (Method::GET, format!("tasks/{}", task(id))),
            Self::Cancel(id) => (Method::POST, format!("tasks/{}:cancel", task(id))),
            Self::Subscribe(id) => (Method::GET, format!("tasks/{}:subscribe", task(id))),
            Self::ExtendedCard => match to.version {
                ProtocolVersion::V1 => (Method::GET, "extendedAgentCard".to_owned()),
                ProtocolVersion::V03 => (Method::GET, "card".to_owned()),
            },
        };
        let mut url = to.url.clone();
        let base = to.url.path().trim_end_matches('/');
        let before = match to.version {
            ProtocolVersion::V03 if !base.ends_with("/v1") => "/v1".to_owned(),
            ProtocolVersion::V03 => String::new(),
            ProtocolVersion::V1 => {
                let tenant = to.tenant.as_deref().map(|tenant| format!("/{}", task(tenant)));
                tenant.unwrap_or_default()
            }
        };
        url.set_path(&format!("{base}{before}/{path}"));
        url.set_query(None);
        if matches!(self, Self::Get(_)) {
            url.query_pairs_mut().append_pair("historyLength", &HISTORY.to_string());
        }
        let body = match self {
            Self::Send(..) | Self::Stream(_) => Some(self.params(to)),
            Self::Cancel(_) => Some(json!({})),
            Self::Get(_) | Self::Subscribe(_) | Self::ExtendedCard => None,
        };
        WireRequest { method, url, body }
    }
}
