//! One task as its client sees it: what it is at, what it asks, how it ended.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use rmcp::model::{ErrorData, TaskStatus};
use serde_json::{Value, json};
use tokio::sync::{Notify, oneshot};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use toolcrib_core::{Caller, HostQuestion, Progress, QuestionError, QuestionKind};

use crate::door::call::approval::{self, shown};
use crate::door::call::running::{CallIdentity, only_field, posed, request};
use crate::door::client::events::HostAnswer;

/// How often a client should ask.
const POLL: Duration = Duration::from_secs(1);
/// Questions of one task that are open at the same time.
const MOST_OPEN: usize = 64;
/// Beyond what any life is: of a time so far away nothing more is known.
const FOREVER: Duration = Duration::from_hours(24 * 365);

pub(crate) struct McpTask {
    id: String,
    identity: CallIdentity,
    created: String,
    born: Instant,
    life: Duration,
    cancelled: CancellationToken,
    /// Somebody asked; what came of a ticket is looked up only then.
    asked_for: Notify,
    now: Mutex<TaskState>,
}

struct TaskState {
    updated: String,
    /// When it is forgotten.
    until: Instant,
    message: Option<String>,
    open: BTreeMap<String, TaskQuestion>,
    /// The keys of all questions there ever were: none is used twice.
    keys: HashSet<String>,
    end: Option<TaskEnd>,
}

/// A question without an answer yet, as the protocol has it.
struct TaskQuestion {
    request: Value,
    reply: TaskReply,
}

enum TaskReply {
    Call(oneshot::Sender<HostAnswer>),
    Approval(oneshot::Sender<TaskDecision>),
}

/// What a person said, and by whom it came.
pub(super) struct TaskDecision {
    pub(super) caller: Arc<Caller>,
    pub(super) answer: Value,
}

pub(super) enum TaskEnd {
    Completed(Value),
    /// By an error of the protocol; what a tool says of its failure is a result.
    Failed(ErrorData),
    Cancelled,
}

impl TaskState {
    fn status(&self) -> TaskStatus {
        match &self.end {
            Some(TaskEnd::Completed(_)) => TaskStatus::Completed,
            Some(TaskEnd::Failed(_)) => TaskStatus::Failed,
            Some(TaskEnd::Cancelled) => TaskStatus::Cancelled,
            None if self.open.is_empty() => TaskStatus::Working,
            None => TaskStatus::InputRequired,
        }
    }

    fn is_changed(&mut self) {
        self.updated = Timestamp::now().to_string();
    }
}

