//! One connection to a server of IMAP: commands and what they come to.

use std::collections::BTreeSet;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use toolcrib_egress::Egress;

use super::value::{ImapResponse, ImapStatus, ImapValue, literal_after, read};
use crate::backend::{BackendError, BackendErrorKind};
use crate::mail::connection::{MailConnection, MailConnectionError, MailLogin, MailServer};

/// For one command and its answers.
const PATIENCE: Duration = Duration::from_mins(1);
/// Bytes of all answers to one command: a message of the largest size, and what is said around it.
const MOST_BYTES: usize = 48 << 20;
const MOST_RESPONSES: usize = 50_000;

/// Whether a command that got no answer may have changed something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ImapCommandEffect {
    Read,
    Write,
}

/// A command: words as they are, and strings in whatever way is safe.
pub(super) struct ImapCommand {
    parts: Vec<ImapCommandPart>,
    does: ImapCommandEffect,
}

enum ImapCommandPart {
    Words(String),
    Literal(Vec<u8>),
}

impl ImapCommand {
    pub(super) fn reads(words: &str) -> Self {
        Self {
            parts: vec![ImapCommandPart::Words(words.to_owned())],
            does: ImapCommandEffect::Read,
        }
    }

    pub(super) fn writes(words: &str) -> Self {
        Self { does: ImapCommandEffect::Write, ..Self::reads(words) }
    }

    /// More words of our own; never anything that somebody wrote.
    pub(super) fn words(mut self, words: &str) -> Self {
        match self.parts.last_mut() {
            Some(ImapCommandPart::Words(before)) => {
                before.push(' ');
                before.push_str(words);
            }
            _ => self.parts.push(ImapCommandPart::Words(format!(" {words}"))),
        }
        self
    }

    /// Anything at all: quoted where that is allowed, else as a literal.
    pub(super) fn string(self, text: &[u8]) -> Self {
        let is_plain = |byte: &u8| *byte == b' ' || byte.is_ascii_graphic();
        if text.len() <= 200 && text.iter().all(is_plain) {
            let quoted = String::from_utf8_lossy(text).replace('\\', "\\\\").replace('"', "\\\"");
            return self.words(&format!("\"{quoted}\""));
        }
        self.literal(text)
    }

    /// Bytes as they are.
    pub(super) fn literal(mut self, bytes: &[u8]) -> Self {
        self.parts.push(ImapCommandPart::Literal(bytes.to_vec()));
        self
    }
}

/// What a command came to.
pub(super) struct ImapCommandResult {
    pub(super) data: Vec<Vec<ImapValue>>,
    /// Codes of the status lines, such as `[APPENDUID 1 2]`.
    pub(super) codes: Vec<Vec<ImapValue>>,
    status: ImapStatus,
    text: String,
}

impl ImapCommandResult {
    /// An error if the server would not.
    pub(super) fn done(self, what: &str) -> Result<Self, BackendError> {
        if self.status == ImapStatus::Ok {
            return Ok(self);
        }
        let has = |word: &str| {
            self.codes.iter().any(|code| code.first().is_some_and(|first| first.is(word)))
        };
        let kind = if has("NOPERM") || has("AUTHENTICATIONFAILED") || has("OVERQUOTA") {
            BackendErrorKind::Refused
        } else if has("INUSE") || has("UNAVAILABLE") || has("LIMIT") {
            BackendErrorKind::Busy
        } else {
            BackendErrorKind::Invalid
        };
        Err(BackendError::new(
            kind,
            format!("the mail server would not {what}: it says `{}`", self.text),
        ))
    }

    pub(super) fn is_done(&self) -> bool {
        self.status == ImapStatus::Ok
    }

    /// What follows a word in a code: `[COPYUID 1 2 3]` has three.
    pub(super) fn code(&self, word: &str) -> Option<&[ImapValue]> {
        let found = self.codes.iter().find(|code| code.first().is_some_and(|first| first.is(word)));
        found.and_then(|code| code.get(1..))
    }
}

/// The folder that a session is in.
pub(super) struct SelectedFolder {
    pub(super) folder: String,
    pub(super) validity: u32,
    /// Whether new keywords may be made.
    pub(super) makes_keywords: bool,
}

pub(super) struct ImapSession {
    wire: MailConnection,
    tag: u32,
    abilities: BTreeSet<String>,
    pub(super) selected: Option<SelectedFolder>,
}

