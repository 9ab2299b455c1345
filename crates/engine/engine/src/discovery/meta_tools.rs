//! The tools that a plan is given beside those of its catalog.

pub(super) mod factory;
pub(super) mod names;

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use foldhash::fast::FixedState;
use serde_json::{Value, json};
use tokio::runtime::Handle;
use toolcrib_core::{
    Arguments, BoxFuture, CallContext, Catalog, CatalogTool, Effect, ErrorKind, Exposure, MetaTool,
    MetaTools, Plan, SourceId, Tool, ToolError, ToolName, ToolOutcome, ToolSpec, ValidationOrigin,
    raw_tool,
};

use self::factory::MetaToolFactory;
use self::names::MetaToolNames;
use super::settings::Approver;
use super::{catalog_summary, discover, pending, search, tool_schema};
use crate::builtin::SOURCE;

/// What was made for the plans of a snapshot, by what they see: most callers see the same.
#[derive(Default)]
struct MetaToolCache(Mutex<HashMap<u64, MetaTools>>);

/// Ways of seeing one snapshot that are remembered.
const MOST: usize = 256;

struct CachedNames(Option<Arc<MetaToolNames>>);

pub(super) fn beside(plan: &Plan, confirm: Approver, factory: &Arc<MetaToolFactory>) -> MetaTools {
    let is_lazy = plan.shown().rest == Exposure::Hidden;
    if !is_lazy && confirm == Approver::Person {
        return MetaTools::default();
    }
    let mut hasher = FixedState::default().build_hasher();
    let mut hidden = 0_usize;
    for tool in plan.known() {
        // A snapshot holds its tools where they are, so an address is a name.
        std::ptr::from_ref(tool.listed).hash(&mut hasher);
        hidden += usize::from(tool.exposure == Exposure::Hidden);
    }
    if hidden == 0 && confirm == Approver::Person {
        return MetaTools::default();
    }
    (hidden, confirm == Approver::Model, factory.id).hash(&mut hasher);
    let (key, catalog) = (hasher.finish(), plan.catalog());
    let made = catalog.memo(|_| MetaToolCache::default());
    let known = |made: &MetaToolCache| {
        made.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned()
    };
    if let Some(known) = known(&made) {
        return known;
    }
    let names = catalog.memo(|tools| CachedNames(MetaToolNames::of(tools).map(Arc::new)));
    let Some(names) = &names.0 else { return MetaTools::default() };
    let fresh = make(plan, hidden, confirm, (names, factory));
    let mut all = made.0.lock().unwrap_or_else(PoisonError::into_inner);
    if all.len() >= MOST {
        all.clear();
    }
    all.entry(key).or_insert(fresh).clone()
}

fn make(
    plan: &Plan,
    hidden: usize,
    confirm: Approver,
    with: (&Arc<MetaToolNames>, &Arc<MetaToolFactory>),
) -> MetaTools {
    let (names, factory) = with;
    let (mut tools, mut relay, mut finder) = (Vec::new(), None, None);
    if hidden > 0 {
        prepare(plan.catalog());
        let facets = catalog_summary::count(plan);
        let others = (names.schema.as_str(), names.invoke.as_str());
        let text = catalog_summary::description(hidden, &facets, others);
        tools.extend([
            (discovering(names, text, factory), Exposure::Listed),
            (reading(names, factory), Exposure::Listed),
            (relaying(names), Exposure::Listed),
        ]);
        (relay, finder) = (Some(names.invoke.clone()), Some(names.discover.clone()));
    }
    let exposure = match confirm {
        Approver::Model => Exposure::Listed,
        Approver::Person => Exposure::Hidden,
    };
    tools.extend(waiting(names, factory, confirm).map(|tool| (tool, exposure)));
    let extra = |(tool, exposure): (Arc<dyn Tool>, Exposure)| {
        CatalogTool::alone(tool).map(|listed| MetaTool { listed, exposure })
    };
    MetaTools { tools: tools.into_iter().filter_map(extra).collect(), relay, finder }
}

/// Has the index made beside what goes on: the first search will most likely find it done.
fn prepare(catalog: &Arc<Catalog>) {
    if let Ok(runtime) = Handle::try_current() {
        let catalog = Arc::clone(catalog);
        drop(runtime.spawn_blocking(move || search::prepare(&catalog)));
    }
}

