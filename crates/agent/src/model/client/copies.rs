//! Clients of the same model that share its connections, and its places.

use std::sync::Arc;

use tokio::sync::{Semaphore, SemaphorePermit};

use super::ModelClient;
use super::tool_words::tool_dialect;
use crate::model::settings::ModelSettings;

impl ModelClient {
    /// The same with shorter answers; it shares the connections.
    #[must_use]
    pub fn within(&self, max_tokens: u32) -> Self {
        let settings = ModelSettings { max_tokens, ..self.settings.clone() };
        let fallback = self.fallback.iter().map(|other| other.within(max_tokens)).collect();
        self.with(settings, fallback)
    }

    /// The same for one sample: its engine draws from this seed. It shares the connections.
    #[must_use]
    pub fn seeded(&self, seed: u32) -> Self {
        let settings = ModelSettings { seed: Some(seed), ..self.settings.clone() };
        let fallback = self.fallback.iter().map(|other| other.seeded(seed)).collect();
        self.with(settings, fallback)
    }

    /// The same with so many requests at a time, together with all that are made of it. What waits
    /// for its turn is not late.
    #[must_use]
    pub fn in_places(mut self, places: &Arc<Semaphore>) -> Self {
        self.places = Some(Arc::clone(places));
        self.fallback = self.fallback.into_iter().map(|other| other.in_places(places)).collect();
        self
    }

    fn with(&self, settings: ModelSettings, fallback: Vec<Self>) -> Self {
        Self {
            settings,
            dialect: self.settings.api.dialect(),
            tools: tool_dialect(&self.settings),
            egress: self.egress.clone(),
            route: self.route.clone(),
            headers: self.headers.clone(),
            engine: self.engine.clone(),
            fallback,
            places: self.places.clone(),
        }
    }

    /// `None`: as many are asked at a time as there are.
    pub(super) async fn place(&self) -> Option<SemaphorePermit<'_>> {
        match &self.places {
            // Nobody closes it.
            Some(places) => places.acquire().await.ok(),
            None => None,
        }
    }
}
