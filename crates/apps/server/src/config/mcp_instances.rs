//! The `toolcrib mcp` of this user that run, and how each is asked.

use anyhow::Result;
use serde::{Deserialize, Serialize};
use toolcrib_core::Secret;

use super::registry::{self, RegistryEntry};

const KIND: &str = "mcp";

/// A process that can be asked, at a port of this machine.
pub(crate) struct McpInstance {
    pub(crate) process: u32,
    pub(crate) port: u16,
    pub(crate) token: Secret,
}

#[derive(Serialize, Deserialize)]
struct McpInstanceRecord {
    process: u32,
    port: u16,
    token: String,
}

/// Says where this process can be asked.
pub(crate) fn name(port: u16, token: &Secret) -> Result<RegistryEntry> {
    let process = std::process::id();
    registry::name(KIND, &McpInstanceRecord { process, port, token: token.expose().to_owned() })
}

/// All that live.
pub(crate) fn all() -> Vec<McpInstance> {
    let of = |McpInstanceRecord { process, port, token }| McpInstance {
        process,
        port,
        token: Secret::new(token),
    };
    let mut doors: Vec<_> = registry::all(KIND).into_iter().map(of).collect();
    doors.sort_by_key(|door| (door.process, door.port));
    doors
}