fn spec(name: &ToolName, description: String, effect: Effect, input: Value) -> ToolSpec {
    let mut spec = ToolSpec::named(name.clone(), description, effect);
    spec.origin.source = SourceId::new(SOURCE);
    // Nobody else checks what it is told.
    spec.validation_said = ValidationOrigin::Tool;
    spec.input = input.into();
    spec
}

fn discovering(
    names: &Arc<MetaToolNames>,
    description: String,
    factory: &Arc<MetaToolFactory>,
) -> Arc<dyn Tool> {
    let mut spec = spec(&names.discover, description, Effect::Read, discover::input());
    discover::bounded(&mut spec);
    let (names, factory) = (Arc::clone(names), Arc::downgrade(factory));
    raw_tool(spec, move |arguments, context| {
        let names = Arc::clone(&names);
        // Without a desk the words are left.
        let factory = factory.upgrade();
        async move {
            let away =
                factory.as_ref().map(|factory| factory.away(context.caller())).unwrap_or_default();
            let meaning = factory.and_then(|factory| factory.meaning.load_full());
            discover::discover(&names, (meaning, away), &arguments, &context).await.into()
        }
    })
}

fn reading(names: &Arc<MetaToolNames>, factory: &Arc<MetaToolFactory>) -> Arc<dyn Tool> {
    let mut spec =
        spec(&names.schema, tool_schema::description(names), Effect::Read, tool_schema::input());
    discover::bounded(&mut spec);
    let (names, factory) = (Arc::clone(names), Arc::downgrade(factory));
    raw_tool(spec, move |arguments, context| {
        let names = Arc::clone(&names);
        let away =
            factory.upgrade().map(|factory| factory.away(context.caller())).unwrap_or_default();
        async move { tool_schema::tell((&names, &away), &arguments, &context).await.into() }
    })
}

/// The gate makes of every call of it one of the tool that it names; its own code is never reached.
fn relaying(names: &Arc<MetaToolNames>) -> Arc<dyn Tool> {
    let description = format!(
        "Calls a tool by its name, also one that is not listed here. `parameters` are its arguments, \
         as `{}` or `{}` tells them.",
        names.discover, names.schema
    );
    let input = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "description": "The name of the tool." },
            "parameters": { "type": "object", "description": "Its arguments." },
        },
        "required": ["name"],
    });
    raw_tool(spec(&names.invoke, description, Effect::Destroy, input), |_, _| async {
        let told = "not run, through a fault of ours: call the tool itself";
        ToolOutcome::Failed(ToolError::new(ErrorKind::Internal, told))
    })
}

fn gone() -> ToolError {
    ToolError::new(ErrorKind::Unavailable, "the tools are being taken down: nothing was done")
}

fn waiting(
    names: &Arc<MetaToolNames>,
    factory: &Arc<MetaToolFactory>,
    confirm: Approver,
) -> [Arc<dyn Tool>; 3] {
    let listing = {
        let factory = Arc::downgrade(factory);
        let text = pending::LISTS.to_owned();
        let spec = spec(&names.pending, text, Effect::Read, pending::nothing());
        raw_tool(spec, move |_, context| {
            let factory = Weak::clone(&factory);
            async move {
                match factory.upgrade() {
                    Some(factory) => pending::list(&factory, &context).await.into(),
                    None => ToolOutcome::Failed(gone()),
                }
            }
        })
    };
    let deciding = |name: &ToolName, text: &str, effect, approves: bool| {
        let spec = spec(name, text.to_owned(), effect, pending::input(!approves));
        let with = (Arc::downgrade(factory), Arc::clone(names));
        raw_tool(spec, move |arguments: Arguments, context: CallContext| {
            let (factory, names) = (with.0.upgrade(), Arc::clone(&with.1));
            let deciding: BoxFuture<'static, ToolOutcome> = Box::pin(async move {
                let Some(factory) = factory else { return ToolOutcome::Failed(gone()) };
                pending::decide((factory, confirm, names), arguments, context, approves).await
            });
            deciding
        })
    };
    [
        listing,
        deciding(&names.execute, pending::EXECUTES, Effect::Destroy, true),
        deciding(&names.clear, pending::CLEARS, Effect::Write, false),
    ]
}
