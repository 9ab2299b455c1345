//! The `tool_choice` of a request: which calls its first turn has to make, and which tools it may
//! use.
//!
//! Shapes: <https://developers.openai.com/api/reference/resources/responses/methods/create>.

use std::sync::Arc;

use serde_json::{Value, json};
use toolcrib_agent::Agent;
use toolcrib_agent::model::{CallChoice, CallerTool};
use toolcrib_core::{
    BoxFuture, Caller, Fingerprint, Intent, Plan, PlanRequest, Policy, ToolSpec, Verdict,
};

use super::super::api_error::ApiError;
use super::super::live::live_run::ToolChoice;
use super::mcp_servers::OURS;

/// Entries of `allowed_tools` at the most.
const MOST: usize = 1_024;
/// Names that an error tells.
const MOST_NAMED: usize = 20;
/// Where it stands in a request.
const AT: &str = "tool_choice";

/// The tools that a request may choose among.
pub(in crate::http::agents) struct ChoosableTools<'a> {
    /// What the agent may do for this caller.
    plan: Plan,
    agent: &'a Agent,
    /// The names that mean all of its tools.
    whole: Vec<&'a str>,
    caller_tools: &'a [CallerTool],
}

/// What one entry names.
struct NamedTools {
    ours: Vec<String>,
    theirs: Option<String>,
}

/// What a request chooses: of the agent, of the calls of its run, and which of the caller's own tools
/// are left.
pub(in crate::http::agents) struct ChosenTools {
    pub(in crate::http::agents) tools: ToolChoice,
    pub(in crate::http::agents) calls: CallChoice,
    /// `None`: all of them.
    pub(in crate::http::agents) callers: Option<Vec<String>>,
}

impl ChosenTools {
    pub(in crate::http::agents) fn read(
        body: &Value,
        there: &ChoosableTools<'_>,
    ) -> Result<Self, ApiError> {
        let of = |calls| Self { tools: ToolChoice::default(), calls, callers: None };
        let choice = body.get(AT).unwrap_or(&Value::Null);
        match choice {
            Value::Null => Ok(of(CallChoice::Free)),
            Value::String(word) if word == "auto" => Ok(of(CallChoice::Free)),
            Value::String(word) if word == "none" => Ok(Self {
                tools: ToolChoice { force: Some(Vec::new()), ..ToolChoice::default() },
                ..of(CallChoice::Never)
            }),
            Value::String(word) if word == "required" => {
                there.has_any()?;
                Ok(of(CallChoice::Any))
            }
            Value::Object(_) if kind(choice) == "allowed_tools" => Self::among(choice, there),
            Value::Object(_) => {
                let NamedTools { ours, theirs } = there.named(choice, AT)?;
                let calls = match theirs {
                    Some(name) => CallChoice::CallerTool(name),
                    // One of them is enough.
                    None if ours.len() > 1 => CallChoice::Any,
                    None => CallChoice::Free,
                };
                let tools = ToolChoice { force: Some(ours), ..ToolChoice::default() };
                Ok(Self { tools, ..of(calls) })
            }
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
                let message = format!(
                    "`{AT}` must be \"none\", \"auto\", \"required\", or an object that names a \
                     function, an `mcp` tool or `allowed_tools`"
                );
                Err(ApiError::invalid(AT, message))
            }
        }
    }

    /// `allowed_tools`: the mode, and all that may be called.
    fn among(choice: &Value, there: &ChoosableTools<'_>) -> Result<Self, ApiError> {
        // Chat Completions has it one level deeper.
        let inner = choice.get("allowed_tools").unwrap_or(choice);
        let calls = match inner.get("mode").and_then(Value::as_str) {
            None | Some("auto") => CallChoice::Free,
            Some("required") => CallChoice::Any,
            Some(_) => {
                let message = format!("`{AT}.mode` must be \"auto\" or \"required\"");
                return Err(ApiError::invalid(AT, message));
            }
        };
        let entries = inner.get("tools").and_then(Value::as_array);
        let entries = entries.filter(|list| (1..=MOST).contains(&list.len())).ok_or_else(|| {
            let message = format!("`{AT}.tools` must be a list of 1 to {MOST} tools");
            ApiError::invalid(AT, message)
        })?;
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for (index, entry) in entries.iter().enumerate() {
            let named = there.named(entry, &format!("{AT}.tools[{index}]"))?;
            ours.extend(named.ours);
            theirs.extend(named.theirs);
        }
        ours.sort_unstable();
        ours.dedup();
        let forced = there.agent.wishes.choices.iter();
        let forced = forced.filter(|name| ours.contains(name)).cloned().collect();
        let (force, allowed) = (Some(forced), Some(ours));
        let tools = ToolChoice { force, allowed, ..ToolChoice::default() };
        Ok(Self { tools, calls, callers: Some(theirs) })
    }

    /// Whether a tool of the caller is left.
    pub(in crate::http::agents) fn leaves(&self, tool: &CallerTool) -> bool {
        self.callers.as_ref().is_none_or(|left| left.contains(&tool.name))
    }
}

