//! Clients that come back to another one of two servers that share a database of Postgres, behind
//! what gives each request to the next of them.

use std::cell::Cell;

use serde_json::{Value, json};

use super::postgres::cluster::Cluster;
use super::resumed::{answer, called, furnish, message, number, ready};
use super::sessions::SessionClient;
use super::upstream::Upstream;
use crate::process::Folder;
use crate::serve::support::{Serving, eventually};

const SECRET: &str = "0123456789abcdef0123456789abcdef";

fn file(url: &str, secret: &str) -> String {
    format!(
        "allow = [\"*\"]\n[store]\nurl = \"{url}\"\n[cluster]\nsecret = \"{secret}\"\n\
         lease = \"2s\"\n[profile.x]\nallow = [\"*\"]\n"
    )
}

fn start(folder: Folder, secret: &str) -> Serving {
    folder.write("secret", secret);
    Serving::start_in(folder, &[])
}

/// Two servers before one upstream.
fn pair(upstream: &Upstream, url: &str) -> [Serving; 2] {
    let file = file(url, "${file:secret}");
    [(); 2].map(|()| start(upstream.furnish_web(&file), SECRET))
}

/// Gives each request to the next of them that lives.
struct Balancer<'a> {
    servers: &'a [Serving],
    next: Cell<usize>,
}

impl<'a> Balancer<'a> {
    fn over(servers: &'a [Serving]) -> Self {
        Self { servers, next: Cell::new(0) }
    }

    fn next(&self) -> &'a Serving {
        let next = self.next.get();
        self.next.set(next + 1);
        &self.servers[next % self.servers.len()]
    }
}

/// A session in the hands of this machine's own caller at a server, which has a token of its own.
fn at(client: &SessionClient, serving: &Serving) -> SessionClient {
    client.taken_by(&serving.token)
}

#[test]
fn a_session_goes_on_at_every_replica_and_when_the_one_that_began_it_is_killed() {
    let Some(cluster) = Cluster::start_if_any("balanced") else { return };
    let upstream = Upstream::start();
    let [mut one, two] = pair(&upstream, &cluster.database("record"));
    let clients: Vec<_> = [(&one, "one"), (&two, "two")]
        .map(|(serving, name)| (SessionClient::begin(serving, &serving.token), name))
        .into();
    {
        let servers = [&one, &two];
        for turn in 0..6 {
            let serving = servers[turn % 2];
            for (client, name) in &clients {
                let client = at(client, serving);
                let listed = client.lists(serving);
                assert!(listed.status == 200 && listed.body.contains("web__act"), "{listed:?}");
                assert_eq!(client.acts(serving, &format!("{name}-{turn}")), 200);
            }
            // It is nobody else's, and nobody makes up its name.
            let other = clients[0].0.taken_by(&serving.token_of("other"));
            assert_eq!(other.acts(serving, "wrong"), 404);
            let forged = at(&clients[0].0, serving).naming(|line| format!("{}A", line.trim_end()));
            assert_eq!(forged.acts(serving, "wrong"), 404);
            let elsewhere = at(&clients[0].0, serving).pings(serving, "/mcp/x");
            assert_eq!(elsewhere.status, 404, "{elsewhere:?}");
        }
    }
    one.signal("KILL");
    one.child.wait().unwrap();
    for (client, name) in &clients {
        let client = at(client, &two);
        assert_eq!(client.acts(&two, &format!("{name}-after")), 200);
        assert_eq!(upstream.oracle.count(&format!("{name}-after")), 1);
        for turn in 0..6 {
            assert_eq!(upstream.oracle.count(&format!("{name}-{turn}")), 1);
        }
    }
    assert_eq!(upstream.oracle.count("wrong"), 0);
}

#[test]
fn a_session_that_is_ended_at_one_replica_is_over_at_the_other() {
    let Some(cluster) = Cluster::start_if_any("ended") else { return };
    let upstream = Upstream::start();
    let servers = pair(&upstream, &cluster.database("record"));
    let [one, two] = &servers;
    let client = SessionClient::begin(one, &one.token);
    let balancer = Balancer::over(&servers);
    for turn in 0..4 {
        let serving = balancer.next();
        assert_eq!(at(&client, serving).acts(serving, &format!("turn-{turn}")), 200);
    }
    assert_eq!(at(&client, two).ends(two).status, 204);
    assert_eq!(at(&client, two).lists(two).status, 404);
    assert!(eventually(|| at(&client, one).lists(one).status == 404));
    assert_eq!(at(&client, one).acts(one, "ended"), 404);
    assert_eq!(upstream.oracle.count("ended"), 0);
}

#[test]
fn a_call_that_waits_at_a_replica_is_begun_anew_by_the_other_only_once_that_one_is_dead() {
    let Some(cluster) = Cluster::start_if_any("asked") else { return };
    let file = file(&cluster.database("record"), "${file:secret}");
    let [mut one, two] = [(); 2].map(|()| ready(start(furnish(&file), SECRET)));
    let told = |serving: &Serving, tool: &str, back: Option<(&Value, &Value)>| {
        let answer = answer(serving, tool, back);
        let whole = serde_json::from_str::<Value>(&answer.body).unwrap_or_default();
        (answer.status, answer, whole["result"].clone())
    };
    for tool in ["c__see", "c__act"] {
        let (_, _, asked) = told(&one, tool, None);
        assert_eq!(message(&asked), "How many?");
        let (status, refused, _) = told(&two, tool, Some((&asked, &number())));
        let tells_when = refused.head.to_lowercase().contains("retry-after:");
        assert!(status == 503 && tells_when, "{refused:?}");
        let (status, done, result) = told(&one, tool, Some((&asked, &number())));
        assert_eq!((status, &result["content"][0]["text"]), (200, &json!("5")), "{done:?}");
    }
    assert!(!two.folder.path().join("called").exists());
    let [(_, _, seen), (_, _, acted)] = ["c__see", "c__act"].map(|tool| told(&one, tool, None));
    one.signal("KILL");
    one.child.wait().unwrap();
    // Until its lease is over nobody can say that it is dead.
    let mut last = told(&two, "c__see", Some((&seen, &number())));
    let is_taken = eventually(|| {
        if last.0 == 503 {
            last = told(&two, "c__see", Some((&seen, &number())));
        }
        last.0 != 503
    });
    assert!(is_taken && last.0 == 200, "{:?}", last.1);
    assert_eq!(message(&last.2), "How many?");
    let (_, _, again) = told(&two, "c__act", Some((&acted, &number())));
    assert!(message(&again).contains("duplicate_of_unknown: the same call"), "{again}");
    assert_eq!((called(&two, "see"), called(&two, "act")), (1, 0));
}
