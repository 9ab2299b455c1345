//! The tool by which a model finds out how a call stands of which nobody knew how it ended.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use toolcrib_core::{
    CallContext, Caller, Content, Effect, InvalidName, Ledger, Part, SourceId, Tool, ToolError,
    ToolSpec, ValidationOrigin, tool_with,
};

use super::SOURCE;

const NAME: &str = "get_call";

/// Which call.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetCallArguments {
    /// The `call_id` that the answer of the call named.
    call_id: String,
}

pub(crate) fn tool(ledger: Arc<dyn Ledger>) -> Result<Arc<dyn Tool>, InvalidName> {
    let description = "Tells how an earlier call stands of which nobody knew whether it took \
                       effect. Call it with the `call_id` that the answer of that call named.";
    let mut spec = ToolSpec::new(NAME, description, Effect::Read)?;
    spec.origin.source = SourceId::new(SOURCE);
    // Nobody else checks what it is told.
    spec.validation_said = ValidationOrigin::Tool;
    spec.traits.capability = true;
    Ok(tool_with(spec, move |wanted: GetCallArguments, context: CallContext| {
        let ledger = Arc::clone(&ledger);
        async move { found(&*ledger, context.caller(), &wanted.call_id).await }
    }))
}

async fn found(ledger: &dyn Ledger, caller: &Caller, call: &str) -> Result<Content, ToolError> {
    let stands = ledger.status(caller, call).await.map_err(|error| {
        ToolError::told("the record cannot be read now: ask again later").because(error)
    })?;
    let stands = stands.ok_or_else(|| {
        ToolError::told("there is no such call of yours, or it is too old to be on record")
    })?;
    let structured = Some(stands.data());
    Ok(Content { parts: vec![Part::text(stands.words())], structured, ..Content::default() })
}
