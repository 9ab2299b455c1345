//! One connection to a server of IMAP: commands and what they come to.

use std::collections::BTreeSet;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use toolcrib_egress::Egress;

use super::value::{Response, Status, Value, literal_after, read};
use crate::backend::{Fault, FaultKind};
use crate::mail::connection::{Login, Lost, MailServer, Wire};

/// For one command and its answers.
const PATIENCE: Duration = Duration::from_mins(1);
/// Bytes of all answers to one command: a message of the largest size, and what is said around it.
const MOST_BYTES: usize = 48 << 20;
const MOST_RESPONSES: usize = 50_000;

/// Whether a command that got no answer may have changed something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    Read,
    Write,
}

/// A command: words as they are, and strings in whatever way is safe.
pub(super) struct Command {
    parts: Vec<Part>,
    does: Does,
}

enum Part {
    Words(String),
    Literal(Vec<u8>),
}

impl Command {
    pub(super) fn reads(words: &str) -> Self {
        Self { parts: vec![Part::Words(words.to_owned())], does: Does::Read }
    }

    pub(super) fn writes(words: &str) -> Self {
        Self { does: Does::Write, ..Self::reads(words) }
    }

    /// More words of our own; never anything that somebody wrote.
    pub(super) fn words(mut self, words: &str) -> Self {
        match self.parts.last_mut() {
            Some(Part::Words(before)) => {
                before.push(' ');
                before.push_str(words);
            }
            _ => self.parts.push(Part::Words(format!(" {words}"))),
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
        self.parts.push(Part::Literal(bytes.to_vec()));
        self
    }
}

/// What a command came to.
pub(super) struct Answer {
    pub(super) data: Vec<Vec<Value>>,
    /// Codes of the status lines, such as `[APPENDUID 1 2]`.
    pub(super) codes: Vec<Vec<Value>>,
    status: Status,
    text: String,
}

impl Answer {
    /// An error if the server would not.
    pub(super) fn done(self, what: &str) -> Result<Self, Fault> {
        if self.status == Status::Ok {
            return Ok(self);
        }
        let has = |word: &str| {
            self.codes.iter().any(|code| code.first().is_some_and(|first| first.is(word)))
        };
        let kind = if has("NOPERM") || has("AUTHENTICATIONFAILED") || has("OVERQUOTA") {
            FaultKind::Refused
        } else if has("INUSE") || has("UNAVAILABLE") || has("LIMIT") {
            FaultKind::Busy
        } else {
            FaultKind::Invalid
        };
        Err(Fault::new(kind, format!("the mail server would not {what}: it says `{}`", self.text)))
    }

    pub(super) fn is_done(&self) -> bool {
        self.status == Status::Ok
    }

    /// What follows a word in a code: `[COPYUID 1 2 3]` has three.
    pub(super) fn code(&self, word: &str) -> Option<&[Value]> {
        let found = self.codes.iter().find(|code| code.first().is_some_and(|first| first.is(word)));
        found.and_then(|code| code.get(1..))
    }
}

/// The folder that a session is in.
pub(super) struct Selected {
    pub(super) folder: String,
    pub(super) validity: u32,
    /// Whether new keywords may be made.
    pub(super) makes_keywords: bool,
}

pub(super) struct Session {
    wire: Wire,
    tag: u32,
    abilities: BTreeSet<String>,
    pub(super) selected: Option<Selected>,
}

impl Session {
    /// A session that is logged in.
    pub(super) async fn open(egress: &Egress, server: &MailServer) -> Result<Self, Fault> {
        let wire = Wire::open(egress, &server.url).await?;
        let mut session = Self { wire, tag: 0, abilities: BTreeSet::new(), selected: None };
        session.wire.allow(PATIENCE);
        let (greeting, _) =
            session.response(MOST_BYTES).await.map_err(|lost| gone(lost, Does::Read))?;
        let is_in = match greeting {
            Response::Status { status: Status::Ok, .. } => false,
            Response::Status { status: Status::Preauth, .. } => true,
            Response::Status { status: Status::Bye, text, .. } => {
                let message = format!("the mail server sends us away: it says `{text}`");
                return Err(Fault::new(FaultKind::Busy, message));
            }
            Response::Status { .. } | Response::Continue | Response::Data(_) => {
                return Err(Fault::new(FaultKind::Broken, "this is no server of IMAP"));
            }
        };
        session.learn().await?;
        if !session.wire.is_secure() && !server.plain {
            if is_in || !session.can("STARTTLS") {
                let message = "the mail server has no TLS, so nothing is said to it";
                return Err(Fault::new(FaultKind::Refused, message));
            }
            session.run(Command::reads("STARTTLS")).await?.done("begin TLS")?;
            session.wire = session.wire.secure().await?;
            // What was said before TLS does not count.
            session.learn().await?;
        }
        if !is_in {
            let login = server.login_over(&session.wire)?.ok_or_else(|| {
                Fault::new(FaultKind::Refused, "the mail server wants a name and a password")
            })?;
            session.log_in(login).await?;
            session.learn().await?;
        }
        Ok(session)
    }

    pub(super) fn can(&self, ability: &str) -> bool {
        self.abilities.contains(ability)
    }

