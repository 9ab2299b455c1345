//! One conversation: what is said, what is asked about, and the commands within.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use tokio_util::sync::CancellationToken;
use toolcrib_agent::model::CallChoice;
use toolcrib_agent::{
    Agent, AgentRun, RequestTrace, RunEnd, RunOrder, RunPause, StopReason, ThreadItem, Usage,
    UsageSource,
};
use toolcrib_core::{
    BatchOptions, Caller, Decision, Host, ParkedCall, Reference, RunStage, TicketId,
};

use super::listener::{ChatListener, cut};
use super::record::{ChatRecord, ChatThread};
use crate::cli::context::CommandContext;
use crate::cli::output::Output;
use crate::cli::output::terminal::TerminalHost;
use crate::cli::signals::told_to_end;
use crate::cli::{CommandExit, escaped};
use crate::config;

const HELP: &str = "\
/tools      list the tools that the agent has
/why TOOL   tell why it has a tool, or has not
/plan       what the model is told of its tools, and what that costs
/model      which model answers
/cost       what this thread has cost so far
/debug      what was asked of the model for the last answer, and what that cost
/new        begin a new thread
/resume     go on with the last thread
/quit       end";

/// Longest message that is typed, in bytes.
const LONGEST_MESSAGE: u64 = 64 * 1024;

pub(super) struct ChatSession<'a> {
    context: &'a CommandContext,
    output: &'a Output,
    agent: Arc<Agent>,
    profile: Option<String>,
    caller: Arc<Caller>,
    /// `None`: what is said goes with this process.
    record: Option<ChatRecord>,
    thread: ChatThread,
    items: Vec<ThreadItem>,
    /// What the thread cited so far.
    sources: Vec<Reference>,
    /// What was asked of the model for the last answer.
    requests: Vec<RequestTrace>,
    usage: Usage,
    cost: f64,
    approves_all: bool,
}

/// Who is talked to, and how.
pub(super) struct ChatOrder {
    pub(super) agent: Arc<Agent>,
    pub(super) profile: Option<String>,
    pub(super) record: Option<ChatRecord>,
    pub(super) approves_all: bool,
}

impl<'a> ChatSession<'a> {
    pub(super) fn new(context: &'a CommandContext, output: &'a Output, order: ChatOrder) -> Self {
        let ChatOrder { agent, profile, record, approves_all } = order;
        Self {
            context,
            output,
            agent,
            profile,
            caller: Arc::new(context.caller.clone()),
            record,
            thread: ChatThread::new(),
            items: Vec::new(),
            sources: Vec::new(),
            requests: Vec::new(),
            usage: Usage::default(),
            cost: 0.0,
            approves_all,
        }
    }

    /// One message and its answer.
    pub(super) fn once(&mut self, message: &str) -> Result<CommandExit> {
        let end = self.say(message)?;
        Ok(exit_of(end.as_ref()))
    }

    /// Goes on with the last thread, and first with its last run if that is not over. What it comes
    /// to, if the command ends with it.
    pub(super) fn resume(&mut self) -> Result<Option<CommandExit>> {
        let name = &self.agent.name;
        let Some(record) = &self.record else {
            bail!("nothing is kept that could be gone on with");
        };
        let stored = self.context.runtime.block_on(record.last(&self.caller))?;
        let stored =
            stored.with_context(|| format!("there is no thread of `{name}` to go on with"))?;
        let is_over = stored.summary.stage == RunStage::Ended;
        let (thread, run) = record.resume(Arc::clone(&self.agent), stored)?;
        self.thread = thread;
        if is_over {
            (self.items, self.sources) = (run.items().to_vec(), run.sources());
            return Ok(None);
        }
        self.output.note("the last answer was not over: it goes on");
        let end = self.drive(run)?;
        let exit = exit_of(end.as_ref());
        Ok((exit != CommandExit::Done).then_some(exit))
    }

