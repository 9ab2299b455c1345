//! What a request for an answer asks, and how the run of it begins.

use std::sync::Arc;

use serde_json::Value;
use toolcrib::RunLedgerError;
use toolcrib::agent::RunOrder;

use super::super::api_error::ApiError;
use super::super::chosen::{agent_within, check_names, choose};
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
pub(in crate::http::agents) struct OrderedRun {
    pub(in crate::http::agents) order: RunOrder,
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
pub(in crate::http::agents) async fn order(
    asked: &GatewayRequest,
    body: &Value,
    own: Option<&LiveRuns>,
) -> Result<Result<OrderedRun, ApiError>, HttpProblem> {
    let is = |key: &str| body.get(key).and_then(Value::as_bool);
    let is_durable = is("background") == Some(true);
    let mut thread = match RequestThread::read(asked, body, own).await {
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
    pub(in crate::http::agents) async fn begin(
        self,
        asked: &GatewayRequest,
        body: &Value,
        own: Option<&LiveRuns>,
    ) -> Result<Arc<LiveRun>, NotBegun> {
        let is = |key: &str| body.get(key).and_then(Value::as_bool);
        let mut given = body.clone();
        if let Value::Object(fields) = &mut given {
            fields.remove("input");
        }
        // What a client says to servers is nobody else's to read.
        let tools = given.get_mut("tools").and_then(Value::as_array_mut);
        for tool in tools.into_iter().flatten().filter_map(Value::as_object_mut) {
            tool.retain(|key, _| !["authorization", "headers"].contains(&key.as_str()));
        }
        let Self { order, profile, instructions, max_tokens, thread, decided, asks_caller, choice } =
            self;
        let request = StoredRequest {
            is_durable: is("background") == Some(true),
            instructions,
            max_tokens,
            body: given,
            input: thread.input,
            caller_tools: order.caller_tools.iter().map(|tool| tool.name.clone()).collect(),
            choice,
            open: thread.open,
            asks_caller,
            decided,
            conversation: thread.conversation,
        };
        let meta = RunMeta {
            id: thread.id,
            caller: Arc::clone(&order.caller),
            thread: thread.name,
            previous: thread.previous,
            agent: order.agent.name.clone(),
            profile,
            created: seconds(std::time::SystemTime::now()),
            request,
        };
        let place = match own {
            _ if is("store") != Some(false) => RunPlace::Ledger(thread.hold),
            Some(own) => RunPlace::Elsewhere(Arc::clone(&own.ledger)),
            None => RunPlace::Nowhere,
        };
        driver::begin(&asked.gateway, order, meta, place).await
    }
}

/// Why a run did not begin.
pub(in crate::http::agents) fn not_begun(error: &NotBegun) -> ApiError {
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
