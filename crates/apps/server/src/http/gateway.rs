//! What is there before anybody listens: the door, the document, and what all requests share.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use toolcrib_core::SessionLedger;
use toolcrib_mcp::{McpHomes, McpPersistence, McpServerSettings};

use super::mcp;
use super::mcp::homes::ReplicaHomes;
use super::routes::openapi;
use super::state::{GatewayParts, GatewayState};

/// A server of the cribs of a file.
pub(crate) fn gateway(parts: GatewayParts) -> Arc<GatewayState> {
    let GatewayParts { live, names, bounds, telemetry, store, cluster, .. } = &parts;
    let settings = McpServerSettings {
        hosts: names.hosts().to_vec(),
        origins: names.origins(),
        request: bounds.json(),
        most_sessions: bounds.sessions,
        sessions_per_caller: bounds.sessions_per_caller,
        session_life: bounds.session_life,
        longest_session: bounds.longest_session,
        most_waiting: bounds.waiting,
        patience: bounds.patience,
        most_tasks: bounds.tasks,
        task_after: bounds.task_after,
        task_life: bounds.task_life,
        ..McpServerSettings::default()
    };
    let store = store.clone();
    let homes = store.as_ref().and_then(ReplicaHomes::of);
    let persistence = McpPersistence {
        sessions: store.map(|store| Arc::new(store) as Arc<dyn SessionLedger>),
        secret: cluster.as_ref().map(|cluster| cluster.secret.clone()),
        homes: homes.map(|homes| Arc::new(homes) as Arc<dyn McpHomes>),
    };
    let door = mcp::server(live, telemetry, settings, persistence);
    let document = LazyLock::new(document as fn() -> Bytes);
    Arc::new(GatewayState::new(parts, door, document))
}

fn document() -> Bytes {
    openapi::document().to_string().into()
}
