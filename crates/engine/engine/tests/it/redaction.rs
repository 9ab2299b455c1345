//! The gate takes the secrets of a tool's owner out of all that its calls say.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolcrib_core::{
    Arguments, BatchOptions, BoxFuture, Call, CallContext, CallKey, Caller, Content, Effect,
    ErrorKind, Host, LogEntry, LogLevel, Mask, PlanRequest, Progress, RawArguments, Redactor,
    Secret, Secrets, Tool, ToolError, ToolOutcome, ToolSpec, nonblocking,
};
use toolcrib_engine::Crib;

const SECRET: &str = "canary-4711";

/// Says its secret wherever it can.
struct Leaky {
    spec: ToolSpec,
    mask: Mask,
}

impl Tool for Leaky {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn mask(&self) -> Option<&Mask> {
        Some(&self.mask)
    }

    fn preview<'a>(
        &'a self,
        arguments: &'a Arguments,
        _: &'a Caller,
    ) -> BoxFuture<'a, Result<Option<String>, ToolError>> {
        let said = if arguments.fields().contains_key("lost") {
            Err(ToolError::new(ErrorKind::Tool, format!("no {SECRET}")))
        } else {
            Ok(Some(format!("Deletes {SECRET}")))
        };
        Box::pin(std::future::ready(said))
    }

    fn call<'a>(
        &'a self,
        arguments: Arguments,
        context: &'a CallContext,
    ) -> BoxFuture<'a, ToolOutcome> {
        let message = Some(SECRET.to_owned());
        context.progress(Progress { done: 1.0, total: None, message });
        context.log(LogEntry { level: LogLevel::Info, logger: None, data: json!([SECRET]) });
        let outcome = if arguments.fields().contains_key("fails") {
            let error = ToolError::new(ErrorKind::Tool, format!("{SECRET} is wrong"));
            ToolOutcome::Failed(error.because(SECRET))
        } else {
            ToolOutcome::Done(Content::text(format!("it is {SECRET}")))
        };
        Box::pin(std::future::ready(outcome))
    }
}

#[derive(Default)]
struct Ear(Mutex<Vec<String>>);

impl Host for Ear {
    fn progress(&self, _: CallKey, progress: Progress) {
        self.0.lock().unwrap().extend(progress.message);
    }

    fn log(&self, _: CallKey, entry: LogEntry) {
        self.0.lock().unwrap().push(entry.data.to_string());
    }
}

fn leaky(effect: Effect) -> Arc<dyn Tool> {
    let mask = Mask::new(Redactor::new([Secret::new(SECRET)]), Secrets::default());
    Arc::new(Leaky { spec: toolcrib_testkit::spec("tell", effect), mask })
}

/// All that comes of one call: its outcome with its cause, and what its host heard.
async fn told(tool: Arc<dyn Tool>, arguments: Value) -> String {
    let crib = Crib::new([tool]).unwrap();
    let plan = crib.plan(&Caller::local(), PlanRequest::default()).unwrap();
    let ear = Arc::new(Ear::default());
    let host = Some(Arc::clone(&ear) as Arc<dyn Host>);
    let call = Call::new("1", "tell", RawArguments::Value(arguments));
    let options = BatchOptions { host, ..BatchOptions::default() };
    let report = crib.run_with(&plan, vec![call], options).await;
    format!("{:?} {:?}", report.responses[0].outcome, ear.0.lock().unwrap())
}

#[tokio::test]
async fn what_a_call_says_is_masked_however_its_tool_is_wrapped() {
    for wrapped in [false, true] {
        let tool = |effect| {
            let tool = leaky(effect);
            if wrapped { nonblocking(tool) } else { tool }
        };
        // Reads, writes, and asks first; the last says what it would do.
        for (effect, arguments, words) in [
            (Effect::Read, json!({}), "it is "),
            (Effect::Read, json!({ "fails": 1 }), " is wrong"),
            (Effect::Write, json!({}), "it is "),
            (Effect::Destroy, json!({}), "Deletes "),
            (Effect::Destroy, json!({ "lost": 1 }), "no "),
        ] {
            let told = told(tool(effect), arguments.clone()).await;
            assert!(told.contains(words), "{effect:?} {arguments}: {told}");
            assert!(!told.contains(SECRET), "{effect:?} {arguments}: {told}");
            assert!(told.contains("[secret]"), "{effect:?} {arguments}: {told}");
        }
    }
}
