//! Where emails lie and how they are marked.

use schemars::JsonSchema;
use serde::Deserialize;
use toolcrib_core::ToolError;

use super::MailCall;
use super::find::EmailIdArguments;
use super::view::{MessageHeadView, head};
use crate::backend::MessageMarks;
use crate::tools::fields::line;
use crate::tools::quoting;
use crate::tools::times::CallClock;
use crate::tools::tool::DataAnswer;

/// Labels that say what an email is; they come by what is done with it.
const OF_THE_KEEPER: [(&str, &str); 4] = [
    ("trash", "use `delete_email`"),
    ("sent", "use `send_email`"),
    ("outbox", "use `send_email`"),
    ("drafts", "use `draft_email`"),
];

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LabelEmailArguments {
    /// Id of the email.
    #[schemars(length(min = 1, max = 1024))]
    email_id: String,
    /// Labels to put on it.
    #[serde(default)]
    #[schemars(length(max = 20), inner(length(min = 1, max = 200)))]
    add: Vec<String>,
    /// Labels to take off it.
    #[serde(default)]
    #[schemars(length(max = 20), inner(length(min = 1, max = 200)))]
    remove: Vec<String>,
}

pub(super) async fn label(
    here: MailCall,
    labels: LabelEmailArguments,
) -> Result<DataAnswer<MessageHeadView>, ToolError> {
    let add = names("add", &labels.add)?;
    let remove = names("remove", &labels.remove)?;
    for label in &add {
        let of_keeper = OF_THE_KEEPER.iter().find(|(name, _)| label.eq_ignore_ascii_case(name));
        if let Some((name, cure)) = of_keeper {
            return Err(ToolError::told(format!("`{name}` cannot be put on by hand: {cure}")));
        }
    }
    if add.is_empty() && remove.is_empty() {
        return Err(ToolError::told("nothing would change: name labels to `add` or to `remove`"));
    }
    if let Some(both) = add.iter().find(|label| remove.contains(label)) {
        return Err(ToolError::told(format!("`{both}` is both in `add` and in `remove`")));
    }
    marked(&here, &labels.email_id, MessageMarks { add, remove, unread: None }).await
}

fn names(field: &str, labels: &[String]) -> Result<Vec<String>, ToolError> {
    labels.iter().map(|label| line(field, label)).collect()
}

pub(super) async fn archive(
    here: MailCall,
    one: EmailIdArguments,
) -> Result<DataAnswer<MessageHeadView>, ToolError> {
    let marks = MessageMarks { remove: vec!["inbox".to_owned()], ..MessageMarks::default() };
    marked(&here, &one.email_id, marks).await
}

pub(super) async fn read(
    here: MailCall,
    one: EmailIdArguments,
) -> Result<DataAnswer<MessageHeadView>, ToolError> {
    marked(&here, &one.email_id, MessageMarks { unread: Some(false), ..MessageMarks::default() })
        .await
}

pub(super) async fn unread(
    here: MailCall,
    one: EmailIdArguments,
) -> Result<DataAnswer<MessageHeadView>, ToolError> {
    marked(&here, &one.email_id, MessageMarks { unread: Some(true), ..MessageMarks::default() })
        .await
}

pub(super) async fn delete(
    here: MailCall,
    one: EmailIdArguments,
) -> Result<DataAnswer<MessageHeadView>, ToolError> {
    let marks = MessageMarks { add: vec!["trash".to_owned()], ..MessageMarks::default() };
    marked(&here, &one.email_id, marks).await
}

/// `Move *Offer* from bob@example.org, Tue 24 Nov 2026 14:00, to the trash`.
pub(super) async fn delete_words(
    here: MailCall,
    one: EmailIdArguments,
) -> Result<String, ToolError> {
    let times = CallClock::new(&here.settings, None)?;
    let before = here.keeper.message(&here.owner, &one.email_id).await?.head;
    let from = before.from.as_ref().map(|person| format!(" from {}", quoting::address(person)));
    let (subject, date) =
        (quoting::title(&before.subject), times.say_moment(&times.at(before.date)));
    Ok(format!("Move {subject}{}, {date}, to the trash", from.unwrap_or_default()))
}

async fn marked(
    here: &MailCall,
    id: &str,
    marks: MessageMarks,
) -> Result<DataAnswer<MessageHeadView>, ToolError> {
    let times = CallClock::new(&here.settings, None)?;
    let after = here.keeper.mark(&here.owner, id, marks).await?;
    Ok(head(after, &times).into())
}
