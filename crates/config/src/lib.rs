//! crib.toml: raw, checked, built, and changed while it runs.
//!
//! Read in this order: `raw` (the file as it is written), `shape` (the file against its schema),
//! [`Config`] with `check`, `settings` and `template` (secrets), `build`, [`Live`]; beside them
//! [`import()`] reads the files of other programs.
//!
//! This crate reads no environment: secrets come through a [`Lookup`] that the binary hands in.
//! It starts nothing: sources come from a [`Maker`].

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

pub use build::{Built, Failed, Maker, View};
pub use check::{Bounds, Front, Tls};
pub use config::{Config, KeptBounds, Profile, Read};
pub use file::problem::Problem;
pub use file::schema::schema;
pub use import::{ImportError, Imported, import};
pub use live::{Adapt, Change, Live, Means, Refused};
pub use report::name_conflicts::{kept_out, set_aside};
pub use report::trust::Telling;
pub use secrets::template::{Lookup, Unresolved};
pub use settings::embedder::{EmbedderError, EmbedderSettings};
pub use settings::observability::{
    AuditSettings, LogForm, LogLevel, LogSettings, TelemetrySettings,
};
pub use settings::{CalDavAccount, DeskSettings, GoogleAccount, MailAccount, Parts};
pub use source::desk::DeskSource;
pub use source::registry::{Behind, Sources};
