//! Writing mail: drafts, new messages and answers.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use toolcrib_core::{Fingerprint, ToolError};

use super::MailCall;
use super::attachments::{self, AttachmentArgument, files};
use super::view::{MessageHeadView, head};
use crate::backend::{MailFile, MailMessage, MessageHead, NewMessage, Person, ReplyContext};
use crate::tools::fields::{AddressArgument, is_same, one_line, people};
use crate::tools::quoting;
use crate::tools::times::CallClock;
use crate::tools::tool::DataAnswer;

// What is written to a model stands at the fields. A draft is written without `draft_id`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct WriteEmailArguments {
    /// Id of a draft to send as it is; then nothing else is given.
    #[schemars(length(min = 1, max = 1024))]
    draft_id: Option<String>,
    /// Addresses: `ann@example.org` or `Ann Lee <ann@example.org>`.
    #[serde(default)]
    #[schemars(length(max = 100))]
    to: Vec<AddressArgument>,
    #[serde(default)]
    #[schemars(length(max = 100))]
    cc: Vec<AddressArgument>,
    #[serde(default)]
    #[schemars(length(max = 100))]
    bcc: Vec<AddressArgument>,
    #[serde(default)]
    #[schemars(length(max = 500))]
    subject: String,
    /// Plain text.
    #[serde(default)]
    #[schemars(length(max = 100_000))]
    body: String,
    /// Files that go along, each with its name and either `text` or `base64`.
    #[serde(default)]
    #[schemars(length(max = 20))]
    attachments: Vec<AttachmentArgument>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReplyEmailArguments {
    /// Id of the email to answer.
    #[schemars(length(min = 1, max = 1024))]
    email_id: String,
    /// Plain text.
    #[schemars(length(min = 1, max = 100_000))]
    body: String,
    /// To everybody it went to, and not to its sender alone.
    #[serde(default)]
    reply_all: bool,
    /// Addresses beside.
    #[serde(default)]
    #[schemars(length(max = 100))]
    cc: Vec<AddressArgument>,
    /// Files that go along, each with its name and either `text` or `base64`.
    #[serde(default)]
    #[schemars(length(max = 20))]
    attachments: Vec<AttachmentArgument>,
}

impl WriteEmailArguments {
    fn message(&self) -> Result<NewMessage, ToolError> {
        let (to, mut cc) = (people("to", &self.to)?, people("cc", &self.cc)?);
        let mut bcc = people("bcc", &self.bcc)?;
        cc.retain(|person| !holds(&to, person));
        bcc.retain(|person| !holds(&to, person) && !holds(&cc, person));
        let subject = one_line("subject", &self.subject)?;
        let (text, files) = (self.body.clone(), files(&self.attachments)?);
        Ok(NewMessage { to, cc, bcc, subject, text, files, answers: None })
    }
}

/// What is to be sent.
enum OutgoingEmail {
    Draft(String),
    New(NewMessage),
}

impl WriteEmailArguments {
    fn sending(&self) -> Result<OutgoingEmail, ToolError> {
        let is_empty = self.to.is_empty() && self.cc.is_empty() && self.bcc.is_empty();
        let says_nothing = self.subject.trim().is_empty()
            && self.body.trim().is_empty()
            && self.attachments.is_empty();
        match self.draft_id.clone() {
            Some(id) if is_empty && says_nothing => Ok(OutgoingEmail::Draft(id)),
            Some(_) => {
                let message = "a draft is sent as it is: give `draft_id` alone, or a new email";
                Err(ToolError::told(message))
            }
            None if is_empty => {
                Err(ToolError::told("nobody to send to: give addresses in `to`, or a `draft_id`"))
            }
            None if says_nothing => {
                Err(ToolError::told("nothing to send: give a `subject` or a `body`"))
            }
            None => Ok(OutgoingEmail::New(self.message()?)),
        }
    }
}

pub(super) async fn draft(
    here: MailCall,
    letter: WriteEmailArguments,
) -> Result<DataAnswer<MessageHeadView>, ToolError> {
    let times = CallClock::new(&here.settings, None)?;
    let kept = here.keeper.draft(&here.owner, letter.message()?).await?;
    Ok(head(kept, &times).into())
}

pub(super) async fn send(
    here: MailCall,
    wish: WriteEmailArguments,
) -> Result<DataAnswer<MessageHeadView>, ToolError> {
    let times = CallClock::new(&here.settings, None)?;
    let sent = match wish.sending()? {
        OutgoingEmail::Draft(id) => here.keeper.send_draft(&here.owner, &id).await?,
        OutgoingEmail::New(message) => here.keeper.send(&here.owner, message).await?,
    };
    Ok(gone(&here, sent, &times))
}

/// What was sent, and what its keeper has to say of its way.
pub(super) fn gone(
    here: &MailCall,
    sent: MessageHead,
    times: &CallClock,
) -> DataAnswer<MessageHeadView> {
    let notes = here.keeper.note(&sent).into_iter().collect();
    DataAnswer { data: head(sent, times), notes }
}

