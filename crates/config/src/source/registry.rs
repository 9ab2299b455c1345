//! The real maker of sources, which knows afterwards what stands behind each of them.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use toolcrib_a2a_client::{A2aSettings, A2aSource};
use toolcrib_core::{Secrets, Source, SourceId};
#[cfg(feature = "google")]
use toolcrib_desk::google::GoogleSettings;
use toolcrib_engine::toolsets::ToolsetSplits;
use toolcrib_mcp::{
    HttpAuthorization, HttpSettings, McpEnvironment, McpSource, McpSourceSettings, McpTransport,
};
use toolcrib_openapi::{ApiSettings, ApiSource};

use super::desk::{DeskContext, DeskSource};
use super::handle::SourceHandle;
use crate::build::SourceFactory;
use crate::settings::DeskSettings;

/// What stands behind a source, without keeping it alive: one that was replaced may go.
enum WeakSourceHandle {
    Mcp(Weak<McpSource>),
    Api(Weak<ApiSource>),
    Agent(Weak<A2aSource>),
    Desk(Weak<DeskSource>),
}

impl WeakSourceHandle {
    fn now(&self) -> Option<SourceHandle> {
        match self {
            Self::Mcp(server) => server.upgrade().map(SourceHandle::Mcp),
            Self::Api(api) => api.upgrade().map(SourceHandle::Api),
            Self::Agent(agent) => agent.upgrade().map(SourceHandle::Agent),
            Self::Desk(desk) => desk.upgrade().map(SourceHandle::Desk),
        }
    }
}

/// Makes the sources of a configuration, for [`Environment`](crate::Environment).
#[derive(Default)]
pub struct SourceRegistry {
    /// What children may inherit of our environment.
    inherited: Vec<(String, String)>,
    /// Where what a person was given at a sign-in is kept.
    tokens: Option<PathBuf>,
    /// Where desks keep what no account of theirs keeps.
    desks: Option<PathBuf>,
    /// The IANA name of the zone of desks that name none.
    zone: Option<String>,
    learned: Secrets,
    splits: Option<Arc<ToolsetSplits>>,
    made: Mutex<Vec<(String, WeakSourceHandle)>>,
    over_http: Mutex<HashMap<String, HttpSettings>>,
    #[cfg(feature = "google")]
    at_google: Mutex<HashMap<String, GoogleSettings>>,
}

impl SourceRegistry {
    /// `inherited`: what child processes may have of our environment, such as `PATH` and `HOME`.
    /// `tokens`: a folder for what people are given when they sign in.
    pub fn new(inherited: Vec<(String, String)>, tokens: Option<PathBuf>) -> Self {
        Self { inherited, tokens, ..Self::default() }
    }

    /// Keeps desks in files of this folder, which is made if it is not there.
    #[must_use]
    pub fn keeping(self, desks: Option<PathBuf>) -> Self {
        Self { desks, ..self }
    }

    /// The IANA name of the zone that desks are in which name none; `UTC` if not said.
    #[must_use]
    pub fn in_zone(self, zone: impl Into<String>) -> Self {
        Self { zone: Some(zone.into()), ..self }
    }

    /// Keeps what becomes a secret while the sources run here, where others read it too.
    #[must_use]
    pub fn learning(mut self, learned: Secrets) -> Self {
        self.learned = learned;
        self
    }

    /// Has its sources put here what a model is to be asked about their toolsets.
    #[must_use]
    pub fn asking(self, splits: Arc<ToolsetSplits>) -> Self {
        Self { splits: Some(splits), ..self }
    }

