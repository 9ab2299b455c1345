//! Which repetitions of a series something is done to.

use schemars::JsonSchema;
use serde::Deserialize;
use toolcrib_core::ToolError;

use super::Here;
use super::view::{is_series, summed_up};
use crate::backend::Event;
use crate::tools::times::Times;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Scope {
    This,
    Following,
    All,
}

/// What is done to an event reaches so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// An event that does not repeat, or one repetition.
    One,
    Following,
    Series,
}

/// An event as it is now, and how much of it is meant.
pub(super) struct Target {
    /// By which the keeper knows it.
    pub(super) id: String,
    pub(super) event: Event,
    pub(super) reach: Reach,
}

impl Target {
    /// What an id means by itself, or with a scope.
    pub(super) async fn find(
        here: &Here,
        id: &str,
        scope: Option<Scope>,
    ) -> Result<Self, ToolError> {
        let event = here.keeper.event(&here.owner, id).await?;
        let of_series = is_series(&event, id);
        let reach = match (scope, &event.series) {
            (Some(Scope::This), _) if of_series => {
                let message = "this is the id of a whole series: give that of one repetition, or \
                               `all` as the `scope`";
                return Err(ToolError::told(message));
            }
            (Some(Scope::Following), _) if of_series => {
                let message = "this is the id of a whole series: give that of the repetition with \
                               which it begins";
                return Err(ToolError::told(message));
            }
            (Some(Scope::All), Some(series)) if !of_series => {
                let id = series.clone();
                let event = here.keeper.event(&here.owner, &id).await?;
                return Ok(Self { id, event, reach: Reach::Series });
            }
            (Some(Scope::Following), Some(_)) => Reach::Following,
            _ if of_series => Reach::Series,
            _ => Reach::One,
        };
        Ok(Self { id: id.to_owned(), event, reach })
    }

    /// What it is to a person who is asked.
    pub(super) fn in_words(&self, times: &Times) -> String {
        summed_up(&self.event, self.reach, times)
    }

    /// What else happens by it, where its keeper cannot do otherwise.
    pub(super) fn note(&self, here: &Here) -> Option<&'static str> {
        (self.reach == Reach::Following).then(|| here.keeper.note_of_following()).flatten()
    }
}
