//! The policy of a file and of its profiles.

use std::sync::Arc;

use toolcrib_core::{AskBeforeDestroying, Policy};
use toolcrib_engine::policy::{OnlySources, strictest};
use toolcrib_engine::rules::Rules;

use crate::config::Profile;

/// The policy of a file and of a profile of it. Rules take the place of the one that is there if
/// nobody says anything.
pub(crate) fn policy(rules: &[&Rules], profile: Option<&Profile>) -> Arc<dyn Policy> {
    let own = profile.and_then(|profile| profile.rules.as_ref());
    let mut said = rules
        .iter()
        .copied()
        .map(Some)
        .chain([own])
        .flatten()
        .map(|rules| -> Arc<dyn Policy> { Arc::new(rules.clone()) });
    let first = said.next().unwrap_or_else(|| Arc::new(AskBeforeDestroying));
    let mut others: Vec<_> = said.collect();
    if let Some(sources) = profile.and_then(|profile| profile.sources.as_ref()) {
        others.push(Arc::new(OnlySources::new(sources.iter().cloned().collect())));
    }
    strictest(first, others)
}