    /// Until the person has enough.
    pub(super) fn talk(&mut self) -> Result<CommandExit> {
        let model = &self.agent.model.settings().name;
        let told = format!("`{}` by `{model}`; /help lists the commands", self.agent.name);
        self.output.note(&told);
        if let Some(record) = self.record.as_ref().filter(|_| self.items.is_empty())
            && self.context.runtime.block_on(record.has_unfinished(&self.caller))?
        {
            self.output
                .note("the last answer of a chat before is not over: /resume goes on with it");
        }
        loop {
            self.output.prompt("you:");
            let line = self.line();
            self.output.answered();
            let Some(line) = line? else { return Ok(CommandExit::Done) };
            let line = line.trim();
            match line.split_once(' ').map_or((line, ""), |(word, rest)| (word, rest.trim())) {
                ("", _) => {}
                ("/quit" | "/exit", _) => return Ok(CommandExit::Done),
                ("/resume", _) => match self.resume() {
                    Ok(Some(CommandExit::Waiting)) => return Ok(CommandExit::Waiting),
                    Ok(_) => self.output.note(&told_length(&self.items)),
                    Err(error) => self.output.error(&error),
                },
                (command, rest) if command.starts_with('/') => self.command(command, rest)?,
                _ if self.say(line)?.is_none() => return Ok(CommandExit::Waiting),
                _ => {}
            }
        }
    }

    /// A line of the person; `None`: they have gone.
    fn line(&self) -> Result<Option<String>> {
        self.context.runtime.block_on(async {
            let reading = tokio::task::spawn_blocking(|| config::line_within(LONGEST_MESSAGE));
            tokio::select! {
                read = reading => {
                    let line = read??;
                    Ok((!line.is_empty()).then_some(line))
                }
                heard = told_to_end() => heard.map(|()| None).map_err(Into::into),
            }
        })
    }

    /// Lets the agent answer. `None`: a call waits for a person, and none is there.
    fn say(&mut self, message: &str) -> Result<Option<RunEnd>> {
        let mut thread = self.items.clone();
        thread.push(ThreadItem::user(message));
        let (agent, caller) = (Arc::clone(&self.agent), Arc::clone(&self.caller));
        let (sources, caller_tools) = (self.sources.clone(), Vec::new());
        let (choice, waits_for_people) = (CallChoice::Free, true);
        let order =
            RunOrder { agent, caller, thread, sources, caller_tools, choice, waits_for_people };
        let run = match &self.record {
            None => AgentRun::new(order),
            Some(record) => {
                let profile = self.profile.clone();
                let begun = record.begin(&mut self.thread, order, profile, message);
                self.context.runtime.block_on(begun)?
            }
        };
        self.drive(run)
    }

    /// Takes a run to its end, and keeps what was said.
    fn drive(&mut self, run: AgentRun) -> Result<Option<RunEnd>> {
        let host: Arc<dyn Host> = Arc::new(TerminalHost::new(self.output.clone(), None));
        let options = BatchOptions { host: Some(host), ..BatchOptions::default() };
        let mut run = run.with_options(options);
        let end = loop {
            match self.go(&mut run)? {
                RunPause::Ended(end) => break Some(end),
                RunPause::Held | RunPause::Deferred { .. } => break None,
                RunPause::Waiting(tickets) => {
                    if !self.decide(&mut run, &tickets)? {
                        if self.record.is_some() {
                            let told = "it waits: `toolcrib chat --resume` asks again";
                            self.output.note(told);
                        }
                        break None;
                    }
                }
            }
        };
        self.usage.add(run.usage());
        self.requests = run.requests().to_vec();
        let (_, _, _, cost) = run.account().totals();
        self.cost += cost;
        // What was said stays, also of a turn that was stopped.
        (self.items, self.sources) = (run.items().to_vec(), run.sources());
        Ok(end)
    }

    /// Goes on until the run needs somebody; Ctrl-C stops it and keeps the thread.
    fn go(&self, run: &mut AgentRun) -> Result<RunPause> {
        let mut listener = ChatListener::new(self.output);
        let cancel = CancellationToken::new();
        let pause = self.context.runtime.block_on(async {
            let mut tell = |event| listener.hear(&event);
            let mut going = Box::pin(run.go(&mut tell, &cancel));
            tokio::select! {
                biased;
                pause = &mut going => pause,
                _ = told_to_end() => {
                    cancel.cancel();
                    going.await
                }
            }
        });
        listener.end()?;
        Ok(pause)
    }

    /// Puts the calls that wait to the person. `false`: nobody is there to decide.
    fn decide(&self, run: &mut AgentRun, tickets: &[TicketId]) -> Result<bool> {
        for ticket in tickets {
            let Some(parked) = self.context.runtime.block_on(run.parked(ticket)) else {
                // Somebody decided before this process began, or nobody did in time.
                let mut listener = ChatListener::new(self.output);
                self.context.runtime.block_on(run.look(&mut |event| listener.hear(&event)));
                listener.end()?;
                continue;
            };
            let Some(decision) = self.asked(&parked)? else { return Ok(false) };
            let mut listener = ChatListener::new(self.output);
            let decided =
                self.context.runtime.block_on(run.decide(ticket, decision, &mut |event| {
                    listener.hear(&event);
                }));
            listener.end()?;
            if let Err(error) = decided {
                // The model hears that the call waits; what ran beside it stays told.
                self.output.note(&format!("no decision was taken: {error}"));
                run.go_on();
                return Ok(true);
            }
        }
        Ok(true)
    }

