//! The one place where the secrets of a tool's owner are taken out of what its calls say.

use crate::call::arguments::Arguments;
use crate::call::caller::Caller;
use crate::call::context::CallContext;
use crate::outcome::{ToolError, ToolOutcome};
use crate::tool::Tool;

/// Runs a call. What it says on its way is masked by its context, and its end here.
pub(crate) async fn call(
    tool: &dyn Tool,
    arguments: Arguments,
    context: &CallContext,
) -> ToolOutcome {
    let Some(mask) = tool.mask() else { return tool.call(arguments, context).await };
    let mut outcome = tool.call(arguments, &context.masked(mask)).await;
    mask.outcome(&mut outcome);
    outcome
}

/// The words of a call for whoever is asked about it.
pub(crate) async fn preview(
    tool: &dyn Tool,
    arguments: &Arguments,
    caller: &Caller,
) -> Result<Option<String>, ToolError> {
    let said = tool.preview(arguments, caller).await;
    let Some(mask) = tool.mask() else { return said };
    match said {
        Ok(words) => Ok(words.map(|words| mask.text(&words))),
        Err(mut error) => {
            mask.error(&mut error);
            Err(error)
        }
    }
}
