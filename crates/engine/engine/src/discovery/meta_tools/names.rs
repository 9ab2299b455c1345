//! What the added tools are called: names that no tool of the catalog has.

use toolcrib_core::{CatalogTool, ToolName};

/// The name of each.
pub(crate) struct MetaToolNames {
    pub(crate) discover: ToolName,
    pub(crate) schema: ToolName,
    pub(crate) invoke: ToolName,
    pub(crate) pending: ToolName,
    pub(crate) execute: ToolName,
    pub(crate) clear: ToolName,
}

const PLAIN: [&str; 6] = [
    "discover_tools",
    "get_tool_schema",
    "invoke_tool",
    "get_pending",
    "execute_pending",
    "clear_pending",
];

/// How often another beginning is tried.
const TRIES: usize = 100;

impl MetaToolNames {
    /// `None`: somebody has taken a hundred times six names.
    pub(crate) fn of(tools: &[CatalogTool]) -> Option<Self> {
        let is_taken = |name: &str| tools.iter().any(|tool| tool.spec.name.as_str() == name);
        (0..TRIES).find_map(|try_| {
            let stem = match try_ {
                0 => String::new(),
                1 => "toolcrib__".to_owned(),
                more => format!("toolcrib{more}__"),
            };
            let name = |plain: &str| {
                let name = format!("{stem}{plain}");
                (!is_taken(&name)).then(|| ToolName::new(name).ok()).flatten()
            };
            let [discover, schema, invoke, pending, execute, clear] = PLAIN.map(name);
            Some(Self {
                discover: discover?,
                schema: schema?,
                invoke: invoke?,
                pending: pending?,
                execute: execute?,
                clear: clear?,
            })
        })
    }
}
