//! Tells the other replicas how this one is doing, and looks how they are.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use toolcrib_store::Fleet;

use crate::config::record::fleet::{self, FindingKind, FleetFinding, OLD};
use crate::gateway::notices::Notices;
use crate::http::state::GatewayState;

/// As often as a short lease is renewed.
const PAUSE: Duration = Duration::from_secs(1);
/// How often the others are looked at.
const LOOKS: Duration = Duration::from_secs(5);

/// What was seen of the replicas the last time; nothing, where a server is alone.
#[derive(Default)]
pub(crate) struct FleetWatch(Mutex<Option<Arc<FleetView>>>);

pub(crate) struct FleetView {
    pub(crate) fleet: Fleet,
    pub(crate) findings: Vec<FleetFinding>,
}

impl FleetWatch {
    pub(crate) fn last(&self) -> Option<Arc<FleetView>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn see(&self, fleet: Fleet) -> Arc<FleetView> {
        let findings = fleet::findings(&fleet);
        let view = Arc::new(FleetView { fleet, findings });
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&view));
        view
    }
}

pub(super) async fn follow(gateway: &GatewayState, notices: &Notices) {
    let Some(store) = gateway.store.as_ref().filter(|store| store.replica().is_some()) else {
        return std::future::pending().await;
    };
    let (mut looked, mut told) = (None::<Instant>, Vec::new());
    loop {
        store.tell_others(report(gateway));
        if looked.is_none_or(|at| at.elapsed() >= LOOKS) {
            looked = Some(Instant::now());
            // What cannot be read now, `/readyz` and the log say in their own words.
            if let Ok(Some(seen)) = store.fleet(OLD).await {
                let view = gateway.fleet.see(seen);
                told = tell(told, &view.findings, notices);
            }
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Of whom a finding is: its words may count minutes.
type KnownFinding = (FindingKind, Vec<i64>);

/// Says what is new, and what is over. Gives what was told.
fn tell(
    before: Vec<KnownFinding>,
    findings: &[FleetFinding],
    notices: &Notices,
) -> Vec<KnownFinding> {
    let now: Vec<_> = findings.iter().map(|one| (one.kind, one.replicas.clone())).collect();
    for (finding, known) in findings.iter().zip(&now) {
        if !before.contains(known) {
            notices.warn(&[format!("{}: {}", finding.kind.word(), finding.told)]);
        }
    }
    for (kind, _) in before {
        if !now.iter().any(|(known, _)| *known == kind) {
            notices.note(&format!("{}: it is over", kind.word()));
        }
    }
    now
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
