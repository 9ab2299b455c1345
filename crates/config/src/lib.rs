//! crib.toml: raw, checked, built, and changed while it runs.
//!
//! Read in this order: `raw` (the file as it is written), `shape` (the file against its schema),
//! [`Config`] with `check`, `settings` and `template` (secrets), `build`, [`Live`]; beside them
//! [`import()`] reads the files of other programs.
//!
//! This crate reads no environment: secrets come through a [`Lookup`] that the binary hands in.
//! It starts nothing: sources come from a [`Maker`].

mod aside;
mod build;
mod check;
mod config;
mod desk;
mod document;
pub mod effects;
mod embedder;
mod findings;
mod foreign;
pub mod import;
mod live;
mod place;
mod problem;
mod raw;
mod reach;
mod schema;
mod seen;
mod settings;
mod shape;
mod sources;
mod suspicion;
mod template;

pub use aside::{kept_out, set_aside};
pub use build::{Built, Failed, Maker, View};
pub use check::{Bounds, Front, Tls};
pub use config::{Config, KeptBounds, Profile, Read};
pub use desk::DeskSource;
pub use embedder::{EmbedderError, EmbedderSettings};
pub use import::{ImportError, Imported, import};
pub use live::{Adapt, Change, Live, Means, Refused};
pub use problem::Problem;
pub use reach::Telling;
pub use schema::schema;
pub use seen::{AuditSettings, LogForm, LogLevel, LogSettings, TelemetrySettings};
pub use settings::{CalDavAccount, DeskSettings, GoogleAccount, MailAccount, Parts};
pub use sources::{Behind, Sources};
pub use template::{Lookup, Unresolved};
