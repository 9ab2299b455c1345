//! The places of an engine that takes tokens.

use toolcrib_egress::{Egress, EgressError, EgressRoute};
use url::Url;

use crate::model::request::generate::GenerateWire;

/// Where an engine takes tokens.
#[derive(Clone)]
pub(super) struct EngineRoutes {
    pub(super) wire: GenerateWire,
    pub(super) generate: EgressRoute,
    pub(super) detokenize: EgressRoute,
}

impl EngineRoutes {
    pub(super) fn new(
        wire: GenerateWire,
        base: &Url,
        egress: &Egress,
    ) -> Result<Self, EgressError> {
        let route = |path| egress.route(&GenerateWire::url(base, path));
        let (generate, detokenize) = (route(wire.path())?, route(GenerateWire::DETOKENIZE)?);
        Ok(Self { wire, generate, detokenize })
    }
}
