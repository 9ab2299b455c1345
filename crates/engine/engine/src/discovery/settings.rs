//! How tools are to be shown, and who says yes to a call.

use toolcrib_core::Discovery;

use crate::rules::ToolPatterns;

/// How the tools of a crib, or of a profile of it, are shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiscoverySettings {
    /// What holds unless a request says otherwise.
    pub mode: Discovery,
    /// Which tools are shown in full in any mode.
    pub eager: ToolPatterns,
    pub confirm: Approver,
}

/// Who says yes to a call that has to be asked about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Approver {
    /// A person, by a door that the model has no hand on.
    #[default]
    Person,
    /// The model may pass a person's yes on, since its host has no other way to ask.
    Model,
}
