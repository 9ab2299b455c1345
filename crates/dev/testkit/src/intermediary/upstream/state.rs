//! What the server behind the gateway remembers.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;

pub(super) const SUBSCRIPTION_KEY: &str = "io.modelcontextprotocol/subscriptionId";

/// Messages that are remembered; a gateway that says more is not looked at any further.
const MOST_SEEN: usize = 100_000;

/// A message that came.
#[derive(Debug, Clone)]
pub(crate) struct SeenMessage {
    /// `http` of a request of 2026-07-28, a session before that, or a pipe: `pipe-1`.
    pub(crate) place: String,
    /// The head of the request, in lower case, over HTTP.
    pub(crate) head: String,
    pub(crate) message: Value,
    /// As it came.
    pub(crate) text: String,
}

/// What goes to the gateway.
#[derive(Debug, Clone)]
pub(super) enum FixtureOutput {
    Message(Value),
    /// Bytes in the place of a message.
    Raw(String),
    /// Nothing more comes: the stream or the pipe closes.
    Close,
}

pub(super) type FixtureSender = UnboundedSender<FixtureOutput>;

/// Who listens for what is of no request.
struct FixtureListener {
    place: String,
    /// The id of its `subscriptions/listen`, in 2026-07-28.
    subscription: Option<Value>,
    /// What it asked for there.
    filter: Value,
    output: FixtureSender,
}

#[derive(Default)]
pub(crate) struct FixtureState(Mutex<FixtureMemory>);

#[derive(Default)]
struct FixtureMemory {
    seen: Vec<SeenMessage>,
    count: usize,
    sessions: BTreeSet<String>,
    listeners: Vec<FixtureListener>,
    /// Who waits for an answer of a client, by the id of the question.
    questions: BTreeMap<String, oneshot::Sender<Value>>,
    released: BTreeSet<String>,
    /// The requests under way, by place and id, and the mark of each.
    running: BTreeMap<(String, String), String>,
    cancelled: Vec<String>,
    levels: BTreeMap<String, String>,
    has_more: bool,
}

impl FixtureState {
    fn memory(&self) -> MutexGuard<'_, FixtureMemory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A name that nothing has yet.
    pub(super) fn name(&self, of: &str) -> String {
        let mut memory = self.memory();
        memory.count += 1;
        format!("{of}-{}", memory.count)
    }

    pub(super) fn begin_session(&self) -> String {
        let session = self.name("session");
        self.memory().sessions.insert(session.clone());
        session
    }

    pub(super) fn has_session(&self, session: &str) -> bool {
        self.memory().sessions.contains(session)
    }

    pub(super) fn end_session(&self, session: &str) {
        let mut memory = self.memory();
        memory.sessions.remove(session);
        memory.listeners.retain(|listener| listener.place != session);
    }

    pub(super) fn forget(&self) {
        let mut memory = self.memory();
        memory.sessions.clear();
        memory.listeners.clear();
        memory.running.clear();
    }

    pub(super) fn note(&self, seen: SeenMessage) {
        let mut memory = self.memory();
        if memory.seen.len() < MOST_SEEN {
            memory.seen.push(seen);
        }
    }

    pub(super) fn seen(&self) -> Vec<SeenMessage> {
        self.memory().seen.clone()
    }

    pub(super) fn release(&self, mark: &str) {
        self.memory().released.insert(mark.to_owned());
    }

    pub(super) fn is_released(&self, mark: &str) -> bool {
        self.memory().released.contains(mark)
    }

    pub(super) fn begins(&self, (place, id): (&str, &Value), mark: &str) {
        self.memory().running.insert((place.to_owned(), id.to_string()), mark.to_owned());
    }

    /// It was answered.
    pub(super) fn ends(&self, (place, id): (&str, &Value)) {
        self.memory().running.remove(&(place.to_owned(), id.to_string()));
    }

    /// It is given up; nothing, if it had ended.
    pub(super) fn cancel(&self, (place, id): (&str, &Value)) {
        let mut memory = self.memory();
        if let Some(mark) = memory.running.remove(&(place.to_owned(), id.to_string())) {
            memory.cancelled.push(mark);
        }
    }

    pub(super) fn is_running(&self, (place, id): (&str, &Value)) -> bool {
        self.memory().running.contains_key(&(place.to_owned(), id.to_string()))
    }

    pub(super) fn cancellations(&self, mark: &str) -> usize {
        self.memory().cancelled.iter().filter(|known| *known == mark).count()
    }

    pub(super) fn set_level(&self, place: &str, level: &str) {
        self.memory().levels.insert(place.to_owned(), level.to_owned());
    }

    pub(super) fn level(&self, place: &str) -> Option<String> {
        self.memory().levels.get(place).cloned()
    }

    pub(super) fn grow(&self, has_more: bool) {
        self.memory().has_more = has_more;
    }

    pub(super) fn has_more(&self) -> bool {
        self.memory().has_more
    }

    pub(super) fn asks(&self, id: &str) -> oneshot::Receiver<Value> {
        let (sender, answer) = oneshot::channel();
        self.memory().questions.insert(id.to_owned(), sender);
        answer
    }

    /// An answer to a question of ours.
    pub(super) fn answered(&self, message: &Value) {
        let asked = message["id"].as_str().and_then(|id| self.memory().questions.remove(id));
        if let Some(asked) = asked {
            // The call may be over.
            let _ = asked.send(message.clone());
        }
    }

    /// `filter`: with its id, what a `subscriptions/listen` asked for.
    pub(super) fn listens(
        &self,
        place: &str,
        filter: Option<(Value, Value)>,
        output: &FixtureSender,
    ) {
        let (subscription, filter) = filter.map_or((None, Value::Null), |(id, it)| (Some(id), it));
        let (place, output) = (place.to_owned(), output.clone());
        self.memory().listeners.push(FixtureListener { place, subscription, filter, output });
    }

    pub(super) fn tell(&self, method: &str, params: &Value) {
        let mut memory = self.memory();
        memory.listeners.retain(|listener| !listener.output.is_closed());
        for listener in &memory.listeners {
            let mut params = params.clone();
            if let Some(id) = &listener.subscription {
                if !wants(&listener.filter, method, &params) {
                    continue;
                }
                params["_meta"] = json!({ SUBSCRIPTION_KEY: id });
            }
            let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
            let _ = listener.output.send(FixtureOutput::Message(message));
        }
    }
}

/// Whether a subscription asks for a message.
fn wants(filter: &Value, method: &str, params: &Value) -> bool {
    let member = match method {
        "notifications/tools/list_changed" => "toolsListChanged",
        "notifications/prompts/list_changed" => "promptsListChanged",
        "notifications/resources/list_changed" => "resourcesListChanged",
        _ => {
            let followed = filter["resourceSubscriptions"].as_array();
            return followed.is_some_and(|followed| followed.contains(&params["uri"]));
        }
    };
    filter[member] == true
}
