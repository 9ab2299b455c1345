//! What can go wrong with a database, and what to do about it.

use std::borrow::Cow;
use std::error::Error as _;
use std::io;
use std::sync::Arc;

use tokio_postgres::error::SqlState;
use toolcrib_store::StoreError;

/// A statement was refused, or there is nobody to refuse it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SessionError {
    #[error(transparent)]
    Postgres(#[from] tokio_postgres::Error),
    #[error("a row has {0} that cannot be read")]
    Unreadable(&'static str),
    #[error("the database {0}")]
    Unfit(Cow<'static, str>),
    #[error("the database did not answer in time")]
    Silent,
    /// The others took this replica for dead, and nothing more is begun under its number.
    #[error("this replica was taken for dead")]
    Fenced,
    /// It could not be spoken to in private.
    #[error(transparent)]
    Unencrypted(tokio_postgres::Error),
}

impl SessionError {
    /// What a connection that is encrypted did not come about for.
    pub(crate) fn of_encryption(error: tokio_postgres::Error) -> Self {
        let is_of_the_network =
            of_the_wire(&error).is_some_and(|fault| certificate(fault).is_none());
        if error.code().is_some() || is_of_the_network {
            Self::Postgres(error)
        } else {
            Self::Unencrypted(error)
        }
    }

    pub(crate) fn unfit(told: impl Into<Cow<'static, str>>) -> Self {
        Self::Unfit(told.into())
    }

    /// Whether the server said no to what was asked; else it is not there, or ends.
    pub(crate) fn is_of_the_statement(&self) -> bool {
        match self {
            Self::Unreadable(_) | Self::Fenced => true,
            Self::Unfit(_) | Self::Silent | Self::Unencrypted(_) => false,
            Self::Postgres(error) => {
                error.code().is_some_and(is_refusal)
                    || (error.code().is_none()
                        && !error.is_closed()
                        && of_the_wire(error).is_none())
            }
        }
    }

    /// Whether others were in the way, and the same may be done a moment later.
    pub(crate) fn is_contention(&self) -> bool {
        const STATES: [SqlState; 3] = [
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::T_R_SERIALIZATION_FAILURE,
            SqlState::LOCK_NOT_AVAILABLE,
        ];
        matches!(self, Self::Postgres(error) if error.code().is_some_and(|code| STATES.contains(code)))
    }

    /// The same for whoever runs the store.
    pub(crate) fn at(self, place: &str) -> StoreError {
        let told: Cow<'static, str> = match &self {
            Self::Unreadable(_) => {
                "has a row that cannot be read: it is of another release or damaged".into()
            }
            Self::Unfit(told) => told.clone(),
            Self::Fenced => "took this replica for dead, since it was silent for longer than its \
                             lease: it goes on under another number by itself"
                .into(),
            Self::Silent => "does not answer in time: look at its database, and at the network \
                             between"
                .into(),
            Self::Unencrypted(error) if of_the_wire(error).and_then(certificate).is_some() => {
                "shows a certificate that does not prove its name: name its host as the \
                 certificate does, or the authority that vouches for it by `sslrootcert`"
                    .into()
            }
            Self::Unencrypted(_) => "offers no encryption: turn on `ssl` in its database".into(),
            Self::Postgres(error) => told(error.code()).into(),
        };
        let source = (!matches!(self, Self::Unfit(_))).then(|| Arc::new(self) as Arc<_>);
        StoreError::Database { place: place.to_owned(), told, source }
    }
}

/// Whether a server that says this goes on. One statement may want more memory, or meet a limit of
/// its settings, where others do not.
fn is_refusal(state: &SqlState) -> bool {
    [SqlState::OUT_OF_MEMORY, SqlState::CONFIGURATION_LIMIT_EXCEEDED].contains(state)
        || !["57P", "08", "53"].iter().any(|of| state.code().starts_with(of))
}

/// The fault of a connection, which has no code.
fn of_the_wire(error: &tokio_postgres::Error) -> Option<&io::Error> {
    error.source().and_then(|source| source.downcast_ref())
}

/// What is wrong with a certificate, if that is the fault.
fn certificate(fault: &io::Error) -> Option<&rustls::Error> {
    let cause = fault.get_ref()?.downcast_ref();
    cause.filter(|cause| matches!(cause, rustls::Error::InvalidCertificate(_)))
}

/// What a code of the server means, and the cure.
fn told(state: Option<&SqlState>) -> &'static str {
    let Some(state) = state else {
        return "cannot be reached: start its database, and look at the host and the port of its \
                address";
    };
    if [&SqlState::INVALID_PASSWORD, &SqlState::INVALID_AUTHORIZATION_SPECIFICATION]
        .contains(&state)
    {
        "does not let this user in: look at the user and the password of its address"
    } else if *state == SqlState::INVALID_CATALOG_NAME {
        "is not there: make its database, or name another one"
    } else if *state == SqlState::INSUFFICIENT_PRIVILEGE {
        "may not be used by this user: let it make a schema in this database"
    } else if *state == SqlState::DISK_FULL {
        "is full: make room on the disk of its database"
    } else if *state == SqlState::TOO_MANY_CONNECTIONS {
        "has no connection left: let its database have more, or close some"
    } else if *state == SqlState::READ_ONLY_SQL_TRANSACTION {
        "cannot be written: name the server of its database that writes"
    } else if state.code().starts_with("57P") {
        "was shut down: start its database"
    } else {
        "refuses what was asked"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_that_goes_on_says_is_of_the_statement() {
        for code in ["53200", "53400", "23505", "57014"] {
            assert!(is_refusal(&SqlState::from_code(code)), "{code}");
        }
        for code in ["53000", "53100", "53300", "57P01", "08006"] {
            assert!(!is_refusal(&SqlState::from_code(code)), "{code}");
        }
    }
}
