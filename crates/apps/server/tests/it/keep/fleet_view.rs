//! What is told of the servers that share a database.

use serde_json::{Value, json};

use super::cluster_of_two::{SECRET, replica, replica_of};
use super::postgres::cluster::Cluster;
use super::upstream::Upstream;
use crate::serve::support::{Serving, eventually, head};

fn seen(serving: &Serving) -> Value {
    serving.ask("GET", "/v1/cluster", "").json()
}

/// Of each replica, what does not change from one moment to the next.
fn states(seen: &Value) -> Vec<Value> {
    let all = seen["replicas"].as_array().unwrap();
    all.iter().map(|one| json!([one["id"], one["is_this"], one["state"]])).collect()
}

fn kinds(seen: &Value) -> Vec<String> {
    let all = seen["findings"].as_array().unwrap();
    all.iter().map(|one| one["kind"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_server_and_the_command_tell_the_replicas_and_how_they_differ() {
    let Some(cluster) = Cluster::start_if_any("viewed") else { return };
    let url = cluster.database("record");
    let upstream = Upstream::start();
    let one = replica(&upstream, &url, SECRET).unwrap();
    let mut other = replica(&upstream, &url, SECRET).unwrap();
    // Each says it with a renewal.
    let says_all = |seen: &Value| {
        seen["replicas"].as_array().unwrap().iter().all(|one| one["running"].is_u64())
    };
    assert!(eventually(|| says_all(&seen(&one))), "{}", seen(&one));
    let told = seen(&other);
    assert_eq!(states(&told), [json!([1, false, "live"]), json!([2, true, "live"])]);
    assert_eq!((&told["shared"], kinds(&told)), (&json!(true), Vec::new()));
    let stranger = replica_of(&upstream, &url, SECRET, "deny = [\"*__never\"]\n");
    let stranger = stranger.unwrap();
    let differs = ["configuration_differs", "policy_differs"];
    assert!(eventually(|| kinds(&seen(&one)) == differs), "{}", seen(&one));
    let finding = seen(&one)["findings"][0].clone();
    let sentence = "replica 3 has another configuration than replicas 1 and 2: give all of them \
                    the same `crib.toml`";
    assert!(finding["told"].as_str().unwrap().starts_with(sentence), "{finding}");
    assert_eq!(finding["replicas"], json!([3]));
    // By its name where others look.
    let ready = || one.send(&head("GET", "/readyz", &one, &[]), "").json();
    let named = json!({ "status": "ready", "findings": differs });
    assert!(eventually(|| ready() == named), "{}", ready());
    let figures = one.ask("GET", "/metrics", "").body;
    for line in [
        "toolcrib_cluster_replicas{state=\"live\"} 3\n",
        "toolcrib_cluster_findings{finding=\"configuration_differs\"} 1\n",
        "toolcrib_cluster_findings{finding=\"older_release\"} 0\n",
        "toolcrib_cluster_oldest_transaction_seconds 0\n",
        "toolcrib_replica_info{replica=\"3\",version=\"",
        "toolcrib_replica_lease_seconds{replica=\"1\"} ",
        "toolcrib_replica_open{replica=\"2\",rows=\"calls\"} 0\n",
    ] {
        assert!(figures.contains(line), "{line}: {figures}");
    }
    one.hears("configuration_differs: replica 3 has another");
    let doctor = one.folder.run(&["doctor", "--json"]).json();
    assert!(doctor["cluster"][0].as_str().unwrap().starts_with("configuration_differs: "));
    // One that is killed is told as long as it is of any interest.
    other.signal("KILL");
    other.child.wait().unwrap();
    let is_over = || states(&seen(&one))[1] == json!([2, false, "over"]);
    assert!(eventually(is_over), "{}", seen(&one));
    let asked = one.folder.run(&["cluster", "--json"]);
    assert_eq!(asked.code, 1, "{asked:?}");
    assert_eq!(states(&asked.json()).len(), 3, "{asked:?}");
    assert_eq!(kinds(&asked.json()), differs);
    // Nobody serves, and the database tells it all the same.
    drop((one, stranger));
    let folder = upstream.furnish_web(&super::cluster_of_two::file(&url, ""));
    folder.write("secret", SECRET);
    let mut asked = folder.run(&["cluster"]);
    let is_told = eventually(|| {
        asked = folder.run(&["cluster"]);
        asked.err.contains("no replica lives")
    });
    assert!(is_told, "{asked:?}");
    assert_eq!((asked.code, asked.out.matches("LATE").count()), (0, 2), "{asked:?}");
}

#[test]
fn a_server_that_is_alone_says_so() {
    let serving = Serving::start(&[]);
    let alone = json!({ "shared": false, "replicas": [], "transactions": [], "findings": [] });
    assert_eq!(seen(&serving), alone);
    let asked = serving.folder.run(&["cluster"]);
    assert_eq!((asked.code, &*asked.out), (0, ""), "{asked:?}");
    assert!(asked.err.contains("this server is alone"), "{asked:?}");
}
