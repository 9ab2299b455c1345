//! For measuring only: a load client that speaks MCP over HTTP with keep-alive, and what it finds
//! of a server alone and of the same server behind `toolcrib serve`.
//!
//! Read in this order: `client::connection` (one HTTP connection), [`LoadSession`] (one client on
//! it), [`LoadSettings`] (many of them, each with one call on its way), `program` (what is
//! measured, and what it takes), then what is done with them: `gateway` (beside `relay`),
//! `startup`, `durable` and `soak`; and `usual_calls`, which measures nothing.
//!
//! It writes and reads its messages as bytes: what it takes itself should not hide what is
//! measured.

mod client;
mod durable;
mod figures;
mod gateway;
mod program;
mod relay;
mod soak;
mod startup;
mod table;
mod test_bed;
mod usual_calls;

pub use client::load::{LoadSettings, MeasureSettings, run};
pub use client::session::{ClientEra, LoadCall, LoadSession, LoadTarget};
pub use durable::durable;
pub use figures::LoadFigures;
pub use gateway::gateway;
pub use program::{MeasuredProgram, OpenResources};
pub use relay::relay;
pub use soak::{SoakSettings, soak};
pub use startup::{StartupSettings, start};
pub use table::table;
pub use test_bed::{MeasuredPrograms, TestBed};
pub use usual_calls::{UsualCalls, usual};

/// Whatever keeps a measurement from being taken.
pub type LoadError = Box<dyn std::error::Error + Send + Sync>;
