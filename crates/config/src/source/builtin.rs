//! Tools that the provider of a model runs. What is called here is the function in the place of one,
//! by which a model asks for it.

use toolcrib_core::{
    Content, SourceError, Tool, ToolOutcome, ToolSpec, Toolset, messages, nonblocking, raw_tool,
};

use std::sync::Arc;

/// The tools of these specs.
///
/// # Errors
/// Two of them have one name.
pub(crate) fn tools(specs: &[ToolSpec]) -> Result<Toolset, SourceError> {
    let tools = specs.iter().cloned().map(tool);
    Toolset::of(tools).map_err(|error| SourceError::new(error.to_string()))
}

fn tool(spec: ToolSpec) -> Arc<dyn Tool> {
    let told = messages::at_hand(spec.name.as_str());
    nonblocking(raw_tool(spec, move |_, _| {
        let told = told.clone();
        async move { ToolOutcome::Done(Content::text(told)) }
    }))
}
