//! The `mcp` tools of a request: which of the agent's tools it may use, and which calls are put to
//! whoever asks.
//!
//! They name sources of the agent. Another server is never reached because a request names it.
//! Shapes: <https://developers.openai.com/api/docs/guides/tools-connectors-mcp>.

use std::sync::Arc;

use serde_json::{Value, json};
use toolcrib_core::{
    BoxFuture, Caller, Effect, Fingerprint, Intent, Plan, Policy, ToolSpec, Verdict,
};
use toolcrib_engine::Crib;

use super::super::api_error::ApiError;

/// By this name every tool of an agent is meant; tools of our own have it as their source.
pub(in crate::http::agents) const OURS: &str = "toolcrib";
/// Entries of one request at the most.
const MOST: usize = 128;

/// What the `mcp` tools of a request choose; without any the agent has all of its tools.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::http::agents) struct McpServers(Vec<McpServer>);

/// One of them.
#[derive(Debug, Clone, PartialEq)]
struct McpServer {
    label: String,
    /// Whether it is one source; else all of the agent is meant.
    is_source: bool,
    allowed: Option<ToolFilter>,
    asks: ApprovalWish,
}

/// Which of its calls a client wants to be asked about.
#[derive(Debug, Clone, PartialEq)]
enum ApprovalWish {
    Always,
    /// It is not asked, whatever our rules say: the model is told of the ticket.
    Never,
    Some {
        always: ToolFilter,
        never: ToolFilter,
    },
}

/// Tools by their names, or those that only read.
#[derive(Debug, Clone, Default, PartialEq)]
struct ToolFilter {
    names: Vec<String>,
    read_only: bool,
}

impl ToolFilter {
    fn has(&self, tool: &ToolSpec) -> bool {
        let own = tool.origin.name.as_deref();
        let is_named =
            self.names.iter().any(|name| name == tool.name.as_str() || own == Some(name.as_str()));
        is_named || (self.read_only && tool.effect == Effect::Read)
    }

    /// `[names]` or `{tool_names, read_only}`.
    fn read(given: &Value, at: &str) -> Result<Self, ApiError> {
        let (names, read_only) = match given {
            Value::Array(_) => (Some(given), false),
            Value::Object(fields) => {
                let read_only = fields.get("read_only").and_then(Value::as_bool);
                (fields.get("tool_names"), read_only == Some(true))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                let message = format!("`{at}` must be a list of names, or have `tool_names`");
                return Err(ApiError::invalid(at, message));
            }
        };
        let names = names.and_then(Value::as_array).into_iter().flatten();
        let names = names.take(MOST).filter_map(Value::as_str).map(str::to_owned).collect();
        Ok(Self { names, read_only })
    }
}

impl McpServer {
    fn has(&self, tool: &ToolSpec) -> bool {
        let is_of_it = !self.is_source || tool.origin.source.as_str() == self.label;
        is_of_it && self.allowed.as_ref().is_none_or(|allowed| allowed.has(tool))
    }

    fn asks(&self, tool: &ToolSpec) -> bool {
        match &self.asks {
            ApprovalWish::Always => true,
            ApprovalWish::Never => false,
            ApprovalWish::Some { always, never } => always.has(tool) || !never.has(tool),
        }
    }

    fn read(tool: &Value, at: &str) -> Result<Self, ApiError> {
        let label = tool.get("server_label").and_then(Value::as_str);
        let label = label.filter(|label| !label.is_empty()).ok_or_else(|| {
            ApiError::invalid(at, format!("`{at}` has no `server_label`: name a source"))
        })?;
        let given = |key: &str| tool.get(key).filter(|given| !given.is_null());
        let filter = |key: &str| {
            let read = |given: &Value| ToolFilter::read(given, &format!("{at}.{key}"));
            given(key).map(read).transpose()
        };
        let asks = match given("require_approval") {
            None => ApprovalWish::Always,
            Some(Value::String(word)) if word == "always" => ApprovalWish::Always,
            Some(Value::String(word)) if word == "never" => ApprovalWish::Never,
            Some(Value::Object(fields)) => {
                let part = |key: &str| match fields.get(key).filter(|given| !given.is_null()) {
                    None => Ok(ToolFilter::default()),
                    Some(given) => ToolFilter::read(given, &format!("{at}.require_approval.{key}")),
                };
                ApprovalWish::Some { always: part("always")?, never: part("never")? }
            }
            Some(_) => {
                let at = format!("{at}.require_approval");
                let message = format!(
                    "`{at}` must be \"always\", \"never\", or have `always` and `never` with tools"
                );
                return Err(ApiError::invalid(&at, message));
            }
        };
        let label = label.to_owned();
        Ok(Self { label, is_source: true, allowed: filter("allowed_tools")?, asks })
    }
}

