//! Calls that became tasks: the client holds a name and asks what came of it.
//!
//! A task is begun by a call that takes long, or that waits for a person. It runs on until its end,
//! until its client cancels it, or until nobody has asked about it for a while.

mod requests;
mod task;
mod work;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use rmcp::model::{ErrorCode, ErrorData, TASKS_EXTENSION_ID};
use serde_json::{Value, json};
use tokio_util::sync::{CancellationToken, DropGuard};
use tokio_util::task::TaskTracker;
use toolcrib_core::{Caller, PendingTicket, Plan, ToolSpec, Trace};
use toolcrib_engine::Crib;

use super::persistence::{NamedHomes, NamedPlace};
use super::provider::CribProvider;
use super::settings::McpServerSettings;
use crate::door::call::report::CallReport;
use crate::door::call::running::{CallIdentity, RunningMcpCall};
use crate::door::client::features::ClientFeatures;
use task::McpTask;

/// Begins their names.
const KIND: &str = "task";

/// Under this key of a tool's `_meta` its author says that no request may be held open for it.
const KEY: &str = "toolcrib/tasks";

/// All that a call needs when its request is over.
pub(super) struct TaskCallContext {
    pub(super) cribs: Arc<dyn CribProvider>,
    /// Of its request.
    pub(super) crib: Crib,
    pub(super) client: ClientFeatures,
    pub(super) plan: Plan,
    pub(super) identity: CallIdentity,
    pub(super) tool: String,
    pub(super) trace: Option<Trace>,
    /// The command by which the person at this machine decides about tickets.
    pub(super) decides: Option<&'static str>,
}

/// How far a call has come that becomes a task.
pub(super) enum TaskStage {
    Running(RunningMcpCall),
    /// It waits for a person under a ticket.
    Parked(PendingTicket),
}

type TaskMap = Mutex<HashMap<String, Arc<McpTask>>>;

pub(super) struct TaskRegistry {
    all: Arc<TaskMap>,
    most: usize,
    life: Duration,
    homes: NamedHomes,
    /// Of the calls that run in tasks.
    calls: TaskTracker,
    closing: CancellationToken,
    /// With the door its tasks end.
    #[expect(dead_code, reason = "it acts when it is dropped")]
    closed: DropGuard,
}

/// Leaves its place when it is dropped.
struct TaskGuard {
    all: Weak<TaskMap>,
    id: String,
}

impl TaskCallContext {
    fn telling(&self) -> CallReport<'_> {
        let Self { cribs, crib, client, plan, identity, tool, .. } = self;
        CallReport { cribs, crib, client, plan, identity, tool }
    }
}

impl TaskRegistry {
    pub(super) fn new(settings: &McpServerSettings, homes: NamedHomes) -> Self {
        let closing = CancellationToken::new();
        let closed = closing.clone().drop_guard();
        let (most, life) = (settings.most_tasks, settings.task_life);
        let calls = TaskTracker::new();
        Self { all: Arc::default(), most, life, homes, calls, closing, closed }
    }

    /// Goes on with a call on a task of its own; it can be asked about from now on. Without a
    /// place for it the call comes back.
    pub(super) fn begin(
        &self,
        case: TaskCallContext,
        stage: TaskStage,
    ) -> Result<Arc<McpTask>, TaskStage> {
        let task = {
            let mut all = locked(&self.all);
            let tenant = &case.identity.caller.tenant;
            let theirs = all.values().filter(|task| task.is_of_tenant(tenant)).count();
            // A tenant alone cannot take all places.
            if all.len() >= self.most || theirs >= self.most.div_ceil(4) {
                return Err(stage);
            }
            let task =
                Arc::new(McpTask::new(self.homes.name(KIND), case.identity.clone(), self.life));
            all.insert(task.id().to_owned(), Arc::clone(&task));
            task
        };
        let place = TaskGuard { all: Arc::downgrade(&self.all), id: task.id().to_owned() };
        let (working, closing) = (Arc::clone(&task), self.closing.clone());
        let calls = self.calls.clone();
        tokio::spawn(async move {
            let _place = place;
            let work = async {
                working.ends(work::work(case, &working, stage, &calls).await);
                // The end stays for as long as it is asked for.
                std::future::pending::<()>().await;
            };
            tokio::select! {
                biased;
                () = closing.cancelled() => {}
                () = working.forgotten() => {}
                () = work => {}
            }
        });
        Ok(task)
    }

    /// Resolves once no call runs any more. One that asks is cancelled: nobody comes in to answer
    /// it. What waits under a ticket may go on doing so.
    pub(super) async fn settle(&self) {
        for task in locked(&self.all).values().filter(|task| task.asks_for_its_call()) {
            task.cancel();
        }
        self.calls.close();
        self.calls.wait().await;
    }

    /// Whether another process has it that lives.
    pub(super) async fn is_elsewhere(&self, id: &str) -> bool {
        let is_here = locked(&self.all).contains_key(id);
        !is_here && self.homes.place(KIND, id).await == NamedPlace::Elsewhere
    }

    /// The task of that name, if it is this caller's; somebody else's is not there.
    fn find(&self, id: &str, caller: &Caller, profile: Option<&str>) -> Option<Arc<McpTask>> {
        locked(&self.all).get(id).filter(|task| task.is_of(caller, profile)).cloned()
    }
}

impl Drop for TaskGuard {
    fn drop(&mut self) {
        if let Some(all) = self.all.upgrade() {
            locked(&all).remove(&self.id);
        }
    }
}

fn locked(all: &TaskMap) -> MutexGuard<'_, HashMap<String, Arc<McpTask>>> {
    // What a panic left behind is whole: every change is one insertion or removal.
    all.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a client must take tasks to call this tool.
pub(super) fn is_required(spec: &ToolSpec) -> bool {
    // Asked of every call, and said of few tools.
    spec.extra.may_hold(KEY) && {
        let extra = spec.extra.value();
        let said = extra.get("_meta").and_then(|meta| meta.get(KEY));
        said.and_then(Value::as_str) == Some("required")
    }
}

/// What a client is told that does not say that it takes tasks.
pub(super) fn undeclared() -> ErrorData {
    let lacking = json!({ "requiredCapabilities": { "extensions": { TASKS_EXTENSION_ID: {} } } });
    let code = ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY;
    ErrorData::new(code, "Missing required client capability", Some(lacking))
}

/// One answer for what was never there, has ended long ago, or is somebody else's.
fn unknown() -> ErrorData {
    let told = "there is no such task: nobody asked for it for too long, or it never was one of \
                this caller";
    ErrorData::invalid_params(told, Some(json!({ "field": "taskId" })))
}
