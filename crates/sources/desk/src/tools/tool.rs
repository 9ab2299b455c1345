//! How a tool of the desk is made: a row of data, a function of its arguments, and for what a
//! person is asked about a second one that says what the first would do.

use std::future::Future;
use std::sync::Arc;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use toolcrib_core::{
    Arguments, BoxFuture, CallContext, Caller, Content, Effect, IntoContent, InvalidName, Json,
    Tool, ToolError, ToolOutcome, ToolSpec,
};

use crate::backend::BackendError;
use crate::time_settings::DeskTimeSettings;

/// A list of tools, or the name that is none.
pub(crate) type DeskToolsResult = Result<Vec<Arc<dyn Tool>>, InvalidName>;

/// A tool, or the name that is none.
pub(crate) type DeskToolResult = Result<Arc<dyn Tool>, InvalidName>;

/// What is said of a tool.
pub(crate) struct DeskToolInfo {
    pub(crate) name: &'static str,
    pub(crate) category: &'static str,
    pub(crate) actions: &'static [&'static str],
    pub(crate) effect: Effect,
    /// Doing it twice is doing it once; a reader always is.
    pub(crate) idempotent: bool,
    /// Why a person is asked whatever the policy says: the call tells somebody else something.
    pub(crate) approval: Option<&'static str>,
    pub(crate) summary: &'static str,
    pub(crate) description: &'static str,
    /// Arguments that its function knows and this tool has not.
    pub(crate) without: &'static [&'static str],
    /// Arguments that its function can do without and this tool cannot.
    pub(crate) needs: &'static [&'static str],
}

impl DeskToolInfo {
    /// A tool that reads, by which the others are written.
    pub(crate) const READER: Self = Self {
        name: "",
        category: "",
        actions: &[],
        effect: Effect::Read,
        idempotent: true,
        approval: None,
        summary: "",
        description: "",
        without: &[],
        needs: &[],
    };
}

/// A keeper and what its tools are read by: all that they share.
pub(crate) struct DeskToolContext<B: ?Sized> {
    pub(crate) keeper: Arc<B>,
    pub(crate) settings: Arc<DeskTimeSettings>,
}

impl<B: ?Sized> Clone for DeskToolContext<B> {
    fn clone(&self) -> Self {
        Self { keeper: Arc::clone(&self.keeper), settings: Arc::clone(&self.settings) }
    }
}

/// One call: for whom, and with what.
pub(crate) struct BackendCall<B: ?Sized> {
    pub(crate) keeper: Arc<B>,
    pub(crate) settings: Arc<DeskTimeSettings>,
    /// The tenant of the caller.
    pub(crate) owner: String,
}

impl<B: ?Sized> BackendCall<B> {
    fn new(at: &DeskToolContext<B>, caller: &Caller) -> Self {
        let DeskToolContext { keeper, settings } = at.clone();
        Self { keeper, settings, owner: caller.tenant.clone() }
    }
}

/// What a tool gives: its data under one key, and what has to be said about it.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DataAnswer<T> {
    pub(crate) data: T,
    /// What was decided or noticed and should be told to the user.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
}

/// What is gone.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DeletedItem {
    id: String,
    title: String,
    #[serde(rename = "deleted")]
    gone: bool,
}

impl DeletedItem {
    pub(crate) fn new(id: String, title: String) -> Self {
        Self { id, title, gone: true }
    }
}

/// A part of a list.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ListAnswer<T> {
    pub(crate) data: Vec<T>,
    /// What was decided or noticed and should be told to the user.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) notes: Vec<String>,
    /// There is more: the `cursor` of the next call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

impl<T> From<T> for DataAnswer<T> {
    fn from(data: T) -> Self {
        Self { data, notes: Vec::new() }
    }
}

impl From<BackendError> for ToolError {
    fn from(fault: BackendError) -> Self {
        fault.into_error()
    }
}

/// Makes a tool that is asked about where the policy says so, by its name and arguments.
pub(crate) fn tool<B, A, R, F, Fut>(
    about: &DeskToolInfo,
    at: &DeskToolContext<B>,
    run: F,
) -> DeskToolResult
where
    B: ?Sized + Send + Sync + 'static,
    A: DeserializeOwned + JsonSchema + Send + 'static,
    R: Serialize + JsonSchema + Send + 'static,
    F: Fn(BackendCall<B>, A) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
{
    Ok(Arc::new(DeskTool { spec: spec::<A, R>(about)?, run: runner(at, run), words: None }))
}

/// The same of a tool that says what it would do.
pub(crate) fn asked<B, A, R, F, Fut, W, Said>(
    about: &DeskToolInfo,
    at: &DeskToolContext<B>,
    (run, words): (F, W),
) -> DeskToolResult
where
    B: ?Sized + Send + Sync + 'static,
    A: DeserializeOwned + JsonSchema + Send + 'static,
    R: Serialize + JsonSchema + Send + 'static,
    F: Fn(BackendCall<B>, A) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
    W: Fn(BackendCall<B>, A) -> Said + Send + Sync + 'static,
    Said: Future<Output = Result<String, ToolError>> + Send + 'static,
{
    let place = at.clone();
    let words: ToolPreview = Box::new(move |arguments, caller| {
        let started = arguments.read().map(|read| words(BackendCall::new(&place, caller), read));
        Box::pin(async move { started?.await.map(Some) })
    });
    Ok(Arc::new(DeskTool { spec: spec::<A, R>(about)?, run: runner(at, run), words: Some(words) }))
}