impl McpServer {
    fn unknown(&self, specs: &[&ToolSpec]) -> ApiError {
        let mut known: Vec<_> = specs.iter().map(|tool| tool.origin.source.as_str()).collect();
        known.push(OURS);
        known.sort_unstable();
        known.dedup();
        let message = format!(
            "`{}` is no source of this agent, and no server is reached because a request names it: \
             `server_label` may be {}",
            self.label,
            known.join(", ")
        );
        ApiError::invalid("tools", message)
    }
}

impl McpServers {
    /// Those of a request to an agent. `whole`: the names that mean all of its tools.
    pub(in crate::http::agents) fn read(body: &Value, whole: &[&str]) -> Result<Self, ApiError> {
        let tools = body.get("tools").and_then(Value::as_array);
        let mut servers = Vec::new();
        for (index, tool) in tools.into_iter().flatten().enumerate() {
            if tool.get("type").and_then(Value::as_str) != Some("mcp") {
                continue;
            }
            let at = format!("tools[{index}]");
            let mut server = McpServer::read(tool, &at)?;
            server.is_source = server.label != OURS && !whole.contains(&server.label.as_str());
            servers.push(server);
            if servers.len() > MOST {
                let message = format!("`tools` has more than {MOST} MCP servers");
                return Err(ApiError::invalid("tools", message));
            }
        }
        Ok(Self(servers))
    }

    /// Refuses names that stand for nothing. `plan`: what the agent may do for this caller.
    pub(in crate::http::agents) fn check(&self, plan: &Plan, crib: &Crib) -> Result<(), ApiError> {
        let tools: Vec<_> = plan.tools().collect();
        let specs: Vec<&ToolSpec> = tools.iter().map(|tool| &*tool.listed.spec).collect();
        for server in &self.0 {
            let is_of_it = |tool: &&&ToolSpec| {
                !server.is_source || tool.origin.source.as_str() == server.label
            };
            let own: Vec<&ToolSpec> = specs.iter().filter(is_of_it).copied().collect();
            if own.is_empty() {
                let away = crib.unavailable_sources(plan.caller());
                if away.iter().any(|away| away.source.as_str() == server.label) {
                    continue;
                }
                return Err(server.unknown(&specs));
            }
            let names = server.allowed.iter().flat_map(|allowed| &allowed.names);
            for name in names {
                let only = ToolFilter { names: vec![name.clone()], read_only: false };
                if !own.iter().any(|tool| only.has(tool)) {
                    let message =
                        format!("`{name}` in `allowed_tools` is no tool of `{}`", server.label);
                    return Err(ApiError::invalid("tools", message));
                }
            }
        }
        Ok(())
    }

    pub(in crate::http::agents) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the client wants to be asked about some calls.
    pub(in crate::http::agents) fn ask_caller(&self) -> bool {
        self.0.iter().any(|server| server.asks != ApprovalWish::Never)
    }

    /// The client's own name for where a tool is from.
    pub(in crate::http::agents) fn label(&self, source: &str) -> Option<&str> {
        let exact = self.0.iter().find(|server| server.is_source && server.label == source);
        let server = exact.or_else(|| self.0.iter().find(|server| !server.is_source));
        server.map(|server| server.label.as_str())
    }

    fn has(&self, tool: &ToolSpec) -> bool {
        tool.origin.source.as_str() == OURS || self.0.iter().any(|server| server.has(tool))
    }

    fn asks(&self, tool: &ToolSpec) -> bool {
        tool.origin.source.as_str() != OURS
            && self.0.iter().any(|server| server.has(tool) && server.asks(tool))
    }

    /// The crib within what was chosen.
    pub(super) fn within(&self, crib: Crib) -> Crib {
        if self.is_empty() { crib } else { crib.narrowed(Arc::new(self.clone())) }
    }
}

impl Policy for McpServers {
    fn sees(&self, _: &Caller, tool: &ToolSpec) -> bool {
        self.has(tool)
    }

    fn decide<'a>(&'a self, intent: Intent<'a>) -> BoxFuture<'a, Verdict> {
        let verdict = if !self.has(intent.tool) {
            Verdict::Deny("the request leaves this tool out".to_owned())
        } else if self.asks(intent.tool) {
            Verdict::Ask("the client asks to approve each call".to_owned())
        } else {
            Verdict::Allow
        };
        Box::pin(std::future::ready(verdict))
    }

    fn lets_run(&self, _: &Caller, tool: &ToolSpec) -> bool {
        self.has(tool) && !self.asks(tool)
    }

    fn version(&self) -> Option<Fingerprint> {
        let servers = self.0.iter().map(|server| {
            json!([
                server.label,
                server.is_source,
                format!("{:?}{:?}", server.allowed, server.asks)
            ])
        });
        Some(Fingerprint::of(&servers.collect::<Vec<_>>().into()))
    }
}
