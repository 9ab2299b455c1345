//! Which program's file it is, and where its servers stand.

use serde::Serialize;
use serde_json::{Map, Value};

use super::names;
use super::notes::ImportNotes;

/// As many agents as a `crib.toml` may assign tools to: each has a view of its own.
pub(crate) const MOST_ASSIGNED: usize = 256;

/// A program whose files are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImportFormat {
    /// `mcpServers`: Claude Desktop and Code, Cursor, Windsurf, Cline, and many others.
    McpServers,
    /// `servers` and `inputs` of VS Code's `mcp.json`, or under `mcp` of its settings.
    VsCode,
    /// `context_servers` of Zed.
    Zed,
    /// `mcp` of opencode.
    OpenCode,
    /// Servers at the top, and who may use which of their tools in `tool_assignment`.
    MasArena,
}

/// What was found in a file.
pub(super) struct ImportedServers<'v> {
    pub(super) form: ImportFormat,
    pub(super) servers: &'v Map<String, Value>,
    /// What VS Code asks a person for.
    pub(super) inputs: &'v [Value],
    pub(super) assign: Option<&'v Value>,
    /// Keys that are not understood.
    pub(super) others: Vec<String>,
}

impl ImportFormat {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::McpServers => "mcpServers",
            Self::VsCode => "VS Code",
            Self::Zed => "Zed",
            Self::OpenCode => "opencode",
            Self::MasArena => "MAS-Arena",
        }
    }

    /// Where the servers of the form may stand.
    fn places(self) -> &'static [&'static [&'static str]] {
        match self {
            Self::McpServers => &[&["mcpServers"], &["mcp", "mcpServers"]],
            Self::VsCode => &[&["servers"], &["mcp", "servers"], &["mcp.servers"]],
            Self::Zed => &[&["context_servers"]],
            Self::OpenCode => &[&["mcp"]],
            Self::MasArena => &[&[]],
        }
    }
}

/// The servers of a file; `None` if there are none.
pub(super) fn find(
    whole: &Map<String, Value>,
    form: Option<ImportFormat>,
) -> Option<ImportedServers<'_>> {
    if let Some(form) = form.filter(|form| *form != ImportFormat::MasArena) {
        return under(whole, form);
    }
    let named = NAMED.into_iter().filter(|_| form.is_none()).find_map(|form| under(whole, form));
    named.or_else(|| top(whole))
}

/// The forms that say by a name of their own where servers are.
const NAMED: [ImportFormat; 4] =
    [ImportFormat::McpServers, ImportFormat::VsCode, ImportFormat::Zed, ImportFormat::OpenCode];

fn under(whole: &Map<String, Value>, form: ImportFormat) -> Option<ImportedServers<'_>> {
    form.places().iter().find_map(|place| {
        let (beside, holder) = at(whole, form, place)?;
        let inputs = beside.get("inputs").and_then(Value::as_array);
        // A file of settings holds a hundred other things, which are no business of ours.
        let is_settings =
            matches!(form, ImportFormat::Zed | ImportFormat::OpenCode) || place.len() > 1;
        let known = ["inputs", "$schema", "tool_assignment"];
        let is_other = |key: &&str| !place.contains(key) && !known.contains(key);
        let mut others: Vec<String> = if is_settings {
            Vec::new()
        } else {
            beside.keys().map(String::as_str).filter(is_other).map(str::to_owned).collect()
        };
        let more = elsewhere(whole, holder).filter(|other| !others.contains(other));
        let more: Vec<_> = more.collect();
        others.extend(more);
        Some(ImportedServers {
            form,
            servers: holder,
            inputs: inputs.map_or(&[], Vec::as_slice),
            assign: whole.get("tool_assignment"),
            others,
        })
    })
}

type Members = Map<String, Value>;

/// The servers of a form at one of its places, and what holds them.
fn at<'v>(
    whole: &'v Members,
    form: ImportFormat,
    place: &[&str],
) -> Option<(&'v Members, &'v Members)> {
    let (mut beside, mut holder) = (whole, whole);
    for key in place {
        beside = holder;
        holder = beside.get(*key)?.as_object()?;
    }
    // Others have settings of another sort under that name.
    let is_one = form != ImportFormat::OpenCode || holder.values().any(is_server);
    is_one.then_some((beside, holder))
}

/// Where the file has servers of other forms beside these.
fn elsewhere<'v>(
    whole: &'v Map<String, Value>,
    servers: &'v Map<String, Value>,
) -> impl Iterator<Item = String> + use<'v> {
    let places = NAMED.into_iter().flat_map(|form| form.places().iter().map(move |at| (form, *at)));
    places.filter_map(move |(form, place)| {
        let (_, found) = at(whole, form, place)?;
        let is_other = !std::ptr::eq(found, servers) && found.values().any(is_server);
        is_other.then(|| place.join("."))
    })
}

fn is_server(value: &Value) -> bool {
    ["command", "url", "serverUrl", "httpUrl", "transport"]
        .iter()
        .any(|key| value.get(key).is_some())
}

/// The list of a file by which a server of it is not used, if there is one.
pub(super) fn switched_off(whole: &Map<String, Value>, server: &str) -> Option<&'static str> {
    let has = |list: &Value| list.as_array().is_some_and(|all| all.iter().any(|one| one == server));
    let mcp = |key: &str| whole.get("mcp").and_then(|mcp| mcp.get(key));
    let off = ["disabledMcpServers", "disabledMcpjsonServers"].into_iter();
    let mut off = off.filter(|key| whole.get(*key).is_some_and(has));
    let is_excluded = || mcp("excluded").is_some_and(has).then_some("mcp.excluded");
    let is_left_out = || {
        let allowed = mcp("allowed").filter(|list| list.is_array())?;
        (!has(allowed)).then_some("mcp.allowed")
    };
    off.next().or_else(is_excluded).or_else(is_left_out)
}

/// Servers at the top of the file.
fn top(whole: &Map<String, Value>) -> Option<ImportedServers<'_>> {
    let assign = whole.get("tool_assignment");
    let has_servers = whole.values().any(is_server);
    (assign.is_some() || has_servers).then(|| ImportedServers {
        form: ImportFormat::MasArena,
        servers: whole,
        inputs: &[],
        assign,
        others: Vec::new(),
    })
}

/// Agents with their tools, in the order of the file.
pub(super) fn assignments(assign: &Value, notes: &mut ImportNotes) -> Vec<(String, Vec<String>)> {
    let mut rows = Vec::new();
    let Some(agents) = assign.as_object() else {
        notes.add("`tool_assignment` is no object of agents, and is not taken");
        return rows;
    };
    if agents.len() > MOST_ASSIGNED {
        notes.add(format!("only the first {MOST_ASSIGNED} agents of `tool_assignment` are taken"));
    }
    for (agent, tools) in agents.iter().take(MOST_ASSIGNED) {
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
