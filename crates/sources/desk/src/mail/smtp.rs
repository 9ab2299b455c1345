//! Sending mail: the submission of RFC 6409, one message a connection.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use toolcrib_egress::Egress;

use super::connection::{MailConnection, MailConnectionError, MailLogin, MailServer};
use super::mime::is_address;
use crate::backend::{BackendError, BackendErrorKind};

/// For one answer of the server.
const PATIENCE: Duration = Duration::from_mins(1);
/// For the last one: a server may look at the message first.
const LAST_PATIENCE: Duration = Duration::from_mins(2);
/// Bytes of one line of an answer, and lines (RFC 5321 has 512 bytes).
const LONGEST_LINE: usize = 2000;
const MOST_LINES: usize = 100;

/// What the server said: its number and its words.
struct SmtpReply {
    code: u16,
    lines: Vec<String>,
}

/// Hands a message to the server, for all receivers or for none. After the whole message has gone,
/// a line that breaks leaves open whether it was taken: that is [`BackendErrorKind::Unknown`].
pub(crate) async fn submit(
    egress: &Egress,
    server: &MailServer,
    from: &str,
    to: &[String],
    message: &[u8],
) -> Result<(), BackendError> {
    if let Some(wrong) = to.iter().chain([&from.to_owned()]).find(|address| !is_address(address)) {
        let error = super::mime::NotAnAddress((*wrong).clone());
        return Err(BackendError::new(BackendErrorKind::Invalid, error.to_string()));
    }
    let (mut talk, known) = SmtpSession::open(egress, server).await?;
    if let Some(login) = server.login_over(&talk.wire)? {
        talk.authenticate(login, &known).await?;
    }
    talk.expect(&format!("MAIL FROM:<{from}>"), 250).await?;
    for address in to {
        talk.expect(&format!("RCPT TO:<{address}>"), 250).await?;
    }
    talk.expect("DATA", 354).await?;
    talk.wire.allow(LAST_PATIENCE);
    talk.wire.write(&stuffed(message)).await.map_err(unsent)?;
    let reply = match talk.wire.write(b".\r\n").await {
        Ok(()) => talk.reply().await,
        Err(lost) => Err(lost),
    };
    let reply = reply.map_err(|lost| {
        let message = "the mail server gave no answer after the message had gone: it may or may \
                       not be on its way; look for an answer or ask whoever gets it before sending \
                       it again";
        BackendError::new(BackendErrorKind::Unknown, message).because(lost)
    })?;
    reply.is(250, "the message")?;
    // It has the message; how it says goodbye changes nothing.
    talk.wire.allow(Duration::from_secs(2));
    let _ = talk.wire.write(b"QUIT\r\n").await;
    Ok(())
}

struct SmtpSession {
    wire: MailConnection,
}

impl SmtpSession {
    /// A connection that was greeted, with TLS if it is to have it, and what the server can do.
    async fn open(
        egress: &Egress,
        server: &MailServer,
    ) -> Result<(Self, Vec<String>), BackendError> {
        let mut talk = Self { wire: MailConnection::open(egress, &server.url).await? };
        talk.wire.allow(PATIENCE);
        talk.reply().await.map_err(unsent)?.is(220, "us")?;
        let mut known = talk.expect("EHLO [127.0.0.1]", 250).await?.lines;
        if !talk.wire.is_secure() && !server.plain {
            if !can(&known, "STARTTLS") {
                let message = "the mail server has no TLS, so nothing is sent to it";
                return Err(BackendError::new(BackendErrorKind::Refused, message));
            }
            talk.expect("STARTTLS", 220).await?;
            talk = Self { wire: talk.wire.secure().await? };
            // What was said before TLS does not count.
            known = talk.expect("EHLO [127.0.0.1]", 250).await?.lines;
        }
        Ok((talk, known))
    }

