//! Looking at mail.

use schemars::JsonSchema;
use serde::Deserialize;
use toolcrib_core::ToolError;

use super::MailCall;
use super::view::{LabelView, MessageHeadView, MessageView, head, message};
use crate::backend::MailQuery;
use crate::tools::times::CallClock;
use crate::tools::tool::{DataAnswer, ListAnswer};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListEmailsArguments {
    /// `inbox`, `sent`, `drafts`, `trash`, `spam`, `archive` or a label of the user.
    #[serde(default = "inbox")]
    #[schemars(length(min = 1, max = 200))]
    label: String,
    /// How many.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 50))]
    limit: usize,
    /// `next` of the call before, with all other arguments as they were.
    #[schemars(length(min = 1, max = 4096))]
    cursor: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchEmailsArguments {
    /// Words that must all stand in subject, text or people, case aside.
    #[schemars(length(min = 1, max = 500))]
    query: Option<String>,
    /// A part of the sender's address or name.
    #[schemars(length(min = 1, max = 320))]
    from: Option<String>,
    /// A part of a receiver's address or name.
    #[schemars(length(min = 1, max = 320))]
    to: Option<String>,
    /// Words of the subject.
    #[schemars(length(min = 1, max = 500))]
    subject: Option<String>,
    /// `inbox`, `sent`, `drafts`, `trash`, `spam`, `archive` or a label of the user; anywhere if
    /// not set.
    #[schemars(length(min = 1, max = 200))]
    label: Option<String>,
    unread: Option<bool>,
    has_attachments: Option<bool>,
    /// Of this time or later: `yesterday`, `last week`, `2026-01-21`.
    #[schemars(length(min = 1, max = 200))]
    after: Option<String>,
    /// Before this time; before the day begins if it is a day.
    #[schemars(length(min = 1, max = 200))]
    before: Option<String>,
    /// How many.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 50))]
    limit: usize,
    /// `next` of the call before, with all other arguments as they were.
    #[schemars(length(min = 1, max = 4096))]
    cursor: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct EmailIdArguments {
    /// Id of the email.
    #[schemars(length(min = 1, max = 1024))]
    pub(super) email_id: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListLabelsArguments {}

fn inbox() -> String {
    "inbox".to_owned()
}

fn ten() -> usize {
    10
}

pub(super) async fn read(
    here: MailCall,
    list: ListEmailsArguments,
) -> Result<ListAnswer<MessageHeadView>, ToolError> {
    let query = MailQuery {
        label: Some(list.label),
        limit: list.limit,
        cursor: list.cursor,
        ..MailQuery::default()
    };
    found(&here, query, Vec::new()).await
}

pub(super) async fn unread(
    here: MailCall,
    list: ListEmailsArguments,
) -> Result<ListAnswer<MessageHeadView>, ToolError> {
    let query = MailQuery {
        label: Some(list.label),
        unread: Some(true),
        limit: list.limit,
        cursor: list.cursor,
        ..MailQuery::default()
    };
    found(&here, query, Vec::new()).await
}

pub(super) async fn search(
    here: MailCall,
    search: SearchEmailsArguments,
) -> Result<ListAnswer<MessageHeadView>, ToolError> {
    let times = CallClock::new(&here.settings, None)?;
    let mut notes = Vec::new();
    let mut from = |field, text: &Option<String>| match text {
        Some(text) => {
            let (moment, said) = times.from(field, text)?;
            notes.extend(said);
            Ok::<_, ToolError>(Some(moment))
        }
        None => Ok(None),
    };
    let (after, before) = (from("after", &search.after)?, from("before", &search.before)?);
    if let (Some(after), Some(before)) = (after, before)
        && before <= after
    {
        return Err(ToolError::told("`before` is not after `after`: turn them around"));
    }
    let query = MailQuery {
        text: search.query,
        from: search.from,
        to: search.to,
        subject: search.subject,
        label: search.label,
        unread: search.unread,
        after,
        before,
        has_attachments: search.has_attachments,
        limit: search.limit,
        cursor: search.cursor,
    };
    found(&here, query, notes).await
}

async fn found(
    here: &MailCall,
    query: MailQuery,
    notes: Vec<String>,
) -> Result<ListAnswer<MessageHeadView>, ToolError> {
    let times = CallClock::new(&here.settings, None)?;
    let page = here.keeper.messages(&here.owner, query).await?;
    let data = page.items.into_iter().map(|one| head(one, &times)).collect();
    Ok(ListAnswer { data, notes, next: page.next })
}

pub(super) async fn get(
    here: MailCall,
    one: EmailIdArguments,
) -> Result<DataAnswer<MessageView>, ToolError> {
    let times = CallClock::new(&here.settings, None)?;
    let found = here.keeper.message(&here.owner, &one.email_id).await?;
    Ok(message(found, &times).into())
}

pub(super) async fn labels(
    here: MailCall,
    _: ListLabelsArguments,
) -> Result<DataAnswer<Vec<LabelView>>, ToolError> {
    let known = here.keeper.labels(&here.owner).await?;
    Ok(known.into_iter().map(LabelView::from).collect::<Vec<_>>().into())
}
