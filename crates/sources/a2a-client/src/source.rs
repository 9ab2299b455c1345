//! An agent as a source of tools.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http::{HeaderName, HeaderValue};
use toolcrib_core::{BoxFuture, Source, SourceError, SourceId, Toolset};

use crate::conversation::Conversations;
use crate::interface::{choose, place, way};
use crate::protocol::card::AgentCard;
use crate::run::agent::RemoteAgent;
use crate::settings::A2aSettings;
use crate::transport::client::AgentClient;
use crate::transport::request::AgentRequest;
use crate::{card, tool};

const VERSION: HeaderName = HeaderName::from_static("a2a-version");

/// How long the extended card may take.
const CARD: Duration = Duration::from_secs(30);

/// A remote agent by its card. Every load reads the card again.
pub struct A2aSource {
    id: SourceId,
    settings: Arc<A2aSettings>,
    /// They outlive a change of the card.
    conversations: Arc<Conversations>,
    report: Mutex<Option<A2aReport>>,
}

/// What the last card said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct A2aReport {
    pub agent: String,
    /// Of the agent.
    pub version: Option<String>,
    /// Scheme, host and port of where it is spoken to.
    pub place: String,
    /// `JSONRPC 1.0`.
    pub speaks: String,
    pub skills: usize,
    pub streaming: bool,
}

impl A2aSource {
    pub fn new(id: SourceId, settings: A2aSettings) -> Self {
        Self {
            id,
            settings: Arc::new(settings),
            conversations: Arc::default(),
            report: Mutex::default(),
        }
    }

    /// What the last load that went well read in the card; `None` before one has.
    pub fn report(&self) -> Option<A2aReport> {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn connect(&self) -> Result<Toolset, SourceError> {
        let settings = &self.settings;
        let card = card::fetch(settings).await?;
        let interface = choose(&card, settings)?;
        let egress = way(&interface, settings)?;
        let mut headers = card::headers(settings, Some(&card))?;
        headers.insert(VERSION, HeaderValue::from_static(interface.version.as_str()));
        let (bounds, trace_context) = (settings.bounds, settings.trace_context);
        let client = AgentClient { egress, interface, headers, bounds, trace_context };
        let card = self.extended(card, &client).await?;
        let report = A2aReport {
            agent: card.name.clone(),
            version: card.version.clone(),
            place: place(&client.interface.url),
            speaks: format!("{} {}", client.interface.binding.as_str(), client.interface.version),
            skills: card.skills.len(),
            streaming: card.streaming,
        };
        let agent = Arc::new(RemoteAgent {
            client,
            settings: Arc::clone(settings),
            conversations: Arc::clone(&self.conversations),
            streams: AtomicBool::new(card.streaming),
            subscribes: AtomicBool::new(card.streaming),
            pushes: card.pushes,
        });
        let toolset = tool::tools(&self.id, &card, &agent)?;
        *self.report.lock().unwrap_or_else(PoisonError::into_inner) = Some(report);
        Ok(toolset)
    }

    /// What the agent says of itself to those whom it knows, where there is such a card and we have
    /// a credential. Where it is spoken to stays as the public card has it.
    async fn extended(
        &self,
        card: AgentCard,
        client: &AgentClient,
    ) -> Result<AgentCard, SourceError> {
        if !card.extended || !self.settings.has_secrets() {
            return Ok(card);
        }
        let asked = client.ask(AgentRequest::ExtendedCard, None, CARD).await;
        let said = asked.map_err(|fault| {
            SourceError::new(format!(
                "the agent has another card for those who sign in, and does not show it: {}; check \
                 `auth` of this source",
                fault.words()
            ))
        })?;
        let said = card::believed(said, &self.settings.card, &self.settings)?;
        Ok(AgentCard::read(&said).unwrap_or(card))
    }
}

impl Source for A2aSource {
    fn load(&self) -> BoxFuture<'_, Result<Toolset, SourceError>> {
        Box::pin(self.connect())
    }
}
