//! How a tool of this crate is made: a row of data, and a function of its arguments.

use std::future::ready;
use std::sync::Arc;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use toolcrib_core::{Effect, InvalidName, Json, Tool, ToolError, ToolSpec, nonblocking, tool_with};

/// Characters of a text that a tool takes; the schemas say the same number.
pub(crate) const LONGEST_TEXT: usize = 100_000;

/// A list of tools, or the name that is none.
pub(crate) type BasicToolsResult = Result<Vec<Arc<dyn Tool>>, InvalidName>;

/// What is said of a tool.
pub(crate) struct BasicToolInfo {
    pub(crate) name: &'static str,
    pub(crate) category: &'static str,
    pub(crate) action: &'static str,
    pub(crate) summary: &'static str,
    pub(crate) description: &'static str,
    /// The same arguments always give the same result.
    pub(crate) steady: bool,
}

/// Makes the tool; its schemas are those of the function's argument and result.
pub(crate) fn basic<A, R>(
    about: &BasicToolInfo,
    run: fn(A) -> Result<R, ToolError>,
) -> Result<Arc<dyn Tool>, InvalidName>
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    R: Serialize + JsonSchema + Send + 'static,
{
    let mut spec = ToolSpec::new(about.name, about.description, Effect::Read)?;
    about.summary.clone_into(&mut spec.summary);
    spec.category = Some(about.category.to_owned());
    spec.actions = vec![about.action.to_owned()];
    spec.idempotent = about.steady;
    spec.output = Some(output::<R>().into());
    Ok(nonblocking(tool_with(spec, move |arguments, _| ready(run(arguments).map(Json)))))
}

fn output<R: JsonSchema>() -> Value {
    // Of what is written and not of what could be read: a field that may be left out is not
    // required, and clients hold results to this.
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let mut schema = settings.into_generator().into_root_schema_for::<R>();
    // The name of a Rust type and the draft's address tell a caller nothing.
    schema.remove("title");
    schema.remove("$schema");
    schema.to_value()
}
