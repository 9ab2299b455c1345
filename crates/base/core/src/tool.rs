//! A tool: a spec and the code behind it, in one object, so that the two cannot part.

pub mod canonical;
pub(crate) mod compact_json;
pub(crate) mod effect;
pub(crate) mod fingerprint;
pub(crate) mod membership;
pub(crate) mod sanitize;
pub(crate) mod source;
pub(crate) mod source_error;
pub(crate) mod spec;
pub(crate) mod toolset;
pub(crate) mod verify;

use std::future::{Future, ready};
use std::sync::Arc;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::BoxFuture;
use crate::call::arguments::Arguments;
use crate::call::caller::Caller;
use crate::call::context::CallContext;
use crate::call::name::InvalidName;
use crate::outcome::content::IntoContent;
use crate::outcome::{ToolError, ToolOutcome};
use crate::redact::Mask;
use effect::Effect;
use spec::ToolSpec;

/// What anybody may plug in.
///
/// A tool is not told its name: it may have been renamed on the way to the caller.
pub trait Tool: Send + Sync {
    /// The spec as its author wrote it; a toolset may show another.
    fn spec(&self) -> &ToolSpec;

    /// The same to keep. A source of many tools hands out the one that it has.
    fn shared_spec(&self) -> Arc<ToolSpec> {
        Arc::new(self.spec().clone())
    }

    /// Whether its calls give their thread back soon at every poll, as what waits for others does
    /// or computes little. Such a call may run on the task of whoever waits for it. Any other runs
    /// on a task of its own, so that a tool that holds on to its thread holds nobody else.
    fn is_nonblocking(&self) -> bool {
        false
    }

    /// Whether what it speaks with is given [`CallContext::key`] and knows a repetition by it, so
    /// that two attempts of one call have one effect. A call whose line broke is then made again
    /// although it writes; a second call, which has another key, is not.
    fn honours_idempotency_key(&self) -> bool {
        false
    }

    /// Whether a call that left word by [`CallContext::checkpoint`] can be taken up by it, so that
    /// nothing is begun twice: see [`CallContext::resumed`].
    fn resumes(&self) -> bool {
        false
    }

    /// The secrets that the owner of this tool was given. The gate takes them out of all that its
    /// calls say, before anybody else hears it. A tool that wraps another one passes on its mask.
    fn mask(&self) -> Option<&Mask> {
        None
    }

    /// What a call would do, in words, for whoever is asked before it runs: "Delete *Budget
    /// review*, Tue 24 Nov 2026 14:00, 3 guests". `None`: its name and arguments say it all.
    ///
    /// It changes nothing, and says the same as long as the same would be done: an approval is good
    /// for what these words said, so a call whose words have changed is not run but asked about
    /// again. An error means that the call cannot succeed; then nobody is asked.
    fn preview<'a>(
        &'a self,
        arguments: &'a Arguments,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<Option<String>, ToolError>> {
        let _ = (arguments, caller);
        Box::pin(ready(Ok(None)))
    }

    /// Runs one call. Only the executor can make a `CallContext`, so no path runs a tool
    /// without passing the gate.
    fn call<'a>(
        &'a self,
        arguments: Arguments,
        context: &'a CallContext,
    ) -> BoxFuture<'a, ToolOutcome>;
}

/// Makes a tool of an async function; the schema is derived from `A`, and state is what the
/// closure captures.
///
/// ```
/// # use toolcrib_core::{Effect, tool};
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Add { x: i64, y: i64 }
///
/// let add = tool("add", "Adds two numbers.", Effect::Read, |a: Add| async move { Ok(a.x + a.y) })?;
/// let now = tool("count", "Counts.", Effect::Read, |_: ()| async { Ok(3) })?; // no arguments
/// # Ok::<_, toolcrib_core::InvalidName>(())
/// ```
pub fn tool<A, R, F, Fut>(
    name: &str,
    description: &str,
    effect: Effect,
    run: F,
) -> Result<Arc<dyn Tool>, InvalidName>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    R: IntoContent + 'static,
    F: Fn(A) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
{
    let spec = ToolSpec::new(name, description, effect)?;
    Ok(tool_with(spec, move |arguments, _| run(arguments)))
}

