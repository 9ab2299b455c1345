//! The least that anything between a client and a server can cost: passes bytes on, both ways, and
//! reads nothing of them. What a gateway takes beyond this it takes for what it does.

use std::io::Write as _;
use std::thread::{self, available_parallelism};

use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::LocalSet;

use crate::LoadError;

/// Listens, says where, and passes on to this address until it is ended: a thread for each
/// processor, each with connections of its own.
pub async fn relay(to: &str) -> Result<(), LoadError> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    writeln!(std::io::stdout(), "passes on from http://{}", listener.local_addr()?)?;
    let mut workers = Vec::new();
    for _ in 0..available_parallelism()?.get() {
        let (worker, connections) = unbounded_channel();
        let runtime = Builder::new_current_thread().enable_io().build()?;
        let to = to.to_owned();
        thread::spawn(move || LocalSet::new().block_on(&runtime, work(connections, to)));
        workers.push(worker);
    }
    for worker in workers.iter().cycle() {
        let (stream, _) = listener.accept().await?;
        worker.send(stream.into_std()?)?;
    }
    Ok(())
}

async fn work(mut connections: UnboundedReceiver<std::net::TcpStream>, to: String) {
    while let Some(stream) = connections.recv().await {
        let to = to.clone();
        tokio::task::spawn_local(async move {
            let opened = async {
                let mut near = TcpStream::from_std(stream)?;
                let mut far = TcpStream::connect(&to).await?;
                near.set_nodelay(true)?;
                far.set_nodelay(true)?;
                copy_bidirectional(&mut near, &mut far).await
            };
            // Whoever measures sees a connection that broke.
            let _ = opened.await;
        });
    }
}
