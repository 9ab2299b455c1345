//! Which repetitions of a series something is done to.

use schemars::JsonSchema;
use serde::Deserialize;
use toolcrib_core::ToolError;

use super::CalendarCall;
use super::series_reach::SeriesReach;
use super::view::{is_series, summed_up};
use crate::backend::CalendarEvent;
use crate::tools::times::CallClock;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum SeriesScope {
    This,
    Following,
    All,
}

/// An event as it is now, and how much of it is meant.
pub(super) struct EventTarget {
    /// By which the keeper knows it.
    pub(super) id: String,
    pub(super) event: CalendarEvent,
    pub(super) reach: SeriesReach,
}

impl EventTarget {
    /// What an id means by itself, or with a scope.
    pub(super) async fn find(
        here: &CalendarCall,
        id: &str,
        scope: Option<SeriesScope>,
    ) -> Result<Self, ToolError> {
        let event = here.keeper.event(&here.owner, id).await?;
        let of_series = is_series(&event, id);
        let reach = match (scope, &event.series) {
            (Some(SeriesScope::This), _) if of_series => {
                let message = "this is the id of a whole series: give that of one repetition, or \
                               `all` as the `scope`";
                return Err(ToolError::told(message));
            }
            (Some(SeriesScope::Following), _) if of_series => {
                let message = "this is the id of a whole series: give that of the repetition with \
                               which it begins";
                return Err(ToolError::told(message));
            }
            (Some(SeriesScope::All), Some(series)) if !of_series => {
                let id = series.clone();
                let event = here.keeper.event(&here.owner, &id).await?;
                return Ok(Self { id, event, reach: SeriesReach::Series });
            }
            (Some(SeriesScope::Following), Some(_)) => SeriesReach::Following,
            _ if of_series => SeriesReach::Series,
            _ => SeriesReach::One,
        };
        Ok(Self { id: id.to_owned(), event, reach })
    }

    /// What it is to a person who is asked.
    pub(super) fn in_words(&self, times: &CallClock) -> String {
        summed_up(&self.event, self.reach, times)
    }

    /// What else happens by it, where its keeper cannot do otherwise.
    pub(super) fn note(&self, here: &CalendarCall) -> Option<&'static str> {
        (self.reach == SeriesReach::Following).then(|| here.keeper.note_of_following()).flatten()
    }
}
