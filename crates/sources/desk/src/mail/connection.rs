//! Lines of text over a guarded connection, as IMAP and SMTP speak them: bounded in size and time.

use std::fmt;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::time::{Instant, timeout_at};
use toolcrib_egress::{Egress, EgressError, EgressErrorKind, EgressStream};
use url::Url;

use crate::backend::{BackendError, BackendErrorKind};

/// Looking up, connecting and TLS together.
const CONNECT: Duration = Duration::from_secs(20);

/// A server of mail, and who we are there.
#[derive(Debug, Clone)]
pub struct MailServer {
    /// `imaps://` or `smtps://`: TLS from the start. `imap://` or `smtp://`: TLS before anything
    /// of ours is said (`STARTTLS`), or never, as `plain` says.
    pub url: Url,
    pub login: Option<MailLogin>,
    /// Without TLS: then a password is only told to a server on this machine.
    pub plain: bool,
}

/// A name and a password.
#[derive(Clone)]
pub struct MailLogin {
    pub user: String,
    pub password: String,
}

impl fmt::Debug for MailLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

impl MailServer {
    /// The login, if it may be told over a connection as it is now.
    pub(crate) fn login_over(
        &self,
        wire: &MailConnection,
    ) -> Result<Option<&MailLogin>, BackendError> {
        let Some(login) = &self.login else { return Ok(None) };
        if wire.is_private() {
            return Ok(Some(login));
        }
        let message = "the mail server is not on this machine and there is no TLS with it, so the \
                       password stays here: the operator can take `plain` away";
        Err(BackendError::new(BackendErrorKind::Refused, message))
    }
}

/// Why nothing could be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum MailConnectionError {
    #[error("no answer in time")]
    Slow,
    #[error("the line broke")]
    Broken(#[from] std::io::Error),
    #[error("the other side closed the line")]
    Closed,
    #[error("the answer is longer than is taken")]
    TooLong,
}

/// One connection. What is read and written has to be done by `until`.
pub(crate) struct MailConnection {
    line: BufReader<EgressStream>,
    until: Instant,
}

impl MailConnection {
    pub(crate) async fn open(egress: &Egress, url: &Url) -> Result<Self, BackendError> {
        let line = egress.line(url, CONNECT).await.map_err(|error| not_reached(&error))?;
        Ok(Self { line: BufReader::new(line), until: Instant::now() + CONNECT })
    }

    /// Gives what comes now some time, all together.
    pub(crate) fn allow(&mut self, time: Duration) {
        self.until = Instant::now() + time;
    }

    /// Whether nobody between us and the server can read along.
    pub(crate) fn is_private(&self) -> bool {
        self.line.get_ref().is_secure() || self.line.get_ref().is_local()
    }

    pub(crate) fn is_secure(&self) -> bool {
        self.line.get_ref().is_secure()
    }

    /// The same over TLS.
    pub(crate) async fn secure(self) -> Result<Self, BackendError> {
        // Somebody between us may have put words there that would count as said over TLS.
        if !self.line.buffer().is_empty() {
            let message = "the mail server spoke before TLS began: nothing it said is used";
            return Err(BackendError::new(BackendErrorKind::Broken, message));
        }
        let secured = self.line.into_inner().secure(CONNECT).await;
        let line = secured.map_err(|error| not_reached(&error))?;
        Ok(Self { line: BufReader::new(line), until: self.until })
    }

    /// Appends a line with its end to `to`.
    pub(crate) async fn read_line(
        &mut self,
        to: &mut Vec<u8>,
        most: usize,
    ) -> Result<(), MailConnectionError> {
        let until = self.until;
        let reading = async {
            let before = to.len();
            let most_read = u64::try_from(most).unwrap_or(u64::MAX);
            let read = (&mut self.line).take(most_read).read_until(b'\n', to).await?;
            match to.last() {
                _ if read == 0 => Err(MailConnectionError::Closed),
                Some(b'\n') => Ok(()),
                _ if to.len() - before >= most => Err(MailConnectionError::TooLong),
                _ => Err(MailConnectionError::Closed),
            }
        };
        timeout_at(until, reading).await.unwrap_or(Err(MailConnectionError::Slow))
    }

    /// Appends so many bytes to `to`.
    pub(crate) async fn read_bytes(
        &mut self,
        to: &mut Vec<u8>,
        count: usize,
    ) -> Result<(), MailConnectionError> {
        let until = self.until;
        let reading = async {
            let wanted = u64::try_from(count).unwrap_or(u64::MAX);
            // What is said to come is not taken for granted: it grows as it comes.
            let read = (&mut self.line).take(wanted).read_to_end(to).await?;
            if read == count { Ok(()) } else { Err(MailConnectionError::Closed) }
        };
        timeout_at(until, reading).await.unwrap_or(Err(MailConnectionError::Slow))
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) -> Result<(), MailConnectionError> {
        let until = self.until;
        let writing = async {
            self.line.write_all(bytes).await?;
            self.line.flush().await?;
            Ok(())
        };
        timeout_at(until, writing).await.unwrap_or(Err(MailConnectionError::Slow))
    }
}

/// Nothing was sent yet.
fn not_reached(error: &EgressError) -> BackendError {
    let kind = match error.kind {
        EgressErrorKind::Refused => BackendErrorKind::Refused,
        EgressErrorKind::NotConnected
        | EgressErrorKind::Broken
        | EgressErrorKind::Timeout(_)
        | EgressErrorKind::TooLarge => BackendErrorKind::Unreachable,
    };
    let fault =
        BackendError::new(kind, format!("the mail server cannot be reached: {}", error.message()));
    match error.causes() {
        Some(causes) => fault.because(causes),
        None => fault,
    }
}
