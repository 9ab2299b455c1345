//! Inquiries of a caller, through the gate.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::reader::{Reader, Wish};
use super::seek::Found;
use super::stock::Stock;
use super::{About, Fields, Following, Inquiry, Visitor};
use crate::batch::{BatchOptions, Executor};
use crate::call::{Call, RawArguments};
use crate::catalog::{Assembly, Catalog, Shelf};
use crate::name::ToolName;
use crate::outcome::{ErrorKind, ToolError, ToolOutcome};
use crate::plan::{Plan, Request};
use crate::policy::{Intent, Verdict};
use crate::response::Report;
use crate::spec::ToolSpec;
use crate::tool::{Arguments, Tool};
use crate::toolset::Toolset;

impl Executor {
    /// Answers an inquiry as it answers a call of a tool that reads: under the same policy, bounds
    /// and record. What a person would have to approve is refused: a reader has no ticket.
    pub async fn inquire(
        &self,
        stock: &Stock,
        visitor: &Visitor,
        inquiry: Inquiry,
        options: BatchOptions,
    ) -> Result<Fields, ToolError> {
        let found = stock.seek(&inquiry, &visitor.caller, self.policy())?;
        outcome(self.read(visitor, found, Wish::Answer(inquiry), options).await?)
    }

    /// Begins to follow one resource.
    pub async fn follow(
        &self,
        stock: &Stock,
        visitor: &Visitor,
        uri: String,
        options: BatchOptions,
    ) -> Result<Following, ToolError> {
        let params = of_resource(&uri);
        let inquiry = Inquiry { about: About::Resource, params };
        let found = stock.seek(&inquiry, &visitor.caller, self.policy())?;
        let (to, following) = oneshot::channel();
        let wish = Wish::Follow(uri, Mutex::new(Some(to)));
        outcome(self.read(visitor, found, wish, options).await?)?;
        let lost = || ToolError::new(ErrorKind::Internal, "nothing tells of changes");
        following.await.map_err(|_| lost())
    }

    async fn read(
        &self,
        visitor: &Visitor,
        found: Found,
        wish: Wish,
        options: BatchOptions,
    ) -> Result<Report, ToolError> {
        let Found { from, mut spec } = found;
        let arguments = match &wish {
            Wish::Answer(inquiry) => inquiry.params.clone(),
            Wish::Follow(uri, _) => of_resource(uri),
        };
        // With the whole of its name, which may be longer than one that is recorded.
        self.permit(visitor, &spec, &arguments).await?;
        spec.name = ToolName::sanitize(spec.name.as_str());
        let name = spec.name.as_str().to_owned();
        let reader: Arc<dyn Tool> =
            Arc::new(Reader { spec, library: Arc::clone(&from.library), wish });
        let source = from.source.clone();
        let tools = Toolset::of([reader]).map_err(ToolError::from)?;
        let catalog = Arc::new(alone(Shelf { source, tools, stale: from.stale }));
        let request = Request { session: visitor.session.clone(), ..Request::default() };
        let plan = Plan::make(&catalog, &visitor.caller, self.policy(), request);
        let plan = plan.map_err(ToolError::from)?;
        let call = Call::new("read", name, RawArguments::Value(Value::Object(arguments)));
        Ok(self.run_with(&plan, vec![call], options).await)
    }

    async fn permit(
        &self,
        visitor: &Visitor,
        spec: &ToolSpec,
        arguments: &Fields,
    ) -> Result<(), ToolError> {
        let arguments = &Arguments::new(arguments.clone());
        let intent = Intent { caller: &visitor.caller, tool: spec, arguments };
        let deciding = AssertUnwindSafe(async { self.policy().decide(intent).await });
        match timeout(self.limits().timeout, deciding.catch_unwind()).await {
            Ok(Ok(Verdict::Allow)) => Ok(()),
            Ok(Ok(Verdict::Deny(reason))) => Err(denied(&reason)),
            Ok(Ok(Verdict::Ask(reason))) => Err(denied(&format!(
                "{reason}; what is read is not asked about: permit it by a rule"
            ))),
            Ok(Err(_)) | Err(_) => Err(denied("the policy could not decide")),
        }
    }
}

fn alone(shelf: Shelf) -> Catalog {
    let previous = &Catalog::default();
    Assembly { previous, settled: false, judge: &|_, _| None }.assemble([shelf])
}

fn of_resource(uri: &str) -> Fields {
    Fields::from_iter([("uri".to_owned(), Value::from(uri))])
}

fn denied(reason: &str) -> ToolError {
    ToolError::new(ErrorKind::InvalidArguments, format!("refused: {reason}"))
}

fn outcome(mut report: Report) -> Result<Fields, ToolError> {
    let lost = || ToolError::new(ErrorKind::Internal, "the inquiry has no answer");
    match report.responses.pop().ok_or_else(lost)?.outcome {
        ToolOutcome::Done(content) => Ok(content.extra),
        ToolOutcome::Failed(error) => Err(error),
        ToolOutcome::Denied { reason } => Err(denied(&reason)),
        ToolOutcome::Pending(pending) => Err(denied(&pending.reason)),
    }
}