impl ImapSession {
    /// A session that is logged in.
    pub(super) async fn open(egress: &Egress, server: &MailServer) -> Result<Self, BackendError> {
        let wire = MailConnection::open(egress, &server.url).await?;
        let mut session = Self { wire, tag: 0, abilities: BTreeSet::new(), selected: None };
        session.wire.allow(PATIENCE);
        let (greeting, _) = session
            .response(MOST_BYTES)
            .await
            .map_err(|lost| gone(lost, ImapCommandEffect::Read))?;
        let is_in = match greeting {
            ImapResponse::Status { status: ImapStatus::Ok, .. } => false,
            ImapResponse::Status { status: ImapStatus::Preauth, .. } => true,
            ImapResponse::Status { status: ImapStatus::Bye, text, .. } => {
                let message = format!("the mail server sends us away: it says `{text}`");
                return Err(BackendError::new(BackendErrorKind::Busy, message));
            }
            ImapResponse::Status { .. } | ImapResponse::Continue | ImapResponse::Data(_) => {
                return Err(BackendError::new(
                    BackendErrorKind::Broken,
                    "this is no server of IMAP",
                ));
            }
        };
        session.learn().await?;
        if !session.wire.is_secure() && !server.plain {
            if is_in || !session.can("STARTTLS") {
                let message = "the mail server has no TLS, so nothing is said to it";
                return Err(BackendError::new(BackendErrorKind::Refused, message));
            }
            session.run(ImapCommand::reads("STARTTLS")).await?.done("begin TLS")?;
            session.wire = session.wire.secure().await?;
            // What was said before TLS does not count.
            session.learn().await?;
        }
        if !is_in {
            let login = server.login_over(&session.wire)?.ok_or_else(|| {
                BackendError::new(
                    BackendErrorKind::Refused,
                    "the mail server wants a name and a password",
                )
            })?;
            session.log_in(login).await?;
            session.learn().await?;
        }
        Ok(session)
    }

    pub(super) fn can(&self, ability: &str) -> bool {
        self.abilities.contains(ability)
    }

    async fn learn(&mut self) -> Result<(), BackendError> {
        let answer =
            self.run(ImapCommand::reads("CAPABILITY")).await?.done("say what it can do")?;
        let said =
            answer.data.iter().filter(|data| data.first().is_some_and(|it| it.is("CAPABILITY")));
        let words =
            said.flatten().filter_map(ImapValue::text).map(|word| word.to_ascii_uppercase());
        self.abilities = words.collect();
        Ok(())
    }

    async fn log_in(&mut self, login: &MailLogin) -> Result<(), BackendError> {
        let MailLogin { user, password } = login;
        let answer = if self.can("AUTH=PLAIN") && self.can("SASL-IR") {
            let words = STANDARD.encode(format!("\0{user}\0{password}"));
            self.run(ImapCommand::reads("AUTHENTICATE PLAIN").words(&words)).await?
        } else if self.can("LOGINDISABLED") {
            let message = "the mail server takes no name and password in a way that we know";
            return Err(BackendError::new(BackendErrorKind::Refused, message));
        } else {
            let login =
                ImapCommand::reads("LOGIN").string(user.as_bytes()).string(password.as_bytes());
            self.run(login).await?
        };
        let refused = answer.done("let us in");
        refused.map(drop).map_err(|fault| {
            let kind = if fault.kind == BackendErrorKind::Busy {
                fault.kind
            } else {
                BackendErrorKind::Refused
            };
            BackendError { kind, ..fault }
        })
    }

    /// Whether the server is still there.
    pub(super) async fn is_alive(&mut self) -> bool {
        let answer = self.run(ImapCommand::reads("NOOP")).await;
        answer.is_ok_and(|answer| answer.is_done())
    }

    /// Goes into a folder; `None` if there is none of this name.
    pub(super) async fn select(
        &mut self,
        folder: &str,
    ) -> Result<Option<&SelectedFolder>, BackendError> {
        if self.selected.as_ref().is_none_or(|selected| selected.folder != folder) {
            self.selected = None;
            let answer = self.run(ImapCommand::reads("SELECT").string(folder.as_bytes())).await?;
            if !answer.is_done() {
                return Ok(None);
            }
            let validity = answer.code("UIDVALIDITY").and_then(|it| it.first()?.number());
            let keeps = answer.code("PERMANENTFLAGS").and_then(<[ImapValue]>::first);
            self.selected = Some(SelectedFolder {
                folder: folder.to_owned(),
                validity: validity.unwrap_or_default(),
                makes_keywords: keeps
                    .is_none_or(|flags| flags.list().iter().any(|it| it.is("\\*"))),
            });
        }
        Ok(self.selected.as_ref())
    }

