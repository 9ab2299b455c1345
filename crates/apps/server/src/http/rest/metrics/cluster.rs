//! Figures of the replicas that share a record, as each of them sees them.

use toolcrib_store::ReplicaStage;

use crate::config::record::fleet::FindingKind;
use crate::gateway::follow::fleet::FleetView;
use crate::telemetry::family::{MetricFamily, MetricValue};

pub(super) fn families(seen: &FleetView) -> Vec<MetricFamily> {
    let mut families = vec![replicas(seen), findings(seen)];
    let oldest = seen.fleet.transactions.first().map_or(0, |oldest| oldest.open_for / 1000);
    let about = "How long the oldest transaction of the database has been open, if that is long.";
    let mut old = MetricFamily::gauge("toolcrib.cluster.oldest_transaction", about);
    old.unit = "s";
    families.push(old.count(&[], u64::try_from(oldest).unwrap_or_default()));
    families.extend(of_each(seen));
    families
}

fn replicas(seen: &FleetView) -> MetricFamily {
    let about = "Replicas that share the record, by how far their lives have come.";
    let stages = [ReplicaStage::Live, ReplicaStage::Late, ReplicaStage::Dead];
    stages.into_iter().fold(
        MetricFamily::gauge("toolcrib.cluster.replicas", about),
        |family, stage| {
            let count = seen.fleet.replicas.iter().filter(|one| one.stage == stage).count();
            let count = u64::try_from(count).unwrap_or(u64::MAX);
            family.count(&[("state", stage.word())], count)
        },
    )
}

fn findings(seen: &FleetView) -> MetricFamily {
    let about = "Whether something is not as it should be among the replicas.";
    FindingKind::ALL.into_iter().fold(
        MetricFamily::gauge("toolcrib.cluster.findings", about),
        |family, kind| {
            let is_found = seen.findings.iter().any(|one| one.kind == kind);
            family.count(&[("finding", kind.word())], is_found.into())
        },
    )
}

/// With the number of the replica as a label.
fn of_each(seen: &FleetView) -> [MetricFamily; 3] {
    let mut info = MetricFamily::gauge("toolcrib.replica.info", "The release of a replica.");
    let mut lease = MetricFamily::gauge("toolcrib.replica.lease", "What is left of a lease.");
    lease.unit = "s";
    let about = "Rows of the record without an end that are of a replica.";
    let mut open = MetricFamily::gauge("toolcrib.replica.open", about);
    for one in seen.fleet.replicas.iter().filter(|one| one.stage != ReplicaStage::Over) {
        let id = one.id.to_string();
        info.push(&[("replica", &id), ("version", &one.version)], MetricValue::Count(1));
        let left = u64::try_from(one.lease_left / 1000).unwrap_or_default();
        lease.push(&[("replica", &id)], MetricValue::Count(left));
        let holds = &one.holds;
        let rows = [
            ("calls", holds.calls),
            ("keys", holds.keys),
            ("tickets", holds.tickets),
            ("runs", holds.runs),
        ];
        for (kind, count) in rows {
            open.push(&[("replica", &id), ("rows", kind)], MetricValue::Count(count));
        }
    }
    [info, lease, open]
}