    async fn learn(&mut self) -> Result<(), Fault> {
        let answer = self.run(Command::reads("CAPABILITY")).await?.done("say what it can do")?;
        let said =
            answer.data.iter().filter(|data| data.first().is_some_and(|it| it.is("CAPABILITY")));
        let words = said.flatten().filter_map(Value::text).map(|word| word.to_ascii_uppercase());
        self.abilities = words.collect();
        Ok(())
    }

    async fn log_in(&mut self, login: &Login) -> Result<(), Fault> {
        let Login { user, password } = login;
        let answer = if self.can("AUTH=PLAIN") && self.can("SASL-IR") {
            let words = STANDARD.encode(format!("\0{user}\0{password}"));
            self.run(Command::reads("AUTHENTICATE PLAIN").words(&words)).await?
        } else if self.can("LOGINDISABLED") {
            let message = "the mail server takes no name and password in a way that we know";
            return Err(Fault::new(FaultKind::Refused, message));
        } else {
            let login = Command::reads("LOGIN").string(user.as_bytes()).string(password.as_bytes());
            self.run(login).await?
        };
        let refused = answer.done("let us in");
        refused.map(drop).map_err(|fault| {
            let kind = if fault.kind == FaultKind::Busy { fault.kind } else { FaultKind::Refused };
            Fault { kind, ..fault }
        })
    }

    /// Whether the server is still there.
    pub(super) async fn is_alive(&mut self) -> bool {
        let answer = self.run(Command::reads("NOOP")).await;
        answer.is_ok_and(|answer| answer.is_done())
    }

    /// Goes into a folder; `None` if there is none of this name.
    pub(super) async fn select(&mut self, folder: &str) -> Result<Option<&Selected>, Fault> {
        if self.selected.as_ref().is_none_or(|selected| selected.folder != folder) {
            self.selected = None;
            let answer = self.run(Command::reads("SELECT").string(folder.as_bytes())).await?;
            if !answer.is_done() {
                return Ok(None);
            }
            let validity = answer.code("UIDVALIDITY").and_then(|it| it.first()?.number());
            let keeps = answer.code("PERMANENTFLAGS").and_then(<[Value]>::first);
            self.selected = Some(Selected {
                folder: folder.to_owned(),
                validity: validity.unwrap_or_default(),
                makes_keywords: keeps
                    .is_none_or(|flags| flags.list().iter().any(|it| it.is("\\*"))),
            });
        }
        Ok(self.selected.as_ref())
    }

    /// Says a command and hears its answers.
    pub(super) async fn run(&mut self, command: Command) -> Result<Answer, Fault> {
        self.wire.allow(PATIENCE);
        let does = command.does;
        let ran = self.exchange(command).await;
        ran.map_err(|lost| gone(lost, does))
    }

    async fn exchange(&mut self, command: Command) -> Result<Answer, Lost> {
        self.tag += 1;
        let tag = format!("t{}", self.tag);
        let waits = !self.can("LITERAL+");
        let mut answer = Answer {
            data: Vec::new(),
            codes: Vec::new(),
            status: Status::Bad,
            text: String::new(),
        };
        let mut bytes = format!("{tag} ").into_bytes();
        for part in command.parts {
            match part {
                Part::Words(words) => bytes.extend_from_slice(words.as_bytes()),
                Part::Literal(text) => {
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
    async fn hear(&mut self, tag: &str, answer: &mut Answer) -> Result<bool, Lost> {
        let mut left = MOST_BYTES;
        for _ in 0..MOST_RESPONSES {
            let (response, size) = self.response(left).await?;
            left = left.saturating_sub(size);
            match response {
                Response::Continue => return Ok(false),
                Response::Data(data) => answer.data.push(data),
                Response::Status { tag: own, status, code, text } => {
                    if !code.is_empty() {
                        answer.codes.push(code);
                    }
                    if own == tag {
                        answer.status = status;
                        answer.text = text;
                        return Ok(true);
                    }
                    if status == Status::Bye {
                        return Err(Lost::Closed);
                    }
                }
            }
        }
        Err(Lost::TooLong)
    }

    /// One answer with its literals, and how many bytes it is.
    async fn response(&mut self, most: usize) -> Result<(Response, usize), Lost> {
        let mut bytes = Vec::new();
        loop {
            let start = bytes.len();
            let left = most.saturating_sub(start);
            self.wire.read_line(&mut bytes, left).await?;
            let Some(count) = bytes.get(start..).and_then(literal_after) else { break };
            if count > most.saturating_sub(bytes.len()) {
                return Err(Lost::TooLong);
            }
            self.wire.read_bytes(&mut bytes, count).await?;
        }
        let response = read(&bytes).ok_or(Lost::Closed)?;
        Ok((response, bytes.len()))
    }
}

fn gone(lost: Lost, does: Does) -> Fault {
    let fault = match does {
        Does::Read => {
            Fault::new(FaultKind::Interrupted, format!("the mail server did not answer: {lost}"))
        }
        Does::Write => {
            let message = format!("the mail server did not say whether it did it: {lost}");
            Fault::new(FaultKind::Unknown, message)
        }
    };
    fault.because(lost)
}
