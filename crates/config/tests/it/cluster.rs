//! What makes a server one of several.

use std::time::Duration;

use toolcrib_config::Config;

use crate::workshop::{Workshop, config};

const STORE: &str = "[store]\nurl = \"postgres://crib@127.0.0.1/crib\"\n";
const SECRET: &str = "0123456789abcdef0123456789abcdef";

fn problems(text: &str) -> Vec<String> {
    let read = Config::read(text, "crib.toml");
    read.problems.iter().map(ToString::to_string).collect()
}

#[test]
fn replicas_need_a_database_that_they_can_share() {
    let cluster = "[cluster]\nsecret = \"${env:CLUSTER}\"\n";
    let told = "cluster: replicas share a record only in a database of Postgres; write `[store]` \
                with `url = \"postgres://…\"`, or leave out `[cluster]`";
    for store in ["", "[store]\nurl = \"sqlite://crib.db\"\n"] {
        let problems = problems(&format!("{store}{cluster}"));
        assert!(matches!(&*problems, [one] if one.contains(told)), "{problems:?}");
    }
    assert_eq!(problems(&format!("{STORE}{cluster}")), Vec::<String>::new());
    // What an address is that comes whole from outside is known when it is there.
    let named = "[store]\nurl = \"${env:DATABASE}\"\n";
    assert_eq!(problems(&format!("{named}{cluster}")), Vec::<String>::new());
}

#[test]
fn what_a_cluster_says_is_within_its_bounds() {
    let told = |words: &str| problems(&format!("{STORE}[cluster]\n{words}"));
    let secret = "secret = \"${file:cluster.secret}\"\n";
    for lease in ["2s", "60s", "1m"] {
        let told = told(&format!("{secret}lease = \"{lease}\"\n"));
        assert_eq!(told, Vec::<String>::new(), "{lease}");
    }
    for lease in ["1s", "61s", "1999ms", "0s"] {
        let told = told(&format!("{secret}lease = \"{lease}\"\n"));
        assert!(
            matches!(&*told, [one] if one.contains("cluster.lease: ")
                && one.ends_with("; write from `2s` to `60s`")),
            "{lease}: {told:?}"
        );
    }
    for (words, begin) in [
        ("secret = \"0123456789abcdef0123456789abcdef\"\n", "cluster.secret: the secret of a"),
        ("secret = \"x${env:CLUSTER}\"\n", "cluster.secret: the secret of a"),
        ("", "cluster: `secret` is missing"),
        (
            "secret = \"${env:A}\"\naddress = \"10.0.0.1:7411\"\n",
            "cluster.address: this is no address of the web",
        ),
        (
            "secret = \"${env:A}\"\naddress = \"https://a.example/x\"\n",
            "cluster.address: a server is reached at the root",
        ),
    ] {
        let told = told(words);
        assert!(matches!(&*told, [one] if one.contains(begin)), "{words}: {told:?}");
        assert!(!told.concat().contains(SECRET), "{told:?}");
    }
}

#[test]
fn a_secret_that_is_missing_or_short_is_told_without_its_words() {
    let text = format!(
        "{STORE}[cluster]\nsecret = \"${{env:CLUSTER}}\"\naddress = \"https://10.0.3.7:7411\"\n"
    );
    let workshop = Workshop::default();
    let told = |workshop: &Workshop| {
        let (problems, _) = Config::read(&text, "crib.toml").examine(workshop);
        let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
        let missing = config(&text).cluster(workshop).unwrap_err();
        let missing: Vec<_> = missing.iter().map(ToString::to_string).collect();
        (problems, missing)
    };
    let unset = "`${env:CLUSTER}` is not set";
    let (problems, missing) = told(&workshop);
    assert!(matches!(&*problems, [one] if one.contains(unset)), "{problems:?}");
    assert!(matches!(&*missing, [one] if one.contains(unset)), "{missing:?}");
    workshop.set("CLUSTER", "hunter2");
    let short = "`${env:CLUSTER}` is shorter than 32 bytes";
    let (problems, missing) = told(&workshop);
    assert!(
        matches!(&*problems, [one] if one.contains(short) && one.contains("openssl rand -hex 32")),
        "{problems:?}"
    );
    assert!(matches!(&*missing, [one] if one.contains(short)), "{missing:?}");
    assert!(!problems.concat().contains("hunter2") && !missing.concat().contains("hunter2"));
    workshop.set("CLUSTER", SECRET);
    assert!(Config::read(&text, "crib.toml").examine(&workshop).0.is_empty());
    let settings = config(&text).cluster(&workshop).unwrap().unwrap();
    assert_eq!(settings.secret.expose(), SECRET);
    assert_eq!(settings.address.unwrap().as_str(), "https://10.0.3.7:7411/");
    assert_eq!(settings.lease, Duration::from_secs(6));
    assert_eq!(config(STORE).cluster(&workshop).unwrap(), None);
}
