//! The tools that the protocol's own suite calls to see them become tasks.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_core::{
    CallContext, Content, Effect, Question, Tool, ToolError, ToolOutcome, ToolSpec, raw_tool,
};

use super::fixtures::form;

/// When a door in front of these tools makes a task of a call.
pub(crate) const TASK_AFTER: Duration = Duration::from_millis(400);
/// What takes longer than that, and not as long as the suite waits.
const LONG: Duration = Duration::from_secs(1);

pub(super) fn tools() -> Vec<Arc<dyn Tool>> {
    let confirm = || form("Sure?", &json!({ "confirm": { "type": "boolean" } }));
    let name = || form("Your name?", &json!({ "name": { "type": "string" } }));
    let user = || form("Your name?", &json!({ "user_name": { "type": "string" } }));
    vec![
        long("greet", |arguments, _| async move {
            let name = arguments["name"].as_str().unwrap_or_default();
            Ok(Content::text(format!("Hello, {name}!")))
        }),
        long("slow_compute", |arguments, context| async move {
            let seconds = arguments["seconds"].as_u64().unwrap_or_default();
            tokio::select! {
                () = tokio::time::sleep(Duration::from_secs(seconds)) => {}
                () = context.cancelled() => return Err(ToolError::told("It was cancelled.")),
            }
            Ok(Content::text("Computed."))
        }),
        long("failing_job", |_, _| async {
            tokio::time::sleep(LONG).await;
            Err(ToolError::told("It fails."))
        }),
        long("protocol_error_job", |_, context| async move {
            tokio::time::sleep(LONG).await;
            // The suite says that it has none.
            context.require(Question::Roots)?;
            Ok(Content::text("Not reached without them."))
        }),
        long("confirm_delete", move |_, context| async move {
            tokio::time::sleep(LONG).await;
            Ok(Content::text(context.ask(confirm()).await?.to_string()))
        }),
        long("multi_input", move |_, context| async move {
            tokio::time::sleep(LONG).await;
            let (first, second) = tokio::join!(context.ask(name()), context.ask(confirm()));
            Ok(Content::text(json!([first?, second?]).to_string()))
        }),
        long("test_tool_with_task", move |_, context| async move {
            let named = context.ask(user()).await?;
            tokio::time::sleep(LONG).await;
            Ok(Content::text(named.to_string()))
        }),
    ]
}

fn long<F>(
    name: &str,
    run: impl Fn(Value, CallContext) -> F + Send + Sync + 'static,
) -> Arc<dyn Tool>
where
    F: Future<Output = Result<Content, ToolError>> + Send + 'static,
{
    let mut spec = ToolSpec::new(name, format!("Plays `{name}`."), Effect::Read).unwrap();
    if name == "failing_job" {
        spec.extra.edit(|extra| {
            extra.insert("_meta".to_owned(), json!({ "toolcrib/tasks": "required" })).is_none()
        });
    }
    raw_tool(spec, move |arguments, context| {
        let running = run(arguments.into_value(), context);
        async move { ToolOutcome::from(running.await) }
    })
}
