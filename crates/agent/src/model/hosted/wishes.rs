//! What a model wishes of the plan that it is told of.

use toolcrib_core::{HostedPlacement, PlanRequest};

use crate::model::client::ModelClient;
use crate::model::text_calls;

impl ModelClient {
    /// What is wished of a plan that this model is told of. `has_caller_tools`: it is told of
    /// functions beside those of the plan.
    pub fn wishes(&self, wishes: PlanRequest, has_caller_tools: bool) -> PlanRequest {
        let hosted = match (self.settings().mixes_hosted(), has_caller_tools) {
            (true, _) => HostedPlacement::BesideFunctions,
            (false, false) => HostedPlacement::Alone,
            (false, true) => HostedPlacement::Nowhere,
        };
        let name = self.dialect().name();
        // A model that is told of its tools in words has none but those.
        let told_in = match self.settings().text_calls {
            Some(format) => text_calls::echo_name(name, format),
            None => name.to_owned(),
        };
        wishes.api_defers(self.dialect().defers()).told_in(told_in).takes_hosted(hosted)
    }
}
