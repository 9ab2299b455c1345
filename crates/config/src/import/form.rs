//! Which program's file it is, and where its servers stand.

use serde::Serialize;
use serde_json::{Map, Value};

use super::{Notes, names};

/// A program whose files are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// `mcpServers`: Claude Desktop and Code, Cursor, Windsurf, Cline, and many others.
    McpServers,
    /// `servers` and `inputs` of VS Code's `mcp.json`, or under `mcp` of its settings.
    VsCode,
    /// `context_servers` of Zed.
    Zed,
    /// Servers at the top, and who may use which of their tools in `tool_assignment`.
    MasArena,
}

/// What was found in a file.
pub(super) struct Found<'v> {
    pub(super) form: Form,
    pub(super) servers: &'v Map<String, Value>,
    /// What VS Code asks a person for.
    pub(super) inputs: &'v [Value],
    pub(super) assign: Option<&'v Value>,
    /// Keys that are not understood.
    pub(super) others: Vec<&'v str>,
}

impl Form {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::McpServers => "mcpServers",
            Self::VsCode => "VS Code",
            Self::Zed => "Zed",
            Self::MasArena => "MAS-Arena",
        }
    }

    /// Where the servers of the form may stand.
    fn places(self) -> &'static [&'static [&'static str]] {
        match self {
            Self::McpServers => &[&["mcpServers"], &["mcp", "mcpServers"]],
            Self::VsCode => &[&["servers"], &["mcp", "servers"], &["mcp.servers"]],
            Self::Zed => &[&["context_servers"]],
            Self::MasArena => &[&[]],
        }
    }
}

/// The servers of a file; `None` if there are none.
pub(super) fn find(whole: &Map<String, Value>, form: Option<Form>) -> Option<Found<'_>> {
    let all = [Form::McpServers, Form::VsCode, Form::Zed];
    if let Some(form) = form.filter(|form| *form != Form::MasArena) {
        return under(whole, form);
    }
    let named = all.into_iter().filter(|_| form.is_none()).find_map(|form| under(whole, form));
    named.or_else(|| top(whole))
}

fn under(whole: &Map<String, Value>, form: Form) -> Option<Found<'_>> {
    form.places().iter().find_map(|place| {
        let mut beside = whole;
        let mut holder = Some(whole);
        for key in *place {
            beside = holder?;
            holder = beside.get(*key)?.as_object();
        }
        let inputs = beside.get("inputs").and_then(Value::as_array);
        // A file of settings holds a hundred other things, which are no business of ours.
        let is_settings = form == Form::Zed || place.len() > 1;
        let known = ["inputs", "$schema", "tool_assignment"];
        let is_other = |key: &&str| !place.contains(key) && !known.contains(key);
        let others = beside.keys().map(String::as_str).filter(is_other);
        Some(Found {
            form,
            servers: holder?,
            inputs: inputs.map_or(&[], Vec::as_slice),
            assign: whole.get("tool_assignment"),
            others: if is_settings { Vec::new() } else { others.collect() },
        })
    })
}

/// Servers at the top of the file.
fn top(whole: &Map<String, Value>) -> Option<Found<'_>> {
    let is_server =
        |value: &Value| ["command", "url", "transport"].iter().any(|key| value.get(key).is_some());
    let assign = whole.get("tool_assignment");
    let has_servers = whole.values().any(is_server);
    (assign.is_some() || has_servers).then(|| Found {
        form: Form::MasArena,
        servers: whole,
        inputs: &[],
        assign,
        others: Vec::new(),
    })
}

/// Agents with their tools, in the order of the file.
pub(super) fn assignments(assign: &Value, notes: &mut Notes) -> Vec<(String, Vec<String>)> {
    let mut rows = Vec::new();
    let Some(agents) = assign.as_object() else {
        notes.add("`tool_assignment` is no object of agents, and is not taken");
        return rows;
    };
    for (agent, tools) in agents {
        let list = tools.as_array().map(Vec::as_slice).unwrap_or_default();
        let named: Vec<String> =
            list.iter().filter_map(|tool| tool.as_str().map(str::to_owned)).collect();
        let (legal, wrong): (Vec<_>, Vec<_>) =
            named.into_iter().partition(|name| toolcrib_core::ToolName::new(name).is_ok());
        if legal.len() < list.len() || tools.as_array().is_none() {
            notes.add(format!(
                "agent `{}`: {} of its tools have no legal name and are not taken{}",
                names::shown(agent),
                list.len() - legal.len(),
                wrong
                    .first()
                    .map_or_else(String::new, |name| format!(", as `{}`", names::shown(name)))
            ));
        }
        rows.push((agent.clone(), legal));
    }
    rows
}