/// `Send *Lunch* to ann@example.org: "Shall we ..."`.
pub(super) async fn send_words(
    here: MailCall,
    wish: WriteEmailArguments,
) -> Result<String, ToolError> {
    match wish.sending()? {
        OutgoingEmail::New(message) => Ok(in_words("Send", &message, &with(&message.files))),
        OutgoingEmail::Draft(id) => {
            let kept = here.keeper.message(&here.owner, &id).await?;
            if !kept.head.labels.iter().any(|label| label == "drafts") {
                return Err(ToolError::told("this email is no draft: give the id of one"));
            }
            let mark = of_draft(&kept);
            let MailMessage { head, cc, bcc, text, attachments, .. } = kept;
            let along = attachments::in_words(attachments.iter().map(|file| {
                (file.name.as_str(), usize::try_from(file.size).unwrap_or(usize::MAX))
            }));
            let (to, subject) = (head.to, head.subject);
            if to.is_empty() && cc.is_empty() && bcc.is_empty() {
                return Err(ToolError::told("this draft has nobody to send it to"));
            }
            let message = NewMessage { to, cc, bcc, subject, text, ..NewMessage::default() };
            Ok(format!("{} (draft {mark})", in_words("Send", &message, &along)))
        }
    }
}

/// A few digits that are others when anything of a draft is: what somebody said yes to is what
/// goes.
fn of_draft(draft: &MailMessage) -> String {
    let addresses = |people: &[Person]| -> Vec<String> {
        people.iter().map(|person| person.address.clone()).collect()
    };
    let attachments: Vec<_> =
        draft.attachments.iter().map(|one| json!([one.name, one.media, one.size])).collect();
    let (to, cc, bcc) = (addresses(&draft.head.to), addresses(&draft.cc), addresses(&draft.bcc));
    Fingerprint::of(&json!([to, cc, bcc, draft.head.subject, draft.text, attachments])).short()
}

pub(super) async fn reply(
    here: MailCall,
    reply: ReplyEmailArguments,
) -> Result<DataAnswer<MessageHeadView>, ToolError> {
    let times = CallClock::new(&here.settings, None)?;
    let (message, _) = answering(&here, &reply).await?;
    let sent = here.keeper.send(&here.owner, message).await?;
    Ok(gone(&here, sent, &times))
}

/// `Answer *Lunch* to ann@example.org: "Yes ..."`.
pub(super) async fn reply_words(
    here: MailCall,
    reply: ReplyEmailArguments,
) -> Result<String, ToolError> {
    let (message, before) = answering(&here, &reply).await?;
    let message = NewMessage { subject: before.head.subject, ..message };
    Ok(in_words("Answer", &message, &with(&message.files)))
}

/// The answer, and what it answers.
async fn answering(
    here: &MailCall,
    reply: &ReplyEmailArguments,
) -> Result<(NewMessage, MailMessage), ToolError> {
    if reply.body.trim().is_empty() {
        return Err(ToolError::told("nothing to send: say something in `body`"));
    }
    let own = here.keeper.address(&here.owner).await?;
    let before = here.keeper.message(&here.owner, &reply.email_id).await?;
    if before.head.labels.iter().any(|label| label == "drafts") {
        return Err(ToolError::told("this email is a draft: send it with `send_email`"));
    }
    let is_own = before.head.from.as_ref().is_some_and(|from| is_same(from, &own));
    let mut to = match (&before.reply_to, &before.head.from) {
        // Who answers an email of their own goes on writing to whom it went.
        _ if is_own => before.head.to.clone(),
        (named, _) if !named.is_empty() => named.clone(),
        (_, from) => from.iter().cloned().collect(),
    };
    let mut cc = Vec::new();
    if reply.reply_all {
        let others = before.head.to.iter().chain(&before.cc);
        cc.extend(others.filter(|person| !is_same(person, &own)).cloned());
    }
    cc.extend(people("cc", &reply.cc)?);
    distinct(&mut to, &[]);
    distinct(&mut cc, &to);
    if to.is_empty() {
        let message = "this email does not say who sent it: write to somebody with `send_email`";
        return Err(ToolError::told(message));
    }
    let references = before.references.iter().chain(&before.message_id).cloned().collect();
    let answers = ReplyContext {
        thread: before.head.thread.clone(),
        message_id: before.message_id.clone(),
        references,
    };
    let message = NewMessage {
        to,
        cc,
        bcc: Vec::new(),
        subject: prefixed("Re", &["re:"], &before.head.subject),
        text: reply.body.clone(),
        files: files(&reply.attachments)?,
        answers: Some(answers),
    };
    Ok((message, before))
}

/// A subject after `Re: ` or the like, unless it begins with one of `known` already.
pub(super) fn prefixed(prefix: &str, known: &[&str], subject: &str) -> String {
    // What somebody else's program wrote may hold anything, and a header is one line.
    let line = quoting::plain(subject, 480);
    let begins = |known: &&str| {
        line.get(..known.len()).is_some_and(|start| start.eq_ignore_ascii_case(known))
    };
    if known.iter().any(begins) {
        return line;
    }
    format!("{prefix}: {line}")
}

/// Each once, and none of the others.
pub(super) fn distinct(people: &mut Vec<Person>, others: &[Person]) {
    let mut kept: Vec<Person> = Vec::new();
    for person in people.drain(..) {
        if !holds(&kept, &person) && !holds(others, &person) {
            kept.push(person);
        }
    }
    *people = kept;
}

fn holds(people: &[Person], person: &Person) -> bool {
    people.iter().any(|known| is_same(known, person))
}

/// The files of a message in words.
pub(super) fn with(files: &[MailFile]) -> String {
    attachments::in_words(files.iter().map(|file| (file.name.as_str(), file.bytes.len())))
}

/// `with`: what goes along, in words.
fn in_words(verb: &str, message: &NewMessage, with: &str) -> String {
    let mut everybody: Vec<Person> = message.to.clone();
    everybody.extend(message.cc.iter().chain(&message.bcc).cloned());
    let (subject, to) = (quoting::title(&message.subject), quoting::addresses(&everybody));
    let text = quoting::opening(&message.text);
    format!("{verb} {subject} to {to}{with}: {text}")
}
