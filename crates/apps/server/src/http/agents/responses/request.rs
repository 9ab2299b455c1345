//! What a request for an answer asks, and how the run of it begins.

use std::sync::Arc;
use std::time::SystemTime;

use serde_json::Value;
use toolcrib_agent::RunOrder;
use toolcrib_core::RunLedgerError;
use uuid::Uuid;

use super::super::api_error::ApiError;
use super::super::chosen::{agent_within, check_names, choose, force, leave_out};
use super::super::input;
use super::super::live::LiveRuns;
use super::super::live::driver::{self, NotBegun, RunPlace};
use super::super::live::live_run::{
    DecidedCall, LiveRun, RunMeta, StoredRequest, ToolChoice, seconds,
};
use super::approvals;
use super::thread::{RequestThread, unreadable};
use crate::http::routes::problem::HttpProblem;
use crate::http::routes::request::GatewayRequest;

/// A run that is to begin.
pub(in crate::http) struct OrderedRun {
    pub(in crate::http::agents) order: RunOrder,
    /// In seconds since 1970.
    created: u64,
    profile: Option<String>,
    instructions: Option<String>,
    max_tokens: Option<u32>,
    /// Its items are those of `order`.
    thread: RequestThread,
    /// What came of what the request says to calls that were put to whoever asks.
    decided: Vec<DecidedCall>,
    /// It ends where calls wait for a person: whoever asks is that person.
    asks_caller: bool,
    /// Which of its tools it uses.
    choice: ToolChoice,
}

/// `own`: runs that only whoever asks knows, beside those of the server.
pub(in crate::http) async fn order(
    asked: &GatewayRequest,
    body: &Value,
    own: Option<&LiveRuns>,
) -> Result<Result<OrderedRun, ApiError>, HttpProblem> {
    order_as(asked, body, own, Uuid::new_v4().simple().to_string()).await
}

/// The same with an id of the run that is to begin. There must be no run with it.
pub(in crate::http) async fn order_as(
    asked: &GatewayRequest,
    body: &Value,
    own: Option<&LiveRuns>,
    id: String,
) -> Result<Result<OrderedRun, ApiError>, HttpProblem> {
    let is = |key: &str| body.get(key).and_then(Value::as_bool);
    let is_durable = is("background") == Some(true);
    let mut thread = match RequestThread::read(asked, body, own, id).await {
        Ok(thread) => thread,
        Err(error) => return Ok(Err(error)),
    };
    let word = |key: &str| body.get(key).and_then(Value::as_str);
    let instructions = word("instructions");
    let most = body.get("max_output_tokens").and_then(Value::as_u64);
    let most = most.and_then(|most| u32::try_from(most).ok());
    let (mut agent, servers) = match agent_within(asked, word("model"), instructions, most, body)? {
        Ok(within) => within,
        Err(error) => return Ok(Err(error)),
    };
    let asks_caller = servers.ask_caller();
    let agents = asked.gateway.agents.all();
    let registered = agents.iter().find(|registered| registered.settings.name == agent.name);
    let profile = registered.and_then(|registered| registered.profile()).map(str::to_owned);
    let read = input::caller_tools(body).and_then(|mut tools| {
        check_names(&agent, &asked.caller, &tools)?;
        let within = (&mut agent, profile.as_deref());
        let chosen = choose(body, &asked.caller, within, &mut tools)?;
        Ok((tools, chosen))
    });
    let (caller_tools, (calls, choice)) = match read {
        Ok(read) => read,
        Err(error) => return Ok(Err(error)),
    };
    let caller = Arc::clone(&asked.caller);
    let items = std::mem::take(&mut thread.items);
    let sources = std::mem::take(&mut thread.sources);
    Ok(Ok(OrderedRun {
        order: RunOrder {
            agent,
            caller,
            thread: items,
            sources,
            caller_tools,
            choice: calls,
            waits_for_people: is_durable || asks_caller,
        },
        created: seconds(SystemTime::now()),
        profile,
        instructions: instructions.map(str::to_owned),
        max_tokens: most,
        thread,
        decided: Vec::new(),
        asks_caller,
        choice,
    }))
}