    /// How an MCP server is reached, if it is one over HTTP.
    pub fn http(&self, id: &str) -> Option<HttpSettings> {
        self.over_http.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// The account of a desk, if Google keeps something of it.
    #[cfg(feature = "google")]
    pub fn google(&self, id: &str) -> Option<GoogleSettings> {
        self.at_google.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// What stands behind a name now.
    pub fn get(&self, id: &str) -> Option<SourceHandle> {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.iter().rev().filter(|(name, _)| name == id).find_map(|(_, held)| held.now())
    }

    /// The MCP servers that there are now.
    pub fn mcp_servers(&self) -> Vec<Arc<McpSource>> {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let server = |held: &WeakSourceHandle| match held.now()? {
            SourceHandle::Mcp(server) => Some(server),
            SourceHandle::Api(_) | SourceHandle::Agent(_) | SourceHandle::Desk(_) => None,
        };
        made.iter().filter_map(|(_, held)| server(held)).collect()
    }

    fn keep(&self, id: &str, held: WeakSourceHandle) {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.retain(|(_, held)| held.now().is_some());
        made.push((id.to_owned(), held));
    }

    /// Ends what was started, each in its own way and all at once.
    pub async fn stop(&self) {
        let made = std::mem::take(&mut *self.made.lock().unwrap_or_else(PoisonError::into_inner));
        let stopping = made.iter().filter_map(|(_, held)| match held.now()? {
            SourceHandle::Mcp(server) => Some(async move { server.stop().await }),
            SourceHandle::Api(_) | SourceHandle::Agent(_) | SourceHandle::Desk(_) => None,
        });
        futures_util::future::join_all(stopping).await;
    }
}

impl SourceFactory for SourceRegistry {
    fn mcp(&self, id: &str, mut settings: McpSourceSettings) -> Arc<dyn Source> {
        if let McpTransport::Http(http) = &mut settings.transport {
            if let HttpAuthorization::OAuth(oauth) = &mut http.authorization {
                oauth.tokens = oauth.tokens.take().or_else(|| self.tokens.clone());
                oauth.learned = Some(self.learned.clone());
            }
            let mut over_http = self.over_http.lock().unwrap_or_else(PoisonError::into_inner);
            over_http.insert(id.to_owned(), HttpSettings::clone(http));
        }
        let surroundings = McpEnvironment { environment: self.inherited.clone() };
        let server = Arc::new(McpSource::new(id, settings, surroundings));
        self.keep(id, WeakSourceHandle::Mcp(Arc::downgrade(&server)));
        server
    }

    fn api(&self, id: &str, mut settings: ApiSettings) -> Arc<dyn Source> {
        settings.learned = Some(self.learned.clone());
        let api = Arc::new(ApiSource::new(SourceId::new(id), settings));
        self.keep(id, WeakSourceHandle::Api(Arc::downgrade(&api)));
        api
    }

    fn agent(&self, id: &str, settings: A2aSettings) -> Arc<dyn Source> {
        let agent = Arc::new(A2aSource::new(SourceId::new(id), settings));
        self.keep(id, WeakSourceHandle::Agent(Arc::downgrade(&agent)));
        agent
    }

    fn desk(&self, id: &str, settings: DeskSettings) -> Arc<dyn Source> {
        let place = DeskContext {
            zone: self.zone.as_deref(),
            folder: self.desks.as_deref(),
            tokens: self.tokens.as_deref(),
            learned: self.learned.clone(),
        };
        let desk = DeskSource::new(id, settings, place);
        // What is wrong with it is told when it is loaded.
        #[cfg(feature = "google")]
        if let Ok(Some(google)) = desk.google() {
            let mut at_google = self.at_google.lock().unwrap_or_else(PoisonError::into_inner);
            at_google.insert(id.to_owned(), google);
        }
        let desk = Arc::new(desk);
        self.keep(id, WeakSourceHandle::Desk(Arc::downgrade(&desk)));
        desk
    }

    fn splits(&self) -> Option<Arc<ToolsetSplits>> {
        self.splits.clone()
    }

    fn handle(&self, id: &str) -> Option<SourceHandle> {
        self.get(id)
    }

    fn learned(&self) -> Secrets {
        self.learned.clone()
    }
}
