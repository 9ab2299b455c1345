//! What is there before anybody listens: the door, the document, and what all requests share.

use std::sync::{Arc, LazyLock};

use bytes::Bytes;
use toolcrib::config::{LiveConfig, ServerLimits};
use toolcrib::mcp::McpServerSettings;
use toolcrib::store::Store;

use super::changes::overlay_door::OverlayDoor;
use super::mcp;
use super::page::door::PageDoor;
use super::pipeline::authentication::Authenticator;
use super::pipeline::host_check::HostNames;
use super::routes::openapi;
use super::state::{A2aServerSettings, GatewayState};
use crate::telemetry::Telemetry;

/// A server of the cribs of a file.
pub(crate) fn gateway(
    live: Arc<LiveConfig>,
    (names, guard, page, overlay): (HostNames, Authenticator, PageDoor, OverlayDoor),
    bounds: ServerLimits,
    store: Option<Store>,
    telemetry: Arc<Telemetry>,
    a2a: A2aServerSettings,
) -> Arc<GatewayState> {
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
    let door = mcp::server(&live, &telemetry, settings);
    let document = LazyLock::new(document as fn() -> Bytes);
    let who = (names, guard, page, overlay);
    Arc::new(GatewayState::new(live, (door, document), who, bounds, store, telemetry, a2a))
}

fn document() -> Bytes {
    openapi::document().to_string().into()
}