    fn asked(&self, parked: &ParkedCall) -> Result<Option<Decision>> {
        if self.approves_all {
            return Ok(Some(Decision::Approve));
        }
        self.output.note(&format!("approval needed: {}", parked.reason));
        let arguments = parked.arguments.clone().into_value().to_string();
        let what = format!("`{}` with {}", parked.tool, escaped(&arguments));
        if !config::person_is_there() {
            let told = format!("{what} did not run: nobody is there. `--yes` approves beforehand");
            self.output.note(&told);
            return Ok(None);
        }
        config::forget_typed();
        self.output.prompt(&format!("Run {what}? [y/N, or why not]"));
        let answer = self.line();
        self.output.answered();
        // Whoever leaves has decided nothing.
        let Some(answer) = answer? else { return Ok(None) };
        Ok(Some(match answer.trim() {
            "y" | "Y" | "yes" => Decision::Approve,
            "" | "n" | "N" | "no" => {
                Decision::Deny { reason: "the person at the terminal said no".to_owned() }
            }
            reason => Decision::Deny { reason: reason.to_owned() },
        }))
    }

    fn command(&mut self, command: &str, rest: &str) -> Result<()> {
        match command {
            "/help" => self.output.text(HELP),
            "/tools" => {
                let plan = self.context.plain_plan()?;
                let lines: Vec<_> = plan
                    .tools()
                    .map(|tool| {
                        let spec = &tool.listed.spec;
                        format!("{}: {}", spec.name, cut(&spec.description))
                    })
                    .collect();
                self.output.text(&lines.join("\n"))
            }
            "/why" => {
                let plan = self.context.plain_plan()?;
                if let Some(why) = plan.why(rest) {
                    return self.output.text(&serde_json::to_string_pretty(&why)?);
                }
                self.output.note(&format!("there is no tool `{rest}`: /tools lists them"));
                Ok(())
            }
            "/plan" => {
                let wishes = self.agent.model.wishes(self.agent.wishes.clone(), false);
                let plan = self.context.crib.plan(&self.caller, wishes)?;
                let tools = self.agent.model.dialect().tools(&plan).to_string();
                let told = format!(
                    "{} tools, about {} tokens in every request",
                    plan.tools().len(),
                    tools.len().div_ceil(4)
                );
                self.output.text(&told)
            }
            "/model" => {
                let model = self.agent.model.settings();
                self.output.text(&format!("{} at {}", model.name, model.base))
            }
            "/debug" => {
                let lines = self.requests.iter().map(serde_json::to_string);
                let lines: Vec<_> = lines.collect::<Result<_, _>>()?;
                self.output.text(&lines.join("\n"))
            }
            "/cost" => self.output.text(&self.cost()),
            "/new" => {
                self.thread = ChatThread::new();
                self.items.clear();
                self.sources.clear();
                self.output.note("a new thread");
                Ok(())
            }
            other => {
                self.output.note(&format!("there is no command {other}: /help lists them"));
                Ok(())
            }
        }
    }

    fn cost(&self) -> String {
        let Usage { input_tokens, output_tokens, source, .. } = self.usage;
        let mark = match source {
            UsageSource::Reported => "",
            UsageSource::Estimated => ", in part estimated",
            UsageSource::Unknown => ", in part unknown",
        };
        let price = self.agent.model.settings().price;
        let cost = match price {
            Some(_) => format!("{:.4}", self.cost),
            None => "unknown: the model has no `price`".to_owned(),
        };
        format!("{input_tokens} tokens read, {output_tokens} written{mark}; cost: {cost}")
    }
}

fn exit_of(end: Option<&RunEnd>) -> CommandExit {
    match end.map(|end| end.stop) {
        None => CommandExit::Waiting,
        Some(StopReason::Fault | StopReason::Withheld) => CommandExit::Failed,
        Some(StopReason::Cancelled) => CommandExit::Interrupted,
        Some(_) => CommandExit::Done,
    }
}

fn told_length(items: &[ThreadItem]) -> String {
    format!("goes on behind {} entries", items.len())
}
