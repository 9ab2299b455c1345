//! The tools of a plan as one model API wants them, with all that this form does not say.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde_json::{Map, Value};
use toolcrib_core::plan::InclusionReason;
use toolcrib_core::{Exposure, Plan, ToolName, ToolSpec};

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

/// A dialect and its options.
type DialectKey = (&'static str, u8);

/// The renderings of one plan.
#[derive(Default)]
struct RenderingCache(Mutex<BTreeMap<DialectKey, Arc<Rendering>>>);

/// What a plan shows: two that have the same tell a model the same of their tools.
struct ShownTools {
    tools: Vec<ShownTool>,
    /// Those that must be called, in the order of the choices.
    forced: Vec<ToolName>,
    rest: Exposure,
}

/// A tool, held so that no other one can take its place in memory.
type ShownTool = (Arc<ToolSpec>, InclusionReason, Exposure);

impl ShownTools {
    fn of(plan: &Plan) -> Self {
        let tools = plan.tools();
        let forced = plan.forced().map(|tool| tool.listed.spec.name.clone());
        Self {
            tools: tools
                .map(|tool| (Arc::clone(&tool.listed.spec), tool.because, tool.exposure))
                .collect(),
            forced: forced.collect(),
            rest: plan.shown().rest,
        }
    }

    fn is_same(&self, other: &Self) -> bool {
        let is_same = |(one, other): (&ShownTool, &ShownTool)| {
            Arc::ptr_eq(&one.0, &other.0) && (one.1, one.2) == (other.1, other.2)
        };
        self.rest == other.rest
            && self.forced == other.forced
            && self.tools.len() == other.tools.len()
            && self.tools.iter().zip(&other.tools).all(is_same)
    }
}

/// The renderings of a snapshot, by what plans show of it: each turn of an agent has a plan of its
/// own, and most show the same.
#[derive(Default)]
struct SnapshotRenderings(Mutex<VecDeque<(ShownTools, DialectKey, Arc<Rendering>)>>);

/// Renderings of a snapshot that are kept; with one more the first is forgotten.
const MOST: usize = 16;

/// The rendering of a plan, made once for each dialect and its options, and once for all plans of a
/// snapshot that show the same.
pub(crate) fn kept(
    plan: &Plan,
    key: DialectKey,
    make: impl FnOnce() -> Rendering,
) -> Arc<Rendering> {
    let kept = plan.memo(|_| RenderingCache::default());
    if let Some(made) = lock(&kept.0).get(&key) {
        return Arc::clone(made);
    }
    // Made outside the lock: two threads make the same.
    let rendering = shared(plan, key, make);
    Arc::clone(lock(&kept.0).entry(key).or_insert(rendering))
}

fn shared(plan: &Plan, key: DialectKey, make: impl FnOnce() -> Rendering) -> Arc<Rendering> {
    let known = plan.catalog().memo(|_| SnapshotRenderings::default());
    let shown = ShownTools::of(plan);
    let find = |known: &VecDeque<(ShownTools, DialectKey, Arc<Rendering>)>| {
        let mut known = known.iter();
        let found = known.find(|(of, dialect, _)| *dialect == key && of.is_same(&shown));
        found.map(|(.., made)| Arc::clone(made))
    };
    if let Some(made) = find(&lock(&known.0)) {
        return made;
    }
    let rendering = Arc::new(make());
    let mut known = lock(&known.0);
    if known.len() == MOST {
        known.pop_front();
    }
    known.push_back((shown, key, Arc::clone(&rendering)));
    rendering
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
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
