//! The tools of a plan as one model API wants them, with all that this form does not say.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;
use serde_json::{Map, Value};
use toolcrib_core::{Plan, ToolName};

use crate::names::WireNames;

/// What goes into a request. The same plan gives the same bytes, and a tool that joins the
/// catalog at its end leaves the bytes of those before it as they were.
#[derive(Debug, Clone)]
pub struct Rendering {
    /// The value of `tools`: a list, in the order of the catalog.
    pub tools: Value,
    /// The value of `tool_choice` (Gemini: `toolConfig`), where the plan forces a tool or the API
    /// has to be told something.
    pub tool_choice: Option<Value>,
    /// Further fields of the request.
    pub extra: Map<String, Value>,
    /// One `tool_choice` for each forced tool, in the order of the choices: for a host that sends
    /// one request a tool, because the API cannot force them together.
    pub forced: Vec<Value>,
    pub losses: Vec<Loss>,
    pub refused: Vec<RefusedTool>,
    pub(crate) choice_field: &'static str,
    pub(crate) names: WireNames,
    /// Tools whose arguments come in another form than the tool's own schema has.
    pub(crate) altered: HashSet<ToolName>,
}

/// Something that the API is not told as a rule. The executor still enforces it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Loss {
    pub tool: ToolName,
    /// JSON pointer into the tool's input schema; empty for the tool as a whole.
    pub path: String,
    /// The keyword or the feature: `pattern`, `deferral`, `strict: recursion`.
    pub what: String,
    /// What is done about it.
    pub cure: String,
}

/// A visible tool that this API cannot be shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RefusedTool {
    pub tool: ToolName,
    pub reason: String,
}

impl Rendering {
    /// The fields of a request body. A list of no tools is left out, since some APIs refuse it.
    pub fn request(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        if self.tools.as_array().is_some_and(|tools| !tools.is_empty()) {
            fields.insert("tools".to_owned(), self.tools.clone());
        }
        if let Some(choice) = &self.tool_choice {
            fields.insert(self.choice_field.to_owned(), choice.clone());
        }
        fields.extend(self.extra.clone());
        fields
    }

    /// The name under which the model sees a tool; `None`: it does not see it.
    pub fn wire_name(&self, tool: &str) -> Option<&str> {
        self.names.wire(tool)
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.tool, self.what)?;
        if !self.path.is_empty() {
            write!(f, " at `{}`", self.path)?;
        }
        write!(f, ": {}", self.cure)
    }
}

impl fmt::Display for RefusedTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not shown: {}", self.tool, self.reason)
    }
}

/// The renderings of one plan, by dialect and its options.
#[derive(Default)]
struct RenderingCache(Mutex<BTreeMap<(&'static str, u8), Arc<Rendering>>>);

/// The rendering of a plan, made once for each dialect and its options.
pub(crate) fn kept(
    plan: &Plan,
    key: (&'static str, u8),
    make: impl FnOnce() -> Rendering,
) -> Arc<Rendering> {
    let kept = plan.memo(|_| RenderingCache::default());
    let find = || {
        let renderings = kept.0.lock().unwrap_or_else(PoisonError::into_inner);
        renderings.get(&key).cloned()
    };
    if let Some(made) = find() {
        return made;
    }
    // Made outside the lock: two threads make the same.
    let rendering = Arc::new(make());
    let mut renderings = kept.0.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(renderings.entry(key).or_insert(rendering))
}

/// The wire names of forced tools in the order of the choices.
pub(crate) fn forced<'a>(plan: &'a Plan, names: &'a WireNames) -> Vec<(&'a ToolName, &'a str)> {
    plan.forced()
        .filter_map(|tool| {
            let name = &tool.listed.spec.name;
            Some((name, names.wire(name.as_str())?))
        })
        .collect()
}

/// Whether a tool is forced whose answer ends the turn: then a second call can only disturb.
pub(crate) fn must_come_alone(plan: &Plan) -> bool {
    plan.forced().any(|tool| tool.listed.spec.traits.takes_control)
}

/// The built-in definitions of a rendering, under the names of their tools.
pub(crate) type Builtins<'a> = HashMap<&'a ToolName, &'a Value>;
