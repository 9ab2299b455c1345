//! Tells the other replicas how this one is doing.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::config::record::fleet;
use crate::http::state::GatewayState;

/// As often as a short lease is renewed.
const PAUSE: Duration = Duration::from_secs(1);

pub(super) async fn follow(gateway: &GatewayState) {
    let Some(store) = gateway.store.as_ref().filter(|store| store.replica().is_some()) else {
        return std::future::pending().await;
    };
    loop {
        store.tell_others(report(gateway));
        tokio::time::sleep(PAUSE).await;
    }
}

/// What is told with the next renewal of the lease.
fn report(gateway: &GatewayState) -> Map<String, Value> {
    let file = gateway.file();
    let mut said = file.as_ref().map(|file| fleet::said_of(file)).unwrap_or_default();
    // A replica without pins is another one than one that has some.
    let pins = gateway.pins.digest().map_or_else(|| "none".to_owned(), |pins| pins.to_string());
    let profiles = file.iter().flat_map(|file| file.profiles.keys());
    let views = profiles.filter_map(|name| gateway.live.view(name));
    let waiting: usize = views.map(|view| view.executor().queued()).sum();
    let waiting = waiting.saturating_add(gateway.live.crib().executor().queued());
    let running: u64 = gateway.telemetry.recent.running().into_values().sum();
    let is_stopping = gateway.leaves.is_cancelled() || gateway.stop.is_cancelled();
    said.extend([
        ("pins".to_owned(), Value::from(pins)),
        ("running".to_owned(), running.into()),
        ("waiting".to_owned(), waiting.into()),
        ("sessions".to_owned(), gateway.door.sessions().into()),
        ("stopping".to_owned(), is_stopping.into()),
    ]);
    said
}
