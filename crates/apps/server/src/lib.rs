//! The gateway, which serves tools to others, and the command line over it.
//!
//! A program that has tools of its own starts at [`gateway::Gateway`]; the binary is [`main`].

#![cfg_attr(
    not(feature = "cli"),
    expect(dead_code, reason = "much of what reads files and terminals is for commands")
)]

mod audit;
#[cfg(feature = "cli")]
mod cli;
mod config;
mod freeze;
pub mod gateway;
mod http;
mod secrets;
mod sources;
mod telemetry;

#[cfg(feature = "cli")]
pub use cli::main;
