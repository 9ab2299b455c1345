//! Servers that would not keep what they confirm are refused, with the cure.

use std::process::Stdio;
use std::time::{Duration, Instant};

use toolcrib_store::StoreOptions;
use toolcrib_store_postgres::Database;

use crate::cluster::Cluster;

/// What is told when it is tried, which must be what is told when it is opened.
fn told(url: &str) -> String {
    let tried = Database::at(url).unwrap().try_out(&StoreOptions::default());
    let opened = toolcrib_store_postgres::open(url, StoreOptions::default()).map(drop);
    let told = |done: Result<(), toolcrib_store::StoreError>| {
        done.map_or_else(|error| error.to_string(), |()| "opened".to_owned())
    };
    let (tried, opened) = (told(tried), told(opened));
    assert_eq!(tried, opened);
    opened
}

#[test]
fn a_server_that_may_lose_what_it_confirms_is_refused() {
    let cluster = Cluster::start("unfit");
    let url = cluster.database("record");
    for (setting, words) in [
        ("fsync", "loses what it confirmed when its machine stops: set `fsync` and"),
        ("full_page_writes", "loses what it confirmed when its machine stops: set `fsync` and"),
    ] {
        cluster.reload(&format!("ALTER SYSTEM SET {setting} = off"), setting, "off");
        let told = told(&url);
        assert!(told.contains(words), "{told}");
        cluster.reload(&format!("ALTER SYSTEM SET {setting} = on"), setting, "on");
    }
    // It is asked for in each group, whatever the server is set to.
    let off = "ALTER SYSTEM SET synchronous_commit = off";
    cluster.reload(off, "synchronous_commit", "off");
    assert_eq!(told(&url), "opened");
    cluster
        .sql("postgres", "ALTER DATABASE record SET default_transaction_read_only = on")
        .unwrap();
    let read_only = told(&url);
    assert!(read_only.contains(" may be read only: let this user write"), "{read_only}");
}

#[test]
fn a_user_who_may_make_nothing_is_refused() {
    let cluster = Cluster::start("user");
    let url = cluster.database("record").replace("crib@", "guest@");
    cluster.sql("record", "CREATE ROLE guest LOGIN").unwrap();
    let refused = told(&url);
    assert!(refused.contains(" may not be used by this user: let it make a schema"), "{refused}");
    cluster.sql("record", "GRANT CREATE ON DATABASE record TO guest").unwrap();
    assert_eq!(told(&url), "opened");
}

#[test]
fn a_standby_that_need_not_have_what_was_confirmed_is_refused() {
    let cluster = Cluster::start("standby");
    let url = cluster.database("record");
    // To the server it is one that is to take its place.
    let mut standby = cluster.program("pg_receivewal");
    standby.arg("-h").arg(cluster.folder()).args(["-U", "crib", "-D"]).arg(cluster.folder());
    standby.env("PGAPPNAME", "standby").stdout(Stdio::null()).stderr(Stdio::null());
    let mut standby = standby.spawn().unwrap();
    let until = Instant::now() + Duration::from_secs(30);
    let count = "SELECT count(*) FROM pg_stat_replication";
    while cluster.sql("postgres", count).unwrap().trim() != "1" {
        assert!(Instant::now() < until, "the standby does not come");
        std::thread::sleep(Duration::from_millis(20));
    }
    // Who may see little of others sees as much.
    cluster.sql("record", "CREATE ROLE guest LOGIN").unwrap();
    cluster.sql("record", "GRANT CREATE ON DATABASE record TO guest").unwrap();
    for url in [&url, &url.replace("crib@", "guest@")] {
        let refused = told(url);
        assert!(refused.contains("name it in `synchronous_standby_names`"), "{refused}");
    }
    standby.kill().unwrap();
    standby.wait().unwrap();
    while cluster.sql("postgres", count).unwrap().trim() != "0" {
        assert!(Instant::now() < until, "the standby does not go");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(told(&url), "opened");
}
