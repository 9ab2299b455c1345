//! The names of the tools by which a model gives work to its team, and of sources.

/// The source of the tools that serve all others.
pub(crate) const OURS: &str = "toolcrib";

/// The source of calls that an agent answers.
pub const AGENTS: &str = "agents";

/// One tool for all specialists, with their names as an enumeration.
pub(crate) const DELEGATE: &str = "delegate";
/// What it is called elsewhere; it is understood and not offered.
pub(crate) const DELEGATE_ALIAS: &str = "delegateToSpecialistAgent";
/// How the name of a tool for one specialist alone begins.
pub(crate) const ASK: &str = "ask_";
pub(crate) const FIND: &str = "find_specialists";
pub(crate) const HAND_OVER: &str = "hand_over";
pub(crate) const REPORT_MISSING: &str = "report_missing";
pub(crate) const ROUTE: &str = "route";
