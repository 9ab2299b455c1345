//! A balancer of connections, as plain as one can be: in turn, to whoever takes them.

use std::io::copy;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Where the replicas are; `None`: that one is away.
pub(super) type Backends = Arc<Mutex<Vec<Option<String>>>>;

pub(super) struct Balancer {
    pub(super) address: String,
}

impl Balancer {
    pub(super) fn start(backends: Backends) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let turn = Arc::new(AtomicUsize::new(0));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (backends, turn) = (Arc::clone(&backends), Arc::clone(&turn));
                std::thread::spawn(move || pass(&stream.unwrap(), &backends, &turn));
            }
        });
        Self { address }
    }
}

/// Passes a connection on to the next one that takes it; where none does it is closed.
fn pass(client: &TcpStream, backends: &Backends, turn: &AtomicUsize) {
    let all = backends.lock().unwrap().clone();
    let first = turn.fetch_add(1, Ordering::Relaxed);
    let mut in_turn = (0..all.len()).filter_map(|place| all[(first + place) % all.len()].as_ref());
    let Some(server) = in_turn.find_map(|address| TcpStream::connect(address).ok()) else { return };
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let _ = copy(&mut &*client, &mut &server);
            let _ = server.shutdown(Shutdown::Write);
        });
        let _ = copy(&mut &server, &mut &*client);
        // Whoever was killed has no more to say, and nobody is to wait for it.
        let _ = client.shutdown(Shutdown::Both);
        let _ = server.shutdown(Shutdown::Both);
    });
}
