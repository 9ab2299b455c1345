//! The `toolcrib mcp` of this user that run, and how each is asked.

use anyhow::Result;
use serde::{Deserialize, Serialize};
use toolcrib::Secret;

use super::registry::{self, Named};

const KIND: &str = "mcp";

/// A process that can be asked, at a port of this machine.
pub(crate) struct Door {
    pub(crate) process: u32,
    pub(crate) port: u16,
    pub(crate) token: Secret,
}

#[derive(Serialize, Deserialize)]
struct Written {
    process: u32,
    port: u16,
    token: String,
}

/// Says where this process can be asked.
pub(crate) fn name(port: u16, token: &Secret) -> Result<Named> {
    let process = std::process::id();
    registry::name(KIND, &Written { process, port, token: token.expose().to_owned() })
}

/// All that live.
pub(crate) fn all() -> Vec<Door> {
    let of = |Written { process, port, token }| Door { process, port, token: Secret::new(token) };
    let mut doors: Vec<_> = registry::all(KIND).into_iter().map(of).collect();
    doors.sort_by_key(|door| (door.process, door.port));
    doors
}
