//! For measuring only: a load client that speaks MCP over HTTP with keep-alive, and what it finds
//! of a server alone and of the same server behind `toolcrib serve`.
//!
//! Read in this order: `client::connection` (one HTTP connection), [`LoadSession`] (one client on
//! it), [`LoadSettings`] (many of them, each with one call on its way), `program` (what is
//! measured, and what it takes), then what is done with them: `gateway` (the same calls direct and
//! through us, what the record costs, starts, a soak), `agents` (turns, first words, runs that
//! wait), `a2a` (agents that others ask, and that we ask), and `rollouts` (many trajectories at
//! once).
//!
//! It writes and reads its messages as bytes: what it takes itself should not hide what is
//! measured.

mod a2a;
mod agents;
mod client;
mod figures;
mod gateway;
mod program;
mod rollouts;
mod table;
mod test_bed;

pub use a2a::{A2aSettings, a2a};
pub use agents::{AgentSettings, agents};
pub use client::load::{LoadSettings, MeasureSettings, run};
pub use client::session::{ClientEra, LoadCall, LoadSession, LoadTarget};
pub use figures::LoadFigures;
pub use gateway::durable::durable;
pub use gateway::relay::relay;
pub use gateway::soak::{SoakSettings, soak};
pub use gateway::startup::{StartupSettings, start};
pub use gateway::usual_calls::{UsualCalls, usual};
pub use gateway::ways::gateway;
pub use program::{MeasuredProgram, OpenResources};
pub use rollouts::rollouts;
pub use rollouts::settings::RolloutSettings;
pub use table::table;
pub use test_bed::{MeasuredPrograms, TestBed};

/// Whatever keeps a measurement from being taken.
pub type LoadError = Box<dyn std::error::Error + Send + Sync>;
