//! crib.toml: raw, checked, built, and changed while it runs.
//!
//! Read in this order: `raw` (the file as it is written), `file` (its text, its schema and what is
//! wrong with it), [`Config`] with `check`, `settings` and `secrets`, `build`, [`LiveConfig`];
//! beside them [`import()`] reads the files of other programs.
//!
//! Secrets come through a [`SecretLookup`], and sources from a [`SourceFactory`]. Only
//! [`LiveConfig::open`] and what it is made of ([`ProcessLookup`], [`inherited_variables`]) read
//! the environment and files.

mod build;
mod check;
mod config;
pub mod effects;
mod file;
pub mod import;
mod live;
mod raw;
mod report;
mod secrets;
mod settings;
mod source;

pub use build::{CribParts, FailedSource, ProfileView, SourceFactory};
pub use config::overlay::{
    AddedSource, AddedSources, Overlay, OverlayPath, OverlayRow, OverlayStanding, WrittenField,
    added_sources,
};
pub use config::parsed::ParsedConfig;
pub use config::{Config, Profile, StoreBounds, agent_view};
pub use file::former_options::{FORMER_OPTIONS, FormerOption};
pub use file::problem::ConfigProblem;
pub use file::schema::schema;
pub use import::{ImportError, ImportedConfig, import};
pub use live::{ApplyError, ConfigChange, Environment, LiveConfig, OpenError, ViewHook};
pub use report::literal_mask::without_secrets;
pub use report::name_conflicts::{kept_out, set_aside};
pub use report::outline::{SourceKind, SourceOutline};
pub use report::trust::Disclosure;
pub use secrets::process::{ProcessLookup, inherited_variables, open_ordinary_file};
pub use secrets::template::{SecretLookup, UnresolvedReference};
pub use settings::agents::{AgentSettings, TeamMember, TeamSettings};
pub use settings::cluster::ClusterSettings;
pub use settings::embedder::{EmbedderError, EmbedderSettings};
pub use settings::listener::{ListenerSettings, PageSettings, TlsFiles};
pub use settings::observability::{
    AuditSettings, LogFormat, LogLevel, LogSettings, TelemetrySettings,
};
pub use settings::server_limits::ServerLimits;
pub use settings::{CalDavAccount, DeskParts, DeskSettings, GoogleAccount, MailAccount};
pub use source::desk::DeskSource;
pub use source::handle::SourceHandle;
pub use source::registry::SourceRegistry;
