//! What is told of the replicas of a server, and what of it needs a person.

use std::collections::BTreeMap;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use toolcrib_config::Config;
use toolcrib_store::{Fleet, FleetReplica, OldTransaction, ReplicaStage};

/// How long a transaction is open before somebody is told: a backup of a small database is done by
/// then.
pub(crate) const OLD: Duration = Duration::from_mins(5);

/// Replicas that are named in a sentence; the rest is counted.
const NAMED: usize = 8;

/// What is not as it should be among replicas, or in their database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FleetFinding {
    pub(crate) kind: FindingKind,
    /// In words, with the cure.
    pub(crate) told: String,
    /// Those that are not as the others are.
    pub(crate) replicas: Vec<i64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FindingKind {
    Configuration,
    Policy,
    Pins,
    Release,
    Secret,
    Transaction,
}

impl FindingKind {
    pub(crate) const ALL: [Self; 6] = [
        Self::Configuration,
        Self::Policy,
        Self::Pins,
        Self::Release,
        Self::Secret,
        Self::Transaction,
    ];

    pub(crate) const WORDS: [&str; 6] = [
        "configuration_differs",
        "policy_differs",
        "pins_differ",
        "older_release",
        "secret_differs",
        "old_transaction",
    ];

    pub(crate) fn word(self) -> &'static str {
        let [configuration, policy, pins, release, secret, transaction] = Self::WORDS;
        match self {
            Self::Configuration => configuration,
            Self::Policy => policy,
            Self::Pins => pins,
            Self::Release => release,
            Self::Secret => secret,
            Self::Transaction => transaction,
        }
    }
}

/// What a server of this file says of it to the other replicas.
pub(crate) fn said_of(file: &Config) -> Map<String, Value> {
    let digests = &file.digests;
    Map::from_iter([
        ("configuration".to_owned(), digests.configuration.to_string().into()),
        ("policy".to_owned(), digests.policy.to_string().into()),
    ])
}

/// All of it as JSON. `own`: the name of the replica that tells, if it is one.
pub(crate) fn told(fleet: &Fleet, own: Option<&str>) -> Value {
    let findings = findings(fleet);
    let finding = |finding: &FleetFinding| {
        let FleetFinding { kind, told, replicas } = finding;
        json!({ "kind": kind.word(), "told": told, "replicas": replicas })
    };
    json!({
        "shared": true,
        "replicas": fleet.replicas.iter().map(|one| replica(one, own)).collect::<Vec<_>>(),
        "transactions": fleet.transactions.iter().map(transaction).collect::<Vec<_>>(),
        "findings": findings.iter().map(finding).collect::<Vec<_>>(),
    })
}

/// The same of a server that is alone.
pub(crate) fn alone() -> Value {
    json!({ "shared": false, "replicas": [], "transactions": [], "findings": [] })
}

fn replica(one: &FleetReplica, own: Option<&str>) -> Value {
    let began = Timestamp::try_from(one.began).map(|at| at.to_string()).ok();
    let holds = &one.holds;
    let mut row = json!({
        "id": one.id,
        "is_this": own == Some(&*one.name),
        "state": one.stage.word(),
        "version": one.version,
        "address": one.address,
        "began": began,
        "lease_milliseconds": one.lease_left,
        "open": {
            "calls": holds.calls,
            "queued": holds.queued,
            "keys": holds.keys,
            "tickets": holds.tickets,
            "runs": holds.runs,
        },
    });
    if let Value::Object(fields) = &mut row {
        fields.extend(said(one));
    }
    row
}

/// What is known of what a replica said; of a newer release it may be more, and of an older less.
fn said(one: &FleetReplica) -> Map<String, Value> {
    let text = |key: &str| Value::from(word(one, key));
    let count = |key: &str| Value::from(one.said.get(key).and_then(Value::as_u64));
    let form = |key: &str| one.said.get("form").and_then(|form| form.get(key)?.as_u64());
    let is_stopping = one.said.get("stopping").and_then(Value::as_bool).unwrap_or_default();
    let told = json!({
        "configuration": text("configuration"),
        "policy": text("policy"),
        "pins": text("pins"),
        "reads": form("reads"),
        "writes": form("writes"),
        "running": count("running"),
        "waiting": count("waiting"),
        "sessions": count("sessions"),
        "stopping": is_stopping,
    });
    if let Value::Object(told) = told { told } else { Map::new() }
}

/// A word that a replica said, if it is no longer than those of ours are.
fn word<'a>(one: &'a FleetReplica, key: &str) -> Option<&'a str> {
    one.said.get(key).and_then(Value::as_str).filter(|text| text.len() <= 128)
}

fn transaction(one: &OldTransaction) -> Value {
    json!({
        "process": one.process,
        "user": one.user,
        "application": one.application,
        "state": one.state,
        "seconds": one.open_for / 1000,
        "behind": one.behind,
    })
}