type ToolRunner = Box<dyn Fn(&Arguments, &Caller) -> BoxFuture<'static, ToolOutcome> + Send + Sync>;
type ToolPreview = Box<
    dyn Fn(&Arguments, &Caller) -> BoxFuture<'static, Result<Option<String>, ToolError>>
        + Send
        + Sync,
>;

struct DeskTool {
    spec: Arc<ToolSpec>,
    run: ToolRunner,
    words: Option<ToolPreview>,
}

impl Tool for DeskTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn shared_spec(&self) -> Arc<ToolSpec> {
        Arc::clone(&self.spec)
    }

    /// It waits for its keeper and computes little.
    fn is_nonblocking(&self) -> bool {
        true
    }

    fn preview<'a>(
        &'a self,
        arguments: &'a Arguments,
        caller: &'a Caller,
    ) -> BoxFuture<'a, Result<Option<String>, ToolError>> {
        match &self.words {
            Some(words) => words(arguments, caller),
            None => Box::pin(std::future::ready(Ok(None))),
        }
    }

    fn call<'a>(
        &'a self,
        arguments: Arguments,
        context: &'a CallContext,
    ) -> BoxFuture<'a, ToolOutcome> {
        (self.run)(&arguments, context.caller())
    }
}

fn runner<B, A, R, F, Fut>(at: &DeskToolContext<B>, run: F) -> ToolRunner
where
    B: ?Sized + Send + Sync + 'static,
    A: DeserializeOwned + Send + 'static,
    R: Serialize + Send + 'static,
    F: Fn(BackendCall<B>, A) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<R, ToolError>> + Send + 'static,
{
    let at = at.clone();
    Box::new(move |arguments, caller| {
        let started = arguments.read().map(|read| run(BackendCall::new(&at, caller), read));
        Box::pin(async move {
            let ended: Result<Content, ToolError> = match started {
                Ok(running) => running.await.map(|result| Json(result).into_content()),
                Err(error) => Err(error),
            };
            ended.into()
        })
    })
}

fn spec<A: JsonSchema, R: JsonSchema>(about: &DeskToolInfo) -> Result<Arc<ToolSpec>, InvalidName> {
    let mut spec = ToolSpec::new(about.name, about.description, about.effect)?;
    about.summary.clone_into(&mut spec.summary);
    spec.category = Some(about.category.to_owned());
    spec.actions = about.actions.iter().map(|action| (*action).to_owned()).collect();
    spec.idempotent = about.idempotent;
    spec.approval = about.approval.map(str::to_owned);
    let mut input = schema::<A>(SchemaSettings::draft2020_12());
    if let Some(Value::Object(fields)) = input.get_mut("properties") {
        for field in about.without {
            fields.shift_remove(*field);
        }
    }
    require(&mut input, about.needs);
    spec.input = input.into();
    spec.output = Some(schema::<R>(SchemaSettings::draft2020_12().for_serialize()).into());
    Ok(Arc::new(spec))
}

fn require(input: &mut Value, needed: &[&str]) {
    let Value::Object(fields) = input else { return };
    for field in needed {
        let property = fields.get_mut("properties").and_then(|all| all.get_mut(*field));
        if let Some(Value::Object(property)) = property {
            property.shift_remove("default");
        }
        let required = fields.entry("required").or_insert_with(|| Value::Array(Vec::new()));
        if let Value::Array(names) = required {
            names.push(Value::from(*field));
        }
    }
}

fn schema<T: JsonSchema>(settings: SchemaSettings) -> Value {
    let settings = settings.with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = SchemaGenerator::new(settings).into_root_schema_for::<T>().to_value();
    tidy(&mut schema);
    if let Value::Object(fields) = &mut schema {
        // What it says of a type of ours is for who reads the code.
        fields.shift_remove("description");
        fields.entry("properties").or_insert_with(|| Value::Object(serde_json::Map::new()));
    }
    schema
}

/// Takes out what costs tokens and tells a model nothing: names of Rust types, sizes of Rust
/// numbers, and defaults that are nothing.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            let is_schema = ["type", "anyOf", "oneOf", "enum", "properties"];
            if is_schema.iter().any(|key| fields.contains_key(*key)) {
                fields.retain(|key, value| match key.as_str() {
                    "title" => !value.is_string(),
                    "default" => !value.is_null(),
                    "format" => !value
                        .as_str()
                        .is_some_and(|format| format.trim_start_matches('u').starts_with("int")),
                    _ => true,
                });
            }
            fields.values_mut().for_each(tidy);
        }
        Value::Array(items) => items.iter_mut().for_each(tidy),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
