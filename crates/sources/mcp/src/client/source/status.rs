//! How a source fares, for those who look after it.

use serde::Serialize;
use toolcrib_child::StderrLine;

/// Where the connection of a source stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ConnectionPhase {
    /// Not started, or stopped because nobody used it.
    Idle,
    Starting,
    Ready,
    /// The last start failed, or the connection was lost.
    Failed,
    /// It failed too often: nothing is tried for a while.
    BrokenCircuit,
}

/// Which family of revisions a server speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum McpEra {
    /// With a handshake: 2024-11-05 to 2025-11-25.
    Legacy,
    /// Without: 2026-07-28 and later.
    Modern,
}

/// A tool that the server has and the source has not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LeftOutTool {
    /// Its name there, or its place in the list if it has none.
    pub tool: String,
    pub reason: String,
}

/// How a source fares; that of the connection which lists its tools, where there are several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct McpSourceStatus {
    pub phase: ConnectionPhase,
    /// What the server calls itself, and its version.
    pub server: Option<String>,
    pub version: Option<String>,
    /// The revision that both speak.
    pub revision: Option<String>,
    pub era: Option<McpEra>,
    /// Of the child process.
    pub pid: Option<u32>,
    /// Live connections, and calls under way.
    pub connections: usize,
    pub in_flight: usize,
    /// Starts after the first one, of all connections.
    pub restarts: u64,
    pub last_error: Option<String>,
    /// The last lines of the child's standard error, safe to print.
    pub stderr: Vec<String>,
    /// Tools of the last list that could not be taken.
    pub left_out: Vec<LeftOutTool>,
    /// What else is wrong with its last lists, in sentences.
    pub notes: Vec<String>,
    /// What of its tools was read in another way than the server wrote it, in sentences.
    pub remarks: Vec<String>,
}

/// What a program wrote to its standard error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProgramOutput {
    /// Another number for each start.
    pub program: u64,
    /// The oldest first.
    pub lines: Vec<StderrLine>,
    /// Where these end.
    pub next: String,
}