impl<'a> ChoosableTools<'a> {
    /// Of an agent of this profile. `None`: there is nothing that this caller may choose among.
    pub(super) fn of(
        (agent, profile): (&'a Agent, Option<&'a str>),
        caller: &Caller,
        caller_tools: &'a [CallerTool],
    ) -> Option<Self> {
        let wishes = agent.model.wishes(PlanRequest::default(), !caller_tools.is_empty());
        let plan = agent.crib.plan(caller, wishes).ok()?;
        let whole = [Some(OURS), Some(agent.name.as_str()), profile];
        let whole = whole.into_iter().flatten().collect();
        Some(Self { plan, agent, whole, caller_tools })
    }

    /// Our own tools by their names, which stand in a list at `at`.
    pub(super) fn by_name(&self, names: &[String], at: &str) -> Result<Vec<String>, ApiError> {
        let mut ours = Vec::new();
        for (index, name) in names.iter().enumerate() {
            let entry = json!({ "type": "function", "name": name });
            ours.extend(self.named(&entry, &format!("{at}[{index}]"))?.ours);
        }
        Ok(ours)
    }

    fn has_any(&self) -> Result<(), ApiError> {
        if self.plan.tools().next().is_some() || !self.caller_tools.is_empty() {
            return Ok(());
        }
        let message = format!("`{AT}` is \"required\", and there is no tool: send `tools` too");
        Err(ApiError::invalid(AT, message))
    }

    /// The tools that an entry names.
    fn named(&self, entry: &Value, at: &str) -> Result<NamedTools, ApiError> {
        let word = |key: &str| entry.get(key).and_then(Value::as_str);
        let kind = kind(entry);
        let nested = entry.get(kind).and_then(|inner| inner.get("name")?.as_str());
        let name = word("name").or(nested);
        let (label, name) = match kind {
            "function" | "custom" => (None, Some(name.ok_or_else(|| missing(at, "name"))?)),
            "mcp" => {
                let label = word("server_label").ok_or_else(|| missing(at, "server_label"))?;
                (Some(label), name)
            }
            // A tool of a provider is named by its kind.
            _ => return self.hosted(kind, at),
        };
        let theirs = self.caller_tools.iter().find(|tool| Some(tool.name.as_str()) == name);
        if let (None, Some(tool)) = (label, theirs) {
            return Ok(NamedTools { ours: Vec::new(), theirs: Some(tool.name.clone()) });
        }
        let rendering = self.agent.model.dialect().rendering(&self.plan);
        let is_of = |tool: &ToolSpec| {
            label.is_none_or(|label| {
                self.whole.contains(&label) || tool.origin.source.as_str() == label
            })
        };
        let is_named = |tool: &ToolSpec| {
            let own = tool.name.as_str();
            // A server has a name of its own for it, and a model one that its API takes.
            let known = [Some(own), rendering.wire_name(own)];
            let by_server = tool.origin.name.as_deref().filter(|_| label.is_some());
            name.is_none() || known.contains(&name) || (by_server.is_some() && by_server == name)
        };
        let ours = self.ours(|tool| is_of(tool) && is_named(tool));
        if ours.is_empty() {
            return Err(self.unknown(name.or(label).unwrap_or_default(), at));
        }
        Ok(NamedTools { ours, theirs: None })
    }

