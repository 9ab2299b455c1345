//! What there is to see of those that share a database.

use std::io::Write as _;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Map, Value, json};
use toolcrib_store::{Fleet, FleetReplica, ReplicaHoldings, ReplicaStage, StoreOptions};
use toolcrib_store_postgres::Database;

use crate::cluster::Cluster;
use crate::replicas::{arguments, key, settings, share, until};

/// Long enough that no transaction of a test is.
const HOUR: Duration = Duration::from_hours(1);

fn fleet(url: &str, older: Duration) -> Fleet {
    Database::at(url).unwrap().fleet(older).unwrap()
}

fn stages(fleet: &Fleet) -> Vec<(i64, ReplicaStage)> {
    fleet.replicas.iter().map(|one| (one.id, one.stage)).collect()
}

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_replica_is_told_with_its_lease_with_what_it_says_and_with_what_it_holds() {
    let cluster = Cluster::start("fleet");
    let url = cluster.database("record");
    // Nobody has made the tables yet.
    assert_eq!(fleet(&url, HOUR), Fleet::default());
    let (one, other) = (share(&url), share(&url));
    one.begin(&key("held"), arguments()).await.unwrap();
    one.tell_others(object(&json!({ "running": 3 })));
    // What is more than anybody reads is not said.
    other.tell_others(object(&json!({ "much": "x".repeat(20_000) })));
    let said = |of: &Fleet, place: usize| of.replicas[place].said.clone();
    until("they say it", async || {
        let told = fleet(&url, HOUR);
        said(&told, 0).get("running").is_some() && said(&told, 1).get("configuration").is_none()
    })
    .await;
    let told = one.fleet(HOUR).await.unwrap().unwrap();
    assert_eq!(stages(&told), [(1, ReplicaStage::Live), (2, ReplicaStage::Live)]);
    let FleetReplica { version, address, lease_left, said, holds, .. } = &told.replicas[0];
    assert_eq!((&**version, address.as_deref()), ("1.2.3", Some("https://10.0.3.7:7411")));
    assert!((1..=6_000).contains(lease_left), "{lease_left}");
    let form = &said["form"];
    assert!(form["reads"].is_u64() && form["reads"] == form["writes"], "{said}");
    assert_eq!((&said["configuration"], &said["running"]), (&json!("x"), &json!(3)));
    assert_eq!(*holds, ReplicaHoldings { keys: 1, ..ReplicaHoldings::default() });
    assert_eq!(told.replicas[1].holds, ReplicaHoldings::default());
    assert_eq!(told.replicas[1].said, json!({ "form": form, "opens": said["opens"] }));
    drop(other);
    assert_eq!(stages(&fleet(&url, HOUR)), [(1, ReplicaStage::Live), (2, ReplicaStage::Over)]);
    // One that ended long ago is told no more, and one whose word nobody knows is left alone.
    let change = "UPDATE replicas SET lease_until = now() - interval '2 hours' WHERE id = 2; \
                  INSERT INTO replicas (name, version, secret, state, lease_until, said) \
                  VALUES ('r_new', '9', '', 'resting', now() - interval '1 minute', '[1]')";
    cluster.sql("record", change).unwrap();
    let told = fleet(&url, HOUR);
    assert_eq!(stages(&told), [(1, ReplicaStage::Live), (3, ReplicaStage::Unclear)]);
    assert_eq!(told.replicas[1].said, json!({}));
}

#[tokio::test]
async fn a_server_that_is_alone_has_no_fleet() {
    let cluster = Cluster::start("lonely");
    let url = cluster.database("record");
    let alone = toolcrib_store_postgres::open(&url, StoreOptions::default()).unwrap();
    assert_eq!(alone.fleet(HOUR).await.unwrap(), None);
    assert_eq!(fleet(&url, HOUR).replicas, []);
    drop(alone);
    Database::at(&url).unwrap().shared(settings()).open(StoreOptions::default()).unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_that_stays_open_is_told_and_others_are_not() {
    let cluster = Cluster::start("open");
    let url = cluster.database("record");
    let store = share(&url);
    let mut psql = cluster.program("psql");
    psql.args(["-U", "crib", "-qXAt", "-d", "record", "-h"]).arg(cluster.folder());
    psql.env("PGAPPNAME", "forgotten").stdin(Stdio::piped()).stdout(Stdio::null());
    let mut open = psql.spawn().unwrap();
    let mut says = open.stdin.take().unwrap();
    writeln!(says, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT 1;").unwrap();
    let mut told = Vec::new();
    until("it is told", async || {
        let all = store.fleet(Duration::ZERO).await.unwrap().unwrap().transactions;
        told = all.into_iter().filter(|one| one.application == "forgotten").collect();
        told.iter().any(|one| one.state == "idle in transaction")
    })
    .await;
    assert_eq!((told.len(), &*told[0].user, told[0].process.is_some()), (1, "crib", true));
    assert_eq!(store.fleet(HOUR).await.unwrap().unwrap().transactions, []);
    drop(says);
    open.wait().unwrap();
}
