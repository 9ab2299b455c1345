//! Answers to invitations.

use schemars::JsonSchema;
use serde::Deserialize;
use toolcrib_core::ToolError;

use super::CalendarCall;
use super::view::{EventView, event, in_words};
use crate::backend::InvitationReply;
use crate::tools::quoting;
use crate::tools::times::CallClock;
use crate::tools::tool::DataAnswer;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RespondArguments {
    /// Id of the event, or of its series.
    #[schemars(length(min = 1, max = 1024))]
    event_id: String,
    reply: ReplyArgument,
    /// A word to the organizer.
    #[schemars(length(min = 1, max = 1000))]
    comment: Option<String>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ReplyArgument {
    Accepted,
    Declined,
    Tentative,
}

pub(super) async fn respond(
    here: CalendarCall,
    said: RespondArguments,
) -> Result<DataAnswer<EventView>, ToolError> {
    let times = CallClock::new(&here.settings, None)?;
    let reply = match said.reply {
        ReplyArgument::Accepted => InvitationReply::Accepted,
        ReplyArgument::Declined => InvitationReply::Declined,
        ReplyArgument::Tentative => InvitationReply::Tentative,
    };
    let kept = here.keeper.respond(&here.owner, &said.event_id, reply, said.comment).await?;
    Ok(event(kept, &times).into())
}

/// `Accept *Review*, Tue 24 Nov 2026 14:00 to 15:00, and tell bob@example.org`.
pub(super) async fn words(here: CalendarCall, said: RespondArguments) -> Result<String, ToolError> {
    let times = CallClock::new(&here.settings, None)?;
    let before = here.keeper.event(&here.owner, &said.event_id).await?;
    if before.reply.is_none() {
        let message = "the user was not invited to this event, so there is nothing to answer";
        return Err(ToolError::told(message));
    }
    let verb = match said.reply {
        ReplyArgument::Accepted => "Accept",
        ReplyArgument::Declined => "Decline",
        ReplyArgument::Tentative => "Accept tentatively",
    };
    let told = before.organizer.as_ref().map(quoting::address);
    let told = told.unwrap_or_else(|| "the organizer".to_owned());
    let comment = said.comment.map(|text| format!(" {}", quoting::opening(&text)));
    let event = in_words(&before, &said.event_id, &times);
    Ok(format!("{verb} {event}, and tell {told}{}", comment.unwrap_or_default()))
}