/// The same with a spec of one's own and the context of each call (progress, cancellation,
/// caller). The spec's input schema is replaced by the one derived from `A`.
pub fn tool_with<A, R, F, Fut>(mut spec: ToolSpec, run: F) -> Arc<dyn Tool>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    R: IntoContent + 'static,
    F: Fn(A, CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
{
    let mut input = schemars::schema_for!(A).to_value();
    if let Value::Object(schema) = &mut input {
        // The name of a Rust type and the draft's address cost tokens and tell a model nothing.
        schema.shift_remove("title");
        schema.shift_remove("$schema");
        if schema.get("type") == Some(&Value::from("null")) {
            schema.insert("type".to_owned(), Value::from("object"));
        }
        schema.entry("properties").or_insert_with(|| Value::Object(Map::new()));
    }
    spec.input = input.into();
    raw_tool(spec, move |arguments, context| {
        let started = arguments.read().map(|arguments| run(arguments, context));
        async move {
            match started {
                Ok(running) => running.await.map(IntoContent::into_content).into(),
                Err(error) => ToolOutcome::Failed(error),
            }
        }
    })
}

/// A tool whose schema is data: what sources make of foreign definitions.
pub fn raw_tool<F, Fut>(spec: ToolSpec, run: F) -> Arc<dyn Tool>
where
    F: Fn(Arguments, CallContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = ToolOutcome> + Send + 'static,
{
    Arc::new(FunctionTool { spec: Arc::new(spec), run })
}

struct FunctionTool<F> {
    spec: Arc<ToolSpec>,
    run: F,
}

impl<F, Fut> Tool for FunctionTool<F>
where
    F: Fn(Arguments, CallContext) -> Fut + Send + Sync,
    Fut: Future<Output = ToolOutcome> + Send + 'static,
{
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn shared_spec(&self) -> Arc<ToolSpec> {
        Arc::clone(&self.spec)
    }

    fn call<'a>(
        &'a self,
        arguments: Arguments,
        context: &'a CallContext,
    ) -> BoxFuture<'a, ToolOutcome> {
        Box::pin((self.run)(arguments, context.clone()))
    }
}

/// The same tool, said to be [non-blocking](Tool::is_nonblocking): for one that computes little.
pub fn nonblocking(tool: Arc<dyn Tool>) -> Arc<dyn Tool> {
    Arc::new(NonblockingTool(tool))
}

struct NonblockingTool(Arc<dyn Tool>);

impl Tool for NonblockingTool {
    fn spec(&self) -> &ToolSpec {
        self.0.spec()
    }

    fn shared_spec(&self) -> Arc<ToolSpec> {
        self.0.shared_spec()
    }

    fn is_nonblocking(&self) -> bool {
        true
    }

    fn honours_idempotency_key(&self) -> bool {
        self.0.honours_idempotency_key()
    }

    fn resumes(&self) -> bool {
        self.0.resumes()
    }

    fn mask(&self) -> Option<&Mask> {
        self.0.mask()
    }

    fn preview<'a>(
        &'a self,
        arguments: &'a Arguments,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<Option<String>, ToolError>> {
        self.0.preview(arguments, caller)
    }

    fn call<'a>(
        &'a self,
        arguments: Arguments,
        context: &'a CallContext,
    ) -> BoxFuture<'a, ToolOutcome> {
        self.0.call(arguments, context)
    }
}

impl From<Result<crate::outcome::content::Content, ToolError>> for ToolOutcome {
    fn from(result: Result<crate::outcome::content::Content, ToolError>) -> Self {
        match result {
            Ok(content) => Self::Done(content),
            Err(error) => Self::Failed(error),
        }
    }
}
