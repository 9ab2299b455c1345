//! crib.toml: raw, checked, built, and changed while it runs.
//!
//! Read in this order: `raw` (the file as it is written), `shape` (the file against its schema),
//! [`Config`] with `check`, `settings` and `template` (secrets), `build`, [`LiveConfig`]; beside them
//! [`import()`] reads the files of other programs.
//!
//! This crate reads no environment: secrets come through a [`SecretLookup`] that the binary hands in.
//! It starts nothing: sources come from a [`SourceFactory`].

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
pub use check::{ListenerSettings, ServerLimits, TlsFiles};
pub use config::{Config, ParsedConfig, Profile, StoreBounds};
pub use file::problem::ConfigProblem;
pub use file::schema::schema;
pub use import::{ImportError, ImportedConfig, import};
pub use live::{ApplyError, ConfigChange, Environment, LiveConfig, OpenError, ViewHook};
pub use report::name_conflicts::{kept_out, set_aside};
pub use report::trust::Disclosure;
pub use secrets::process::{ProcessLookup, inherited_variables, open_ordinary_file};
pub use secrets::template::{SecretLookup, UnresolvedReference};
pub use settings::embedder::{EmbedderError, EmbedderSettings};
pub use settings::observability::{
    AuditSettings, LogFormat, LogLevel, LogSettings, TelemetrySettings,
};
pub use settings::{CalDavAccount, DeskParts, DeskSettings, GoogleAccount, MailAccount};
pub use source::desk::DeskSource;
pub use source::registry::{SourceHandle, SourceRegistry};