impl OrderedRun {
    /// The same, whose first turn has to call these tools. `at`: where the request names them.
    pub(in crate::http) fn forcing(mut self, names: &[String], at: &str) -> Result<Self, ApiError> {
        if !names.is_empty() {
            let agent = (&mut self.order.agent, self.profile.as_deref());
            let disabled = std::mem::take(&mut self.choice.disabled);
            let forced = force((names, at), &self.order.caller, agent)?;
            self.choice = ToolChoice { disabled, ..forced };
        }
        Ok(self)
    }

    /// The same without these tools, for those that work for its agent too. A name that is none is
    /// of no account: the tool may have gone since the user left it out.
    pub(in crate::http) fn without(mut self, names: &[String]) -> Self {
        if !names.is_empty() {
            self.choice.disabled = names.to_vec();
            leave_out(names, &mut self.order.agent);
        }
        self
    }

    /// Whether it says yes or no to calls, which may take long.
    pub(super) fn decides(&self) -> bool {
        !self.thread.approvals.is_empty()
    }

    /// What is known of the run before it begins.
    pub(super) fn head(&self, body: &Value) -> RunMeta {
        RunMeta {
            id: self.thread.id.clone(),
            caller: Arc::clone(&self.order.caller),
            thread: self.thread.name.clone(),
            previous: self.thread.previous.clone(),
            parent: None,
            agent: self.order.agent.name.clone(),
            profile: self.profile.clone(),
            created: self.created,
            request: StoredRequest { body: kept(body), ..StoredRequest::default() },
        }
    }

    /// Decides as the request says, so that the thread tells what came of it. Nothing of the request
    /// can be wrong any more.
    pub(in crate::http::agents) async fn decided(
        mut self,
        asked: &GatewayRequest,
    ) -> Result<Result<Self, ApiError>, HttpProblem> {
        let answers = std::mem::take(&mut self.thread.approvals);
        match approvals::decide(asked, answers, self.profile.as_deref()).await? {
            Ok(decided) => {
                let (items, before) = (&mut self.order.thread, self.thread.before);
                approvals::tell(items, before, &decided, &self.thread.shown);
                self.decided = decided;
                Ok(Ok(self))
            }
            Err(error) => Ok(Err(error)),
        }
    }

    /// Begins it. One that is not to be stored stands in `own` alone, or nowhere.
    pub(in crate::http) async fn begin(
        self,
        asked: &GatewayRequest,
        body: &Value,
        own: Option<&LiveRuns>,
    ) -> Result<Arc<LiveRun>, NotBegun> {
        let is = |key: &str| body.get(key).and_then(Value::as_bool);
        let mut meta = self.head(body);
        let Self { order, instructions, max_tokens, thread, decided, asks_caller, choice, .. } =
            self;
        meta.request = StoredRequest {
            is_durable: is("background") == Some(true),
            instructions,
            max_tokens,
            came: Some(meta.created),
            body: meta.request.body,
            input: thread.input,
            caller_tools: order.caller_tools.iter().map(|tool| tool.name.clone()).collect(),
            choice,
            open: thread.open,
            asks_caller,
            decided,
            conversation: thread.conversation,
        };
        let place = match own {
            _ if is("store") != Some(false) => RunPlace::Ledger(thread.hold),
            Some(own) => RunPlace::Elsewhere(Arc::clone(&own.ledger)),
            None => RunPlace::Nowhere,
        };
        driver::begin(&asked.gateway, order, meta, place).await
    }
}

/// What of a request is kept beside its items.
fn kept(body: &Value) -> Value {
    let mut kept = body.clone();
    if let Value::Object(fields) = &mut kept {
        fields.remove("input");
    }
    // What a client says to servers is nobody else's to read.
    let tools = kept.get_mut("tools").and_then(Value::as_array_mut);
    for tool in tools.into_iter().flatten().filter_map(Value::as_object_mut) {
        tool.retain(|key, _| !["authorization", "headers"].contains(&key.as_str()));
    }
    kept
}

/// Why a run did not begin.
pub(in crate::http) fn not_begun(error: &NotBegun) -> ApiError {
    match error {
        NotBegun::TooMany(most) => {
            ApiError::too_many(format!("{most} runs of yours are worked on: wait for one"))
        }
        NotBegun::Ledger(RunLedgerError::Busy { run }) => ApiError::busy(run),
        NotBegun::Ledger(RunLedgerError::Moved) => {
            ApiError::unavailable("the run cannot be written down now")
        }
        NotBegun::Ledger(RunLedgerError::Ledger(error)) => unreadable(error),
    }
}