    async fn authenticate(
        &mut self,
        login: &MailLogin,
        known: &[String],
    ) -> Result<(), BackendError> {
        let ways = known
            .iter()
            .find_map(|line| line.to_ascii_uppercase().strip_prefix("AUTH ").map(str::to_owned));
        let ways = ways.unwrap_or_default();
        let has = |way: &str| ways.split_ascii_whitespace().any(|known| known == way);
        let MailLogin { user, password } = login;
        let said = if has("PLAIN") {
            let words = STANDARD.encode(format!("\0{user}\0{password}"));
            self.say(&format!("AUTH PLAIN {words}")).await?
        } else if has("LOGIN") {
            self.expect("AUTH LOGIN", 334).await?;
            self.expect(&STANDARD.encode(user), 334).await?;
            self.say(&STANDARD.encode(password)).await?
        } else {
            let message = "the mail server takes no name and password in a way that we know";
            return Err(BackendError::new(BackendErrorKind::Refused, message));
        };
        said.is(235, "the name and password")
            .map_err(|fault| BackendError { kind: BackendErrorKind::Refused, ..fault })
    }

    async fn expect(&mut self, command: &str, code: u16) -> Result<SmtpReply, BackendError> {
        let reply = self.say(command).await?;
        // Its first word is no secret, and its last may be an address.
        let about = command.split_once(':').map_or("the command", |(_, about)| about);
        reply.is(code, about)?;
        Ok(reply)
    }

    async fn say(&mut self, command: &str) -> Result<SmtpReply, BackendError> {
        self.wire.allow(PATIENCE);
        let line = format!("{command}\r\n");
        self.wire.write(line.as_bytes()).await.map_err(unsent)?;
        self.reply().await.map_err(unsent)
    }

    async fn reply(&mut self) -> Result<SmtpReply, MailConnectionError> {
        let mut lines = Vec::new();
        while lines.len() < MOST_LINES {
            let mut line = Vec::new();
            self.wire.read_line(&mut line, LONGEST_LINE).await?;
            let line = String::from_utf8_lossy(&line);
            let code = line.get(..3).and_then(|code| code.parse().ok());
            let code = code.ok_or(MailConnectionError::Closed)?;
            let is_last = line.get(3..4) != Some("-");
            let words = line.get(4..).unwrap_or_default();
            lines.push(words.chars().filter(|one| !one.is_control()).take(300).collect());
            if is_last {
                return Ok(SmtpReply { code, lines });
            }
        }
        Err(MailConnectionError::TooLong)
    }
}

impl SmtpReply {
    /// Whether it says what it should about something.
    fn is(&self, code: u16, about: &str) -> Result<(), BackendError> {
        // 250 and 251 both take a receiver (RFC 5321, 4.2.3).
        if self.code == code || (code == 250 && self.code == 251) {
            return Ok(());
        }
        let kind = match self.code {
            400..=499 => BackendErrorKind::Busy,
            530 | 534 | 535 | 538 => BackendErrorKind::Refused,
            500..=599 => BackendErrorKind::Invalid,
            _ => BackendErrorKind::Broken,
        };
        let words = self.lines.join(" ");
        let message = format!(
            "the mail server did not take {about}, and nothing was sent: it says {} {words}",
            self.code
        );
        Err(BackendError::new(kind, message))
    }
}

fn can(known: &[String], what: &str) -> bool {
    known.iter().any(|line| line.trim().eq_ignore_ascii_case(what))
}

/// Before the message was whole, nothing was taken.
fn unsent(lost: MailConnectionError) -> BackendError {
    let message = "the mail server broke off before the message was handed over: nothing was sent";
    BackendError::new(BackendErrorKind::Unreachable, message).because(lost)
}

/// A message whose lines begin with no dot of their own (RFC 5321, 4.5.2), with an end of line.
fn stuffed(message: &[u8]) -> Vec<u8> {
    let mut stuffed = Vec::with_capacity(message.len() + 64);
    for line in message.split_inclusive(|byte| *byte == b'\n') {
        let content = line.strip_suffix(b"\n").unwrap_or(line);
        let content = content.strip_suffix(b"\r").unwrap_or(content);
        if content.starts_with(b".") {
            stuffed.push(b'.');
        }
        // A bare carriage return is an end of line to some servers, and another to the next.
        stuffed.extend(content.iter().copied().filter(|byte| *byte != b'\r'));
        stuffed.extend_from_slice(b"\r\n");
    }
    stuffed
}
