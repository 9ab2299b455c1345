//! Inquiries of a caller, through the gate.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::sync::oneshot;

use super::consent::{self, refused};
use super::resource_read::{ReadConsent, ResourceRead};
use super::resource_reader::{ReaderTask, ResourceReader};
use crate::call::arguments::Arguments;
use crate::call::json_fields::JsonFields;
use crate::call::name::{SourceId, ToolName};
use crate::catalog::{Catalog, CatalogAssembly, CatalogBounds, SourceTools};
use crate::gate::batch::options::BatchOptions;
use crate::gate::executor::Executor;
use crate::ledger::ticket::Decision;
use crate::outcome::messages;
use crate::outcome::response::Response;
use crate::outcome::{ErrorKind, PendingTicket, ToolError, ToolOutcome};
use crate::plan::{Plan, PlanRequest};
use crate::resource::route::ResourceRoute;
use crate::resource::{
    ClientSession, ResourceCatalog, ResourceOperation, ResourceRequest, UpdateStream,
};
use crate::tool::Tool;
use crate::tool::toolset::Toolset;

impl Executor {
    /// Answers an inquiry as it answers a call of a tool that reads: under the same policy, bounds
    /// and record. A prompt or resource that a person has to approve is put to the host, and read
    /// only after a yes, once; nothing is kept of it beyond this future.
    ///
    /// `now`: the gate and the stock of the moment, and the source that may be asked for more than
    /// it lists. They may be others when a person has answered.
    pub async fn request(
        now: impl Fn() -> (Arc<Self>, Arc<ResourceCatalog>, Option<SourceId>) + Send,
        visitor: &ClientSession,
        inquiry: ResourceRequest,
        options: BatchOptions,
    ) -> Result<JsonFields, ToolError> {
        let (gate, stock, open) = now();
        let found = stock.seek(&inquiry, &visitor.caller, gate.policy(), open.as_ref())?;
        let was = found.clone();
        let wish = ReaderTask::Answer(inquiry.clone());
        let response = gate.look(visitor, found, wish, (ReadConsent::Unasked, &options)).await?;
        let (pending, key) = match (response.outcome, response.debug.key) {
            (ToolOutcome::Pending(pending), Some(key)) => (pending, key),
            (outcome, _) => {
                let answer = read(outcome)?;
                return Ok(stock.known(&inquiry, answer, &visitor.caller, gate.policy()));
            }
        };
        let hints = gate.0.marks.hints;
        let said = consent::ask(&inquiry, (key, &pending), &options, hints).await;
        let (gate, stock, open) = now();
        let found = stock.seek(&inquiry, &visitor.caller, gate.policy(), open.as_ref())?;
        if !found.is(&was) {
            return Err(refused(&messages::changed_since()));
        }
        let ticket = pending.ticket;
        let (word, error) = match said {
            // A consent has no fields but its yes.
            Ok(Decision::Approve | Decision::Answer { .. }) => (ReadConsent::Yes(ticket), None),
            Ok(Decision::Deny { reason }) => (ReadConsent::No(ticket, reason), None),
            Err(undecided) => {
                (ReadConsent::No(ticket, undecided.why.to_owned()), Some(undecided.error))
            }
        };
        let wish = ReaderTask::Answer(inquiry);
        let response = gate.look(visitor, found, wish, (word, &options)).await?;
        error.map_or_else(|| read(response.outcome), Err)
    }

    /// Begins to follow one resource. What a person would have to approve is refused: an approval
    /// is good for one reading.
    pub async fn follow(
        &self,
        stock: &ResourceCatalog,
        visitor: &ClientSession,
        uri: String,
        options: BatchOptions,
    ) -> Result<UpdateStream, ToolError> {
        let inquiry =
            ResourceRequest { about: ResourceOperation::Resource, params: of_resource(&uri) };
        let found = stock.seek(&inquiry, &visitor.caller, self.policy(), None)?;
        let (to, following) = oneshot::channel();
        let wish = |to| ReaderTask::Follow(uri.clone(), Mutex::new(to));
        let was = found.clone();
        let response =
            self.look(visitor, found, wish(Some(to)), (ReadConsent::Unasked, &options)).await?;
        if let ToolOutcome::Pending(PendingTicket { ticket, reason, .. }) = response.outcome {
            let word = ReadConsent::No(ticket, "what is asked for is not asked about".to_owned());
            self.look(visitor, was, wish(None), (word, &options)).await?;
            return Err(refused(&messages::not_asked_about(&reason)));
        }
        read(response.outcome)?;
        let lost = || ToolError::new(ErrorKind::Internal, "nothing tells of changes");
        following.await.map_err(|_| lost())
    }

    /// Has the gate decide on a wish, and grant it.
    async fn look(
        &self,
        visitor: &ClientSession,
        found: ResourceRoute,
        wish: ReaderTask,
        (word, options): (ReadConsent, &BatchOptions),
    ) -> Result<Response, ToolError> {
        let ResourceRoute { from, spec: whole } = found;
        let arguments = match &wish {
            ReaderTask::Answer(inquiry) => inquiry.params.clone(),
            ReaderTask::Follow(uri, _) => of_resource(uri),
        };
        let mut spec = whole.clone();
        spec.name = ToolName::sanitize(whole.name.as_str());
        let name = spec.name.as_str().to_owned();
        let largest = self.limits().max_data_bytes;
        let reader: Arc<dyn Tool> =
            Arc::new(ResourceReader { spec, library: Arc::clone(&from.library), wish, largest });
        let source = from.source.clone();
        let tools = Toolset::of([reader]).map_err(ToolError::from)?;
        let catalog = Arc::new(alone(SourceTools { source, tools, stale: from.stale }));
        let request = PlanRequest { session: visitor.session.clone(), ..PlanRequest::default() };
        let plan = Plan::make(&catalog, &visitor.caller, self.policy(), request);
        let plan = plan.map_err(ToolError::from)?;
        let (whole, arguments) = (Arc::new(whole), Arguments::new(arguments));
        let reading = ResourceRead { plan, name, whole, arguments, word, options };
        let unseen = || refused("the rules do not permit it");
        self.read(reading).await.ok_or_else(unseen)
    }
}

fn alone(shelf: SourceTools) -> Catalog {
    CatalogAssembly::alone(&Catalog::default(), &CatalogBounds::default()).assemble([shelf])
}

fn of_resource(uri: &str) -> JsonFields {
    JsonFields::from_iter([("uri".to_owned(), Value::from(uri))])
}

fn read(outcome: ToolOutcome) -> Result<JsonFields, ToolError> {
    match outcome {
        ToolOutcome::Done(content) => Ok(content.extra),
        ToolOutcome::Failed(error) => Err(error),
        ToolOutcome::Denied { reason } => Err(refused(&reason)),
        ToolOutcome::Pending(pending) => Err(refused(&pending.reason)),
    }
}