/// What needs a person, in the order of its kinds.
pub(crate) fn findings(fleet: &Fleet) -> Vec<FleetFinding> {
    let lives = |one: &&FleetReplica| one.stage == ReplicaStage::Live;
    let live: Vec<_> = fleet.replicas.iter().filter(lives).collect();
    let of_words = [
        (FindingKind::Configuration, "configuration", "another configuration", SAME_FILE),
        (FindingKind::Policy, "policy", "other rules", SAME_FILE),
        (FindingKind::Pins, "pins", "other accepted tools", SAME_PINS),
    ];
    let mut found: Vec<_> = of_words
        .into_iter()
        .filter_map(|(kind, key, what, cure)| apart(&live, |one| word(one, key), kind, what, cure))
        .collect();
    found.extend(older(&live));
    found.extend(strangers(&live));
    found.extend(fleet.transactions.first().map(|first| old(first, fleet.transactions.len())));
    found
}

const SAME_FILE: &str = "give all of them the same `crib.toml` and the same changes over it, or \
                         bring the rollout to its end";
const SAME_PINS: &str = "put the same `crib.lock` beside the configuration of each, and start \
                         those anew that have another";
const TWO_CLUSTERS: &str = "two clusters use this database: give one of them a database of its own";

/// Those that have something else than most.
fn apart<'a>(
    live: &[&'a FleetReplica],
    of: impl Fn(&'a FleetReplica) -> Option<&'a str>,
    kind: FindingKind,
    what: &str,
    cure: &str,
) -> Option<FleetFinding> {
    let mut groups: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    for one in live {
        if let Some(value) = of(one) {
            groups.entry(value).or_default().push(one.id);
        }
    }
    let mut groups: Vec<_> = groups.into_values().collect();
    // Of groups of one size, the one that began first is what the others are measured by.
    groups.sort_by_key(|ids| (std::cmp::Reverse(ids.len()), ids.first().copied()));
    let mut groups = groups.into_iter();
    let most = groups.next()?;
    let mut replicas: Vec<_> = groups.flatten().collect();
    if replicas.is_empty() {
        return None;
    }
    replicas.sort_unstable();
    let has = if replicas.len() == 1 { "has" } else { "have" };
    let told = format!("{} {has} {what} than {}: {cure}", named(&replicas), named(&most));
    Some(FleetFinding { kind, told, replicas })
}

/// `replica 5`, or `replicas 3, 4 and 5`.
fn named(ids: &[i64]) -> String {
    let mut names: Vec<_> = ids.iter().take(NAMED).map(ToString::to_string).collect();
    if ids.len() > NAMED {
        names.push(format!("{} more", ids.len() - NAMED));
    }
    let Some(last) = names.pop() else { return String::new() };
    if names.is_empty() {
        return format!("replica {last}");
    }
    format!("replicas {} and {last}", names.join(", "))
}

/// Those of another cluster than the first that lives: neither opens what the other seals.
fn strangers(live: &[&FleetReplica]) -> Option<FleetFinding> {
    let first = live.first()?;
    let opens = |one: &FleetReplica, sealed: &FleetReplica| {
        let told = one.said.get("opens").and_then(Value::as_array);
        one.secret == sealed.secret
            || told.is_some_and(|told| told.iter().any(|known| *known == *sealed.secret))
    };
    let is_stranger = |one: &&&FleetReplica| !opens(one, first) && !opens(first, one);
    let replicas: Vec<_> = live.iter().filter(is_stranger).map(|one| one.id).collect();
    if replicas.is_empty() {
        return None;
    }
    let has = if replicas.len() == 1 { "has" } else { "have" };
    let (named, first) = (named(&replicas), named(&[first.id]));
    let told = format!("{named} {has} another secret than {first}: {TWO_CLUSTERS}");
    Some(FleetFinding { kind: FindingKind::Secret, told, replicas })
}

/// Those of an older release than the newest that lives.
fn older(live: &[&FleetReplica]) -> Option<FleetFinding> {
    let newest = live.iter().max_by_key(|one| release(&one.version))?;
    let is_older = |one: &&&FleetReplica| release(&one.version) < release(&newest.version);
    let older: Vec<_> = live.iter().filter(is_older).collect();
    let first = older.first()?;
    let replicas: Vec<_> = older.iter().map(|one| one.id).collect();
    let is = if replicas.len() == 1 { "is" } else { "are" };
    let told = format!(
        "{} {is} of an older release ({}) than {} ({}): bring the rollout to its end, or back",
        named(&replicas),
        first.version,
        named(&[newest.id]),
        newest.version
    );
    Some(FleetFinding { kind: FindingKind::Release, told, replicas })
}

/// The numbers of a version, by which versions come one after the other.
fn release(version: &str) -> Vec<u64> {
    let plain = version.split(['-', '+']).next().unwrap_or_default();
    plain.split('.').map(|part| part.parse().unwrap_or_default()).collect()
}

fn old(first: &OldTransaction, count: usize) -> FleetFinding {
    let OldTransaction { process, user, application, open_for, .. } = first;
    let minutes = open_for / 60_000;
    let (who, cure) = match process {
        Some(process) => (
            format!("`{user}` (`{application}`, process {process})"),
            format!("SELECT pg_terminate_backend({process})"),
        ),
        None => (
            format!("`{user}` (prepared as `{application}`)"),
            format!("ROLLBACK PREPARED '{}'", application.replace('\'', "''")),
        ),
    };
    let more = if count > 1 { format!(" and {} more", count - 1) } else { String::new() };
    let told = format!(
        "a transaction of {who}{more} has been open for {minutes} minutes, and the database keeps \
         all that was changed since: end it with `{cure}`"
    );
    FleetFinding { kind: FindingKind::Transaction, told, replicas: Vec::new() }
}
