//! Forwarding mail: what somebody wrote goes to others as it was, with its files.

use std::fmt::Write;

use schemars::JsonSchema;
use serde::Deserialize;
use toolcrib_core::ToolError;

use super::MailCall;
use super::attachments::{AttachmentArgument, few, files};
use super::send::{distinct, gone, prefixed, with};
use super::view::MessageHeadView;
use crate::backend::{MailMessage, NewMessage, Person};
use crate::tools::fields::{AddressArgument, people, yes};
use crate::tools::quoting;
use crate::tools::times::CallClock;
use crate::tools::tool::DataAnswer;

/// Receivers of the original that are named in what is sent.
const MOST_NAMED: usize = 50;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ForwardEmailArguments {
    /// Id of the email to forward.
    #[schemars(length(min = 1, max = 1024))]
    email_id: String,
    /// Addresses: `ann@example.org` or `Ann Lee <ann@example.org>`.
    #[schemars(length(min = 1, max = 100))]
    to: Vec<AddressArgument>,
    #[serde(default)]
    #[schemars(length(max = 100))]
    cc: Vec<AddressArgument>,
    #[serde(default)]
    #[schemars(length(max = 100))]
    bcc: Vec<AddressArgument>,
    /// Plain text that stands before what is forwarded.
    #[serde(default)]
    #[schemars(length(max = 100_000))]
    body: String,
    /// Whether the attachments of the email go along.
    #[serde(default = "yes")]
    keep_attachments: bool,
    /// Further files, each with its name and either `text` or `base64`.
    #[serde(default)]
    #[schemars(length(max = 20))]
    attachments: Vec<AttachmentArgument>,
}

pub(super) async fn forward(
    here: MailCall,
    wish: ForwardEmailArguments,
) -> Result<DataAnswer<MessageHeadView>, ToolError> {
    let times = CallClock::new(&here.settings, None)?;
    let (message, _) = forwarded(&here, &wish, &times).await?;
    let sent = here.keeper.send(&here.owner, message).await?;
    Ok(gone(&here, sent, &times))
}

/// `Forward *Lunch* from bob@example.org to ann@example.org, with *menu.pdf* (12 KiB): "See ..."`.
pub(super) async fn forward_words(
    here: MailCall,
    wish: ForwardEmailArguments,
) -> Result<String, ToolError> {
    let times = CallClock::new(&here.settings, None)?;
    let (message, before) = forwarded(&here, &wish, &times).await?;
    let subject = quoting::title(&before.head.subject);
    let from = before.head.from.as_ref();
    let from = from.map(|person| format!(" from {}", quoting::address(person))).unwrap_or_default();
    let everybody = [message.to, message.cc, message.bcc].concat();
    let (to, files) = (quoting::addresses(&everybody), with(&message.files));
    let own = wish.body.trim();
    let text = if own.is_empty() { String::new() } else { format!(": {}", quoting::opening(own)) };
    Ok(format!("Forward {subject}{from} to {to}{files}{text}"))
}

/// What is sent, and what of it is forwarded.
async fn forwarded(
    here: &MailCall,
    wish: &ForwardEmailArguments,
    times: &CallClock,
) -> Result<(NewMessage, MailMessage), ToolError> {
    let to = people("to", &wish.to)?;
    let (mut cc, mut bcc) = (people("cc", &wish.cc)?, people("bcc", &wish.bcc)?);
    if to.is_empty() {
        return Err(ToolError::told("nobody to send to: give addresses in `to`"));
    }
    distinct(&mut cc, &to);
    distinct(&mut bcc, &[to.clone(), cc.clone()].concat());
    let own = files(&wish.attachments)?;
    let before = here.keeper.message(&here.owner, &wish.email_id).await?;
    if before.head.labels.iter().any(|label| label == "drafts") {
        return Err(ToolError::told("this email is a draft: send it with `send_email`"));
    }
    let mut kept = Vec::new();
    if wish.keep_attachments && !before.attachments.is_empty() {
        kept = here.keeper.files(&here.owner, &wish.email_id).await?;
    }
    kept.extend(own);
    let message = NewMessage {
        to,
        cc,
        bcc,
        subject: prefixed("Fwd", &["fwd:", "fw:"], &before.head.subject),
        text: quoted(wish.body.trim_end(), &before, times),
        files: few(kept).map_err(|error| {
            let cure = "forward it with `keep_attachments` false, or fewer files";
            ToolError::told(format!("{}: {cure}", error.message))
        })?,
        // What others answer to it is no answer to whom it came from.
        answers: None,
    };
    Ok((message, before))
}

/// The original below a text: who wrote it when and to whom, and what it says.
fn quoted(own: &str, before: &MailMessage, times: &CallClock) -> String {
    let mut text = String::with_capacity(own.len() + before.text.len() + 500);
    text.push_str(own);
    if !own.is_empty() {
        text.push_str("\n\n");
    }
    text.push_str("---------- Forwarded message ----------\n");
    // With its offset: whoever reads it may be anywhere.
    let date = times.at(before.head.date).strftime("%a, %-d %b %Y %H:%M %z").to_string();
    let from = before.head.from.iter().cloned().collect::<Vec<_>>();
    let rows = [
        ("From", named(&from)),
        ("Date", date),
        ("Subject", quoting::plain(&before.head.subject, 1000)),
        ("To", named(&before.head.to)),
        ("Cc", named(&before.cc)),
    ];
    for (name, value) in rows {
        if !value.is_empty() {
            // Writing into a string does not fail.
            let _ = writeln!(text, "{name}: {value}");
        }
    }
    text.push('\n');
    text.push_str(&before.text);
    text
}

/// `Ann Lee <ann@example.org>, bob@example.org`.
fn named(people: &[Person]) -> String {
    let one = |person: &Person| match &person.name {
        Some(name) => format!("{} <{}>", quoting::plain(name, 200), quoting::address(person)),
        None => quoting::address(person),
    };
    let mut all: Vec<_> = people.iter().take(MOST_NAMED).map(one).collect();
    if people.len() > MOST_NAMED {
        all.push(format!("{} more", people.len() - MOST_NAMED));
    }
    all.join(", ")
}