    /// Says a command and hears its answers.
    pub(super) async fn run(
        &mut self,
        command: ImapCommand,
    ) -> Result<ImapCommandResult, BackendError> {
        self.wire.allow(PATIENCE);
        let does = command.does;
        let ran = self.exchange(command).await;
        ran.map_err(|lost| gone(lost, does))
    }

    async fn exchange(
        &mut self,
        command: ImapCommand,
    ) -> Result<ImapCommandResult, MailConnectionError> {
        self.tag += 1;
        let tag = format!("t{}", self.tag);
        let waits = !self.can("LITERAL+");
        let mut answer = ImapCommandResult {
            data: Vec::new(),
            codes: Vec::new(),
            status: ImapStatus::Bad,
            text: String::new(),
        };
        let mut bytes = format!("{tag} ").into_bytes();
        for part in command.parts {
            match part {
                ImapCommandPart::Words(words) => bytes.extend_from_slice(words.as_bytes()),
                ImapCommandPart::Literal(text) => {
                    let mark = if waits { "" } else { "+" };
                    let head = format!(" {{{}{mark}}}\r\n", text.len());
                    bytes.extend_from_slice(head.as_bytes());
                    if waits {
                        self.wire.write(&bytes).await?;
                        bytes.clear();
                        if self.hear(&tag, &mut answer).await? {
                            return Ok(answer);
                        }
                    }
                    bytes.extend_from_slice(&text);
                }
            }
        }
        bytes.extend_from_slice(b"\r\n");
        self.wire.write(&bytes).await?;
        // Asked for more than there is, it waits for ever: an empty line ends that.
        while !self.hear(&tag, &mut answer).await? {
            self.wire.write(b"\r\n").await?;
        }
        Ok(answer)
    }

    /// Hears answers up to the end of a command (true), or until the server waits for more.
    async fn hear(
        &mut self,
        tag: &str,
        answer: &mut ImapCommandResult,
    ) -> Result<bool, MailConnectionError> {
        let mut left = MOST_BYTES;
        for _ in 0..MOST_RESPONSES {
            let (response, size) = self.response(left).await?;
            left = left.saturating_sub(size);
            match response {
                ImapResponse::Continue => return Ok(false),
                ImapResponse::Data(data) => answer.data.push(data),
                ImapResponse::Status { tag: own, status, code, text } => {
                    if !code.is_empty() {
                        answer.codes.push(code);
                    }
                    if own == tag {
                        answer.status = status;
                        answer.text = text;
                        return Ok(true);
                    }
                    if status == ImapStatus::Bye {
                        return Err(MailConnectionError::Closed);
                    }
                }
            }
        }
        Err(MailConnectionError::TooLong)
    }

    /// One answer with its literals, and how many bytes it is.
    async fn response(
        &mut self,
        most: usize,
    ) -> Result<(ImapResponse, usize), MailConnectionError> {
        let mut bytes = Vec::new();
        loop {
            let start = bytes.len();
            let left = most.saturating_sub(start);
            self.wire.read_line(&mut bytes, left).await?;
            let Some(count) = bytes.get(start..).and_then(literal_after) else { break };
            if count > most.saturating_sub(bytes.len()) {
                return Err(MailConnectionError::TooLong);
            }
            self.wire.read_bytes(&mut bytes, count).await?;
        }
        let response = read(&bytes).ok_or(MailConnectionError::Closed)?;
        Ok((response, bytes.len()))
    }
}

fn gone(lost: MailConnectionError, does: ImapCommandEffect) -> BackendError {
    let fault = match does {
        ImapCommandEffect::Read => BackendError::new(
            BackendErrorKind::Interrupted,
            format!("the mail server did not answer: {lost}"),
        ),
        ImapCommandEffect::Write => {
            let message = format!("the mail server did not say whether it did it: {lost}");
            BackendError::new(BackendErrorKind::Unknown, message)
        }
    };
    fault.because(lost)
}
