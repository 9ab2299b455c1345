//! Why a gateway does not start.

use std::error::Error;

use toolcrib_config::{ApplyError, ConfigProblem};

use super::listen_address::ExposedAddress;
use super::serve_config::WrongFile;

/// Why a gateway does not start.
#[derive(Debug, thiserror::Error)]
pub enum GatewayError {
    /// Something is wrong with the file.
    #[error(transparent)]
    Config(WrongConfig),
    /// The file is right by itself, and cannot come into force.
    #[error(transparent)]
    Apply(ApplyError),
    /// Others could reach it, and something is missing for that.
    #[error(transparent)]
    Exposed(ExposedAddress),
    /// There is no token, no key and no issuer.
    #[error(
        "nobody could come in: give a caller a token with `GatewayBuilder::token`, or name a \
         `[[server.key]]` or an issuer in the file"
    )]
    AdmitsNobody,
    /// A token that nobody could come in by, or anybody.
    #[error("the token of `{caller}` cannot be used: {problem}")]
    Token { caller: String, problem: &'static str },
    /// What it needs of the machine is not to be had.
    #[error("the gateway cannot start")]
    Start(#[source] Box<dyn Error + Send + Sync>),
}

/// A file and all that is wrong with it.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct WrongConfig(WrongFile);

impl WrongConfig {
    /// In the order of the file.
    pub fn problems(&self) -> &[ConfigProblem] {
        &self.0.problems
    }
}

impl GatewayError {
    /// What it was, by its type.
    pub(super) fn of(error: anyhow::Error) -> Self {
        let error = match error.downcast() {
            Ok(wrong) => return Self::Config(WrongConfig(wrong)),
            Err(error) => error,
        };
        let error = match error.downcast() {
            Ok(exposed) => return Self::Exposed(exposed),
            Err(error) => error,
        };
        match error.downcast() {
            Ok(refused) => Self::Apply(refused),
            Err(error) => Self::Start(error.into()),
        }
    }
}
