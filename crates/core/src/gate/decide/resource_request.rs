//! Inquiries of a caller, through the gate.

use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::sync::oneshot;

use super::consent::{self, refused};
use super::resource_read::{Read, Word};
use super::resource_reader::{Reader, Wish};
use crate::call::arguments::Arguments;
use crate::call::json_fields::Fields;
use crate::call::name::{SourceId, ToolName};
use crate::catalog::{Assembly, Catalog, CatalogBounds, Shelf};
use crate::gate::batch::options::BatchOptions;
use crate::gate::executor::Executor;
use crate::ledger::ticket::Decision;
use crate::outcome::messages;
use crate::outcome::response::Response;
use crate::outcome::{ErrorKind, Pending, ToolError, ToolOutcome};
use crate::plan::{Plan, Request};
use crate::resource::route::Found;
use crate::resource::{About, Following, Inquiry, Stock, Visitor};
use crate::tool::Tool;
use crate::tool::toolset::Toolset;

impl Executor {
    /// Answers an inquiry as it answers a call of a tool that reads: under the same policy, bounds
    /// and record. A prompt or resource that a person has to approve is put to the host, and read
    /// only after a yes, once; nothing is kept of it beyond this future.
    ///
    /// `now`: the gate and the stock of the moment, and the source that may be asked for more than it
    /// lists. They may be others when a person has answered.
    pub async fn inquire(
        now: impl Fn() -> (Arc<Self>, Arc<Stock>, Option<SourceId>) + Send,
        visitor: &Visitor,
        inquiry: Inquiry,
        options: BatchOptions,
    ) -> Result<Fields, ToolError> {
        let (gate, stock, open) = now();
        let found = stock.seek(&inquiry, &visitor.caller, gate.policy(), open.as_ref())?;
        let was = found.clone();
        let wish = Wish::Answer(inquiry.clone());
        let response = gate.look(visitor, found, wish, (Word::Unasked, &options)).await?;
        let (pending, key) = match (response.outcome, response.debug.key) {
            (ToolOutcome::Pending(pending), Some(key)) => (pending, key),
            (outcome, _) => {
                let answer = read(outcome)?;
                return Ok(stock.known(&inquiry, answer, &visitor.caller, gate.policy()));
            }
        };
        let said = consent::ask(&inquiry, (key, &pending), &options).await;
        let (gate, stock, open) = now();
        let found = stock.seek(&inquiry, &visitor.caller, gate.policy(), open.as_ref())?;
        if !found.is(&was) {
            return Err(refused(&messages::changed_since()));
        }
        let ticket = pending.ticket;
        let (word, error) = match said {
            // A consent has no fields but its yes.
            Ok(Decision::Approve | Decision::Answer { .. }) => (Word::Yes(ticket), None),
            Ok(Decision::Deny { reason }) => (Word::No(ticket, reason), None),
            Err(undecided) => (Word::No(ticket, undecided.why.to_owned()), Some(undecided.error)),
        };
        let wish = Wish::Answer(inquiry);
        let response = gate.look(visitor, found, wish, (word, &options)).await?;
        error.map_or_else(|| read(response.outcome), Err)
    }

    /// Begins to follow one resource. What a person would have to approve is refused: an approval
    /// is good for one reading.
    pub async fn follow(
        &self,
        stock: &Stock,
        visitor: &Visitor,
        uri: String,
        options: BatchOptions,
    ) -> Result<Following, ToolError> {
        let inquiry = Inquiry { about: About::Resource, params: of_resource(&uri) };
        let found = stock.seek(&inquiry, &visitor.caller, self.policy(), None)?;
        let (to, following) = oneshot::channel();
        let wish = |to| Wish::Follow(uri.clone(), Mutex::new(to));
        let was = found.clone();
        let response = self.look(visitor, found, wish(Some(to)), (Word::Unasked, &options)).await?;
        if let ToolOutcome::Pending(Pending { ticket, reason, .. }) = response.outcome {
            let word = Word::No(ticket, "what is asked for is not asked about".to_owned());
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
        visitor: &Visitor,
        found: Found,
        wish: Wish,
        (word, options): (Word, &BatchOptions),
    ) -> Result<Response, ToolError> {
        let Found { from, spec: whole } = found;
        let arguments = match &wish {
            Wish::Answer(inquiry) => inquiry.params.clone(),
            Wish::Follow(uri, _) => of_resource(uri),
        };
        let mut spec = whole.clone();
        spec.name = ToolName::sanitize(whole.name.as_str());
        let name = spec.name.as_str().to_owned();
        let largest = self.limits().max_data_bytes;
        let reader: Arc<dyn Tool> =
            Arc::new(Reader { spec, library: Arc::clone(&from.library), wish, largest });
        let source = from.source.clone();
        let tools = Toolset::of([reader]).map_err(ToolError::from)?;
        let catalog = Arc::new(alone(Shelf { source, tools, stale: from.stale }));
        let request = Request { session: visitor.session.clone(), ..Request::default() };
        let plan = Plan::make(&catalog, &visitor.caller, self.policy(), request);
        let plan = plan.map_err(ToolError::from)?;
        let (whole, arguments) = (Arc::new(whole), Arguments::new(arguments));
        let reading = Read { plan, name, whole, arguments, word, options };
        let unseen = || refused("the rules do not permit it");
        self.read(reading).await.ok_or_else(unseen)
    }
}

fn alone(shelf: Shelf) -> Catalog {
    Assembly::alone(&Catalog::default(), &CatalogBounds::default()).assemble([shelf])
}

fn of_resource(uri: &str) -> Fields {
    Fields::from_iter([("uri".to_owned(), Value::from(uri))])
}

fn read(outcome: ToolOutcome) -> Result<Fields, ToolError> {
    match outcome {
        ToolOutcome::Done(content) => Ok(content.extra),
        ToolOutcome::Failed(error) => Err(error),
        ToolOutcome::Denied { reason } => Err(refused(&reason)),
        ToolOutcome::Pending(pending) => Err(refused(&pending.reason)),
    }
}
