//! The tools that the protocol's own suite calls to see them become tasks.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use toolcrib_core::{
    CallContext, Content, Effect, QuestionKind, Tool, ToolError, ToolOutcome, ToolSpec, raw_tool,
};

use super::fixtures::form;

/// When a door in front of these tools makes a task of a call: late enough that what is to be
/// answered before is that also on a busy machine.
pub(crate) const TASK_AFTER: Duration = Duration::from_secs(4);
/// What takes longer than that; from when there is a task it is not as long as the suite waits.
pub(crate) const LONG: Duration = Duration::from_secs(5);
/// What takes its time at a door that makes no task of it.
pub(crate) const BRIEF: Duration = Duration::from_secs(1);

/// `time`: what is not done at once takes so long.
pub(super) fn tools(time: Duration) -> Vec<Arc<dyn Tool>> {
    let confirm = || form("Sure?", &json!({ "confirm": { "type": "boolean" } }));
    let name = || form("Your name?", &json!({ "name": { "type": "string" } }));
    let user = || form("Your name?", &json!({ "user_name": { "type": "string" } }));
    vec![
        long("greet", |arguments, _| async move {
            let name = arguments["name"].as_str().unwrap_or_default();
            Ok(Content::text(format!("Hello, {name}!")))
        }),
        long("slow_compute", move |arguments, context| async move {
            // What takes any time is to become a task.
            let asked = match arguments["seconds"].as_u64().unwrap_or_default() {
                0 => Duration::ZERO,
                seconds => time.max(Duration::from_secs(seconds)),
            };
            tokio::select! {
                () = tokio::time::sleep(asked) => {}
                () = context.cancelled() => return Err(ToolError::told("It was cancelled.")),
            }
            Ok(Content::text("Computed."))
        }),
        long("failing_job", move |_, _| async move {
            tokio::time::sleep(time).await;
            Err(ToolError::told("It fails."))
        }),
        long("protocol_error_job", move |_, context| async move {
            tokio::time::sleep(time).await;
            // The suite says that it has none.
            context.require(QuestionKind::Roots)?;
            Ok(Content::text("Not reached without them."))
        }),
        long("confirm_delete", move |_, context| async move {
            tokio::time::sleep(time).await;
            Ok(Content::text(context.ask(confirm()).await?.to_string()))
        }),
        long("multi_input", move |_, context| async move {
            tokio::time::sleep(time).await;
            let (first, second) = tokio::join!(context.ask(name()), context.ask(confirm()));
            Ok(Content::text(json!([first?, second?]).to_string()))
        }),
        long("test_tool_with_task", move |_, context| async move {
            let named = context.ask(user()).await?;
            tokio::time::sleep(time).await;
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