    fn hosted(&self, kind: &str, at: &str) -> Result<NamedTools, ApiError> {
        let is_of_kind = |definition: &Value| definition.get("type").is_some_and(|is| is == kind);
        let ours = self.ours(|tool| tool.hosted.is_some() && tool.builtin.values().any(is_of_kind));
        if ours.is_empty() {
            return Err(self.unknown(kind, at));
        }
        Ok(NamedTools { ours, theirs: None })
    }

    fn ours(&self, is_it: impl Fn(&ToolSpec) -> bool) -> Vec<String> {
        let specs = self.plan.tools().map(|tool| &*tool.listed.spec);
        specs.filter(|spec| is_it(spec)).map(|spec| spec.name.to_string()).collect()
    }

    fn unknown(&self, name: &str, at: &str) -> ApiError {
        let name: String = name.chars().take(80).collect();
        let own = self.caller_tools.iter().map(|tool| tool.name.clone());
        let all: Vec<String> = own.chain(self.ours(|_| true)).collect();
        let more = all.len().saturating_sub(MOST_NAMED);
        let known = all.iter().take(MOST_NAMED).map(|name| format!("`{name}`"));
        let known = known.collect::<Vec<_>>().join(", ");
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        let known = if known.is_empty() { "nothing".to_owned() } else { known };
        let message =
            format!("`{at}` names `{name}`, which is no tool here: there is {known}{more}");
        ApiError::invalid(AT, message)
    }
}

impl ToolChoice {
    /// The same agent within this choice.
    pub(super) fn within(&self, agent: &mut Agent) {
        if !self.disabled.is_empty() {
            agent.wishes.choices.retain(|name| !self.disabled.contains(name));
            let rest: Arc<dyn Policy> = Arc::new(DisabledTools(self.disabled.clone()));
            agent.narrow(&rest);
        }
        if let Some(force) = &self.force {
            agent.wishes.choices.clone_from(force);
        }
        if let Some(allowed) = &self.allowed {
            let allowed: Arc<dyn Policy> = Arc::new(AllowedTools(allowed.clone()));
            agent.narrow(&allowed);
        }
    }
}

/// Tools by their names, with those of ours that serve all others.
#[derive(Debug)]
struct AllowedTools(Vec<String>);

impl AllowedTools {
    fn has(&self, tool: &ToolSpec) -> bool {
        tool.origin.source.as_str() == OURS || self.0.iter().any(|name| name == tool.name.as_str())
    }
}

impl Policy for AllowedTools {
    fn sees(&self, _: &Caller, tool: &ToolSpec) -> bool {
        self.has(tool)
    }

    fn decide<'a>(&'a self, intent: Intent<'a>) -> BoxFuture<'a, Verdict> {
        let verdict = if self.has(intent.tool) {
            Verdict::Allow
        } else {
            Verdict::Deny("the request leaves this tool out".to_owned())
        };
        Box::pin(std::future::ready(verdict))
    }

    fn lets_run(&self, _: &Caller, tool: &ToolSpec) -> bool {
        self.has(tool)
    }

    fn version(&self) -> Option<Fingerprint> {
        Some(Fingerprint::of(&self.0.clone().into()))
    }
}

/// All tools but these, for those that work for the agent too.
#[derive(Debug)]
struct DisabledTools(Vec<String>);

impl DisabledTools {
    fn leaves(&self, tool: &ToolSpec) -> bool {
        !self.0.iter().any(|name| name == tool.name.as_str())
    }
}

impl Policy for DisabledTools {
    fn sees(&self, _: &Caller, tool: &ToolSpec) -> bool {
        self.leaves(tool)
    }

    fn decide<'a>(&'a self, intent: Intent<'a>) -> BoxFuture<'a, Verdict> {
        let verdict = if self.leaves(intent.tool) {
            Verdict::Allow
        } else {
            Verdict::Deny("the user has disabled this tool".to_owned())
        };
        Box::pin(std::future::ready(verdict))
    }

    fn lets_run(&self, _: &Caller, tool: &ToolSpec) -> bool {
        self.leaves(tool)
    }

    fn version(&self) -> Option<Fingerprint> {
        Some(Fingerprint::of(&json!({ "disabled": self.0 })))
    }
}

fn kind(entry: &Value) -> &str {
    entry.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn missing(at: &str, field: &str) -> ApiError {
    ApiError::invalid(AT, format!("`{at}` has no `{field}`"))
}
