//! Several servers over one database, behind a balancer.

use std::sync::{Arc, Mutex};

use super::balancer::{Backends, Balancer};
use crate::keep::upstream::Upstream;
use crate::process::Folder;
use crate::serve::keys::make;
use crate::serve::support::Serving;

/// The name that all of them have.
pub(super) const HOST: &str = "crib.test";

/// How long one counts as alive that was not heard of, in seconds, and what is added to that before
/// its calls get their ends.
pub(super) const LEASE: u64 = 2;

pub(super) struct Fleet {
    replicas: Vec<Mutex<Option<Serving>>>,
    backends: Backends,
    pub(super) balancer: Balancer,
    /// The key of a caller that may do everything.
    pub(super) key: String,
}

impl Fleet {
    /// As many as this, each in a folder of its own. `url`: of the database.
    pub(super) fn start(count: usize, url: &str, upstream: &Upstream) -> Self {
        let (key, entry) =
            make(&Folder::new(), &["fleet", "--scope", "tools", "--scope", "operator"]);
        let more = format!(
            "allow = [\"*\"]\n[store]\nurl = \"{url}\"\n\
             [server.limits]\nlinger = \"500ms\"\n[cluster]\nsecret = \"${{file:secret.txt}}\"\nlease = \"{LEASE}s\"\n\
             [profile.careful]\nask = [\"*__act\"]\n{entry}"
        );
        let replicas = (0..count).map(|_| {
            let folder = upstream.furnish_web(&more);
            folder.write("secret.txt", "a secret that all of them have, and nobody else");
            Mutex::new(Some(served(folder)))
        });
        let replicas: Vec<_> = replicas.collect();
        let addresses = replicas
            .iter()
            .map(|replica| replica.lock().unwrap().as_ref().map(|serving| serving.address.clone()));
        let backends: Backends = Arc::new(Mutex::new(addresses.collect()));
        let balancer = Balancer::start(Arc::clone(&backends));
        Self { replicas, backends, balancer, key }
    }

    pub(super) fn len(&self) -> usize {
        self.replicas.len()
    }

    /// Kills one as a power cut would, and starts another in its place.
    pub(super) fn kill(&self, place: usize) {
        let mut replica = self.replicas[place].lock().unwrap();
        let Some(mut serving) = replica.take() else { return };
        serving.child.kill().unwrap();
        serving.child.wait().unwrap();
        self.backends.lock().unwrap()[place] = None;
        let folder = std::mem::replace(&mut serving.folder, Folder::new());
        drop(serving);
        let serving = served(folder);
        self.backends.lock().unwrap()[place] = Some(serving.address.clone());
        *replica = Some(serving);
    }

    /// Stops one as an operator does, and starts another in its place.
    pub(super) fn roll(&self, place: usize) {
        let mut replica = self.replicas[place].lock().unwrap();
        let Some(mut serving) = replica.take() else { return };
        self.backends.lock().unwrap()[place] = None;
        serving.signal("TERM");
        assert_eq!(serving.child.wait().unwrap().code(), Some(0));
        let folder = std::mem::replace(&mut serving.folder, Folder::new());
        drop(serving);
        let serving = served(folder);
        self.backends.lock().unwrap()[place] = Some(serving.address.clone());
        *replica = Some(serving);
    }

    /// What they have said, for whoever looks for a fault.
    pub(super) fn told(&self) -> String {
        let told = self.replicas.iter().map(|replica| {
            let replica = replica.lock().unwrap();
            replica.as_ref().map_or(String::new(), |serving| serving.told.lock().unwrap().clone())
        });
        told.collect::<Vec<_>>().join("\n--\n")
    }
}

fn served(folder: Folder) -> Serving {
    let serving = Serving::start_in(folder, &["--host", HOST]);
    serving.hears("`web`: ");
    serving
}
