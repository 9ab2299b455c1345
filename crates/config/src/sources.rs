//! The real maker of sources, which knows afterwards what stands behind each of them.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use toolcrib_core::{Secrets, Source, SourceId};
use toolcrib_mcp::{
    Authorization, HttpSettings, McpSource, ServerSettings, Surroundings, Transport,
};
use toolcrib_openapi::{ApiSettings, ApiSource};

use crate::build::Maker;

/// What stands behind a source that reaches out of the process.
pub enum Behind {
    Mcp(Arc<McpSource>),
    Api(Arc<ApiSource>),
}

/// The same without keeping it alive: a source that was replaced may go.
enum Held {
    Mcp(Weak<McpSource>),
    Api(Weak<ApiSource>),
}

impl Held {
    fn now(&self) -> Option<Behind> {
        match self {
            Self::Mcp(server) => server.upgrade().map(Behind::Mcp),
            Self::Api(api) => api.upgrade().map(Behind::Api),
        }
    }
}

/// Makes the sources of a configuration, for [`Means`](crate::Means).
#[derive(Default)]
pub struct Sources {
    /// What children may inherit of our environment.
    inherited: Vec<(String, String)>,
    /// Where what a person was given at a sign-in is kept.
    tokens: Option<PathBuf>,
    learned: Secrets,
    made: Mutex<Vec<(String, Held)>>,
    over_http: Mutex<HashMap<String, HttpSettings>>,
}

impl Sources {
    /// `inherited`: what child processes may have of our environment, such as `PATH` and `HOME`.
    /// `tokens`: a folder for what people are given when they sign in.
    pub fn new(inherited: Vec<(String, String)>, tokens: Option<PathBuf>) -> Self {
        Self { inherited, tokens, ..Self::default() }
    }

    /// Keeps what becomes a secret while the sources run here, where others read it too.
    #[must_use]
    pub fn learning(mut self, learned: Secrets) -> Self {
        self.learned = learned;
        self
    }

    /// How an MCP server is reached, if it is one over HTTP.
    pub fn http(&self, id: &str) -> Option<HttpSettings> {
        self.over_http.lock().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    /// What stands behind a name now.
    pub fn get(&self, id: &str) -> Option<Behind> {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.iter().rev().filter(|(name, _)| name == id).find_map(|(_, held)| held.now())
    }

    fn keep(&self, id: &str, held: Held) {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        made.retain(|(_, held)| held.now().is_some());
        made.push((id.to_owned(), held));
    }

    /// Ends what was started, each in its own way and all at once.
    pub async fn stop(&self) {
        let made = std::mem::take(&mut *self.made.lock().unwrap_or_else(PoisonError::into_inner));
        let stopping = made.iter().filter_map(|(_, held)| match held.now()? {
            Behind::Mcp(server) => Some(async move { server.stop().await }),
            Behind::Api(_) => None,
        });
        futures_util::future::join_all(stopping).await;
    }
}

impl Maker for Sources {
    fn mcp(&self, id: &str, mut settings: ServerSettings) -> Arc<dyn Source> {
        if let Transport::Http(http) = &mut settings.transport {
            if let Authorization::OAuth(oauth) = &mut http.authorization {
                oauth.tokens = oauth.tokens.take().or_else(|| self.tokens.clone());
                oauth.learned = Some(self.learned.clone());
            }
            let mut over_http = self.over_http.lock().unwrap_or_else(PoisonError::into_inner);
            over_http.insert(id.to_owned(), HttpSettings::clone(http));
        }
        let surroundings = Surroundings { environment: self.inherited.clone() };
        let server = Arc::new(McpSource::new(id, settings, surroundings));
        self.keep(id, Held::Mcp(Arc::downgrade(&server)));
        server
    }

    fn api(&self, id: &str, mut settings: ApiSettings) -> Arc<dyn Source> {
        settings.learned = Some(self.learned.clone());
        let api = Arc::new(ApiSource::new(SourceId::new(id), settings));
        self.keep(id, Held::Api(Arc::downgrade(&api)));
        api
    }

    fn learned(&self) -> Secrets {
        self.learned.clone()
    }
}
