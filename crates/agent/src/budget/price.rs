//! What tokens cost.

use genai_prices::{PriceRequest, Usage, UsageKey, calculate};
use serde::{Deserialize, Serialize};
use url::{Host, Url};

/// Money for a million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Price {
    pub input: f64,
    pub output: f64,
}

/// So many tokens are priced to find out what one costs: few enough for the price of a short thread,
/// where a provider asks more for a long one.
const SAMPLE: f64 = 1000.0;

impl Price {
    /// What a model costs in US dollars at the provider whose API has this address, as the table of
    /// `genai-prices` has it. `None`: nobody knows, as of a server of one's own.
    pub fn listed(base: &Url, model: &str) -> Option<Self> {
        // The table takes a moment to be read, and has providers on the Internet alone.
        let Some(Host::Domain(domain)) = base.host() else { return None };
        if domain == "localhost" {
            return None;
        }
        let of = |key| {
            let usage = Usage::from([(key, SAMPLE)]);
            let request = PriceRequest::new(model, &usage).with_provider_api_url(base.as_str());
            Some(calculate(&request).ok()?.total_price * 1e6 / SAMPLE)
        };
        Some(Self { input: of(UsageKey::INPUT_TOKENS)?, output: of(UsageKey::OUTPUT_TOKENS)? })
    }

    /// What these tokens cost.
    #[expect(clippy::cast_precision_loss, reason = "no run has 2^52 tokens")]
    pub fn of(&self, input: u64, output: u64) -> f64 {
        (input as f64 * self.input + output as f64 * self.output) / 1e6
    }
}
