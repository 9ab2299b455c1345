//! Which era a server belongs to, found out without waiting long for those that say nothing.
//!
//! A server of before 2026-07-28 may leave `server/discover` unanswered. After a short time the
//! probe answers in its place that there is no such method, and the SDK goes on with `initialize`
//! over the same pipes. If the real answer comes before that to `initialize`, the server was only slow
//! to start: the connection is given up, and the next one asks in the new way alone. A server that
//! has said hello in the old way is taken at its word, whatever it answers to the probe later.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage,
};
use serde::Deserialize as _;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep_until};

/// How long a server may think about `server/discover` before it is asked in the old way too.
const PATIENCE: Duration = Duration::from_millis(750);

pub(crate) struct Probe {
    /// `None`: the era is known, and nothing is probed.
    patience: Option<Duration>,
    state: State,
    doubt: Arc<Doubt>,
    probing: Probing,
}

/// Whether messages that come have to pass the probe.
#[derive(Clone, Default)]
pub(super) struct Probing(Arc<AtomicBool>);

impl Probing {
    pub(super) fn is_on(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// What speaks against the era that a server was taken for.
#[derive(Default)]
pub(crate) struct Doubt {
    /// It was taken for an old one because it said nothing.
    gave_up: AtomicBool,
    /// It answered as a new one does after that.
    turned_modern: AtomicBool,
}

impl Doubt {
    /// Whether a handshake that failed may have failed because the server is a new one.
    pub(crate) fn is_there(&self) -> bool {
        self.gave_up.load(Ordering::Acquire)
    }
}

enum State {
    Idle,
    Waiting {
        id: RequestId,
        until: Instant,
    },
    /// `hello`: what it is asked instead.
    GivenUp {
        id: RequestId,
        hello: Option<RequestId>,
    },
}

impl Probe {
    pub(crate) fn none() -> Self {
        let (doubt, probing) = (Arc::default(), Probing::default());
        Self { patience: None, state: State::Idle, doubt, probing }
    }

    pub(crate) fn new() -> (Self, Arc<Doubt>) {
        let doubt = Arc::<Doubt>::default();
        let probing = Probing(Arc::new(AtomicBool::new(true)));
        let (patience, state) = (Some(PATIENCE), State::Idle);
        (Self { patience, state, doubt: Arc::clone(&doubt), probing }, doubt)
    }

    pub(super) fn probing(&self) -> Probing {
        self.probing.clone()
    }

    pub(super) fn sees(&mut self, message: &ClientJsonRpcMessage) {
        let (Some(patience), ClientJsonRpcMessage::Request(request)) = (self.patience, message)
        else {
            return;
        };
        let id = request.id.clone();
        match (&request.request, &self.state) {
            (ClientRequest::DiscoverRequest(_), _) => {
                self.state = State::Waiting { id, until: Instant::now() + patience };
            }
            // Before it was given up, the SDK has gone on without an answer that it could place.
            (
                ClientRequest::InitializeRequest(_),
                State::Waiting { id: probe, .. } | State::GivenUp { id: probe, .. },
            ) => self.state = State::GivenUp { id: probe.clone(), hello: Some(id) },
            _ => {}
        }
    }

    /// Ends when the probe has to be answered in the server's place; never if there is none.
    pub(super) async fn waits_in_vain(&mut self) -> ServerJsonRpcMessage {
        let State::Waiting { id, until } = &self.state else {
            return std::future::pending().await;
        };
        let id = id.clone();
        sleep_until(*until).await;
        self.state = State::GivenUp { id: id.clone(), hello: None };
        self.doubt.gave_up.store(true, Ordering::Release);
        let error = ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "no answer in time", None);
        ServerJsonRpcMessage::error(error, Some(id))
    }

    /// What is to be heard of a message; `None`: it is the answer to a probe that was answered in
    /// its place already.
    pub(super) fn read(&mut self, mut message: Value) -> Option<Value> {
        let (id, hello) = match &self.state {
            State::Idle => return Some(message),
            State::Waiting { id, .. } => (id, None),
            State::GivenUp { id, hello } => (id, hello.as_ref()),
        };
        let found = message.get("id").filter(|_| message.get("method").is_none());
        let found = found.and_then(|found| RequestId::deserialize(found).ok());
        if found.is_some() && found.as_ref() == hello && message.get("result").is_some() {
            self.is_over();
            return Some(message);
        }
        let answered = found.as_ref() == Some(id);
        let late = matches!(self.state, State::GivenUp { .. });
        if answered {
            if late && message.get("result").is_some() {
                self.doubt.turned_modern.store(true, Ordering::Release);
            }
            self.is_over();
            let knows =
                message.get("result").is_none_or(|it| it.get("supportedVersions").is_some());
            if let (false, Some(fields)) = (knows, message.as_object_mut()) {
                // Some old servers answer every method that they do not know with an empty result.
                fields.remove("result");
                let error = json!({"code": -32601, "message": "it knows no `server/discover`"});
                fields.insert("error".to_owned(), error);
            }
        }
        (!answered || !late).then_some(message)
    }

    fn is_over(&mut self) {
        self.state = State::Idle;
        self.probing.0.store(false, Ordering::Release);
    }

    pub(super) fn was_answered_late(&self) -> bool {
        self.doubt.turned_modern.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(id: i64, method: &str, params: &Value) -> ClientJsonRpcMessage {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        serde_json::from_value(request).unwrap()
    }

    /// One that was not answered in time, after which the server was asked in the old way.
    async fn in_vain() -> Probe {
        let (mut probe, _) = Probe::new();
        probe.sees(&request(0, "server/discover", &json!({})));
        probe.waits_in_vain().await;
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "us", "version": "1"},
        });
        probe.sees(&request(1, "initialize", &hello));
        assert!(probe.probing().is_on());
        probe
    }

    fn answer(id: i64) -> Value {
        json!({"jsonrpc": "2.0", "id": id, "result": {"supportedVersions": []}})
    }

    #[tokio::test]
    async fn a_server_that_said_hello_in_the_old_way_is_not_probed_any_more() {
        let mut probe = in_vain().await;
        assert_eq!(probe.read(answer(1)), Some(answer(1)));
        assert!(!probe.probing().is_on());
        // Nobody asked for that, and it ends nothing.
        assert_eq!(probe.read(answer(0)), Some(answer(0)));
        assert!(!probe.was_answered_late());
    }

    #[tokio::test]
    async fn a_late_answer_before_the_old_hello_is_that_of_a_new_server() {
        let mut probe = in_vain().await;
        assert_eq!(probe.read(answer(0)), None);
        assert!(probe.was_answered_late() && !probe.probing().is_on());
    }
}
