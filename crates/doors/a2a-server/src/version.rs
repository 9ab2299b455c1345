//! The version in which a request is made.

use toolcrib_a2a_client::protocol::wire::{ProtocolBinding, ProtocolVersion, WireForm};

use crate::fault::{A2aFault, A2aFaultKind};

/// What a request says of its version: `A2A-Version`, as a header or in the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AskedVersion {
    /// Nothing, as clients of 0.3 do: by section 3.6.2 of the specification of 1.0 that is 0.3.
    Unsaid,
    Said(ProtocolVersion),
}

impl AskedVersion {
    pub fn read(said: Option<&str>) -> Result<Self, A2aFault> {
        let Some(said) = said.map(str::trim).filter(|said| !said.is_empty()) else {
            return Ok(Self::Unsaid);
        };
        ProtocolVersion::read(said).map(Self::Said).ok_or_else(|| {
            let shown: String = said.chars().take(20).collect();
            let message = format!("`A2A-Version` is `{shown}`: this server speaks 1.0 and 0.3");
            A2aFault::new(A2aFaultKind::VersionNotSupported, message)
                .telling("supportedVersions", "1.0, 0.3")
        })
    }

    /// The form of a request by a path: those of 0.3 begin with `v1`, of all things.
    pub fn of_path(self, is_below_v1: bool) -> Result<WireForm, A2aFault> {
        let (own, name) = if is_below_v1 {
            (ProtocolVersion::V03, "a path below `/v1`")
        } else {
            (ProtocolVersion::V1, "a path without `/v1`")
        };
        self.of(own, name).map(|version| WireForm::of(version, ProtocolBinding::HttpJson))
    }

    /// The version of something that only this one has; `name`: what it is, as it is told.
    pub(crate) fn of(self, own: ProtocolVersion, name: &str) -> Result<ProtocolVersion, A2aFault> {
        let asked = match self {
            Self::Unsaid => ProtocolVersion::V03,
            Self::Said(version) => version,
        };
        if asked == own {
            return Ok(own);
        }
        let why = match self {
            Self::Unsaid => "a request without a version is of 0.3",
            Self::Said(_) => "the request is of another",
        };
        let message = format!("{name} is of version {own}, and {why}: set `A2A-Version: {own}`");
        Err(A2aFault::new(A2aFaultKind::MethodNotFound, message))
    }
}