impl McpTask {
    pub(super) fn new(id: String, identity: CallIdentity, life: Duration) -> Self {
        let (created, born, life) =
            (Timestamp::now().to_string(), Instant::now(), life.min(FOREVER));
        let now = TaskState {
            updated: created.clone(),
            until: born + life,
            message: None,
            open: BTreeMap::new(),
            keys: HashSet::from([approval::KEY.to_owned()]),
            end: None,
        };
        Self {
            id,
            identity,
            created,
            born,
            life,
            cancelled: CancellationToken::new(),
            asked_for: Notify::new(),
            now: Mutex::new(now),
        }
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn is_of(&self, caller: &Caller, profile: Option<&str>) -> bool {
        self.identity.caller.is(caller) && self.identity.profile.as_deref() == profile
    }

    pub(super) fn is_of_tenant(&self, tenant: &str) -> bool {
        self.identity.caller.tenant == tenant
    }

    fn now(&self) -> MutexGuard<'_, TaskState> {
        // What a panic left behind is whole: every change is made of single steps that fit.
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Its client is there: it stays for another life.
    pub(super) fn is_asked_for(&self) {
        self.now().until = Instant::now() + self.life;
        self.asked_for.notify_one();
    }

    /// Resolves when somebody asks.
    pub(super) async fn asked(&self) {
        self.asked_for.notified().await;
    }

    /// Resolves once nobody has asked for it for the whole of a life.
    pub(super) async fn forgotten(&self) {
        loop {
            let until = self.now().until;
            if until <= Instant::now() {
                return;
            }
            sleep_until(until).await;
        }
    }

    pub(super) fn cancel(&self) {
        self.cancelled.cancel();
    }

    pub(super) async fn cancelled(&self) {
        self.cancelled.cancelled().await;
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.cancelled.is_cancelled()
    }

    /// What its client is told of it at the beginning.
    pub(crate) fn seed(&self) -> Value {
        let mut seed = json!(self.described(&self.now()));
        if let Value::Object(fields) = &mut seed {
            fields.insert("resultType".to_owned(), json!("task"));
        }
        seed
    }

    fn described(&self, now: &TaskState) -> rmcp::model::Task {
        let lasts = now.until.saturating_duration_since(self.born);
        let mut task =
            rmcp::model::Task::new(&self.id, now.status(), &self.created, now.updated.clone())
                .with_ttl_ms(millis(lasts))
                .with_poll_interval_ms(millis(POLL));
        task.status_message.clone_from(&now.message);
        task
    }

    /// The same with what it asks, or with how it ended.
    pub(super) fn state(&self) -> Value {
        let now = self.now();
        let mut state = json!(self.described(&now));
        let mut put = |key: &str, value: Value| {
            if let Value::Object(fields) = &mut state {
                fields.insert(key.to_owned(), value);
            }
        };
        put("resultType", json!("complete"));
        match &now.end {
            Some(TaskEnd::Completed(result)) => put("result", result.clone()),
            Some(TaskEnd::Failed(error)) => put("error", json!(error)),
            Some(TaskEnd::Cancelled) => {}
            None if now.open.is_empty() => {}
            None => {
                let open = now.open.iter().map(|(key, open)| (key.clone(), open.request.clone()));
                put("inputRequests", Value::Object(open.collect()));
            }
        }
        state
    }

    pub(super) fn progresses(&self, progress: &Progress) {
        let Progress { done, total, message } = progress;
        let counted = || match total {
            Some(total) => format!("{done} of {total}"),
            None => done.to_string(),
        };
        self.says(Some(message.as_deref().map_or_else(counted, shown)));
    }

    pub(super) fn says(&self, message: Option<String>) {
        let mut now = self.now();
        now.message = message;
        now.is_changed();
    }

    /// Puts a question of the running call.
    pub(super) fn asks(&self, ask: &HostQuestion, reply: oneshot::Sender<HostAnswer>) {
        let mut now = self.now();
        if self.is_cancelled() || now.open.len() >= MOST_OPEN {
            let _ = reply.send(Err(QuestionError::Unable));
            return;
        }
        let key = only_field(&ask.params).filter(|key| !now.keys.contains(*key));
        let count = now.keys.len();
        let key = key.map_or_else(|| format!("question_{count}"), str::to_owned);
        now.keys.insert(key.clone());
        let request = posed(ask);
        now.open.insert(key, TaskQuestion { request, reply: TaskReply::Call(reply) });
        now.is_changed();
    }

    /// Puts the question whether the call may run.
    pub(super) fn asks_approval(&self, form: &Value) -> oneshot::Receiver<TaskDecision> {
        let (reply, decided) = oneshot::channel();
        let request = request(QuestionKind::Form, form);
        let mut now = self.now();
        let open = TaskQuestion { request, reply: TaskReply::Approval(reply) };
        now.open.insert(approval::KEY.to_owned(), open);
        now.is_changed();
        decided
    }

    /// Whether the call itself waits for an answer, and not its ticket.
    pub(super) fn asks_for_its_call(&self) -> bool {
        self.now().open.values().any(|open| matches!(open.reply, TaskReply::Call(_)))
    }

    /// Hands in what the client brought. What was answered before or never asked changes nothing.
    pub(super) fn answer(&self, caller: &Arc<Caller>, answers: BTreeMap<String, Value>) {
        let mut now = self.now();
        for (key, answer) in answers {
            let Some(TaskQuestion { reply, .. }) = now.open.remove(&key) else { continue };
            // Whoever asked may have ended meanwhile.
            match reply {
                TaskReply::Call(reply) => _ = reply.send(Ok(answer)),
                TaskReply::Approval(reply) => {
                    _ = reply.send(TaskDecision { caller: Arc::clone(caller), answer });
                }
            }
            now.is_changed();
        }
    }

    /// Nobody needs an answer any more.
    pub(super) fn withdraws(&self) {
        let mut now = self.now();
        now.open.clear();
        now.is_changed();
    }

    pub(super) fn ends(&self, end: TaskEnd) {
        let mut now = self.now();
        now.open.clear();
        now.message = match &end {
            TaskEnd::Completed(_) => None,
            TaskEnd::Failed(error) => Some(shown(&error.message)),
            TaskEnd::Cancelled => now.message.take(),
        };
        now.end = Some(end);
        now.is_changed();
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
